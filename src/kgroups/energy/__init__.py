"""Energy statistics of vector data: semimetrics, their kernels, and clustering with them."""

from kgroups.energy.semimetrics import (
    Exponential,
    Gaussian,
    PairFunction,
    Power,
    Semimetric,
    as_points,
    as_semimetric,
)

__all__ = [
    "Exponential",
    "Gaussian",
    "PairFunction",
    "Power",
    "Semimetric",
    "as_points",
    "as_semimetric",
]
