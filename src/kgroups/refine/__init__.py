"""Methods that refine labels on a graph: the protocol, and Hartigan moves."""

from kgroups.refine.refinement import (
    Hartigan,
    Refinement,
    RefinementProblem,
    Refiner,
    planted_fit,
    refine_labels,
)

__all__ = [
    "Hartigan",
    "Refinement",
    "RefinementProblem",
    "Refiner",
    "planted_fit",
    "refine_labels",
]
