"""The experiments are imported from the root of the repository."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
