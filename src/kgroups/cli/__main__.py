"""Run the command line with ``python -m kgroups.cli``."""

import sys

from kgroups.cli import main

sys.exit(main())
