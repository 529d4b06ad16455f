"""Pairs of nodes as arrays: drawn at random between blocks, and encoded as single numbers.

Points fall on the pairs of two blocks as a Poisson process of intensity ``-log(1 - p)`` per pair. A
pair is hit at least once with probability ``p``, independently of all others, so that the pairs
hit are exact Bernoulli edges. Where ``p`` is large, every pair is tested instead.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Bools, Floats, Indices, Ints

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
