"""Sweeps over dense matrices, whose rows may be stored or made when they are asked for."""

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol, TypeAlias

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.hartigan.objective import check_labels, group_sums
from kgroups.hartigan.sweep import Outcome

__all__ = ["Rows", "Rule", "StoredRows", "group_links", "improve_dense"]

Rule: TypeAlias = Literal["hartigan", "lloyd"]

# A gain below this part of the largest association is rounding, not improvement.
_ROUNDING = 1e-11


class Rows(Protocol):
    """The rows of a symmetric matrix M.

    Attributes
    ----------
    stored : ndarray of shape (n, n) or (0, 0)
        The matrix, if it is in memory.
    diagonal : ndarray of shape (n,)
        Its diagonal.
    """

    stored: Floats
    diagonal: Floats

    def row(self, i: int) -> Floats:
        """Return row i."""

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield all rows in order, some at a time, with the number of the first."""


class StoredRows:
    """A symmetric matrix in memory."""

    def __init__(self, M: Floats) -> None:
        self.stored = np.ascontiguousarray(M, dtype=float)
        self.diagonal = self.stored.diagonal().copy()

    def row(self, i: int) -> Floats:
        """Return row i."""
        row: Floats = self.stored[i]
        return row

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield the matrix in one piece."""
        yield 0, self.stored


def group_links(rows: Rows, starts: Sequence[Ints], k: int) -> list[Floats]:
    r"""Return for each labelling the sums :math:`Q_a(i) = \sum_{j \in a, j \ne i} M_{ij}`.

    The rows are made once for all labellings. Each result has shape (k, n).
    """
    from kgroups.hartigan._sweep_nb import add_rows

    n = rows.diagonal.size
    links = [np.zeros((k, n)) for _ in starts]
    for first, block in rows.blocks():
        for z, L in zip(starts, links, strict=True):
            add_rows(block, z[first : first + block.shape[0]], L)
    for z, L in zip(starts, links, strict=True):
        L[z, np.arange(n)] -= rows.diagonal
    return links


def improve_dense(
    rows: Rows,
    w: Floats,
    z: Ints,
    *,
    k: int,
    links: Floats | None = None,
    rule: Rule = "hartigan",
    max_sweeps: int = 300,
) -> Outcome:
    r"""Move nodes one at a time while the group association Q of a dense matrix rises.

    The sums :math:`Q_a(i)` of all nodes and groups are kept, so that a node that stays costs O(k)
    and one that moves O(n). The order of visits and the gains are those of
    :func:`kgroups.hartigan.improve`; no group is ever emptied.

    Parameters
    ----------
    rows : Rows
        The matrix M, of shape (n, n).
    w : ndarray of shape (n,)
        Positive node weights.
    z : ndarray of shape (n,)
        First labels in ``range(k)``; left as they are.
    k : int
        Number of groups.
    links : ndarray of shape (k, n), optional
        What :func:`group_links` gives for ``z``; it is used up.
    rule : {"hartigan", "lloyd"}
        Where a node goes: where Q rises most, or to the nearest mean in feature space,

        .. math:: \arg\min_a \; Q_a / s_a^2 - 2 (Q_a(i) + [z_i = a] M_{ii}) / (w_i s_a)
    max_sweeps : int
        Sweeps after which the labels are returned as they are, ``converged`` false.

    Returns
    -------
    Outcome
        ``visits`` counts the entries of M that were read.
    """
    from kgroups.hartigan._sweep_nb import sweep_dense

    check_labels(z, k)
    n = z.size
    z = z.astype(np.int64, copy=True)
    L = group_links(rows, [z], k)[0] if links is None else links
    nodes = np.arange(n)
    s = group_sums(z, w, k)
    Q = group_sums(z, L[z, nodes] + rows.diagonal, k)
    size = np.bincount(z, minlength=k)
    filled = s > 0
    smallest = _ROUNDING * float(np.max(np.abs(Q[filled] / s[filled]), initial=0.0))
    if rule == "lloyd":
        # Distances to means are by unit of weight, gains by the weight of a node.
        smallest /= max(1.0, float(w.max(initial=0.0)))
    moved = np.zeros(4, dtype=np.int64)
    sweeps, converged = 0, n == 0
    while not converged and sweeps < max_sweeps:
        before, first = moved[3], 0
        while first < n:
            known = moved[3]
            first = sweep_dense(
                rows.stored, rows.diagonal, w, rule == "lloyd", smallest, first,
                z, s, Q, size, L, moved,
            )  # fmt: skip
            if moved[3] > known and not rows.stored.size:
                i, a, b = moved[:3]
                row = rows.row(int(i))
                L[a] -= row
                L[b] += row
                L[a, i] += rows.diagonal[i]
                L[b, i] -= rows.diagonal[i]
        sweeps += 1
        converged = bool(moved[3] == before)
    filled = s > 0
    # The sums of all moves carry their rounding; those of the last labels do not.
    Q = group_sums(z, L[z, nodes] + rows.diagonal, k)
    objective = float(np.sum(Q[filled] / s[filled]))
    moves = int(moved[3])
    return Outcome(z, objective, sweeps, moves, n * (n + moves), converged, s, Q)
