"""Put the kernels of `make sanitize` in the place of the installed ones, in this process and in those that it starts.

Python imports this module at its start if the folder is on ``PYTHONPATH``. ``ISOTHERM_SANITIZED`` names the library.
"""

import os
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location

NAME = "isotherm.kernels._native"

if path := os.environ.get("ISOTHERM_SANITIZED"):
    spec = spec_from_file_location(NAME, path, loader=ExtensionFileLoader(NAME, path))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[NAME] = module
