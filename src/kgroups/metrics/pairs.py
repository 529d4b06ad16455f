"""Agreement on pairs of nodes: the adjusted Rand index."""

from typing import Any

from kgroups.metrics.contingency import contingency

__all__ = ["ari"]


def ari(truth: Any, labels: Any) -> float:
    """Return the Rand index, adjusted so that chance gives 0 and a perfect match 1.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by place.

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
    Hubert and Arabie's form, with pairs counted in whole numbers; equal to
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
    both = _n_pairs(table.counts.tolist())
    same_class = _n_pairs(table.row_sums.tolist())
    same_group = _n_pairs(table.column_sums.tolist())
    pairs = table.n * (table.n - 1) // 2
    # Both sides of (both - expected) / (mean - expected) times 2 * pairs: whole numbers of any
    # length in Python, so that nothing overflows or cancels.
    product = 2 * same_class * same_group
    return (2 * pairs * both - product) / (pairs * (same_class + same_group) - product)


def _n_pairs(counts: list[int]) -> int:
    return sum(count * (count - 1) // 2 for count in counts)
