"""The result of a generator: the graph of the drawn pairs, with labels."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Bools, Floats, Indices, Ints
from kgroups._validation import RngLike, as_rng
from kgroups.graph import Graph

DENSE_PROBABILITY = 0.25
"""From this probability on testing every pair is as fast as drawing points."""
# Pairs tested at a time; bounds the temporary arrays to some 200 MB.
_CHUNK_PAIRS = 1 << 22
Ends: TypeAlias = tuple[Indices, Indices]
"""Both ends of some pairs of nodes."""


class BlockPairs(NamedTuple):
    """Pairs of blocks ``first <= second`` with the probability of an edge between their nodes."""

    first: Ints
    second: Ints
    p: Floats

    @classmethod
    def of_matrix(cls, P: Floats) -> "BlockPairs":
        """Return the pairs of blocks between which ``P`` allows an edge."""
        first, second = np.nonzero(np.triu(P))
        return cls(first, second, P[first, second])

    def where(self, chosen: Bools) -> "BlockPairs":
        """Return some of the pairs of blocks."""
        return BlockPairs(self.first[chosen], self.second[chosen], self.p[chosen])


class Blocks:
    """Consecutive blocks of nodes, each of which is drawn with the same probability."""

    def __init__(self, sizes: Ints) -> None:
        self.sizes = sizes
        self.starts = np.cumsum(sizes) - sizes
        self.n = int(sizes.sum())
        self.mass = sizes.astype(np.float64)

    def draw(self, block: Ints, counts: Ints, rng: np.random.Generator) -> Indices:
        """Return ``counts[t]`` nodes of ``block[t]``, one after the other."""
        kind = index_type(self.n)
        drawn: Indices = self._draw_mass(block, counts, rng).astype(kind)
        drawn += np.repeat(self.starts[block].astype(kind), counts)
        return drawn

    def _draw_mass(self, block: Ints, counts: Ints, rng: np.random.Generator) -> Floats:
        drawn = rng.random(int(counts.sum()))
        drawn *= np.repeat(self.mass[block], counts)
        return drawn


def draw_pairs(
    blocks: Blocks, pairs: BlockPairs, rng: np.random.Generator, *, chunk: int = _CHUNK_PAIRS
) -> Ends:
    """Return the pairs of nodes that are edges; a pair may be listed twice, and with itself."""
    dense = pairs.p >= DENSE_PROBABILITY
    tested = pairs.where(dense)
    parts = [pairs_hit(blocks, pairs.where(~dense), rng)]
    for which, u, v in all_pairs(blocks, tested, chunk=chunk):
        kept = rng.random(u.size) < tested.p[which]
        parts.append((u[kept], v[kept]))
    return joined_ends(parts)


def pairs_hit(blocks: Blocks, pairs: BlockPairs, rng: np.random.Generator) -> Ends:
    """Return the pairs of nodes that Poisson points fall on; needs ``p < 1``."""
    first, second, p = pairs
    # Within a block each pair can be hit in both orders.
    orders = np.where(first == second, 0.5, 1.0)
    counts = rng.poisson(-np.log1p(-p) * orders * blocks.mass[first] * blocks.mass[second])
    return blocks.draw(first, counts, rng), blocks.draw(second, counts, rng)


def all_pairs(
    blocks: Blocks, pairs: BlockPairs, *, chunk: int = _CHUNK_PAIRS
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield the index in ``pairs`` and both nodes of every pair of nodes, in chunks."""
    widths = blocks.sizes[pairs.second]
    ends = np.concatenate([[0], np.cumsum(blocks.sizes[pairs.first] * widths)])
    for start in range(0, int(ends[-1]), chunk):
        place = np.arange(start, min(start + chunk, int(ends[-1])))
        which = np.searchsorted(ends[1:], place, side="right")
        row, column = np.divmod(place - ends[which], widths[which])
        u = blocks.starts[pairs.first[which]] + row
        v = blocks.starts[pairs.second[which]] + column
        upper = u < v
        yield which[upper], u[upper], v[upper]


def joined_ends(parts: Sequence[Ends]) -> Ends:
    """Return one list of pairs from several."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([u for u, _ in parts]), np.concatenate([v for _, v in parts])


def pair_codes(u: Indices, v: Indices, n: int) -> Ints:
    """Return one number for each unordered pair of nodes."""
    codes: Ints = np.minimum(u, v).astype(np.int64)
    codes *= n
    codes += np.maximum(u, v)
    return codes


def repeated_values(values: Ints) -> Ints:
    """Sort in place; return the values that occur more than once."""
    values.sort()
    return np.asarray(values[1:][values[1:] == values[:-1]])


def is_in_sorted(values: Ints, ascending: Ints) -> Bools:
    """Return which values occur in a sorted array; faster than ``np.isin``, which sorts both."""
    if ascending.size == 0:
        return np.zeros(values.size, dtype=bool)
    place = np.searchsorted(ascending, values)
    return np.asarray(ascending[np.minimum(place, ascending.size - 1)] == values)


class _GraphAndLabels(NamedTuple):
    graph: Graph
    labels: Ints


class Planted(_GraphAndLabels):
    """A drawn graph and the group that each node was planted in.

    It unpacks as ``graph, labels``.

    Attributes
    ----------
    graph : Graph
        A simple graph on the nodes ``range(n)``.
    labels : ndarray of int64
        Group of each node.
    entropy : int or None
        Passed as ``rng``, it draws the same graph again. ``None`` when a Generator was given, whose
        state only the caller knows.
    unplaced_edges : int
        Edges of the drawn degrees for which a simple graph had no place. Only
        :func:`lfr_benchmark` can leave any.
    inside : ndarray of shape (k,) or None
        Probability of an edge between two nodes of each group, of mean propensity if these vary.
    between : float or None
        The same for two nodes of different groups. Both are ``None`` for models that do not have
        these probabilities, or in which groups differ in those between them.

    Examples
    --------
    >>> from kgroups.generators import planted_partition
    >>> planted = planted_partition(100, k=2, degree=6, snr=2, rng=1)
    >>> graph, labels = planted
    >>> labels.size
    100
    >>> planted.entropy
    1
    """

    entropy: int | None = None
    unplaced_edges: int = 0
    inside: Floats | None = None
    between: float | None = None

    def to_networkx(self) -> Any:
        """Return a ``networkx.Graph`` with the groups as node attribute ``"community"``."""
        G = self.graph.to_networkx()
        for node, group in zip(self.graph.nodes, self.labels.tolist(), strict=True):
            G.nodes[node]["community"] = group
        return G

    def to_igraph(self) -> Any:
        """Return an ``igraph.Graph`` with the groups as vertex attribute ``"community"``."""
        g = self.graph.to_igraph()
        g.vs["community"] = self.labels.tolist()
        return g

    def __repr__(self) -> str:
        groups = np.unique(self.labels).size
        unplaced = f", {self.unplaced_edges} unplaced edges" if self.unplaced_edges else ""
        return f"Planted({self.graph!r}, {groups} groups{unplaced}, entropy={self.entropy})"


def open_stream(rng: RngLike) -> tuple[np.random.Generator, int | None]:
    """Return a Generator, and the number that opens the same stream again if there is one."""
    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        fresh = np.random.SeedSequence().entropy
        assert isinstance(fresh, int)
        rng = fresh
    return as_rng(rng), int(rng)


def simple_graph(ends: Ends, n: int) -> Graph:
    """Return the graph with an edge for each pair that is listed at least once, loops left out."""
    from scipy import sparse

    u, v = ends
    loops = u == v
    if loops.any():
        u, v = u[~loops], v[~loops]
    kind = index_type(n, 2 * u.size)
    rows = np.concatenate([u, v], dtype=kind)
    columns = np.concatenate([v, u], dtype=kind)
    # Only the pattern counts: the sums of repeated pairs may wrap around in so small a type.
    entries = np.ones(rows.size, dtype=np.int8)
    # Unlike Graph.from_edges, this loads no numba and needs two thirds of the memory.
    pattern = sparse.coo_array((entries, (rows, columns)), shape=(n, n)).tocsr()
    return Graph(pattern.indptr, pattern.indices)
