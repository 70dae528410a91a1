"""``python -m isotherm.cli``."""

import sys

from isotherm.cli import main

if __name__ == "__main__":
    sys.exit(main())
