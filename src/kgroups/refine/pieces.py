"""Connected communities: pieces of a group, and a home for its fragments."""

import numpy as np

from kgroups._types import CSR, Floats, Ints
from kgroups.spectrum import connected_components

__all__ = ["absorb_fragments", "connected_pieces"]


def connected_pieces(A: CSR, z: Ints) -> tuple[Ints, int]:
    """Return the connected pieces of the groups and their number."""
    count, piece = connected_components(A, z)
    return piece, count


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
    links = _links_of(A, piece, home)
    waiting = [c for c in by_size.tolist() if home[c] < 0]
    while waiting:
        still = []
        for c in waiting:
            others, weights = links[c]
            near = home[others]
            names, group = np.unique(near[near >= 0], return_inverse=True)
            if names.size:
                heaviest = np.argmax(np.bincount(group, weights=weights[near >= 0]))
                home[c] = int(names[heaviest])
            else:
                still.append(c)
        if len(still) == len(waiting):
            for c in still:
                home[c] = group_of[c]
            break
        waiting = still
    return np.unique(home[piece], return_inverse=True)[1], n_groups


def _links_of(A: CSR, piece: Ints, home: Ints) -> dict[int, tuple[Ints, Floats]]:
    """Return the other pieces that each piece without a home is linked to, and the weights."""
    rows = np.flatnonzero(home[piece] < 0)
    rows = rows[np.argsort(piece[rows], kind="stable")]
    lengths = np.diff(A.indptr)[rows]
    ends = np.cumsum(lengths)
    slots = np.arange(int(ends[-1])) + np.repeat(A.indptr[:-1][rows] - ends + lengths, lengths)
    own, other = np.repeat(piece[rows], lengths), piece[A.indices[slots]]
    names, starts = np.unique(own, return_index=True)
    links = {int(c): (np.zeros(0, dtype=np.int64), np.zeros(0)) for c in np.unique(piece[rows])}
    cuts = [*starts.tolist(), own.size]
    for c, start, stop in zip(names.tolist(), cuts[:-1], cuts[1:], strict=True):
        apart = other[start:stop] != c
        links[c] = other[start:stop][apart], A.data[slots[start:stop]][apart]
    return links
