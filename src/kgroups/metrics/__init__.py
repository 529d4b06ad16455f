"""Agreement of two labelings of the same nodes."""

from kgroups.metrics.contingency import ConfusionTable, confusion
from kgroups.metrics.information import ami, nmi, variation_of_information
from kgroups.metrics.matching import accuracy, overlap
from kgroups.metrics.pairs import ari

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
