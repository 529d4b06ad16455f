"""A graph and the graphs of its groups, and moves of nodes between groups on each of them."""

from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import readonly, rows_of
from kgroups._types import CSR, Floats, Indices
from kgroups.hartigan.objective import group_sums

__all__ = [
    "Effort",
    "Level",
    "coarse_level",
    "finest_level",
    "group_moves",
    "multilevel",
    "renumbered",
]

# Differences below this are rounding of sums of links, not reasons to move.
_ROUNDING = 1e-9
# Visits to each node before moving is given up; some tens are enough on real graphs.
_MOST_SWEEPS = 100
# Entries read between two looks at the keyboard: a few hundredths of a second.
_BUDGET = 1 << 21
_FAINTEST = 1e-30


class Level(NamedTuple):
    """Groups of nodes and the links between them; on the finest level each node is a group.

    Attributes
    ----------
    A : CSR of float32
        Weights between different groups.
    strength : ndarray of shape (n,)
        Sum of the weights at the nodes of a group, inside ones counted twice.
    inner : ndarray of shape (n,)
        Sum of the weights inside a group, counted once.
    nodes : ndarray of shape (n,)
        Nodes of a group.
    """

    A: CSR
    strength: Floats
    inner: Floats
    nodes: Floats

    @property
    def n(self) -> int:
        """Number of groups."""
        return self.strength.size

    @property
    def edges(self) -> float:
        """Sum of all weights, inside of groups and between."""
        return 0.5 * float(self.strength.sum())

    @property
    def all_nodes(self) -> float:
        """Number of nodes of all groups."""
        return float(self.nodes.sum())


class Effort:
    """Entries of the graph that kernels have read, and moves that they have made."""

    def __init__(self) -> None:
        self.entries = 0
        self.moves = 0

    def read(self, entries: int, *, moves: int = 0) -> None:
        """Add to the count."""
        self.entries += entries
        self.moves += moves


def finest_level(A: CSR, *, weighted: bool) -> Level:
    """Return the level of single nodes of a graph without loops.

    Weights are scaled so that their sums vary like counts of edges: by their mean over their mean
    square. Equal weights become 1.
    """
    n = len(A.indptr) - 1
    if weighted and A.data.size:
        scale = float(A.data.sum()) / float(np.sum(np.square(A.data)))
        # A link of weight 0 would be no link to the kernels.
        data: Any = np.maximum(scale * A.data, _FAINTEST).astype(np.float32)
        strength = group_sums(rows_of(A), data, n)
    else:
        data = np.ones(len(A.indices), dtype=np.float32)
        strength = np.diff(A.indptr).astype(float)
    return Level(readonly(CSR(A.indptr, A.indices, data)), strength, np.zeros(n), np.ones(n))


def renumbered(z: Indices) -> tuple[Indices, int]:
    """Return labels without gaps, in the order of the given ones, and how many there are."""
    used = np.zeros(int(z.max()) + 1 if z.size else 0, dtype=np.bool_)
    used[z] = True
    rank = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return rank[z], int(rank[-1]) + 1 if z.size else 0


def coarse_level(level: Level, z: Indices, k: int, effort: Effort) -> Level:
    """Return the level whose groups are the ``k`` groups of labels."""
    from kgroups.seed._levels_nb import link_groups

    A = level.A
    members = np.empty(level.n, dtype=np.int32)
    size = np.bincount(z, minlength=k)
    starts = np.cumsum(size) - size
    indptr = np.zeros(k + 1, dtype=A.indptr.dtype)
    indices = np.empty(len(A.indices), dtype=A.indices.dtype)
    data: Any = np.empty(len(A.indices), dtype=np.float32)
    inner = np.zeros(k)
    link, touched = np.zeros(k), np.empty(k, dtype=np.int32)
    link_groups(A, z, members, starts, indptr, indices, data, inner, link, touched)
    effort.read(len(A.indices))
    filled = int(indptr[-1])
    return Level(
        readonly(CSR(indptr, indices[:filled].copy(), data[:filled].copy())),
        group_sums(z, level.strength, k),
        0.5 * inner + group_sums(z, level.inner, k),
        group_sums(z, level.nodes, k),
    )


def group_moves(
    level: Level,
    z: Indices,
    k: int,
    effort: Effort,
    *,
    penalty: Floats,
    order: Indices,
) -> tuple[Indices, int]:
    r"""Move nodes while :math:`\sum_a 2 E_a - \gamma K_a^2 / 2m` rises; ``penalty`` is gamma/2m.

    ``penalty`` has one value per node, so that parts of a graph can each have their own null
    model. Returns labels without gaps and their number.
    """
    from kgroups.seed._levels_nb import move_waiting

    n = level.n
    z = z.astype(np.int32, copy=True)
    total = group_sums(z, level.strength, k)
    queue = order.astype(np.int32)
    waiting = np.ones(n, dtype=np.bool_)
    link, touched = np.zeros(k), np.empty(k, dtype=np.int32)
    progress = np.array([0, n, 0, 0, 0], dtype=np.int64)
    while progress[1] and progress[3] < _MOST_SWEEPS * n:
        move_waiting(
            level.A,
            level.strength,
            penalty,
            _ROUNDING,
            _BUDGET,
            _MOST_SWEEPS * n,
            z,
            total,
            link,
            touched,
            queue,
            waiting,
            progress,
        )
    effort.read(int(progress[2]), moves=int(progress[4]))
    return renumbered(z)


def multilevel(
    level: Level,
    penalty: Floats,
    rng: np.random.Generator,
    effort: Effort,
) -> tuple[Indices, int]:
    """Move single nodes, then groups, then groups of groups; polish on the way down.

    Returns
    -------
    z : ndarray of shape (n,)
        Labels that no single move improves, or nearly so.
    k : int
        Number of groups.
    """
    levels = []
    while True:
        n = level.n
        z, k = group_moves(
            level,
            np.arange(n, dtype=np.int32),
            n,
            effort,
            penalty=penalty,
            order=rng.permutation(n),
        )
        if k == n:
            break
        levels.append((level, penalty, z))
        coarse = np.empty(k)
        coarse[z] = penalty
        level, penalty = coarse_level(level, z, k, effort), coarse
    z = np.arange(n, dtype=np.int32)
    k = n
    for level, penalty, inside in reversed(levels):
        z, k = group_moves(
            level,
            z[inside],
            k,
            effort,
            penalty=penalty,
            order=rng.permutation(level.n),
        )
    return z, k
