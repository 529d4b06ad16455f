"""Energy statistics of vector data: semimetrics, their kernels, and clustering with them."""

from kgroups.energy.kernels import (
    check_distances,
    check_gram,
    distances_from_gram,
    gram_from_distances,
    is_negative_type,
    kernel_matrix,
)
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
    "check_distances",
    "check_gram",
    "distances_from_gram",
    "gram_from_distances",
    "is_negative_type",
    "kernel_matrix",
]
