"""Agreement after the best matching of groups with classes: accuracy and overlap."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kgroups._types import Ints
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
    cells = _Cells(table.rows, table.columns, table.counts)
    shape = (table.row_sums.size, table.column_sums.size)
    if shape[0] * shape[1] <= _DENSE_CELLS:
        return _match_dense(cells, shape)
    settled, open_cells, open_shape = _settle(cells)
    if open_shape[0] * open_shape[1] <= _DENSE_CELLS:
        return settled + _match_dense(open_cells, open_shape)
    return settled + _match_sparse(open_cells, open_shape)


class _Cells(NamedTuple):
    """Cells of a table: row, column and number of nodes."""

    rows: Ints
    columns: Ints
    counts: Ints

    def where(self, chosen: npt.NDArray[np.bool_]) -> "_Cells":
        return _Cells(self.rows[chosen], self.columns[chosen], self.counts[chosen])


def _settle(cells: _Cells) -> tuple[int, _Cells, tuple[int, int]]:
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
    rest = _Cells(rows.astype(np.int64), columns.astype(np.int64), searched.counts)
    return int(left.counts[alone].sum()), rest, (row_names.size, column_names.size)


def _match_dense(cells: _Cells, shape: tuple[int, int]) -> int:
    from scipy.optimize import linear_sum_assignment

    table = np.zeros(shape)
    table[cells.rows, cells.columns] = cells.counts
    rows, columns = linear_sum_assignment(table, maximize=True)
    return int(table[rows, columns].sum())


def _match_sparse(cells: _Cells, shape: tuple[int, int]) -> int:
    from scipy import sparse
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_columns = shape
    # A column of its own for each row lets the row stay unmatched. All entries are raised by 1,
    # because a zero entry would be no edge; each row has one match, so that all sums rise alike.
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
