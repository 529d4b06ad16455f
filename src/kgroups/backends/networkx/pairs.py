"""Pairs of nodes in the order in which itertools would list them, by their numbers."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kgroups._types import Ints

__all__ = ["Pairs", "pairs_between", "pairs_within"]


class Pairs(NamedTuple):
    """How many pairs there are, and what turns their numbers into places within the blocks."""

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
