"""The client against a bad line, and against a real service."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package; they share flaky.py
