"""A semimetric applied to points, with errors that name rows as the caller knows them."""

from typing import Any

import numpy as np

from kgroups._types import Floats
from kgroups.energy.functions import check_values, values_across, values_within
from kgroups.energy.points import RowNames, as_numbers
from kgroups.energy.semimetrics import (
    Exponential,
    Gaussian,
    PairFunction,
    Power,
    Semimetric,
    check_columns,
)
from kgroups.errors import InputError

__all__ = ["is_family", "rho_between", "rho_within"]


def is_family(metric: Semimetric) -> bool:
    """Whether a semimetric is one of the three families: defined everywhere, safe in threads."""
    return type(metric) in (Power, Exponential, Gaussian)


def rho_within(metric: Semimetric, X: Floats, names: RowNames) -> Floats:
    """Return rho between all pairs of points: symmetric with a zero diagonal, in a new array."""
    if is_family(metric):
        return metric(X)
    if isinstance(metric, PairFunction):
        return values_within(metric.function, X, names)
    rho = _taken(metric, metric(X), (len(X), len(X)))
    np.fill_diagonal(rho, 0.0)
    check_values(rho, names, names)
    return rho


def rho_between(
    metric: Semimetric, X: Floats, Y: Floats, names: RowNames, others: RowNames
) -> Floats:
    """Return rho between all points of X and all of Y, in a new array."""
    if is_family(metric):
        return metric(X, Y)
    check_columns(X, Y)
    if isinstance(metric, PairFunction):
        return values_across(metric.function, X, Y, names, others)
    rho = _taken(metric, metric(X, Y), (len(X), len(Y)))
    check_values(rho, names, others)
    return rho


def _taken(metric: Semimetric, returned: Any, shape: tuple[int, int]) -> Floats:
    """Return a copy of what a semimetric has returned, which may be an array that it keeps."""
    rho = np.array(as_numbers(returned, f"what {type(metric).__name__} returns"))
    if rho.shape != shape:
        msg = (
            f"{type(metric).__name__} must return a row for each row of X and a column for each "
            f"of Y, here an array of shape {shape}, got shape {rho.shape}.\n"
            "  Correct its __call__; without Y, X takes its place."
        )
        raise InputError(msg)
    return rho
