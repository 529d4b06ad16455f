"""The spectrum of N_r: components, eigenpairs, and the number of communities it shows."""

from kgroups.spectrum.components import connected_components, two_core
from kgroups.spectrum.count import ComponentCounts, count_components
from kgroups.spectrum.estimate import (
    DeferredSpectrum,
    Spectrum,
    estimate_k,
    spectrum_of,
    warnings_of,
)
from kgroups.spectrum.filtered import Leading, leading_pairs
from kgroups.spectrum.lanczos import top_eigenpairs
from kgroups.spectrum.moments import Moments, moments
from kgroups.spectrum.structure import Verdict, has_structure

__all__ = [
    "ComponentCounts",
    "DeferredSpectrum",
    "Leading",
    "Moments",
    "Spectrum",
    "Verdict",
    "connected_components",
    "count_components",
    "estimate_k",
    "has_structure",
    "leading_pairs",
    "moments",
    "spectrum_of",
    "top_eigenpairs",
    "two_core",
    "warnings_of",
]
