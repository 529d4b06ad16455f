"""Splits and merges of communities that shorten the description of the graph."""

from typing import NamedTuple

import numpy as np

from kgroups._csr import diagonal_of, restricted, rows_of
from kgroups._types import CSR, Floats, Ints
from kgroups.refine.description import DescriptionLength, group_statistics
from kgroups.refine.pieces import connected_pieces
from kgroups.seed.moving import coarse_graph, multilevel_groups, relabelled

__all__ = ["Rearranged", "merge_communities", "split_communities"]

# Two bridged triangles are the smallest graph that two communities describe better than one.
_SMALLEST = 6
_ROUNDING = 1e-9


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
    order = np.argsort(z, kind="stable")
    waiting = np.split(order, np.cumsum(np.bincount(z, minlength=k))[:-1])[::-1]
    while waiting:
        rows = waiting.pop()
        piece, gain = _cut(restricted(A, rows)) if len(rows) >= _SMALLEST else (None, 0.0)
        if piece is None:
            result[rows] = count
            count += 1
        else:
            splits += 1
            saved += gain
            waiting.extend(rows[piece == a] for a in range(int(piece.max()), -1, -1))
    return Rearranged(*relabelled(result), splits, 0, saved)


def _cut(A: CSR) -> tuple[Ints | None, float]:
    """Return connected pieces of a graph and the nats that they save, or None if none are saved."""
    degree = np.diff(A.indptr).astype(float)
    # A tree or a single cycle has no more edges than it needs: no partition shortens it.
    if len(A.indices) < 2 * (degree.size + 1):
        return None, 0.0
    unweighted = CSR(A.indptr, A.indices, np.ones(len(A.indices)))
    piece, _ = multilevel_groups(unweighted, degree, np.full(degree.size, 1.0 / degree.sum()))
    piece, count = connected_pieces(A, piece)
    measure = DescriptionLength(A)
    saved = measure.of(A, np.zeros_like(piece), 1) - measure.of(A, piece, count)
    return (piece, saved) if saved > _ROUNDING else (None, 0.0)


def merge_communities(A: CSR, z: Ints, *, k: int, least: int) -> Rearranged:
    """Join neighbouring communities, the most paying pairs of each round first.

    Merges stop at ``least`` communities: what the spectrum has found is not taken back, for it sees
    communities that are too faint to shorten a description.
    """
    measure = DescriptionLength(A)
    merges = 0
    before = measure.of(A, z, k)
    links = coarse_graph(CSR(A.indptr, A.indices, np.ones(len(A.indices))), z, k)
    statistics = group_statistics(A, z, k)
    while k > least:
        rows = rows_of(links)
        upper = rows < links.indices
        pairs = np.column_stack([rows[upper], links.indices[upper]])
        if not len(pairs):
            break
        joined = statistics[pairs].sum(axis=1)
        joined[:, 2] += links.data[upper]
        into = _paying_merges(statistics, pairs, joined, k - least, measure)
        if into is None:
            break
        label, fewer = relabelled(into)
        merges += k - fewer
        links = coarse_graph(links, label, fewer)
        summed = np.zeros((fewer, 3))
        np.add.at(summed, label, statistics)
        summed[:, 2] = 0.5 * diagonal_of(links)
        z, k, statistics = label[z], fewer, summed
    return Rearranged(z, k, 0, merges, before - measure.of(A, z, k))


def _paying_merges(
    statistics: Floats, pairs: Ints, joined: Floats, at_most: int, measure: DescriptionLength
) -> Ints | None:
    """Return the group that each group goes to, or None when no merge pays."""
    own = measure.terms(statistics)
    sums = own.sum(axis=0)
    current = float(measure.length(sums))
    change = measure.terms(joined) - own[pairs].sum(axis=1)
    alone = measure.length(sums + change)
    order = np.argsort(alone, kind="stable")
    order = order[alone[order] < current - _ROUNDING]
    into = np.arange(len(statistics))
    used = np.zeros(len(statistics), dtype=np.bool_)
    merged = 0
    for t in order:
        a, b = pairs[t]
        if used[a] or used[b]:
            continue
        offered = sums + change[t]
        length = float(measure.length(offered))
        if length >= current - _ROUNDING:
            continue
        used[a] = used[b] = True
        into[b] = a
        sums, current = offered, length
        merged += 1
        # The best tenth of a round: later pairs may have better partners after these merges.
        if merged >= min(at_most, max(1, len(statistics) // 10)):
            break
    return into if merged else None
