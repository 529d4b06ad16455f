"""Pairs of stubs made simple: loops, repeated pairs and forbidden pairs are swapped away."""

from typing import NamedTuple

import numpy as np

from kgroups._types import Bools, Ints
from kgroups.generators.assembly import Ends
from kgroups.generators.codes import codes_of, is_among, values_seen_twice

__all__ = ["simple_pairing"]

_PATIENCE = 25
_FEWEST_PROPOSALS = 4096
_MOST_TRIES = 256


class _Proposals(NamedTuple):
    """Pairs ``e`` and ``f`` that may become ``(a, d)`` and ``(c, b)``."""

    e: Ints
    f: Ints
    a: Ints
    b: Ints
    c: Ints
    d: Ints

    def where(self, chosen: Bools) -> "_Proposals":
        return _Proposals(*(values[chosen] for values in self))

    def codes(self, n: int) -> tuple[Ints, Ints]:
        return codes_of(self.a, self.d, n), codes_of(self.c, self.b, n)


def simple_pairing(
    degrees: Ints, pool: Ints, rng: np.random.Generator, *, apart: Ints | None = None
) -> Ends:
    """Pair the stubs of nodes within their pools, each pair of nodes at most once.

    Parameters
    ----------
    degrees : ndarray of int
        Number of stubs of each node; their sum is even in each pool.
    pool : ndarray of int
        Pool of each node.
    rng : Generator
        Source of randomness.
    apart : ndarray of int, optional
        Nodes with the same value here must not be paired.

    Returns
    -------
    u, v : ndarray of int
        Pairs of different nodes, none listed twice. Pairs for which no place was found are left
        out.
    """
    stubs = rng.permutation(np.repeat(np.arange(degrees.size), degrees))
    stubs = stubs[np.argsort(pool[stubs], kind="stable")]
    u, v = stubs[0::2].copy(), stubs[1::2].copy()
    pools = pool[u]
    wrong = _wrong_pairs(u, v, degrees.size, apart)
    unsettled = np.arange(u.size)
    fruitless = 0
    while wrong.any() and fruitless < _PATIENCE:
        part = _Part(u[unsettled], v[unsettled], pools[unsettled], wrong[unsettled], degrees.size)
        made = part.swap(apart, rng)
        u[unsettled], v[unsettled], wrong[unsettled] = part.u, part.v, part.wrong
        unsettled = unsettled[part.in_stirred_pool]
        fruitless = 0 if made else fruitless + 1
    kept = ~_wrong_pairs(u, v, degrees.size, apart)
    return u[kept], v[kept]


def _wrong_pairs(u: Ints, v: Ints, n: int, apart: Ints | None) -> Bools:
    """Tell which pairs are loops, or forbidden, or stand further left, too."""
    codes = codes_of(u, v, n)
    order = np.argsort(codes, kind="stable")
    rising = codes[order]
    wrong: Bools = u == v
    wrong[order[1:][rising[1:] == rising[:-1]]] = True
    if apart is not None:
        wrong |= apart[u] == apart[v]
    return wrong


class _Part:
    """Pairs sorted by pool, some of them wrong."""

    def __init__(self, u: Ints, v: Ints, pool: Ints, wrong: Bools, n: int) -> None:
        self.u, self.v, self.pool, self.wrong, self.n = u, v, pool, wrong, n

    @property
    def in_stirred_pool(self) -> Bools:
        """Which pairs lie in a pool with a wrong pair; the other pools are done."""
        stirred = np.zeros(int(self.pool[-1]) + 1, dtype=bool)
        stirred[self.pool[self.wrong]] = True
        return stirred[self.pool]

    def swap(self, apart: Ints | None, rng: np.random.Generator) -> int:
        """Swap wrong pairs with random ones of their pool; return the number of swaps."""
        proposals = self._proposed_swaps(rng)
        e, f, a, b, c, d = proposals
        possible = (e != f) & (a != d) & (c != b)
        if apart is not None:
            possible &= (apart[a] != apart[d]) & (apart[c] != apart[b])
        proposals = proposals.where(possible)
        present = np.sort(codes_of(self.u, self.v, self.n))
        first, second = proposals.codes(self.n)
        new = ~is_among(first, present) & ~is_among(second, present)
        chosen = _without_conflicts(proposals.where(new & (first != second)), self.u.size, self.n)
        self.v[chosen.e] = chosen.d
        self.u[chosen.f], self.v[chosen.f] = chosen.c, chosen.b
        # Both new pairs stand nowhere else. A copy whose original was swapped away stays marked
        # until all is looked at again in the end.
        self.wrong[chosen.e] = self.wrong[chosen.f] = False
        return int(chosen.e.size)

    def _proposed_swaps(self, rng: np.random.Generator) -> "_Proposals":
        wrong = np.flatnonzero(self.wrong)
        # Several tries for each wrong pair cost no more than sorting all pairs once again.
        tries = max(_FEWEST_PROPOSALS, self.u.size // 8) // wrong.size
        e = np.repeat(wrong, min(max(tries, 1), _MOST_TRIES))
        pool = self.pool[e]
        start = np.searchsorted(self.pool, pool, side="left")
        count = np.searchsorted(self.pool, pool, side="right") - start
        f = start + (rng.random(e.size) * count).astype(np.int64)
        straight = rng.random(e.size) < 0.5
        c = np.where(straight, self.u[f], self.v[f])
        d = np.where(straight, self.v[f], self.u[f])
        return _Proposals(e, f, self.u[e], self.v[e], c, d)


def _without_conflicts(proposals: _Proposals, m: int, n: int) -> _Proposals:
    """Keep proposals that use no pair and make no pair that another one uses or makes."""
    one_for_each = np.zeros(proposals.e.size, dtype=bool)
    one_for_each[np.unique(proposals.e, return_index=True)[1]] = True
    chosen = proposals.where(one_for_each)
    name = np.arange(chosen.e.size)
    # Of several proposals that use a pair the last one gets it, so that one gets both of its own.
    user = np.full(m, -1)
    user[np.column_stack([chosen.e, chosen.f]).ravel()] = np.repeat(name, 2)
    chosen = chosen.where((user[chosen.e] == name) & (user[chosen.f] == name))
    first, second = chosen.codes(n)
    repeated = values_seen_twice(np.concatenate([first, second]))
    return chosen.where(~is_among(first, repeated) & ~is_among(second, repeated))
