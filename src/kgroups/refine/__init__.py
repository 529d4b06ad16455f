"""Refinement of labels: the protocol of a method, and Hartigan moves with a guard."""

from kgroups.refine.likelihood import planted_fit
from kgroups.refine.refinement import Hartigan, Refinement, Refiner, refine_labels, refine_whole

__all__ = ["Hartigan", "Refinement", "Refiner", "planted_fit", "refine_labels", "refine_whole"]
