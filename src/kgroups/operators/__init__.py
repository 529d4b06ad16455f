"""Operators on a graph: the Bethe Hessian H_r, its normalized form N_r, and the choices of r."""

from kgroups.operators.bethe_hessian import (
    R_CHOICES,
    BetheHessian,
    BoundBetheHessian,
    degrees_are_uneven,
)

__all__ = ["R_CHOICES", "BetheHessian", "BoundBetheHessian", "degrees_are_uneven"]
