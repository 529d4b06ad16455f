"""Edge weights drawn from a distribution for each pair of blocks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.errors import InputError, WeightError
from kgroups.graph import Graph

__all__ = ["Distribution", "Weights", "check_weights", "weighted"]

Distribution: TypeAlias = Callable[[np.random.Generator, int], Any]
"""Takes a Generator and a number of edges, returns a weight for each."""

Weights: TypeAlias = (
    Distribution
    | Mapping[str, Distribution]
    | Mapping[tuple[int, int], Distribution]
    | Sequence[Sequence[Distribution]]
)
"""One distribution for all edges, one inside and one between blocks, or one per pair of blocks."""

_PLACES = {"inside", "between"}


def check_weights(weights: Weights | None, k: int) -> None:
    """Raise unless ``weights`` has one of the accepted forms for ``k`` blocks."""
    if weights is None or callable(weights):
        return
    if isinstance(weights, Mapping):
        keys = set(weights)
        by_pair = bool(keys) and all(_is_pair_of_blocks(key, k) for key in keys)
        if keys != _PLACES and not by_pair:
            msg = (
                "weights must have the keys 'inside' and 'between', or pairs (a, b) of blocks in "
                f"range({k}), got {sorted(map(repr, keys))}."
            )
            raise InputError(msg)
        functions = list(weights.values())
    elif _is_square_list(weights, k):
        functions = [function for row in weights for function in row]
    else:
        msg = (
            "weights must be a function (rng, size) -> array, a dict of such functions, or a "
            f"{k} x {k} list of them, got {weights!r}."
        )
        raise InputError(msg)
    for function in functions:
        if not callable(function):
            msg = f"weights must hold functions (rng, size) -> array, got {function!r}."
            raise InputError(msg)


def _is_square_list(weights: object, k: int) -> bool:
    return (
        isinstance(weights, Sequence)
        and len(weights) == k
        and all(isinstance(row, Sequence) and len(row) == k for row in weights)
    )


def _is_pair_of_blocks(key: object, k: int) -> bool:
    return isinstance(key, tuple) and len(key) == 2 and all(block in range(k) for block in key)


def weighted(
    graph: Graph, labels: Ints, weights: Weights | None, rng: np.random.Generator
) -> Graph:
    """Return the graph with weights drawn by the blocks that each edge joins."""
    if weights is None:
        return graph
    upper = graph.row_of_slot < graph.indices
    values: Floats = np.zeros(len(graph.indices))
    drawn = np.zeros(int(upper.sum()))
    first, second = labels[graph.row_of_slot[upper]], labels[graph.indices[upper]]
    for place, edges, function in _parts(weights, first, second):
        drawn[edges] = _drawn(function, edges.size, place, rng)
    if np.all(drawn == 1):
        return graph
    values[upper] = drawn
    return Graph(graph.indptr, graph.indices, _mirrored(graph, values), nodes=graph.nodes)


def _parts(weights: Weights, first: Ints, second: Ints) -> Iterator[tuple[str, Ints, Distribution]]:
    """Yield where the edges lie, which they are, and what their weights are drawn from."""
    if callable(weights):
        yield "the graph", np.arange(first.size), weights
    elif isinstance(weights, Mapping) and set(weights) == _PLACES:
        inside = first == second
        yield "a block", np.flatnonzero(inside), weights["inside"]  # type: ignore[index]
        yield "two blocks", np.flatnonzero(~inside), weights["between"]  # type: ignore[index]
    else:
        yield from _parts_by_pair(weights, first, second)


def _parts_by_pair(
    weights: Any, first: Ints, second: Ints
) -> Iterator[tuple[str, Ints, Distribution]]:
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((high, low))
    a, b = low[order], high[order]
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(a) != 0) | (np.diff(b) != 0)]))
    for start, edges in zip(starts, np.split(order, starts[1:]), strict=True):
        if edges.size == 0:
            return
        pair = int(a[start]), int(b[start])
        yield f"the blocks {pair}", edges, _function_of(weights, pair)


def _function_of(weights: Any, pair: tuple[int, int]) -> Distribution:
    a, b = pair
    if not isinstance(weights, Mapping):
        return weights[a][b]  # type: ignore[no-any-return]
    function = weights.get(pair, weights.get((b, a)))
    if function is None:
        msg = (
            f"weights must have a function for every pair of blocks with an edge, got none for "
            f"{pair}.\n  Add the key {pair}."
        )
        raise InputError(msg)
    return function  # type: ignore[no-any-return]


def _drawn(function: Distribution, size: int, place: str, rng: np.random.Generator) -> Floats:
    values = np.asarray(function(rng, size))
    if values.shape != (size,) or (size and values.dtype.kind not in "biuf"):
        msg = (
            f"weights must return one number per edge ({size} in {place}), got {values.dtype} "
            f"of shape {values.shape}."
        )
        raise WeightError(msg)
    drawn = values.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(drawn) & (drawn >= 0)))
    if bad.size:
        msg = (
            f"weights must return finite numbers >= 0, got {drawn[bad[0]]} for an edge in {place}."
        )
        raise WeightError(msg)
    return drawn


def _mirrored(graph: Graph, upper_values: Floats) -> Floats:
    """Return values that stand in one triangle only in both."""
    from scipy import sparse

    matrix = sparse.csr_array((upper_values, graph.indices, graph.indptr), shape=(graph.n, graph.n))
    # The pattern is symmetric and sorted, so both matrices list the same entries in one order.
    return upper_values + matrix.tocsc().data  # type: ignore[no-any-return]
