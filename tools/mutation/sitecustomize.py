"""Leave only the kernels to the editable install, so that Python imports the mutated copy of the package.

Python imports this module at its start if the folder is on ``PYTHONPATH``.
"""

import sys

for finder in sys.meta_path:
    if type(finder).__name__ == "ScikitBuildRedirectingFinder":
        vars(finder).update(known_source_files={}, submodule_search_locations={})
