"""Metrics that count nodes or pairs of nodes: accuracy, overlap, adjusted Rand index."""

from typing import Any

import numpy as np

from kgroups._types import Bools, Ints
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
    return int(table.counts[matched_cells(table, max_dense_cells=max_dense_cells)].sum())


def matched_cells(table: Contingency, *, max_dense_cells: int = _MAX_DENSE_CELLS) -> Bools:
    """Return which cells the best one-to-one matching of classes and groups consists of."""
    if table.is_match:
        return np.ones(table.counts.size, bool)
    if table.shape[0] * table.shape[1] <= max_dense_cells:
        return _match_dense(table)
    matched, places, rest = _settle(table)
    is_dense = rest.shape[0] * rest.shape[1] <= max_dense_cells
    matched[places[_match_dense(rest) if is_dense else _match_sparse(rest)]] = True
    return matched


def _settle(cells: Contingency) -> tuple[Bools, Ints, Contingency]:
    """Match what needs no search; return its cells, and the rest as a smaller table.

    The places of the cells of the smaller table come before it. Of all classes that lie within one
    and the same group, one at most can be matched with it: the largest. The same holds for groups
    within one class. Without the others, a class and a group that share nodes only with each other
    are a match.
    """
    useful = np.ones(cells.counts.size, bool)
    for inner, outer in ((cells.rows, cells.columns), (cells.columns, cells.rows)):
        within = np.flatnonzero(np.bincount(inner)[inner] == 1)
        best_last = within[np.lexsort((cells.counts[within], outer[within]))]
        beaten = outer[best_last][:-1] == outer[best_last][1:]
        useful[best_last[:-1][beaten]] = False
    left = np.flatnonzero(useful)
    rows, columns = cells.rows[left], cells.columns[left]
    alone = (np.bincount(rows)[rows] == 1) & (np.bincount(columns)[columns] == 1)
    settled = np.zeros(cells.counts.size, bool)
    settled[left[alone]] = True
    places = left[~alone]
    row_names, rows = np.unique(cells.rows[places], return_inverse=True)
    column_names, columns = np.unique(cells.columns[places], return_inverse=True)
    shape = (row_names.size, column_names.size)
    return settled, places, Contingency(rows, columns, cells.counts[places], shape)


def _match_dense(cells: Contingency) -> Bools:
    from scipy.optimize import linear_sum_assignment

    table = np.zeros(cells.shape)
    table[cells.rows, cells.columns] = cells.counts
    return _chosen_cells(cells, *linear_sum_assignment(table, maximize=True))


def _match_sparse(cells: Contingency) -> Bools:
    from scipy import sparse
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_columns = cells.shape
    # An extra column for each row lets the row stay unmatched. All entries are raised by 1, because
    # a zero entry would be no edge; each row has one match, so that all sums rise by the same.
    own = np.arange(n_rows)
    entries = np.concatenate([cells.counts + 1, np.ones(n_rows, np.int64)]).astype(float)
    ends = (np.concatenate([cells.rows, own]), np.concatenate([cells.columns, n_columns + own]))
    graph = sparse.coo_array((entries, ends), shape=(n_rows, n_columns + n_rows))
    matching = min_weight_full_bipartite_matching(sparse.csr_array(graph), maximize=True)
    return _chosen_cells(cells, *matching)


def _chosen_cells(cells: Contingency, rows: Ints, columns: Ints) -> Bools:
    """Return which cells are in a matching; pairs without nodes have no cell."""
    chosen = np.full(cells.shape[0], -1, np.int64)
    chosen[rows] = columns
    return np.asarray(chosen[cells.rows] == cells.columns)
