"""What a generator returns: the graph of the drawn pairs, with edge weights and labels."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Bools, Floats, Indices, Ints
from kgroups._validation import RngLike, as_rng
from kgroups.errors import InputError, WeightError
from kgroups.graph import Graph

DENSE_PROBABILITY = 0.25
"""From this probability on testing every pair is as fast as drawing points."""
# Pairs tested at a time; bounds the temporary arrays to some 200 MB.
_CHUNK_PAIRS = 1 << 22
Ends: TypeAlias = tuple[Indices, Indices]
"""Both ends of some pairs of nodes."""
Distribution: TypeAlias = Callable[[np.random.Generator, int], Any]
"""Takes a Generator and a number of edges, returns a weight for each."""
Weights: TypeAlias = Distribution | Mapping[str, Distribution]
"""One distribution for all edges, or one ``"inside"`` blocks and one ``"between"`` them."""


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

    def __new__(
        cls,
        graph: Graph,
        labels: Ints,
        *,
        entropy: int | None = None,
        unplaced_edges: int = 0,
        inside: Floats | None = None,
        between: float | None = None,
    ) -> "Planted":
        """Join a graph with its labels."""
        planted = super().__new__(cls, graph, labels)
        planted.entropy = entropy
        planted.unplaced_edges = unplaced_edges
        planted.inside, planted.between = inside, between
        return planted

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


def plant(
    ends: Ends,
    labels: Ints,
    weights: Weights | None,
    rng: np.random.Generator,
    entropy: int | None,
    *,
    inside: Floats | None = None,
    between: float | None = None,
) -> Planted:
    """Return the simple graph of some pairs of nodes, its edge weights drawn, with its labels."""
    graph = _weighted(_simple_graph(ends, labels.size), labels, weights, rng)
    return Planted(graph, labels, entropy=entropy, inside=inside, between=between)


def _simple_graph(ends: Ends, n: int) -> Graph:
    """Return the graph with an edge for each pair that is listed at least once, loops left out."""
    u, v = ends
    loops = u == v
    if loops.any():
        u, v = u[~loops], v[~loops]
    multigraph = Graph.from_edges(u, v, n=n)
    return Graph(multigraph.indptr, multigraph.indices)


def check_weights(weights: Weights | None) -> None:
    """Raise unless ``weights`` is a function or a dict of functions inside and between blocks."""
    if weights is None or callable(weights):
        return
    if not isinstance(weights, Mapping) or set(weights) != {"inside", "between"}:
        msg = (
            "weights must be a function (rng, size) -> array, or a dict of such functions with the "
            f"keys 'inside' and 'between', got {weights!r}."
        )
        raise InputError(msg)
    for function in weights.values():
        if not callable(function):
            msg = f"weights must hold functions (rng, size) -> array, got {function!r}."
            raise InputError(msg)


def _weighted(
    graph: Graph, labels: Ints, weights: Weights | None, rng: np.random.Generator
) -> Graph:
    """Return the graph with weights drawn by whether an edge lies inside a block."""
    if weights is None:
        return graph
    u, v, _ = graph.edges()
    if callable(weights):
        drawn = _drawn(weights, u.size, "in the graph", rng)
    else:
        drawn, inside = np.empty(u.size), labels[u] == labels[v]
        for place, edges in (("inside", inside), ("between", ~inside)):
            drawn[edges] = _drawn(weights[place], int(edges.sum()), f"{place} blocks", rng)
    return graph if np.all(drawn == 1) else Graph.from_edges(u, v, drawn, nodes=graph.nodes)


def _drawn(function: Distribution, size: int, place: str, rng: np.random.Generator) -> Floats:
    """Return the weights that a function draws for the edges of a place, checked."""
    values = np.asarray(function(rng, size))
    if values.shape != (size,) or (size and values.dtype.kind not in "biuf"):
        msg = (
            f"weights must return one number per edge ({size} {place}), got {values.dtype} "
            f"of shape {values.shape}."
        )
        raise WeightError(msg)
    drawn = values.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(drawn) & (drawn >= 0)))
    if bad.size:
        msg = f"weights must return finite numbers >= 0, got {drawn[bad[0]]} for an edge {place}."
        raise WeightError(msg)
    return drawn
