"""Permutation test of equal distributions by the between-sample energy statistic."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kgroups._progress import Progress, counted_progress
from kgroups._types import Floats, Indices, Ints
from kgroups._validation import RngLike, as_rng, check_integer
from kgroups.energy.points import as_points
from kgroups.energy.semimetrics import MetricLike, Power, SemimetricLike, is_matrix
from kgroups.energy.statistics import Pairs, pairs_of, row_labels
from kgroups.errors import InputError

# Entries of one matrix of indicators: 32 MB.
_INDICATOR_ENTRIES = 1 << 22
# Labels of permutations held at a time; with more, the semimetric is computed once more.
_LABEL_ENTRIES = 1 << 25
# Labelings that only exchange equal points differ by rounding: this fraction of S + W.
_TIE = 1e-12


@dataclass(frozen=True)
class EnergyTest:
    """Result of a permutation test.

    Attributes
    ----------
    statistic : float
        Between-sample energy statistic S of the samples as given.
    p_value : float
        Fraction of labelings, the one given included, whose S is at least as large:
        ``(1 + count) / (1 + permutations)``.
    permutations : int
        Number of random labelings.
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
    progress: Progress = False,
) -> EnergyTest:
    r"""Test whether samples come from one distribution.

    Parameters
    ----------
    *samples : array_like of shape (n_a, D)
        Two or more samples, a point in each row; n numbers are n points on a line.
    metric : Semimetric, str or callable
        The semimetric :math:`\rho`, or its name as for :func:`as_semimetric`. The test
        detects every difference between distributions with ``Power(alpha)`` for alpha below 2,
        ``Exponential`` and ``Gaussian``; with ``Power(2)`` differences between means only.
    permutations : int
        Number of random labelings to compare with; the smallest p-value possible is
        ``1 / (1 + permutations)``.
    rng : int, Generator or None
        Draws the labelings; ``None`` is a fixed stream.
    progress : bool or callable
        A bar on a terminal, or a function of the work done and the total in permutations.

    Returns
    -------
    EnergyTest
        ``statistic``, ``p_value``, ``permutations`` and ``sizes``.

    See Also
    --------
    permutation_test : The same for points with labels, and for matrices of distances.

    Notes
    -----
    Under the null hypothesis the labels of the pooled points are exchangeable, so that the
    p-value is at most u with a probability of at most u, whatever the distribution. Neither all
    distances nor all labelings are held at a time; the work is one product of both,
    :math:`O(n^2 k)` for each labeling.

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
            "  Pass each sample as an argument of its own, or labeled points to "
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
    return run_permutations(pairs, z, permutations, rng, progress)


def permutation_test(
    X: npt.ArrayLike,
    labels: Any,
    *,
    metric: MetricLike = Power(),
    permutations: int = 999,
    rng: RngLike = None,
    progress: Progress = False,
) -> EnergyTest:
    """Test whether points with different labels come from one distribution.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n)
        A point in each row, or a matrix as ``metric`` says.
    labels : array_like of shape (n,)
        The sample of each row, two or more in all: numbers or strings.
    metric : Semimetric, str or callable
        As for :func:`within_energy`.
    permutations, rng, progress
        As for :func:`equal_distribution_test`.

    Returns
    -------
    EnergyTest
        With the sizes of the samples in the order of their sorted labels.

    Examples
    --------
    >>> D = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    >>> permutation_test(D, list("aaaaabbbbb"), metric="precomputed", permutations=99)
    EnergyTest(statistic=8.5, p_value=0.02, permutations=99, sizes=(5, 5))
    """
    pairs = pairs_of(X, metric)
    z = row_labels(labels, len(pairs))
    if z.max() == 0:
        msg = "labels must name two samples or more, got one label for all rows of X."
        raise InputError(msg)
    return run_permutations(pairs, z, permutations, rng, progress)


def run_permutations(
    pairs: Pairs,
    z: Ints,
    permutations: int,
    rng: RngLike,
    progress: Progress,
    *,
    label_entries: int = _LABEL_ENTRIES,
    indicator_entries: int = _INDICATOR_ENTRIES,
) -> EnergyTest:
    """Run the permutation test of labels ``z``; the entries bound its temporary arrays."""
    sizes = np.bincount(z)
    count = check_integer("permutations", permutations)
    S: Floats = np.empty(0)
    energy = 0.0
    with counted_progress(count, "permutation", progress=progress) as show:
        for labelings in permuted_labels(z, count, as_rng(rng), label_entries=label_entries):
            found, energy = statistics_of_labelings(
                pairs, labelings, sizes, show, before=S.size, indicator_entries=indicator_entries
            )
            S = np.concatenate([S, found])
    as_large = int(np.count_nonzero(S[1:] >= S[0] - _TIE * abs(energy)))
    # Adding 0 turns minus zero into zero.
    return EnergyTest(float(S[0]) + 0.0, (1 + as_large) / (1 + count), count, tuple(sizes.tolist()))


def permuted_labels(
    z: Ints, count: int, rng: np.random.Generator, *, label_entries: int = _LABEL_ENTRIES
) -> Iterator[Indices]:
    """Yield the labels and ``count`` permutations of them in batches, one labeling per row."""
    compact = z.astype(np.min_scalar_type(int(z.max())))
    most = max(1, label_entries // z.size)
    for first in range(0, count + 1, most):
        some = np.tile(compact, (min(most, count + 1 - first), 1))
        drawn = some[1:] if first == 0 else some
        rng.permuted(drawn, axis=1, out=drawn)
        yield some


def statistics_of_labelings(
    pairs: Pairs,
    labels: Indices,
    sizes: Ints,
    show: Callable[[int], Any],
    *,
    before: int = 0,
    indicator_entries: int = _INDICATOR_ENTRIES,
) -> tuple[Floats, float]:
    r"""Return S of each labeling, and S + W, which is the same for all of them.

    With :math:`B = -\tfrac12 J D J` the kernel whose base point is the mean of all points and z_a
    the indicator of sample a, :math:`S = \sum_a z_a^T B z_a / n_a`. As B maps constants to 0, the
    last sample has the same form as all others together and needs no product of its own. ``show``
    takes the number of labelings done, beginning with ``before``.
    """
    count, n = labels.shape
    others = sizes[:-1]
    step = max(1, indicator_entries // (n * others.size))
    blocks = [slice(first, first + step) for first in range(0, count, step)]
    form, together = np.zeros((count, others.size)), np.zeros(count)
    row_sums = np.zeros(n)
    done = 0.0
    for rows, inner, later, outer in pairs.strips():
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
            show(before + round(done))
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
    """Return 1.0 or 0.0 for each labeling, each of the first ``k`` samples and each point."""
    samples = np.arange(k).astype(labels.dtype)
    Z: Floats = (labels[:, None, :] == samples[:, None]).astype(np.float64)
    return Z


def _times(Z: Floats, M: Floats) -> Floats:
    """Return ``Z @ M`` as one product of two matrices, which is faster than a stack of them."""
    count, k, n = Z.shape
    product: Floats = (Z.reshape(count * k, n) @ M).reshape(count, k, *M.shape[1:])
    return product
