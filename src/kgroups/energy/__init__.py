"""Energy statistics of vector data: semimetrics, their kernels, and clustering with them."""

from kgroups.energy.clustering import Clustering, kernel_kgroups, kernel_kmeans
from kgroups.energy.kernels import (
    check_distances,
    check_gram,
    distances_from_gram,
    gram_from_distances,
    is_negative_type,
    kernel_matrix,
)
from kgroups.energy.line import LineSplit, split_line
from kgroups.energy.points import as_points
from kgroups.energy.semimetrics import (
    Exponential,
    Gaussian,
    PairFunction,
    Power,
    Semimetric,
    as_semimetric,
)
from kgroups.energy.statistics import (
    between_energy,
    energy_distance,
    mean_semimetric,
    within_energy,
)

__all__ = [
    "Clustering",
    "Exponential",
    "Gaussian",
    "LineSplit",
    "PairFunction",
    "Power",
    "Semimetric",
    "as_points",
    "as_semimetric",
    "between_energy",
    "check_distances",
    "check_gram",
    "distances_from_gram",
    "energy_distance",
    "gram_from_distances",
    "is_negative_type",
    "kernel_kgroups",
    "kernel_kmeans",
    "kernel_matrix",
    "mean_semimetric",
    "split_line",
    "within_energy",
]
