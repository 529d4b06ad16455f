"""The spectrum of N_r: eigenpairs and the number of communities it shows."""

from kgroups.spectrum.chebyshev import ThinBlock, growth_of
from kgroups.spectrum.count import ComponentCounts, count_components
from kgroups.spectrum.eigenpairs import (
    PartialEigenpairsError,
    all_eigenvalues,
    lanczos_pairs,
    largest_eigenpairs,
    start_vector,
    top_eigenpairs,
)
from kgroups.spectrum.estimate import (
    Spectrum,
    estimate_k,
    spectrum_of_graph,
)
from kgroups.spectrum.moments import Moments, has_structure, moments
from kgroups.spectrum.operators import (
    R_CHOICES,
    BetheHessian,
    BoundBetheHessian,
    BoundOperator,
    Operator,
    check_operator,
    degrees_are_uneven,
)
from kgroups.spectrum.subspace import Leading, edge_of_noise, leading_pairs

__all__ = [
    "R_CHOICES",
    "BetheHessian",
    "BoundBetheHessian",
    "BoundOperator",
    "ComponentCounts",
    "Leading",
    "Moments",
    "Operator",
    "PartialEigenpairsError",
    "Spectrum",
    "ThinBlock",
    "all_eigenvalues",
    "check_operator",
    "count_components",
    "degrees_are_uneven",
    "edge_of_noise",
    "estimate_k",
    "growth_of",
    "has_structure",
    "lanczos_pairs",
    "largest_eigenpairs",
    "leading_pairs",
    "moments",
    "spectrum_of_graph",
    "start_vector",
    "top_eigenpairs",
]
