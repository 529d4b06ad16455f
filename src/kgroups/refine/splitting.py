"""Splits and merges of communities that shorten the description of the graph."""

from typing import NamedTuple

import numpy as np

from kgroups._csr import diagonal_of, rows_of
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups.refine.description import DescriptionLength, group_statistics
from kgroups.refine.pieces import connected_pieces, inner_edges
from kgroups.seed.moving import coarse_graph, multilevel_groups, relabelled

__all__ = ["Rearranged", "split_and_merge"]

# Two bridged triangles are the smallest graph that two communities describe better than one.
_SMALLEST = 6
_ROUNDING = 1e-9


class Rearranged(NamedTuple):
    """Connected communities after splits and merges, and how many of each were made."""

    z: Ints
    k: int
    splits: int
    merges: int
    saved: float


def split_and_merge(A: CSR, z: Ints, *, k: int, least: int) -> Rearranged:
    """Split and merge the communities of a connected graph while its description gets shorter.

    Merges stop at ``least`` communities: what the spectrum has found is not taken back, for it sees
    communities that are too faint to shorten a description.
    """
    n = z.size
    # A tree or a single cycle has no more edges than it needs: no partition shortens it.
    if n < _SMALLEST or len(A.indices) < 2 * (n + 1):
        return Rearranged(z, k, 0, 0, 0.0)
    measure = DescriptionLength(A)
    before = measure.of(A, z, k)
    z, k_split, splits = _split_groups(A, z, k, measure)
    z, k, merges = _merge_groups(A, z, k_split, max(1, least), measure)
    return Rearranged(z, k, splits, merges, before - measure.of(A, z, k))


def _split_groups(A: CSR, z: Ints, k: int, measure: DescriptionLength) -> tuple[Ints, int, int]:
    """Cut groups along the modularity of their inside, again and again where it pays."""
    splits = 0
    open_groups = np.ones(k, dtype=np.bool_)
    while open_groups.any():
        inner = inner_edges(A, np.where(open_groups[z], z, k + np.arange(z.size)))
        strength = np.diff(inner.indptr).astype(float)
        mass = np.bincount(z, weights=strength, minlength=k)
        piece, _ = multilevel_groups(
            CSR(inner.indptr, inner.indices, np.ones(len(inner.indices))),
            strength,
            1.0 / np.maximum(mass, 1.0)[z],
        )
        piece, _ = connected_pieces(A, relabelled(piece * k + z)[0])
        # Groups that are not open fell into single nodes above: they stay whole.
        piece, count = relabelled(np.where(open_groups[z], k + piece, z))
        parent = np.empty(count, dtype=np.int64)
        parent[piece] = z
        accepted = _paying_splits(A, z, k, piece, parent, count, measure)
        if not accepted.any():
            break
        splits += int(accepted.sum())
        changed = accepted[z]
        z, k = relabelled(np.where(changed, k + piece, z))
        open_groups = np.zeros(k, dtype=np.bool_)
        open_groups[z[changed]] = True
    return z, k, splits


def _paying_splits(
    A: CSR, z: Ints, k: int, piece: Ints, parent: Ints, count: int, measure: DescriptionLength
) -> Bools:
    """Say which groups to cut: those whose cuts, the most paying first, add up to the least."""
    whole = measure.terms(group_statistics(A, z, k))
    parts = np.zeros_like(whole)
    np.add.at(parts, parent, measure.terms(group_statistics(A, piece, count)))
    sums = whole.sum(axis=0)
    candidates = np.flatnonzero(np.bincount(parent, minlength=k) > 1)
    change = parts[candidates] - whole[candidates]
    order = np.argsort(measure.length(sums + change), kind="stable")
    accepted = np.zeros(k, dtype=np.bool_)
    if candidates.size:
        # Equal small communities may pay only together: one density then serves them all.
        together = measure.length(sums + np.cumsum(change[order], axis=0))
        best = int(np.argmin(together))
        if together[best] < float(measure.length(sums)) - _ROUNDING:
            accepted[candidates[order[: best + 1]]] = True
    return accepted


def _merge_groups(
    A: CSR, z: Ints, k: int, least: int, measure: DescriptionLength
) -> tuple[Ints, int, int]:
    """Join neighbouring groups, the most paying pairs of each round first."""
    merges = 0
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
    return z, k, merges


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
