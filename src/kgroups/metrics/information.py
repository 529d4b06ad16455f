"""Metrics from information theory: NMI, AMI, variation of information (natural logarithms)."""

import math
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._validation import check_choice
from kgroups.metrics.contingency import Contingency, contingency

Average = Literal["arithmetic", "geometric"]
_AVERAGES = ("arithmetic", "geometric")
# Terms of the expected information per chunk; bounds the temporary arrays to some 200 MB.
_CHUNK_TERMS = 2_000_000


def nmi(truth: Any, labels: Any, *, average: Average = "arithmetic") -> float:
    r"""Return the normalized mutual information.

    .. math:: \mathrm{NMI} = \frac{I(T; L)}{\mathrm{mean}(H(T), H(L))}

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.
    average : {"arithmetic", "geometric"}
        Mean of the two entropies.

    Returns
    -------
    float
        From 0 to 1, symmetric in its arguments. 1.0 when both labelings are one group, or empty;
        0.0 when only one of them is one group.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    Equal to ``sklearn.metrics.normalized_mutual_info_score``. It is not adjusted for chance and
    grows with the number of groups: see :func:`ami`.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2], average="geometric"), 4)
    0.8165
    """
    check_choice("average", average, _AVERAGES)
    table = contingency(truth, labels)
    if table.is_match:
        return 1.0
    if table.row_sums.size == 1 or table.column_sums.size == 1:
        return 0.0
    return min(1.0, _mutual_information(table) / _mean_entropy(table, average))


def ami(truth: Any, labels: Any, *, average: Average = "arithmetic") -> float:
    r"""Return the mutual information adjusted so that chance gives 0 and a perfect match 1.

    .. math:: \mathrm{AMI} = \frac{I(T; L) - \mathbb{E} I}{\mathrm{mean}(H(T), H(L)) - \mathbb{E} I}

    with the expectation over all assignments of the nodes to groups of the same sizes.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.
    average : {"arithmetic", "geometric"}
        Mean of the two entropies.

    Returns
    -------
    float
        At most 1, symmetric in its arguments. 1.0 when both labelings are one group, or empty;
        0.0 when only one of them is one group.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    Equal to ``sklearn.metrics.adjusted_mutual_info_score``. The expectation depends on the sizes
    of the groups only, and is computed once for each pair of distinct sizes.

    Examples
    --------
    >>> ami([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(ami([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 4)
    0.2988
    """
    check_choice("average", average, _AVERAGES)
    table = contingency(truth, labels)
    if table.is_match:
        return 1.0
    rows, columns = table.row_sums, table.column_sums
    # With one group, or each node alone, every assignment has the same information.
    if {1, table.n} & {rows.size, columns.size}:
        return 0.0
    expected = expected_mutual_information(rows, columns)
    gained = _mutual_information(table) - expected
    return gained / (_mean_entropy(table, average) - expected)


def variation_of_information(truth: Any, labels: Any) -> float:
    r"""Return the variation of information, a distance between partitions.

    .. math:: \mathrm{VI} = H(T \mid L) + H(L \mid T)

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.

    Returns
    -------
    float
        In nats (divide by ``log(2)`` for bits): 0.0 for the same partition, at most ``log(n)``.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    A metric: symmetric, zero only for equal partitions, and it obeys the triangle inequality.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 2, 3]), 4)
    0.6931
    """
    table = contingency(truth, labels)
    if table.is_match:
        return 0.0
    of_class = table.counts / table.row_sums[table.rows]
    of_group = table.counts / table.column_sums[table.columns]
    return float(-(table.counts / table.n) @ (np.log(of_class) + np.log(of_group)))


def expected_mutual_information(
    rows: Ints, columns: Ints, *, chunk_terms: int = _CHUNK_TERMS
) -> float:
    """Return the mean mutual information of random tables with these row and column sums.

    Each cell is hypergeometric, so that its part depends on its row and column sum only: equal
    sums are taken together, which leaves at most ``sqrt(2 n)`` distinct ones on each side.
    """
    from scipy.special import gammaln

    n = int(rows.sum())
    log_factorial = gammaln(np.arange(1.0, n + 2.0))
    sizes_a, times_a = np.unique(rows, return_counts=True)
    sizes_b, times_b = np.unique(columns, return_counts=True)
    a, b = (grid.ravel() for grid in np.meshgrid(sizes_a, sizes_b, indexing="ij"))
    times = np.multiply.outer(times_a.astype(float), times_b).ravel()
    terms = np.cumsum(np.minimum(a, b) - np.maximum(0, a + b - n) + 1)
    cuts = np.flatnonzero(np.diff(terms // chunk_terms)) + 1
    total = 0.0
    for start, end in pairwise([0, *cuts.tolist(), a.size]):
        means = _expected_cells(a[start:end], b[start:end], n, log_factorial)
        total += float(times[start:end] @ means)
    return total


def _expected_cells(a: Ints, b: Ints, n: int, log_factorial: Floats) -> Floats:
    """Return the mean of ``x/n log(n x / (a b))`` for each hypergeometric cell ``x``."""
    low = np.maximum(0, a + b - n)
    lengths = np.minimum(a, b) - low + 1
    start = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    x = np.arange(lengths.sum()) + np.repeat(low - start, lengths)
    a_x, b_x = np.repeat(a, lengths), np.repeat(b, lengths)
    log_p = -(
        log_factorial[x]
        + log_factorial[a_x - x]
        + log_factorial[b_x - x]
        + log_factorial[n - a_x - b_x + x]
    )
    # The factors without x are left to the normalization, and their rounding errors with them.
    p = np.exp(log_p - np.repeat(np.maximum.reduceat(log_p, start), lengths))
    gain = np.zeros(x.size)
    some = x > 0
    gain[some] = x[some] / n * np.log(n * (x[some] / a_x[some]) / b_x[some])
    result: Floats = np.add.reduceat(p * gain, start) / np.add.reduceat(p, start)
    return result


def _mutual_information(table: Contingency) -> float:
    p = table.counts / table.n
    lift = p / (table.row_sums[table.rows] / table.n) / (table.column_sums[table.columns] / table.n)
    return max(0.0, float(p @ np.log(lift)))


def _mean_entropy(table: Contingency, average: Average) -> float:
    of_truth, of_labels = _entropy(table.row_sums), _entropy(table.column_sums)
    if average == "geometric":
        return math.sqrt(of_truth * of_labels)
    return (of_truth + of_labels) / 2


def _entropy(sizes: Ints) -> float:
    p = sizes / sizes.sum()
    return float(-p @ np.log(p))
