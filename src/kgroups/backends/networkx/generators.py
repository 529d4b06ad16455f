"""networkx's block models: the very graph that networkx draws for a seed, many times faster."""

import itertools
import math
import random
from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

import networkx as nx
import numpy as np

from kgroups._types import Ints
from kgroups.backends.networkx.building import built_graph
from kgroups.backends.networkx.pairs import Pairs, pairs_between, pairs_within
from kgroups.backends.networkx.streams import Stream

__all__ = [
    "gaussian_random_partition_graph",
    "planted_partition_graph",
    "random_partition_graph",
    "stochastic_block_model",
]


_AT_ONCE = 65_536


class Threshold:
    """Number of nodes below which networkx draws a block model faster itself.

    networkx does not ask whether a generator should run, as it does for functions of graphs.
    """

    nodes = 120


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
    _check_model(sizes, p, nodelist, symmetric=not directed)
    if sum(sizes) < Threshold.nodes:
        return nx.stochastic_block_model(
            sizes, p, nodelist, source, directed, selfloops, sparse, backend="networkx"
        )
    names: Sequence[Hashable] = range(sum(sizes)) if nodelist is None else nodelist
    ends = [0, *itertools.accumulate(map(int, sizes))]
    # networkx walks through the nodes of a block in the order of the set that it makes of them.
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
                # networkx then looks for more edges in the list that it has used up.
                _logarithm_is_defined(stream.take(1))
        else:
            pairs = pairs_between(int(sizes[i]), int(sizes[j]))
            chosen = _chosen_between(stream, pairs, probability, sparse=sparse)
        first, second = pairs.ends(chosen)
        u.append(first + ends[i])
        v.append(second + ends[j])
    nodes = [node for block in partition for node in block]
    numbers = np.repeat(np.arange(len(sizes)), sizes).tolist()
    attributes = [{"block": number} for number in numbers]
    graph = built_graph(nodes, attributes, np.concatenate(u), np.concatenate(v), directed=directed)
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


def _tried_one_by_one(stream: Stream, count: int, probability: float) -> Ints:
    """Return the numbers of the pairs that a draw for each of them lets through."""
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
    """Return the numbers of the pairs where skips of geometric length come to rest."""
    per_skip = math.log(1 - probability)
    if per_skip == 0:
        msg = f"a probability as small as {probability} is an error in networkx"
        raise NotImplementedError(msg)
    found, reached = [np.zeros(0, np.int64)], -1
    while True:
        expected = (count - reached) * probability
        draws = stream.ahead(min(_AT_ONCE, int(expected + 4 * math.sqrt(expected)) + 16))
        places = reached + np.cumsum(_skips(draws, per_skip, count) + 1)
        inside = int(np.searchsorted(places, count))
        found.append(places[:inside])
        if inside < len(places):
            # The draw that leads beyond the last pair is used up too.
            stream.skip(inside + 1)
            return np.concatenate(found)
        stream.skip(len(draws))
        reached = int(places[-1])


def _skips(draws: Any, per_skip: float, longest: int) -> Ints:
    _logarithm_is_defined(draws)
    lengths = np.log(draws) / per_skip
    # numpy's logarithm may differ from Python's in the last digit, which decides close to whole
    # numbers only: there Python's is asked.
    close = np.flatnonzero(np.abs(lengths - np.rint(lengths)) <= 1e-12 * (1 + lengths))
    for t in close.tolist():
        lengths[t] = math.log(draws[t]) / per_skip
    skips: Ints = np.minimum(np.floor(lengths), longest).astype(np.int64)
    return skips


def _logarithm_is_defined(draws: Any) -> None:
    if np.any(draws == 0):
        msg = "networkx takes the logarithm of 0 here"
        raise NotImplementedError(msg)


def _python_random(seed: Any) -> random.Random:
    if type(seed) is not random.Random:
        msg = "the stream of a random.Random can be followed, other generators are left to networkx"
        raise NotImplementedError(msg)
    return seed


def _check_model(
    sizes: Sequence[int], p: Any, nodelist: Sequence[Hashable] | None, *, symmetric: bool
) -> None:
    """Raise networkx's errors in networkx's order."""
    if len(sizes) != len(p):
        _refuse("'sizes' and 'p' do not match.")
    if any(len(row) != len(p) for row in p):
        _refuse("'p' must be a square matrix.")
    matrix = np.array(p, dtype=float).reshape(len(p), len(p))
    if symmetric and np.any(np.abs(matrix - matrix.T) > 1e-8):
        _refuse("'p' must be symmetric.")
    if np.any((matrix < 0) | (matrix > 1)):
        _refuse("Entries of 'p' not in [0,1].")
    if not all(isinstance(size, Integral) and size >= 0 for size in sizes):
        msg = f"sizes must be whole numbers, got {sizes!r}"
        raise NotImplementedError(msg)
    if nodelist is None:
        return
    if not isinstance(nodelist, list | tuple | range):
        msg = f"nodelist must be a list or a tuple, got {type(nodelist).__name__}"
        raise NotImplementedError(msg)
    if len(nodelist) != sum(sizes):
        _refuse("'nodelist' and 'sizes' do not match.")
    if len(nodelist) != len(set(nodelist)):
        _refuse("nodelist contains duplicate.")


def _refuse(message: str) -> None:
    raise nx.NetworkXException(message)
