"""`python -m crucible_datasets.cli` is `crucible`."""

import sys

from crucible_datasets.cli import main

if __name__ == "__main__":
    sys.exit(main())
