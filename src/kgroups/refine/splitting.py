"""Splits and merges of communities that shorten the description of the graph."""

from typing import NamedTuple

import numpy as np

from kgroups._csr import blocks, diagonal_of, rows_of
from kgroups._types import CSR, Floats, Ints
from kgroups.refine.description import DescriptionLength, group_statistics
from kgroups.refine.pieces import connected_pieces
from kgroups.seed.moving import coarse_graph, multilevel_groups, relabelled

__all__ = [
    "ANY_SAVING_NODES",
    "LEAST_SAVING",
    "ROUNDING",
    "Rearranged",
    "merge_communities",
    "split_communities",
]

# Two bridged triangles are the smallest graph that two communities describe better than one, by
# half a nat. On graphs this small any saving counts; a larger one must save as much as chance
# saves on at most one random graph in twenty.
_SMALLEST = 6
ANY_SAVING_NODES = 7
LEAST_SAVING = 3.0
ROUNDING = 1e-9


class Rearranged(NamedTuple):
    """Connected communities after splits and merges, how many of each, and the nats saved."""

    z: Ints
    k: int
    splits: int
    merges: int
    saved: float


def split_communities(A: CSR, z: Ints, *, k: int) -> Rearranged:
    """Split communities that are, each taken alone, described better in pieces.

    A community is judged as a graph of its own, against the same graph in one piece. So a faint
    community, whose cut the description of the whole graph would not pay for, is not shattered
    for it: its inside is a random graph, and those stay whole.
    """
    result = np.empty_like(z)
    count, splits, saved = 0, 0, 0.0
    waiting = list(blocks(A, z, k))[::-1]
    while waiting:
        rows, inside = waiting.pop()
        piece, gain = _cut(inside)
        if piece is None:
            result[rows] = count
            count += 1
        else:
            splits += 1
            saved += gain
            pieces = blocks(inside, piece, int(piece.max()) + 1)
            waiting.extend([(rows[part], deeper) for part, deeper in pieces][::-1])
    return Rearranged(*relabelled(result), splits, 0, saved)


def _cut(A: CSR) -> tuple[Ints | None, float]:
    """Return connected pieces of a graph and the nats that they save, or None if too few."""
    degree = np.diff(A.indptr).astype(float)
    n = degree.size
    # A tree or a single cycle has no more edges than it needs: no partition shortens it.
    if n < _SMALLEST or len(A.indices) < 2 * (n + 1):
        return None, 0.0
    unweighted = CSR(A.indptr, A.indices, np.ones(len(A.indices)))
    piece, _ = multilevel_groups(unweighted, degree, np.full(n, 1.0 / degree.sum()))
    piece, count = connected_pieces(A, piece)
    measure = DescriptionLength(A)
    saved = measure.whole() - measure.of(A, piece, count)
    needed = ROUNDING if n <= ANY_SAVING_NODES else LEAST_SAVING
    return (piece, saved) if saved > needed else (None, 0.0)


def merge_communities(A: CSR, z: Ints, *, k: int, owner: Ints, across: bool = True) -> Rearranged:
    """Join neighbouring communities while that shortens the description, best pairs first.

    What the spectrum has found is not taken back, for it sees communities that are too faint to
    shorten a description: each of its communities owns some of the ``k`` groups, and never loses
    the largest of them to another.

    Parameters
    ----------
    A : CSR of shape (n, n)
        Adjacency matrix; weights are not looked at.
    z : ndarray of shape (n,)
        Group of each node in ``range(k)``.
    k : int
        Number of groups.
    owner : ndarray of shape (k,)
        Community of the spectrum that each group belongs to.
    across : bool
        Whether groups of different owners may be joined; the larger one's owner keeps the result.
    """
    measure = DescriptionLength(A)
    merges = 0
    before = measure.of(A, z, k)
    links = coarse_graph(CSR(A.indptr, A.indices, np.ones(len(A.indices))), z, k)
    statistics = group_statistics(A, z, k)
    while True:
        rows = rows_of(links)
        upper = (rows < links.indices) & (across | (owner[rows] == owner[links.indices]))
        pairs = np.column_stack([rows[upper], links.indices[upper]])
        joined = statistics[pairs].sum(axis=1)
        joined[:, 2] += links.data[upper]
        into = _paying_merges(statistics, pairs, joined, owner, measure)
        if into is None:
            break
        label, fewer = relabelled(into)
        merges += k - fewer
        links = coarse_graph(links, label, fewer)
        summed = np.zeros((fewer, 3))
        np.add.at(summed, label, statistics)
        summed[:, 2] = 0.5 * diagonal_of(links)
        kept = np.flatnonzero(into == np.arange(k))
        owner_of_label = np.empty(fewer, dtype=np.int64)
        owner_of_label[label[kept]] = owner[kept]
        z, k, statistics, owner = label[z], fewer, summed, owner_of_label
    return Rearranged(z, k, 0, merges, before - measure.of(A, z, k))


def _paying_merges(
    statistics: Floats, pairs: Ints, joined: Floats, owner: Ints, measure: DescriptionLength
) -> Ints | None:
    """Return the group that each group goes to, or None when no merge pays."""
    own = measure.terms(statistics)
    sums = own.sum(axis=0)
    current = float(measure.length(sums))
    change = measure.terms(joined) - own[pairs].sum(axis=1)
    alone = measure.length(sums + change)
    order = np.argsort(alone, kind="stable")
    order = order[alone[order] < current - ROUNDING]
    into = np.arange(len(statistics))
    by_size = np.argsort(-statistics[:, 0], kind="stable")
    core = by_size[np.unique(owner[by_size], return_index=True)[1]]
    protected = np.zeros(len(statistics), dtype=np.bool_)
    protected[core] = True
    used = np.zeros(len(statistics), dtype=np.bool_)
    merged = 0
    for t in order:
        winner, loser = sorted(pairs[t].tolist(), key=lambda a: (-statistics[a, 0], a))
        if used[winner] or used[loser] or (protected[loser] and owner[winner] != owner[loser]):
            continue
        offered = sums + change[t]
        length = float(measure.length(offered))
        if not length < current - ROUNDING:
            continue
        used[winner] = used[loser] = True
        into[loser] = winner
        sums, current = offered, length
        merged += 1
        # The best tenth of a round: later pairs may have better partners after these merges.
        if merged >= max(1, len(statistics) // 10):
            break
    return into if merged else None
