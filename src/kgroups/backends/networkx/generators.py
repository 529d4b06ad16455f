"""networkx's block models: the same graph that networkx draws for a seed, many times faster."""

import gc
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from kgroups._types import Floats, Ints


class Settings:
    """Numbers that change how a block model is drawn, but not which.

    Attributes
    ----------
    min_nodes : int
        Smaller models are drawn by networkx itself, which is faster there. networkx does not ask
        the backend whether a generator should run, as it does for functions of graphs.
    chunk : int
        Random numbers drawn at a time; bounds the temporary arrays.
    """

    min_nodes = 120
    chunk = 1 << 16


def stochastic_block_model(
    sizes: Sequence[int],
    p: Sequence[Sequence[float]],
    nodelist: Sequence[Hashable] | None = None,
    seed: Any = None,
    directed: bool = False,  # noqa: FBT001, FBT002  (networkx's signature)
    selfloops: bool = False,  # noqa: FBT001, FBT002
    sparse: bool = True,  # noqa: FBT001, FBT002
) -> Any:
    """As :func:`networkx.generators.community.stochastic_block_model`, the same graph per seed."""
    source = _python_random(seed)
    if not all(isinstance(size, Integral) and size >= 0 for size in sizes):
        msg = f"sizes must be whole numbers, got {sizes!r}"
        raise NotImplementedError(msg)
    if not isinstance(nodelist, list | tuple | range | None):
        msg = f"nodelist must be a list or a tuple, got {type(nodelist).__name__}"
        raise NotImplementedError(msg)
    is_valid = _is_valid(sizes, p, nodelist, symmetric=not directed)
    if not is_valid or sum(sizes) < Settings.min_nodes:
        # networkx raises its own errors.
        return nx.stochastic_block_model(
            sizes, p, nodelist, source, directed, selfloops, sparse, backend="networkx"
        )
    names: Sequence[Hashable] = range(sum(sizes)) if nodelist is None else nodelist
    ends = [0, *itertools.accumulate(map(int, sizes))]
    # networkx iterates over the nodes of a block in the order of a set.
    partition = [set(names[start:end]) for start, end in itertools.pairwise(ends)]
    stream = Stream(source)
    blocks = range(len(sizes))
    both_ways = itertools.product(blocks, blocks)
    u, v = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for i, j in both_ways if directed else itertools.combinations_with_replacement(blocks, 2):
        probability = float(p[i][j])
        if i == j:
            pairs = pairs_within(int(sizes[i]), directed=directed, loops=selfloops)
            chosen = _tried_one_by_one(stream, pairs.number, probability)
            if sparse and 0 < probability < 1:
                # networkx draws once more here before it finds its list of pairs exhausted.
                _check_logarithm(stream.take(1))
        else:
            pairs = pairs_between(int(sizes[i]), int(sizes[j]))
            chosen = _chosen_between(stream, pairs, probability, sparse=sparse)
        first, second = pairs.ends(chosen)
        u.append(first + ends[i])
        v.append(second + ends[j])
    nodes = [node for block in partition for node in block]
    numbers = np.repeat(np.arange(len(sizes)), sizes).tolist()
    attributes = [{"block": number} for number in numbers]
    graph = _build_graph(nodes, attributes, np.concatenate(u), np.concatenate(v), directed=directed)
    graph.graph["partition"] = partition
    graph.graph["name"] = "stochastic_block_model"
    stream.close()
    return graph


def random_partition_graph(
    sizes: Sequence[int],
    p_in: float,
    p_out: float,
    seed: Any = None,
    directed: bool = False,  # noqa: FBT001, FBT002  (networkx's signature)
) -> Any:
    """As :func:`networkx.generators.community.random_partition_graph`, the same graph per seed."""
    for name, probability in (("p_in", p_in), ("p_out", p_out)):
        if not 0.0 <= probability <= 1.0:
            msg = f"{name} must be in [0,1]"
            raise nx.NetworkXError(msg)
    k = len(sizes)
    p = [[p_in if i == j else p_out for j in range(k)] for i in range(k)]
    return stochastic_block_model(sizes, p, seed=seed, directed=directed)


def planted_partition_graph(
    l: int,  # noqa: E741  (networkx's signature)
    k: int,
    p_in: float,
    p_out: float,
    seed: Any = None,
    directed: bool = False,  # noqa: FBT001, FBT002
) -> Any:
    """As :func:`networkx.generators.community.planted_partition_graph`, the same graph per seed."""
    return random_partition_graph([k] * l, p_in, p_out, seed=seed, directed=directed)


def gaussian_random_partition_graph(
    n: int,
    s: float,
    v: float,
    p_in: float,
    p_out: float,
    directed: bool = False,  # noqa: FBT001, FBT002  (networkx's signature)
    seed: Any = None,
) -> Any:
    """As networkx's ``gaussian_random_partition_graph``, the same graph per seed."""
    if s > n:
        msg = "s must be <= n"
        raise nx.NetworkXError(msg)
    source = _python_random(seed)
    before = source.getstate()
    sizes: list[int] = []
    left = n
    while left > 0 or not sizes:
        size = int(source.gauss(s, s / v + 0.5))
        if size >= 1:
            sizes.append(min(size, left))
            left -= size
    try:
        return random_partition_graph(sizes, p_in, p_out, seed=source, directed=directed)
    except NotImplementedError:
        source.setstate(before)
        raise


class Stream:
    """The next numbers of a ``random.Random``, drawn in chunks by numpy, bit for bit the same.

    Python and numpy share the Mersenne Twister and its conversion to doubles, so that numpy can
    continue from a state of Python. It draws more than are used; the states before the chunks
    tell :meth:`close` how far the source, which is not changed before, has to advance.
    """

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._version, state, self._gauss_next = source.getstate()
        self._twister = np.random.MT19937()
        self._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(state[:-1], dtype=np.uint32), "pos": state[-1]},
        }
        self._draws = np.random.Generator(self._twister)
        self._ready: Floats = np.empty(0)
        self._used = 0
        self._chunks: deque[tuple[Any, int]] = deque()  # State before each chunk, and its size.
        self._used_before = 0

    def ahead(self, count: int) -> Floats:
        """Return the next numbers without moving past them; their memory is reused later."""
        if self._used + count > len(self._ready):
            self._draw(count)
        return self._ready[self._used : self._used + count]

    def skip(self, count: int) -> None:
        """Move past some numbers."""
        self._used += count

    def take(self, count: int) -> Floats:
        """Return the next numbers and move past them."""
        taken = self.ahead(count)
        self.skip(count)
        return taken

    def take_ready(self, most: int) -> Floats:
        """Return at most so many of the next numbers, and move past them."""
        left = len(self._ready) - self._used
        return self.take(min(most, left or Settings.chunk))

    def close(self) -> None:
        """Advance the source past all numbers that were taken."""
        self._forget_used_chunks()
        if self._chunks:
            self._twister.state = self._chunks[0][0]
            self._draws.random(self._used_before)
        state = self._twister.state["state"]
        words = (*state["key"].tolist(), int(state["pos"]))
        self._source.setstate((self._version, words, self._gauss_next))

    def _draw(self, count: int) -> None:
        left = self._ready[self._used :]
        self._forget_used_chunks()
        size = max(count, Settings.chunk)
        ready = self._ready if len(self._ready) == size else np.empty(size)
        ready[: len(left)] = left
        self._chunks.append((self._twister.state, size - len(left)))
        self._draws.random(out=ready[len(left) :])
        self._ready, self._used = ready, 0

    def _forget_used_chunks(self) -> None:
        self._used_before += self._used
        self._used = 0
        while self._chunks and self._used_before >= self._chunks[0][1]:
            self._used_before -= self._chunks.popleft()[1]


class Pairs(NamedTuple):
    """The number of pairs, and the function from pair numbers to positions within the blocks."""

    number: int
    ends: Callable[[Ints], tuple[Ints, Ints]]


def pairs_between(rows: int, columns: int) -> Pairs:
    """As ``itertools.product`` lists them."""
    return Pairs(rows * columns, lambda t: (t // columns, t % columns) if t.size else (t, t))


def pairs_within(size: int, *, directed: bool, loops: bool) -> Pairs:
    """As networkx lists them: products or permutations if directed, else combinations."""
    if directed and loops:
        return pairs_between(size, size)
    if directed:
        return Pairs(size * (size - 1), lambda t: _permutation(t, size))
    unordered = size * (size - 1) // 2
    return Pairs(
        unordered + (size if loops else 0), lambda t: _combination_or_loop(t, size, unordered)
    )


def _permutation(t: Ints, size: int) -> tuple[Ints, Ints]:
    if not t.size:
        return t, t
    first, second = t // (size - 1), t % (size - 1)
    return first, second + (second >= first)


def _combination_or_loop(t: Ints, size: int, unordered: int) -> tuple[Ints, Ints]:
    a = np.arange(size)
    start = a * size - a * (a + 1) // 2
    first = np.searchsorted(start, t, side="right") - 1
    second = t - start[np.maximum(first, 0)] + first + 1
    loop = t >= unordered
    return np.where(loop, t - unordered, first), np.where(loop, t - unordered, second)


def _tried_one_by_one(stream: Stream, count: int, probability: float) -> Ints:
    """Return the numbers of the pairs that are chosen by a draw for each."""
    hits = [np.zeros(0, np.int64)]
    tried = 0
    while tried < count:
        draws = stream.take_ready(count - tried)
        hits.append(tried + np.flatnonzero(draws < probability))
        tried += len(draws)
    return np.concatenate(hits)


def _chosen_between(stream: Stream, pairs: Pairs, probability: float, *, sparse: bool) -> Ints:
    if not sparse:
        return _tried_one_by_one(stream, pairs.number, probability)
    if probability == 1:
        return np.arange(pairs.number)
    if probability == 0:
        return np.zeros(0, np.int64)
    return _skipped_through(stream, pairs.number, probability)


def _skipped_through(stream: Stream, count: int, probability: float) -> Ints:
    """Return the numbers of the pairs that are reached by skips of geometric length."""
    per_skip = math.log(1 - probability)
    if per_skip == 0:
        msg = f"a probability as small as {probability} is an error in networkx"
        raise NotImplementedError(msg)
    found, reached = [np.zeros(0, np.int64)], -1
    while True:
        expected = (count - reached) * probability
        draws = stream.ahead(min(Settings.chunk, int(expected + 4 * math.sqrt(expected)) + 16))
        places = reached + np.cumsum(_skips(draws, per_skip, count) + 1)
        inside = int(np.searchsorted(places, count))
        found.append(places[:inside])
        if inside < len(places):
            # The draw that leads beyond the last pair is consumed too.
            stream.skip(inside + 1)
            return np.concatenate(found)
        stream.skip(len(draws))
        reached = int(places[-1])


def _skips(draws: Any, per_skip: float, longest: int) -> Ints:
    _check_logarithm(draws)
    lengths = np.log(draws) / per_skip
    # numpy's logarithm may differ from Python's in the last digit, which matters only close to
    # integers: there Python's is used.
    close = np.flatnonzero(np.abs(lengths - np.rint(lengths)) <= 1e-12 * (1 + lengths))
    for t in close.tolist():
        lengths[t] = math.log(draws[t]) / per_skip
    skips: Ints = np.minimum(np.floor(lengths), longest).astype(np.int64)
    return skips


def _check_logarithm(draws: Any) -> None:
    if np.any(draws == 0):
        msg = "networkx takes the logarithm of 0 here"
        raise NotImplementedError(msg)


def _python_random(seed: Any) -> random.Random:
    if type(seed) is not random.Random:
        msg = "only the draws of a random.Random can be reproduced"
        raise NotImplementedError(msg)
    return seed


def _is_valid(
    sizes: Sequence[int], p: Any, nodelist: Sequence[Hashable] | None, *, symmetric: bool
) -> bool:
    if len(sizes) != len(p) or any(len(row) != len(p) for row in p):
        return False
    matrix = np.array(p, dtype=float).reshape(len(p), len(p))
    if (symmetric and np.any(np.abs(matrix - matrix.T) > 1e-8)) or not np.all(
        (matrix >= 0) & (matrix <= 1)
    ):
        return False
    return nodelist is None or len(nodelist) == len(set(nodelist)) == sum(sizes)


def _build_graph(
    nodes: Sequence[Hashable],
    attributes: Sequence[dict[str, Any]],
    u: Ints,
    v: Ints,
    *,
    directed: bool,
) -> Any:
    """Return the graph that adding these nodes and distinct edges in order would give."""
    kind = nx.DiGraph if directed else nx.Graph
    # Not kind(): networkx may be configured to let another backend create graphs.
    graph = object.__new__(kind)
    graph.__init__()
    with _no_garbage_collection():
        graph._node.update(zip(nodes, attributes, strict=True))
        following: list[dict[Hashable, Any]] = [{} for _ in nodes]
        preceding: list[dict[Hashable, Any]] = [{} for _ in nodes] if directed else following
        for i, j in zip(u.tolist(), v.tolist(), strict=True):
            following[i][nodes[j]] = preceding[j][nodes[i]] = {}
        graph._adj.update(zip(nodes, following, strict=True))
        if directed:
            graph._pred.update(zip(nodes, preceding, strict=True))
    return graph


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keep Python from searching the growing dicts for cycles again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_freeze_count() == 0:
                # Both together move everything to the oldest generation; otherwise the next
                # allocation would search all of it at once.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
