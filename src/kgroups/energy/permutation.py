"""Permutation test of equal distributions by the between-sample energy statistic."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from kgroups._doors import RngLike, as_rng, check_count
from kgroups._progress import Progress, counted_progress
from kgroups._types import Floats, Indices, Ints
from kgroups.energy.arguments import MetricLike, SemimetricLike, is_matrix
from kgroups.energy.points import as_points
from kgroups.energy.semimetrics import Power
from kgroups.energy.statistics import row_labels
from kgroups.energy.strips import Pairs, pairs_of, strips
from kgroups.errors import InputError

__all__ = ["EnergyTest", "equal_distribution_test", "permutation_test"]

# Numbers in one matrix of indicators: 32 MB.
_INDICATORS = 1 << 22
# Labels of permutations held at a time; beyond, the semimetric is computed once more.
_LABELS = 1 << 25
# Labellings that only exchange equal points differ by rounding: this share of S + W.
_TIE = 1e-12


@dataclass(frozen=True)
class EnergyTest:
    """What a permutation test found.

    Attributes
    ----------
    statistic : float
        Between-sample energy statistic S of the samples as they are.
    p_value : float
        Share of labellings, the one given included, that have an S as large:
        ``(1 + count) / (1 + permutations)``.
    permutations : int
        Number of random labellings.
    sizes : tuple of int
        Number of points of each sample.
    """

    statistic: float
    p_value: float
    permutations: int
    sizes: tuple[int, ...]


def equal_distribution_test(
    *samples: npt.ArrayLike,
    metric: SemimetricLike = Power(),
    permutations: int = 999,
    rng: RngLike = None,
    progress: Progress = None,
) -> EnergyTest:
    r"""Test whether samples come from one distribution.

    Parameters
    ----------
    *samples : array_like of shape (n_a, D)
        Two or more samples, a point in each row; numbers alone are points on a line.
    metric : Semimetric, str or callable
        The semimetric :math:`\rho`, or its name as for :func:`as_semimetric`. The test sees
        every difference between distributions with ``Power(alpha)`` for alpha below 2,
        ``Exponential`` and ``Gaussian``; with ``Power(2)`` differences between means only.
    permutations : int
        Number of random labellings to compare with; the smallest p-value possible is
        ``1 / (1 + permutations)``.
    rng : int, Generator or None
        Source of the labellings; ``None`` is a fixed one.
    progress : "bar", callable or None
        A bar on a terminal, or a function of the work done and the total in permutations.

    Returns
    -------
    EnergyTest
        ``statistic``, ``p_value``, ``permutations`` and ``sizes``.

    Raises
    ------
    InputError
        If there are fewer than two samples, or they differ in their number of columns.

    See Also
    --------
    permutation_test : The same for points with labels, and for matrices of distances.

    Notes
    -----
    Under the hypothesis the labels of the pooled points are exchangeable, so that the p-value is
    at most u with a probability of at most u, whatever the distribution. Neither all distances
    nor all labellings are held at a time; the work is one product of both, :math:`O(n^2 k)` for
    each labelling.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y, z = rng.normal(size=50), rng.normal(size=60), rng.normal(1.0, size=50)
    >>> equal_distribution_test(x, y).p_value
    0.541
    >>> equal_distribution_test(x, y, z).p_value
    0.001
    """
    if len(samples) < 2:
        msg = (
            f"a test of equal distributions must have two samples or more, got {len(samples)}.\n"
            "  Pass each sample as an argument of its own, or labelled points to "
            "permutation_test(X, labels)."
        )
        raise InputError(msg)
    if is_matrix(metric):
        msg = (
            f"metric must be a semimetric or a function of two points here, got {metric!r}.\n"
            "  For a matrix of all points with labels there is permutation_test(X, labels, "
            f"metric={metric!r})."
        )
        raise InputError(msg)
    tables = [as_points(sample, name=f"sample {a}") for a, sample in enumerate(samples)]
    for a, table in enumerate(tables):
        if table.shape[1] != tables[0].shape[1]:
            msg = (
                f"all samples must have the same number of columns, got {tables[0].shape[1]} in "
                f"sample 0 and {table.shape[1]} in sample {a}."
            )
            raise InputError(msg)
    z = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    pairs = pairs_of(np.concatenate(tables), metric, pattern="row {} of all samples")
    return _test(pairs, z, permutations, rng, progress)


def permutation_test(
    X: npt.ArrayLike,
    labels: Any,
    *,
    metric: MetricLike = Power(),
    permutations: int = 999,
    rng: RngLike = None,
    progress: Progress = None,
) -> EnergyTest:
    """Test whether points with different labels come from one distribution.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n)
        A point in each row, or the matrix that ``metric`` says.
    labels : array_like of shape (n,)
        The sample of each row, two or more in all: numbers or strings.
    metric : Semimetric, str or callable
        The semimetric or its name, as for :func:`as_semimetric`; or what X holds already:
        ``"precomputed"`` for the semimetric between all points, ``"gram"`` for a kernel.
    permutations, rng, progress
        As :func:`equal_distribution_test` takes them.

    Returns
    -------
    EnergyTest
        The sizes are those of the sorted labels.

    Raises
    ------
    InputError
        If all labels are equal, or there is not one for each row.

    Examples
    --------
    >>> D = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    >>> permutation_test(D, list("aaaaabbbbb"), metric="precomputed", permutations=99)
    EnergyTest(statistic=8.5, p_value=0.02, permutations=99, sizes=(5, 5))
    """
    pairs = pairs_of(X, metric)
    z = row_labels(labels, pairs.n)
    if z.max() == 0:
        msg = "labels must name two samples or more, got one label for all rows of X."
        raise InputError(msg)
    return _test(pairs, z, permutations, rng, progress)


def _test(pairs: Pairs, z: Ints, permutations: int, rng: RngLike, progress: Progress) -> EnergyTest:
    sizes = np.bincount(z)
    count = check_count("permutations", permutations)
    S: Floats = np.empty(0)
    energy = 0.0
    with counted_progress(progress, count, "permutation") as show:
        for labellings in _labellings(z, count, as_rng(rng)):
            found, energy = _statistics(pairs, labellings, sizes, partial(_tell, show, S.size))
            S = np.concatenate([S, found])
    as_large = int(np.count_nonzero(S[1:] >= S[0] - _TIE * abs(energy)))
    # Adding 0 makes 0 of minus 0.
    return EnergyTest(float(S[0]) + 0.0, (1 + as_large) / (1 + count), count, tuple(sizes.tolist()))


def _labellings(z: Ints, count: int, rng: np.random.Generator) -> Iterator[Indices]:
    """Yield the labels and then permutations of them, a labelling per row, many at a time."""
    compact = z.astype(np.min_scalar_type(int(z.max())))
    most = max(1, _LABELS // z.size)
    for first in range(0, count + 1, most):
        some = np.tile(compact, (min(most, count + 1 - first), 1))
        drawn = some[1:] if first == 0 else some
        rng.permuted(drawn, axis=1, out=drawn)
        yield some


def _statistics(
    pairs: Pairs, labels: Indices, sizes: Ints, tell: Callable[[float], None]
) -> tuple[Floats, float]:
    r"""Return S of each labelling, and S + W, which all of them have in common.

    With :math:`B = -\tfrac12 J D J` the kernel whose base point is the mean of all points and z_a
    the indicator of sample a, :math:`S = \sum_a z_a^T B z_a / n_a`. As B takes constants to 0, the
    last sample has the same form as all others together and needs no product of its own.
    """
    count, n = labels.shape
    others = sizes[:-1]
    step = max(1, _INDICATORS // (n * others.size))
    blocks = [slice(first, first + step) for first in range(0, count, step)]
    form, together = np.zeros((count, others.size)), np.zeros(count)
    row_sums = np.zeros(n)
    done = 0.0
    for rows, inner, later, outer in strips(pairs):
        row_sums[rows] += inner.sum(axis=1) + outer.sum(axis=1)
        row_sums[later] += outer.sum(axis=0)
        for some in blocks:
            Z = _indicators(labels[some, rows], others.size)
            product = _times(Z, inner) + 2.0 * _times(
                _indicators(labels[some, later], others.size), outer.T
            )
            form[some] += np.einsum("pai,pai->pa", Z, product)
            together[some] += np.einsum("pi,pi->p", Z.sum(axis=1), product.sum(axis=1))
            done += len(Z) * inner.shape[0] * (inner.shape[1] + 2 * outer.shape[1]) / n**2
            tell(done)
    means, mean = row_sums / n, float(row_sums.sum()) / n**2
    linear = np.concatenate(
        [_times(_indicators(labels[some], others.size), means) for some in blocks]
    )
    last, rest = int(sizes[-1]), n - int(sizes[-1])
    form += others * (others * mean - 2.0 * linear)
    together += rest * (rest * mean - 2.0 * linear.sum(axis=1))
    S: Floats = -0.5 * (np.sum(form / others, axis=1) + together / last)
    return S, 0.5 * n * mean


def _indicators(labels: Indices, k: int) -> Floats:
    """Return for each labelling, each of the first ``k`` samples and each point 1.0 or 0.0."""
    samples = np.arange(k).astype(labels.dtype)
    Z: Floats = (labels[:, None, :] == samples[:, None]).astype(np.float64)
    return Z


def _times(Z: Floats, M: Floats) -> Floats:
    """Return ``Z @ M`` by a single product of two matrices."""
    count, k, n = Z.shape
    product: Floats = (Z.reshape(count * k, n) @ M).reshape(count, k, *M.shape[1:])
    return product


def _tell(show: Callable[[int], Any], before: int, done: float) -> None:
    show(before + round(done))
