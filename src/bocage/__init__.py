"""Bocage learns decision trees and forests from records that the learner may not see."""

from bocage._version import __version__

__all__ = ["__version__"]
