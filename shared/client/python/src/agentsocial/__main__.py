"""Runs the command: python -m agentsocial."""

import sys

from .command import main

sys.exit(main())
