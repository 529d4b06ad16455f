"""Metrics that count nodes or pairs of nodes: accuracy, overlap, adjusted Rand index."""

from typing import Any

import numpy as np

from kgroups._types import Ints
from kgroups.metrics.contingency import Contingency, contingency

# Larger tables are matched sparsely. Below, the dense matching is four times as fast or more.
_MAX_DENSE_CELLS = 1_000_000


def accuracy(truth: Any, labels: Any) -> float:
    """Return the fraction of nodes that the best matching of groups with classes puts right.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.

    Returns
    -------
    float
        From 0 to 1; 1.0 for two empty labelings.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    Each group is matched with at most one class and each class with at most one group, so that
    the sum of the matched counts is largest (rectangular assignment). Nodes of a group or of a
    class that stays unmatched count as wrong.

    Examples
    --------
    >>> accuracy([0, 0, 0, 1, 1], ["b", "b", "a", "a", "a"])
    0.8
    >>> accuracy([0, 0, 0, 0], [0, 0, 1, 2])
    0.5
    """
    table = contingency(truth, labels)
    return matched_nodes(table) / table.n if table.n else 1.0


def overlap(truth: Any, labels: Any) -> float:
    r"""Return the accuracy rescaled so that one label for all equal classes gives 0.

    .. math:: \frac{\mathrm{accuracy} - 1/k}{1 - 1/k}

    with k the number of classes of the truth.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.

    Returns
    -------
    float
        1 for a perfect match. Below 0 when the accuracy is below 1/k, as with very many groups.
        With one class in the truth, where the formula divides by zero: 1.0 for a perfect match
        and 0.0 for anything else. 1.0 for two empty labelings.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Examples
    --------
    >>> overlap([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> overlap([0, 0, 1, 1], [0, 0, 0, 1])
    0.5
    >>> overlap([0, 0, 1, 1], [0, 0, 0, 0])
    0.0
    """
    table = contingency(truth, labels)
    if table.is_match:
        return 1.0
    k = table.row_sums.size
    if k == 1:
        return 0.0
    # Integers up to the last division, so that exact values come out exact.
    return (k * matched_nodes(table) - table.n) / (table.n * (k - 1))


def ari(truth: Any, labels: Any) -> float:
    """Return the Rand index, adjusted so that chance gives 0 and a perfect match 1.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.

    Returns
    -------
    float
        At most 1. Symmetric in its arguments. 1.0 for two empty labelings.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    Hubert and Arabie's form, with pairs counted in integers; equal to
    ``sklearn.metrics.adjusted_rand_score``.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    table = contingency(truth, labels)
    if table.is_match:
        return 1.0
    both, same_class, same_group = map(_n_pairs, (table.counts, table.row_sums, table.column_sums))
    pairs = table.n * (table.n - 1) // 2
    # Both sides of (both - expected) / (mean - expected) times 2 * pairs: whole numbers of any
    # length in Python, so that nothing overflows or cancels.
    product = 2 * same_class * same_group
    return (2 * pairs * both - product) / (pairs * (same_class + same_group) - product)


def _n_pairs(counts: Ints) -> int:
    return sum(count * (count - 1) // 2 for count in counts.tolist())


def matched_nodes(table: Contingency, *, max_dense_cells: int = _MAX_DENSE_CELLS) -> int:
    """Return how many nodes the best one-to-one matching of classes and groups puts right."""
    if table.is_match:
        return table.n
    settled = 0
    if table.shape[0] * table.shape[1] > max_dense_cells:
        settled, table = _settle(table)
    is_dense = table.shape[0] * table.shape[1] <= max_dense_cells
    return settled + (_match_dense(table) if is_dense else _match_sparse(table))


def _settle(cells: Contingency) -> tuple[int, Contingency]:
    """Match what needs no search; return its nodes, and the rest as a smaller table.

    Of all classes that lie within one and the same group, one at most can be matched with it:
    the largest. The same holds for groups within one class. Without the others, a class and a
    group that share nodes only with each other are a match.
    """
    useful = np.ones(cells.counts.size, bool)
    for inner, outer in ((cells.rows, cells.columns), (cells.columns, cells.rows)):
        within = np.flatnonzero(np.bincount(inner)[inner] == 1)
        best_last = within[np.lexsort((cells.counts[within], outer[within]))]
        beaten = outer[best_last][:-1] == outer[best_last][1:]
        useful[best_last[:-1][beaten]] = False
    left = cells.where(useful)
    alone = (np.bincount(left.rows)[left.rows] == 1) & (
        np.bincount(left.columns)[left.columns] == 1
    )
    searched = left.where(~alone)
    row_names, rows = np.unique(searched.rows, return_inverse=True)
    column_names, columns = np.unique(searched.columns, return_inverse=True)
    shape = (row_names.size, column_names.size)
    return int(left.counts[alone].sum()), Contingency(rows, columns, searched.counts, shape)


def _match_dense(cells: Contingency) -> int:
    from scipy.optimize import linear_sum_assignment

    table = np.zeros(cells.shape)
    table[cells.rows, cells.columns] = cells.counts
    rows, columns = linear_sum_assignment(table, maximize=True)
    return int(table[rows, columns].sum())


def _match_sparse(cells: Contingency) -> int:
    from scipy import sparse
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_columns = cells.shape
    # An extra column for each row lets the row stay unmatched. All entries are raised by 1, because
    # a zero entry would be no edge; each row has one match, so that all sums rise by the same.
    own = np.arange(n_rows)
    entries = np.concatenate([cells.counts + 1, np.ones(n_rows, np.int64)]).astype(float)
    ends = (np.concatenate([cells.rows, own]), np.concatenate([cells.columns, n_columns + own]))
    graph = sparse.coo_array((entries, ends), shape=(n_rows, n_columns + n_rows))
    matched_rows, matched_columns = min_weight_full_bipartite_matching(
        sparse.csr_array(graph), maximize=True
    )
    chosen = np.full(n_rows, -1, np.int64)
    chosen[matched_rows] = matched_columns
    return int(cells.counts[chosen[cells.rows] == cells.columns].sum())
