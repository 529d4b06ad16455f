"""The scale of a set of points: the median distance between two of them."""

import math
from typing import Any

import numpy as np

from kgroups.energy.distances import squared_distances
from kgroups.energy.points import as_points
from kgroups.errors import InputError

__all__ = ["median_distance"]

# Points of which all pairs are compared, half a million distances. On mixtures of 5,000 and 10,000
# points in 2 to 50 dimensions the median of the sample was within 4% of that of all pairs.
_SAMPLE = 1000


def median_distance(X: Any, family: str = "Gaussian") -> float:
    """Return the median Euclidean distance between two distinct rows.

    Equal rows count once, so that copies of a row are the same as a row with a weight. Of more
    than 1,000 distinct rows a fixed sample is taken, which does not depend on their order. Messages
    advise a semimetric of the family.

    Raises
    ------
    InputError
        If all rows are equal, or the median is 0 or infinite by rounding.
    """
    # Minus zero equals zero: which of the two came first must not show.
    given = as_points(X) + 0.0
    points = np.unique(given, axis=0)
    if len(points) < 2:
        got = "1 sample" if len(given) == 1 else f"{len(given)} samples with 1 distinct row"
        msg = (
            f'sigma="median" must have two distinct points or more, got {got}.\n'
            f"  Pass a number for sigma, for instance metric={family}(sigma=1.0)."
        )
        raise InputError(msg)
    if len(points) > _SAMPLE:
        points = np.random.default_rng(0).choice(points, _SAMPLE, replace=False)
    squares, unit = squared_distances(points)
    with np.errstate(over="ignore"):
        median = unit * float(np.median(np.sqrt(squares[np.triu_indices(len(points), 1)])))
    if not 0.0 < median < math.inf:
        msg = (
            f'sigma="median" must find a finite distance above 0, got {median}: most distances are '
            "too small beside the largest coordinate, or too large, for floats.\n"
            "  Rescale the points, remove outliers, or pass a number for sigma, "
            f"metric={family}(sigma=...)."
        )
        raise InputError(msg)
    return median
