"""Sweeps over dense matrices, whose rows are stored or computed on demand."""

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol, TypeAlias

import numpy as np

from kgroups._csr import writable
from kgroups._progress import ENTRIES
from kgroups._types import Floats, Ints
from kgroups.hartigan._hartigan_nb import add_rows, sweep_dense
from kgroups.hartigan.refine import Groups, Outcome, check_labels, group_sums

Rule: TypeAlias = Literal["hartigan", "lloyd"]

# A gain below this part of the terms it is the difference of is rounding, not improvement.
_ROUNDING = 1e-11
# Sums that have fallen to this part of their peak have lost too many digits to cancellation.
_CANCELLED = 1e-5
# A mean association above this part of the peak rules cancellation out without a closer check.
_SURELY_KEPT = 1e-3
# Rows of nodes that would move are computed in batches, cheaper than one after the other; twice
# as many are kept, as some nodes stay after others have moved.
_ROWS_AT_ONCE = 64
_ROWS_KEPT = 128


class Rows(Protocol):
    """The rows of a symmetric matrix M, and its diagonal."""

    diagonal: Floats

    @property
    def stored(self) -> Floats | None:
        """The matrix, if it is in memory."""

    def rows(self, nodes: Ints) -> Floats:
        """Return the rows of some nodes."""

    def tiles(self) -> Iterator[tuple[int, int, Floats]]:
        """Yield tiles that cover the matrix, each with its first row and column."""


class StoredRows:
    """A symmetric matrix in memory."""

    def __init__(self, M: Floats) -> None:
        self.stored = np.ascontiguousarray(M, dtype=float)
        self.diagonal = self.stored.diagonal().copy()

    def rows(self, nodes: Ints) -> Floats:
        """Return the rows of some nodes."""
        rows: Floats = self.stored[nodes]
        return rows

    def tiles(self) -> Iterator[tuple[int, int, Floats]]:
        """Yield the matrix in one piece."""
        yield 0, 0, self.stored


def group_links(M: Rows, starts: Sequence[Ints], k: int) -> list[Floats]:
    r"""Return for each labeling the sums :math:`Q_a(i) = \sum_{j \in a, j \ne i} M_{ij}`.

    The matrix is read once for all labelings. Each result has shape (k, n).
    """
    n = M.diagonal.size
    links = [np.zeros((k, n)) for _ in starts]
    for top, left, tile in M.tiles() if starts else ():
        columns = slice(left, left + tile.shape[1])
        for z, L in zip(starts, links, strict=True):
            # A copy, unless the tile has all columns: rows of L are added to as contiguous arrays.
            sums = np.ascontiguousarray(L[:, columns])
            add_rows(writable(tile), writable(z[top : top + tile.shape[0]]), sums)
            if tile.shape[1] < n:
                L[:, columns] = sums
    for z, L in zip(starts, links, strict=True):
        L[z, np.arange(n)] -= M.diagonal
    return links


def improve_dense(
    M: Rows,
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

    ``w`` are positive node weights, and the first labels ``z`` lie in ``range(k)``. ``links`` is
    what :func:`group_links` returns for ``z``; it is overwritten. With ``rule="lloyd"`` a node goes
    to the nearest mean in feature space,

    .. math:: \arg\min_a \; Q_a / s_a^2 - 2 (Q_a(i) + [z_i = a] M_{ii}) / (w_i s_a)
    """
    check_labels(z, k)
    n = z.size
    z = z.astype(np.int64, copy=True)
    L = group_links(M, [z], k)[0] if links is None else links
    groups = _totals(M, w, z, L)
    peak, recomputed = _largest_inside(L, w, z), 0
    if M.stored is None:
        rows, place = np.empty((_ROWS_KEPT, n)), np.full(n, -1)
    else:
        rows, place = writable(M.stored), np.arange(n)
    w, diagonal = writable(w), writable(M.diagonal)
    wanted, control = np.empty(_ROWS_AT_ONCE, dtype=np.int64), np.zeros(1, dtype=np.int64)
    sweeps, converged = 0, n == 0
    while not converged and sweeps < max_sweeps:
        before, first = control[ENTRIES], 0
        if M.stored is None:
            place[:] = -1
        while first < n:
            first = sweep_dense(
                rows, place, diagonal, w, rule == "lloyd", _ROUNDING, first,
                z, *groups, L, peak, control, wanted,
            )  # fmt: skip
            if first < n:
                _fetch(M, wanted, first, rows, place)
        sweeps += 1
        converged = bool(control[ENTRIES] == before)
        ended = converged or sweeps == max_sweeps
        if ended and control[ENTRIES] > recomputed and _has_cancelled(L, w, z, groups, peak):
            # Removing an outlier leaves cancellation error, which may hide moves.
            L, recomputed = group_links(M, [z], k)[0], int(control[ENTRIES])
            groups, peak = _totals(M, w, z, L), _largest_inside(L, w, z)
            converged = converged and sweeps == max_sweeps
    moves = int(control[ENTRIES])
    groups, visits = _totals(M, w, z, L), n * (n + moves)
    return Outcome(z, groups.objective(), sweeps, moves, visits, converged, groups.s, groups.Q)


def _fetch(M: Rows, wanted: Ints, first: int, kept: Floats, place: Ints) -> None:
    """Compute the rows of wanted nodes in place of rows whose nodes were already visited.

    The first wanted node of the last call was visited since, so that a place is always free.
    """
    place[:first] = -1
    free = np.setdiff1d(np.arange(len(kept)), place[place >= 0])
    missing = wanted[wanted >= 0][: free.size]
    kept[free[: missing.size]] = M.rows(missing)
    place[missing] = free[: missing.size]


def _totals(M: Rows, w: Floats, z: Ints, L: Floats) -> Groups:
    """Return weight, association and size of each group."""
    k = L.shape[0]
    size = np.bincount(z, minlength=k)
    own = L[z, np.arange(z.size)]
    # The sum of a single node with the others of its group is 0, without rounding error.
    own[size[z] == 1] = 0.0
    return Groups(group_sums(z, w, k), group_sums(z, own + M.diagonal, k), size)


def _largest_inside(L: Floats, w: Floats, z: Ints) -> Floats:
    """Return for each group the largest sum, per unit of weight, of one of its nodes with it."""
    largest = np.zeros(L.shape[0])
    np.maximum.at(largest, z, np.abs(L[z, np.arange(z.size)]) / w)
    return largest


def _has_cancelled(L: Floats, w: Floats, z: Ints, groups: Groups, peak: Floats) -> bool:
    """Return whether the sums of a group are small compared with their peak."""
    if np.all(np.abs(groups.Q) > _SURELY_KEPT * peak * groups.s):
        return False
    outside, least = np.median(np.abs(L) / w, axis=1), _CANCELLED * peak
    inside = _largest_inside(L, w, z)
    return bool(np.any((outside < least) | ((groups.size > 1) & (inside < least))))
