"""Whether a graph has communities at all: significance against random graphs."""

from kgroups.verdict.significance import Significance, significance

__all__ = ["Significance", "significance"]
