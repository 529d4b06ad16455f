r"""Best clusterings of numbers by energy statistics, with :math:`\rho(x, y) = |x - y|`.

The classes of a best clustering are intervals, found by dynamic programming; the section "On a
line" of the theory page proves what this rests on.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgroups._types import Floats, Ints
from kgroups._validation import check_integer
from kgroups.energy._line_nb import fill_starts, fill_table
from kgroups.energy.points import as_numbers, as_weights, check_finite
from kgroups.errors import InputError, NumberOfCommunitiesError


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


@dataclass(frozen=True, eq=False)
class LineSegments:
    """Classes of numbers, each an interval, numbered from left to right.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Class of each number in ``range(k)``, in the order of the numbers given.
    k : int
        Number of classes; none is empty.
    thresholds : ndarray of shape (k - 1,)
        The class of a number is the number of thresholds below it.
    within_energy : float
        W of the classes, the least there is.
    """

    labels: Ints
    k: int
    thresholds: Floats
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
    segment_line : Any number of classes.

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
    points = _Points.from_input(x, weights, k=2)
    if points.first.size == 1:
        cuts, energy = points.cuts(2), 0.0
    else:
        gaps, weight = np.diff(points.value), points.weight
        energies = _prefix_energies(gaps, weight) + _prefix_energies(gaps[::-1], weight[::-1])[::-1]
        best = int(np.argmin(energies))
        cuts, energy = points.first[best + 1 : best + 2], float(energies[best])
    labels, thresholds = points.classes(cuts)
    return LineSplit(labels, float(thresholds[0]), float(np.ldexp(energy, points.exponent)))


def segment_line(x: npt.ArrayLike, k: int, *, weights: npt.ArrayLike | None = None) -> LineSegments:
    r"""Return the ``k`` intervals of numbers with the least within-energy.

    .. math:: W = \sum_{a = 1}^{k} \frac{1}{2 s_a} \sum_{z_i = z_j = a} w_i w_j |x_i - x_j|

    Parameters
    ----------
    x : array_like of shape (n,)
        Finite numbers.
    k : int
        Number of classes, at most the number of numbers with positive weight.
    weights : array_like of shape (n,), optional
        Weights >= 0, by default 1 each. A number of weight 0 does not count and is labeled by the
        thresholds.

    Returns
    -------
    LineSegments
        Labels, thresholds and within-energy.

    See Also
    --------
    split_line : Two classes, without tables.

    Notes
    -----
    Dynamic programming over the last interval, whose best start does not fall as its end rises:
    time :math:`O(k\, n \log n)`, memory :math:`O(n \log n + k\, n)`. The energy of any interval
    comes in constant time from tables of sums without cancellation. Equal numbers share a class
    unless ``k`` exceeds the number of distinct ones.

    Examples
    --------
    >>> found = segment_line([7.0, 0.0, 1.0, 20.0, 8.0, 21.0], 3)
    >>> found.labels
    array([1, 0, 0, 2, 1, 2])
    >>> found.thresholds
    array([ 4., 14.])
    >>> found.within_energy
    1.5
    """
    points = _Points.from_input(x, weights, k=k)
    if k >= points.first.size:
        cuts, energy = points.cuts(k), 0.0
    else:
        starts, energy = _best_starts(points.value, points.weight, k)
        cuts = points.first[starts]
    labels, thresholds = points.classes(cuts)
    return LineSegments(labels, int(k), thresholds, float(np.ldexp(energy, points.exponent)))


def _prefix_energies(gaps: Floats, weight: Floats) -> Floats:
    """Return the within-energy of the first 1, 2, ... points, all but the last."""
    total = np.cumsum(weight[:-1])
    reach = np.concatenate([[0.0], np.cumsum(total[:-1] * gaps[:-1])])
    pairs = np.cumsum(weight[:-1] * reach)
    energies: Floats = np.divide(pairs, total, out=np.zeros_like(total), where=total > 0)
    return energies


def _best_starts(value: Floats, weight: Floats, k: int) -> tuple[Ints, float]:
    """Return where the second and later of the best ``k`` intervals start, and their energy."""
    n = value.size
    levels = (n - 1).bit_length()
    table = np.zeros((levels, n, 3))
    fill_table(value, weight, table)
    # The level of two points is the highest bit in which their positions differ.
    level = np.repeat(np.arange(-1, levels), [1, *(1 << np.arange(levels))])
    start = np.zeros((k, n), dtype=np.int32)
    stack = np.empty((levels + 2, 4), dtype=np.int64)
    energy = fill_starts(table, level, stack, np.empty(n), np.empty(n), start)
    starts = np.empty(k, dtype=np.int64)
    end = n - 1
    for a in range(k - 1, -1, -1):
        starts[a] = start[a, end]
        end = starts[a] - 1
    return starts[1:], float(energy)


@dataclass(frozen=True, eq=False)
class _Points:
    """The numbers given, and the sorted distinct ones among those that count.

    ``value`` and ``weight`` are scaled by powers of two, which is exact and avoids overflow.
    """

    x: Floats
    place: Ints
    first: Ints
    value: Floats
    weight: Floats
    exponent: int

    @classmethod
    def from_input(cls, x: npt.ArrayLike, weights: npt.ArrayLike | None, *, k: object) -> "_Points":
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
        if check_integer("k", k, error=NumberOfCommunitiesError) > place.size:
            msg = (
                f"k must not exceed the number of points with positive weight, got k={k} for "
                f"{place.size} such points: that many non-empty classes cannot be made of them."
            )
            raise NumberOfCommunitiesError(msg)
        place = place[np.argsort(x[place], kind="stable")]
        ordered, w = x[place], w[place]
        first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        size = int(np.frexp(np.abs(ordered[[0, -1]]).max())[1]) + 1
        heft = int(np.frexp(w.max())[1])
        value = np.ldexp(ordered[first], -size)
        weight = np.add.reduceat(np.ldexp(w, -heft), first)
        return cls(x, place, first, value, weight, size + heft)

    def cuts(self, k: int) -> Ints:
        """Return cuts between all distinct numbers, and between equal ones until they are k - 1."""
        between_equal = np.setdiff1d(np.arange(1, self.place.size), self.first)
        return np.sort(np.concatenate([self.first[1:], between_equal[: k - self.first.size]]))

    def classes(self, cuts: Ints) -> tuple[Ints, Floats]:
        """Return labels and thresholds of the classes that start at ``cuts`` in sorted order."""
        below, above = self.x[self.place[cuts - 1]], self.x[self.place[cuts]]
        middle = below / 2 + above / 2
        # Between adjacent or equal floats there is no other: take the lower one.
        thresholds = np.where((middle > below) & (middle < above), middle, below)
        labels = np.searchsorted(thresholds, self.x, side="left")
        sizes = np.diff(cuts, prepend=0, append=self.place.size)
        labels[self.place] = np.repeat(np.arange(sizes.size), sizes)
        return labels, thresholds
