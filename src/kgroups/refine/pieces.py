"""Connected communities: pieces of a group, and a home for its fragments."""

import numpy as np

from kgroups._csr import masked, rows_of
from kgroups._types import CSR, Ints
from kgroups.seed.moving import coarse_graph, relabelled
from kgroups.spectrum import connected_components

__all__ = ["absorb_fragments", "connected_pieces", "inner_edges"]


def connected_pieces(A: CSR, z: Ints) -> tuple[Ints, int]:
    """Return the connected pieces of the groups and their number."""
    count, piece = connected_components(inner_edges(A, z))
    return piece, count


def inner_edges(A: CSR, z: Ints) -> CSR:
    """Return the graph without the edges between groups."""
    return masked(A, z[rows_of(A)] == z[A.indices])


def absorb_fragments(A: CSR, z: Ints) -> tuple[Ints, int]:
    """Make every group connected: its largest piece stays, the others join a neighbour.

    A fragment joins the group to which its edges weigh most. On a connected graph the number of
    groups stays what it was.
    """
    piece, count = connected_pieces(A, z)
    n_groups = int(z.max()) + 1
    if count == n_groups:
        return z, n_groups
    group_of = np.empty(count, dtype=np.int64)
    group_of[piece] = z
    size = np.bincount(piece, minlength=count)
    home = np.full(count, -1, dtype=np.int64)
    # Largest piece first; pieces are numbered by first node, so ties are settled alike each time.
    by_size = np.argsort(-size, kind="stable")
    main = by_size[np.unique(group_of[by_size], return_index=True)[1]]
    home[main] = group_of[main]
    links = coarse_graph(A, piece, count)
    waiting = [c for c in by_size if home[c] < 0]
    while waiting:
        still = []
        for c in waiting:
            slots = slice(links.indptr[c], links.indptr[c + 1])
            near = home[links.indices[slots]]
            weight = np.bincount(near[near >= 0], weights=links.data[slots][near >= 0])
            if weight.size:
                home[c] = int(np.argmax(weight))
            else:
                still.append(c)
        if len(still) == len(waiting):
            for c in still:
                home[c] = group_of[c]
            break
        waiting = still
    return relabelled(home[piece])
