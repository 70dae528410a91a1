"""What all tests share: settings of hypothesis, and the folder of real graphs."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The machine may be shared, so no deadlines; a check of a submission takes the same examples each time.
settings.register_profile("isotherm", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("isotherm")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    folder = os.environ.get("ISOTHERM_DATA")
    if not folder:
        pytest.skip("needs real graphs: set ISOTHERM_DATA to their folder")
    return Path(folder)
