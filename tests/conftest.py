"""What all tests share: settings of hypothesis, and the folder of real graphs."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("isotherm", deadline=None)  # the machine may be shared
settings.load_profile("isotherm")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    folder = os.environ.get("ISOTHERM_DATA")
    if not folder:
        pytest.skip("needs real graphs: set ISOTHERM_DATA to their folder")
    return Path(folder)
