"""Random pairs of nodes between blocks: each pair by its own coin, time only for what is drawn.

Points fall on the pairs of two blocks as a Poisson process of intensity ``-log(1 - p)`` per pair. A
pair is hit at least once with probability ``p``, independently of all others, so that the pairs
hit are exact Bernoulli edges. Where ``p`` is large, every pair is tested instead.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from kgroups._types import Bools, Floats, Indices, Ints, index_type
from kgroups.generators.assembly import Ends, joined_ends

__all__ = [
    "BlockPairs",
    "Blocks",
    "UniformBlocks",
    "all_pairs",
    "draw_pairs",
    "pairs_hit",
    "pairs_tested",
]

_DENSE = 0.25
_PAIRS_AT_A_TIME = 1 << 22


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


class Blocks(Protocol):
    """Blocks of nodes in a row, from each of which nodes can be drawn."""

    @property
    def mass(self) -> Floats:
        """Sum of the propensities of each block."""

    def draw(self, block: Ints, counts: Ints, rng: np.random.Generator) -> Indices:
        """Return ``counts[t]`` nodes of ``block[t]``, one after the other."""


class UniformBlocks:
    """Blocks of nodes that are all alike."""

    def __init__(self, sizes: Ints) -> None:
        self.sizes = sizes
        self.starts = np.cumsum(sizes) - sizes
        self.n = int(sizes.sum())

    @property
    def mass(self) -> Floats:
        """Number of nodes of each block."""
        return self.sizes.astype(np.float64)

    def draw(self, block: Ints, counts: Ints, rng: np.random.Generator) -> Indices:
        """Return ``counts[t]`` nodes of ``block[t]``, each node as likely."""
        kind = index_type(self.n)
        place = rng.random(int(counts.sum()))
        place *= np.repeat(self.mass[block], counts)
        drawn: Indices = place.astype(kind)
        drawn += np.repeat(self.starts[block].astype(kind), counts)
        return drawn


def draw_pairs(blocks: UniformBlocks, pairs: BlockPairs, rng: np.random.Generator) -> Ends:
    """Return the pairs of nodes that are edges; a pair may be listed twice, and with itself."""
    dense = pairs.p >= _DENSE
    parts = []
    if not dense.all():
        parts.append(pairs_hit(blocks, pairs.where(~dense), rng))
    if dense.any():
        parts.append(pairs_tested(blocks, pairs.where(dense), rng))
    return joined_ends(parts) if parts else _no_pairs()


def pairs_hit(blocks: Blocks, pairs: BlockPairs, rng: np.random.Generator) -> Ends:
    """Return the pairs of nodes that Poisson points fall on; needs ``p < 1``."""
    first, second, p = pairs
    # Within a block each pair can be hit in both orders.
    orders = np.where(first == second, 0.5, 1.0)
    counts = rng.poisson(-np.log1p(-p) * orders * blocks.mass[first] * blocks.mass[second])
    return blocks.draw(first, counts, rng), blocks.draw(second, counts, rng)


def pairs_tested(blocks: UniformBlocks, pairs: BlockPairs, rng: np.random.Generator) -> Ends:
    """Return the pairs of nodes whose coin falls right, a coin being thrown for each."""
    parts = []
    for which, u, v in all_pairs(blocks, pairs):
        kept = rng.random(u.size) < pairs.p[which]
        parts.append((u[kept], v[kept]))
    return joined_ends(parts) if parts else _no_pairs()


def all_pairs(blocks: UniformBlocks, pairs: BlockPairs) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield the place in ``pairs`` and both nodes of every pair, some millions at a time."""
    widths = blocks.sizes[pairs.second]
    ends = np.cumsum(blocks.sizes[pairs.first] * widths)
    total = int(ends[-1])
    for start in range(0, total, _PAIRS_AT_A_TIME):
        place = np.arange(start, min(start + _PAIRS_AT_A_TIME, total))
        which = np.searchsorted(ends, place, side="right")
        place -= np.concatenate([[0], ends])[which]
        row, column = np.divmod(place, widths[which])
        u = blocks.starts[pairs.first[which]] + row
        v = blocks.starts[pairs.second[which]] + column
        upper = u < v
        yield which[upper], u[upper], v[upper]


def _no_pairs() -> Ends:
    return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
