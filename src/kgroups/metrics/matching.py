"""Agreement after the best matching of groups with classes: accuracy and overlap."""

from typing import Any

import numpy as np

from kgroups.metrics.contingency import Contingency, contingency

__all__ = ["accuracy", "overlap"]

_DENSE_CELLS = 1_000_000


def accuracy(truth: Any, labels: Any) -> float:
    """Return the fraction of nodes that the best matching of groups with classes puts right.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by place.

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
        of nodes. Where both have node names, nodes are matched by name, else by place.

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
    # In whole numbers but for the last division, so that exact values come out exact.
    return (k * matched_nodes(table) - table.n) / (table.n * (k - 1))


def matched_nodes(table: Contingency) -> int:
    """Return how many nodes the best one-to-one matching of classes and groups puts right."""
    if table.is_match:
        return table.n
    if table.row_sums.size * table.column_sums.size <= _DENSE_CELLS:
        return _match_dense(table)
    return _match_sparse(table)


def _match_dense(table: Contingency) -> int:
    from scipy.optimize import linear_sum_assignment

    counts = np.zeros((table.row_sums.size, table.column_sums.size))
    counts[table.rows, table.columns] = table.counts
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return int(counts[rows, columns].sum())


def _match_sparse(table: Contingency) -> int:
    from scipy import sparse
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_columns = table.row_sums.size, table.column_sums.size
    # A column of its own for each row lets the row stay unmatched. All entries are raised by 1,
    # because a zero entry would be no edge; each row has one match, so that all sums rise alike.
    own = np.arange(n_rows)
    entries = np.concatenate([table.counts + 1, np.ones(n_rows, np.int64)]).astype(float)
    rows = np.concatenate([table.rows, own])
    columns = np.concatenate([table.columns, n_columns + own])
    graph = sparse.coo_array((entries, (rows, columns)), shape=(n_rows, n_columns + n_rows))
    matched_rows, matched_columns = min_weight_full_bipartite_matching(
        sparse.csr_array(graph), maximize=True
    )
    chosen = np.full(n_rows, -1, np.int64)
    chosen[matched_rows] = matched_columns
    return int(table.counts[chosen[table.rows] == table.columns].sum())
