"""Operators on a graph: the Bethe Hessian, its normalised twin, the non-backtracking radius."""

from kgroups.operators.bethe_hessian import BetheHessian
from kgroups.operators.bound import BoundBetheHessian

__all__ = ["BetheHessian", "BoundBetheHessian"]
