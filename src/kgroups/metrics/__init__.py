"""Agreement of two labelings of the same nodes."""

from kgroups.metrics.agreement import accuracy, ari, overlap
from kgroups.metrics.contingency import ConfusionTable, confusion
from kgroups.metrics.information import ami, nmi, variation_of_information

__all__ = [
    "ConfusionTable",
    "accuracy",
    "ami",
    "ari",
    "confusion",
    "nmi",
    "overlap",
    "variation_of_information",
]

METRIC_NAMES = tuple(name for name in __all__ if name not in ("ConfusionTable", "confusion"))
"""Functions of two labelings that return a number; studies take each of them by name."""
