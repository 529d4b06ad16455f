r"""The best two classes of numbers by energy statistics, with :math:`\rho(x, y) = |x - y|`.

The classes are intervals; the section "On a line" of the theory page proves what this rests on.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgroups._types import Floats, Ints
from kgroups.energy.points import as_numbers, as_weights, check_finite
from kgroups.errors import InputError


@dataclass(frozen=True, eq=False)
class LineSplit:
    """Two classes of numbers, the lower ones and the higher ones.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        0 for the lower class, 1 for the higher, in the order of the numbers given.
    threshold : float
        Numbers above it are in the higher class.
    within_energy : float
        W of the two classes, the least there is.
    """

    labels: Ints
    threshold: float
    within_energy: float


def split_line(x: npt.ArrayLike, *, weights: npt.ArrayLike | None = None) -> LineSplit:
    r"""Return the two classes of numbers with the least within-energy.

    .. math:: W = \sum_{a = 1}^{2} \frac{1}{2 s_a} \sum_{z_i = z_j = a} w_i w_j |x_i - x_j|

    Parameters
    ----------
    x : array_like of shape (n,)
        Finite numbers, at least two.
    weights : array_like of shape (n,), optional
        Weights >= 0, by default 1 each, of which at least two are positive. A number of weight 0
        does not count and is labeled by the threshold.

    Returns
    -------
    LineSplit
        Labels, threshold and within-energy. Among equally good splits the leftmost.

    See Also
    --------
    kernel_kgroups : Any number of classes, by moves from first labels.

    Notes
    -----
    Time :math:`O(n \log n)` to sort; the energies of all splits come from running sums without
    subtraction. Equal numbers share a class unless all numbers are equal.

    Examples
    --------
    >>> split = split_line([0.0, 10.0, 1.0, 11.0, 12.0])
    >>> split.labels
    array([0, 1, 0, 1, 1])
    >>> split.threshold
    5.5
    >>> round(split.within_energy, 4)
    1.8333
    """
    x = as_numbers(x, "x")
    if x.ndim != 1:
        msg = (
            f"x must have one dimension, got shape {x.shape}.\n"
            "  Pass a single column, for instance X[:, 0]."
        )
        raise InputError(msg)
    check_finite(x, "x")
    w = as_weights(weights, x.size, name="weights")
    place = np.flatnonzero(w > 0)
    if place.size < 2:
        msg = f"x must hold at least two numbers of positive weight, got {place.size}."
        raise InputError(msg)
    place = place[np.argsort(x[place], kind="stable")]
    ordered, w = x[place], w[place]
    # Where each distinct number begins. If all are equal, the first is the lower class.
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    cut, energy = 1, 0.0
    if first.size > 1:
        # Scaling by powers of two is exact and avoids overflow.
        length = int(np.frexp(np.abs(ordered[[0, -1]]).max())[1]) + 1
        mass = int(np.frexp(w.max())[1])
        gaps = np.diff(np.ldexp(ordered[first], -length))
        weight = np.add.reduceat(np.ldexp(w, -mass), first)
        energies = _prefix_energies(gaps, weight) + _prefix_energies(gaps[::-1], weight[::-1])[::-1]
        best = int(np.argmin(energies))
        cut, energy = int(first[best + 1]), float(np.ldexp(energies[best], length + mass))
    below, above = ordered[cut - 1], ordered[cut]
    middle = below / 2 + above / 2
    # Between adjacent or equal floats there is no other: take the lower one.
    threshold = middle if below < middle < above else below
    labels = (x > threshold).astype(np.int64)
    labels[place] = np.arange(place.size) >= cut
    return LineSplit(labels, float(threshold), energy)


def _prefix_energies(gaps: Floats, weight: Floats) -> Floats:
    """Return the within-energy of the first 1, 2, ... points, all but the last."""
    total = np.cumsum(weight[:-1])
    reach = np.concatenate([[0.0], np.cumsum(total[:-1] * gaps[:-1])])
    pairs = np.cumsum(weight[:-1] * reach)
    energies: Floats = np.divide(pairs, total, out=np.zeros_like(total), where=total > 0)
    return energies
