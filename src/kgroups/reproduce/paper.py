"""The numbers that the paper prints, and those read off its figure.

G. Franca, M. L. Rizzo, J. T. Vogelstein, "Kernel k-Groups via Hartigan's Method", IEEE TPAMI
43(12), 2021.
"""

from typing import NamedTuple

__all__ = [
    "COMMUNITY_SCORES",
    "GIRVAN_NEWMAN",
    "GIRVAN_NEWMAN_TRIALS",
    "OVERLAPS",
    "SBM_GROUPS",
    "SBM_OVERLAPS",
    "SBM_RATIOS",
    "Printed",
    "Scored",
]


class Printed(NamedTuple):
    """A mean and the standard deviation of single trials."""

    mean: float
    sd: float


GIRVAN_NEWMAN_TRIALS = 500
GIRVAN_NEWMAN: dict[float, dict[str, Printed]] = {
    0.6: {"bethe": Printed(0.183, 0.058), "kgroups": Printed(0.177, 0.057)},
    1.1: {"bethe": Printed(0.485, 0.123), "kgroups": Printed(0.489, 0.133)},
    1.5: {"bethe": Printed(0.840, 0.075), "kgroups": Printed(0.870, 0.074)},
    1.8: {"bethe": Printed(0.943, 0.033), "kgroups": Printed(0.960, 0.027)},
    2.0: {"bethe": Printed(0.975, 0.022), "kgroups": Printed(0.982, 0.020)},
    2.5: {"bethe": Printed(0.997, 0.006), "kgroups": Printed(0.998, 0.005)},
    3.5: {"bethe": Printed(1.000, 0.000), "kgroups": Printed(1.000, 0.000)},
}
"""Mean overlap by signal-to-noise ratio; n = 128, k = 4, mean degree 16."""

SBM_GROUPS = (2, 5, 15)
SBM_RATIOS = (0.50, 0.82, 1.03, 1.13, 1.24, 1.34, 1.45, 1.55, 1.66, 1.76, 1.97, 2.18, 2.50)
SBM_OVERLAPS: dict[int, dict[str, tuple[float, ...]]] = {
    2: {
        "bethe": (0.03, 0.08, 0.19, 0.39, 0.55, 0.69, 0.78, 0.84, 0.91, 0.92, 0.94, 0.95, 0.97),
        "kgroups": (0.03, 0.08, 0.19, 0.39, 0.56, 0.70, 0.79, 0.86, 0.92, 0.95, 0.95, 0.96, 0.97),
    },
    5: {
        "bethe": (0.06, 0.13, 0.25, 0.37, 0.52, 0.63, 0.68, 0.77, 0.84, 0.89, 0.92, 0.95, 0.98),
        "kgroups": (0.06, 0.13, 0.24, 0.39, 0.55, 0.66, 0.74, 0.84, 0.91, 0.94, 0.96, 0.97, 0.98),
    },
    15: {
        "bethe": (0.09, 0.18, 0.32, 0.41, 0.51, 0.60, 0.66, 0.73, 0.76, 0.80, 0.83, 0.89, 0.94),
        "kgroups": (0.10, 0.17, 0.32, 0.42, 0.54, 0.64, 0.72, 0.82, 0.87, 0.92, 0.93, 0.97, 0.99),
    },
}
"""Mean overlap by number of groups, at the ratios above; n = 1000, mean degree 3."""

OVERLAPS: dict[str, dict[str, float]] = {
    "karate": {"spectral": 1.00, "bethe": 1.00, "kgroups": 1.00},
    "dolphins": {"spectral": 0.64, "bethe": 0.97, "kgroups": 1.00},
    "football": {"spectral": 0.90, "bethe": 0.90, "kgroups": 0.90},
    "polbooks": {"spectral": 0.58, "bethe": 0.75, "kgroups": 0.75},
}
"""Overlap with the known groups of real networks."""


class Scored(NamedTuple):
    """Performance, coverage and modularity of communities without known groups."""

    performance: float
    coverage: float
    modularity: float


COMMUNITY_SCORES: dict[str, dict[str, Scored]] = {
    "drosophila_left": {
        "spectral": Scored(0.43, 0.65, 0.074),
        "bethe": Scored(0.48, 0.71, 0.082),
        "kgroups": Scored(0.67, 0.84, 0.041),
    },
    "drosophila_right": {
        "spectral": Scored(0.43, 0.71, 0.074),
        "bethe": Scored(0.44, 0.81, 0.071),
        "kgroups": Scored(0.66, 0.83, 0.055),
    },
    "ca-GrQc": {
        "spectral": Scored(0.63, 0.57, 0.49),
        "bethe": Scored(0.78, 0.71, 0.46),
        "kgroups": Scored(0.86, 0.81, 0.55),
    },
}
