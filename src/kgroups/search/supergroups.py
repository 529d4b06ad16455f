r"""Super-groups: communities of communities, by the same description one level up.

With :math:`e_{rs}` edges between groups r and s, and :math:`p_{rs} = a_r a_s` expected, where the
factors are such that both have the same row sums, super-groups save

.. math:: U = \sum_c \Bigl[E_c \ln\frac{E_c}{P_c} - E_c + P_c\Bigr]_{E_c > P_c}
    + \Bigl[E_o \ln\frac{E_o}{P_o} - E_o + P_o\Bigr]_{E_o < P_o}
    - \#\{c : k_c > 1\} \ln(E + 1) - \ln\binom{k-1}{q-1} - \ln\frac{k!}{\prod_c k_c!} + \ln q!

nats, where :math:`E_c` and :math:`P_c` count edges between the :math:`k_c` groups of super-group c,
:math:`E_o` and :math:`P_o` all others, and E is their sum; or, if that is more, the same with one
density that all super-groups share. Only super-groups that are denser than expected count.
"""

from typing import NamedTuple

import numpy as np

from kgroups._types import Bools, Floats, Ints
from kgroups.multilevel import GROUPS_PER_MERGE, ROUNDING, Level

LEAST_NATS = 3.0
"""Nats that super-groups must save: chance saves as much in one case of twenty."""
# With fewer groups, super-groups have nothing to tell.
_LEAST_GROUPS = 4
# Agglomeration ends in one partition for each number of super-groups; this many of the best are
# improved by moves.
_BEST_CUTS = 6
# Relative accuracy of the eigenvalue that is compared with its bound.
_EIGENVALUE_ACCURACY = 1e-3


class GroupGraph(NamedTuple):
    """The edges between the groups of a partition, and how many are expected."""

    indptr: Ints
    indices: Ints
    e: Floats
    # Factors of the expected numbers.
    a: Floats
    # Sum of all edges, and what their number was divided by.
    edges: float
    dispersion: float

    @classmethod
    def of(cls, groups: Level, dispersion: float = 1.0) -> "GroupGraph":
        """Return the graph of the units of a level, whose weights were divided by a dispersion."""
        return cls._of(groups.indptr.astype(np.int64), groups.indices, groups.data, dispersion)

    @classmethod
    def _of(cls, indptr: Ints, indices: Ints, data: Floats, dispersion: float) -> "GroupGraph":
        e, k = data.astype(float), indptr.size - 1
        sums = np.bincount(np.repeat(np.arange(k), np.diff(indptr)), e, minlength=k)
        a, edges = scaling_factors(sums), 0.5 * float(sums.sum())
        return cls(indptr, indices.astype(np.int64), e, a, edges, dispersion)

    @property
    def k(self) -> int:
        """Number of groups."""
        return self.a.size

    @property
    def density_cost(self) -> float:
        """Nats that tell the number of edges in a super-group."""
        return float(np.log(self.dispersion * self.edges + 1.0))

    @property
    def rows(self) -> Ints:
        """The group of each entry."""
        return np.repeat(np.arange(self.k), np.diff(self.indptr))

    def part(self, which: Bools) -> "GroupGraph":
        """Return the graph of some groups, its expectation scaled to these alone."""
        rows, place = self.rows, np.cumsum(which) - 1
        inside = which[rows] & which[self.indices]
        lengths = np.bincount(rows[inside], minlength=self.k)[which]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return self._of(indptr, place[self.indices[inside]], self.e[inside], self.dispersion)


def scaling_factors(sums: Floats) -> Floats:
    """Return a such that the sum of a_r a_s over s other than r is a given number for every r.

    If S is the sum of all factors, then a_r (S - a_r) = sums_r. All a_r are the smaller root of
    that, or all but the largest, and S is found such that they add up. Where one group has all
    edges, as in a star, there is no solution, and all factors are 0.
    """
    from scipy.optimize import brentq

    hub = int(np.argmax(sums))
    most, others = float(sums[hub]), np.delete(sums, hub)
    if not most < float(others.sum()) * (1.0 - ROUNDING):
        return np.zeros_like(sums)

    # By w = 1 / S^2: the smaller root is S w times this.
    def root(x: Floats | float, w: float) -> Floats | float:
        return 2.0 * x / (1.0 + np.sqrt(np.maximum(1.0 - 4.0 * x * w, 0.0)))

    def excess(w: float) -> float:
        return float(w * (np.sum(root(others, w)) + root(most, w)) - 1.0)

    def excess_beside_larger_root(w: float) -> float:
        return float(np.sum(root(others, w)) - root(most, w))

    last = 0.25 / most
    if excess(last) >= 0.0:
        w = float(brentq(excess, 0.0, last, xtol=1e-300))
        return np.asarray(np.sqrt(w) * root(sums, w))
    w = float(brentq(excess_beside_larger_root, 0.0, last, xtol=1e-300))
    a = np.asarray(np.sqrt(w) * root(sums, w))
    a[hub] = 1.0 / np.sqrt(w) - a[hub]
    return a


def exceeds_chance(graph: GroupGraph) -> bool:
    r"""Tell whether edges between groups deviate from expectation by more than chance allows.

    The largest eigenvalue of :math:`(e_{rs} - p_{rs}) / \sqrt{p_{rs}}` is near
    :math:`2 \sqrt k` if edges are independent, and larger if there are super-groups.
    """
    from scipy import sparse
    from scipy.sparse.linalg import LinearOperator, eigsh

    linked = graph.a > 0.0
    root = np.sqrt(graph.a)
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=linked)
    k = graph.k
    values = inverse[graph.rows] * graph.e * inverse[graph.indices]
    observed = sparse.csr_array((values, graph.indices, graph.indptr), shape=(k, k))

    def product(x: Floats) -> Floats:
        x = x.ravel()
        return np.asarray(observed @ x - root * (root @ x) + graph.a * x)

    operator = LinearOperator((k, k), matvec=product, dtype=float)
    # Any fixed vector that is not one of few groups.
    start = np.cos(np.arange(k))
    accuracy = _EIGENVALUE_ACCURACY
    largest = eigsh(operator, 1, which="LA", v0=start, tol=accuracy, return_eigenvectors=False)
    return float(largest[0]) > 2.0 * np.sqrt(np.count_nonzero(linked))


class _Sums(NamedTuple):
    """What super-groups add up to: groups, edges inside, factors and their squares."""

    size: Ints
    E: Floats
    A: Floats
    B: Floats

    @classmethod
    def of(cls, graph: GroupGraph, y: Ints, q: int) -> "_Sums":
        rows = y[graph.rows]
        inside = rows == y[graph.indices]
        return cls(
            np.bincount(y, minlength=q),
            0.5 * np.bincount(rows[inside], graph.e[inside], minlength=q),
            np.bincount(y, graph.a, minlength=q),
            np.bincount(y, graph.a**2, minlength=q),
        )

    @property
    def P(self) -> Floats:  # noqa: N802
        """Edges expected inside."""
        return np.maximum(0.5 * (self.A**2 - self.B), 0.0)


def _divergence(E: Floats, P: Floats) -> Floats:
    """Return E ln(E / P) - E + P, where P > 0."""
    ratio = np.divide(E, P, out=np.ones_like(P), where=(E > 0.0) & (P > 0.0))
    return np.asarray(E * np.log(ratio) - E + P)


def _denser(E: Floats, P: Floats) -> Floats:
    return np.where((E > P) & (P > 0.0), _divergence(E, P), 0.0)


def _sparser(E: Floats, P: Floats) -> Floats:
    E = np.maximum(E, 0.0)
    return np.where(E < P, _divergence(E, P), 0.0)


def _log_factorial(x: Ints | int) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(np.asarray(x) + 1.0))


def _number_cost(k: int, q: Ints) -> Floats:
    """Return the part of the cost of labels that depends on the number q of super-groups only."""
    ways = _log_factorial(k - 1) - _log_factorial(q - 1) - _log_factorial(k - q)
    return np.asarray(ways + _log_factorial(k) - _log_factorial(q))


def _saved(graph: GroupGraph, sums: _Sums, *, shared: bool) -> float:
    """Return the nats that super-groups save, by a density each or by one that they share."""
    k, q, P = graph.k, int(np.count_nonzero(sums.size)), sums.P
    if not 1 < q < k:
        return 0.0
    E_in, P_in = np.array([sums.E.sum()]), np.array([P.sum()])
    if shared:
        nats = float(_denser(E_in, P_in)[0]) - graph.density_cost
    else:
        several = np.count_nonzero(sums.size > 1)
        nats = float(_denser(sums.E, P).sum()) - graph.density_cost * several
    nats += float(_sparser(graph.edges - E_in, graph.edges - P_in)[0])
    return nats + float(_log_factorial(sums.size).sum() - _number_cost(k, np.array([q]))[0])


def supergroup_nats(graph: GroupGraph, y: Ints) -> float:
    """Return the nats that super-groups save: U."""
    sums = _Sums.of(graph, y, int(y.max()) + 1)
    return max(_saved(graph, sums, shared=True), _saved(graph, sums, shared=False))


def find_supergroups(graph: GroupGraph) -> tuple[float, Ints] | None:
    """Return the super-groups that save most nats, with the nats, or None if they save too few."""
    if graph.k < _LEAST_GROUPS or not graph.a.any() or not exceeds_chance(graph):
        return None
    best, y = LEAST_NATS, None
    for shared in (True, False):
        cuts = sorted(_agglomerated(graph, shared=shared), key=lambda cut: -cut[0])
        for _, start in cuts[:_BEST_CUTS]:
            nats, moved = _moved(graph, start, shared=shared)
            if nats > best:
                best, y = nats, moved
    return None if y is None else (best, y)


def _agglomerated(graph: GroupGraph, *, shared: bool) -> list[tuple[float, Ints]]:
    """Merge groups pair by pair, the best first; return all partitions with the nats they save."""
    rows = graph.rows
    above = rows < graph.indices
    first, second, e = rows[above], graph.indices[above], graph.e[above]
    sums = _Sums(np.ones(graph.k, dtype=np.int64), np.zeros(graph.k), graph.a, graph.a**2)
    y, q, found = np.arange(graph.k), graph.k, []
    while q > 2 and e.size:
        P, p = sums.P, sums.A[first] * sums.A[second]
        E_in, P_in = sums.E.sum(), P.sum()
        gain = _sparser(graph.edges - E_in - e, graph.edges - P_in - p)
        if shared:
            gain += _denser(E_in + e, P_in + p)
        else:
            own = _denser(sums.E, P)
            E, expected = sums.E[first] + sums.E[second] + e, P[first] + P[second] + p
            gain += _denser(E, expected) - own[first] - own[second]
        into = _merges(first, second, gain, q, max(1, q // GROUPS_PER_MERGE))
        number = np.cumsum(into == np.arange(q)) - 1
        into, q = number[into], int(number[-1]) + 1
        first, second = into[first], into[second]
        joined = first == second
        more = np.bincount(first[joined], e[joined], minlength=q)
        size, *weights = (np.bincount(into, values, minlength=q) for values in sums)
        sums = _Sums(size.astype(np.int64), weights[0] + more, *weights[1:])
        first, second, e = _summed(first[~joined], second[~joined], e[~joined], q)
        y = into[y]
        found.append((_saved(graph, sums, shared=shared), y))
    return found


def _merges(first: Ints, second: Ints, gain: Floats, q: int, most: int) -> Ints:
    """Return with which each of ``q`` units merges: the best disjoint pairs, at most ``most``."""
    into, left = np.arange(q), min(most, q - 2)
    # Ties are broken by position.
    order = np.argsort(-gain, kind="stable") if left > 1 else [int(np.argmax(gain))]
    taken = np.zeros(q, dtype=np.bool_)
    for pair in order:
        i, j = int(first[pair]), int(second[pair])
        if not (taken[i] or taken[j]):
            taken[i] = taken[j] = True
            into[max(i, j)] = min(i, j)
            left -= 1
            if not left:
                break
    return into


def _summed(first: Ints, second: Ints, e: Floats, q: int) -> tuple[Ints, Ints, Floats]:
    """Add up the entries of equal pairs, whose order does not matter."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    keys, place = np.unique(low * q + high, return_inverse=True)
    return keys // q, keys % q, np.bincount(place, e, minlength=keys.size)


def _moved(graph: GroupGraph, y: Ints, *, shared: bool) -> tuple[float, Ints]:
    """Move single groups between super-groups, or to a new one, while that saves nats."""
    y, k = y.copy(), graph.k
    # One more than there are, which is empty.
    q = int(y.max()) + 2
    number_cost = np.concatenate([[0.0], _number_cost(k, np.arange(1, k + 1))])
    sums, changed = _Sums.of(graph, y, q), True
    log_size = np.log(np.maximum(np.arange(k + 1), 1))
    while changed:
        changed = False
        for r, (start, stop) in enumerate(zip(graph.indptr, graph.indptr[1:], strict=False)):
            here, a = int(y[r]), float(graph.a[r])
            link = np.bincount(y[graph.indices[start:stop]], graph.e[start:stop], minlength=q)
            expected = a * sums.A
            expected[here] -= a * a
            size, alone = sums.size, sums.size[here] == 1
            used = int(np.count_nonzero(size)) - int(alone) + (size == 0)
            allowed = (used > 1) & (used < k)
            if alone:
                allowed &= size > 0
            allowed[here] = False
            if not allowed.any():
                continue
            P = sums.P
            more, charge = link - link[here], expected - expected[here]
            E_in, P_in = sums.E.sum(), P.sum()
            gain = _sparser(graph.edges - E_in - more, graph.edges - P_in - charge)
            gain -= _sparser(graph.edges - E_in, graph.edges - P_in)
            if shared:
                gain += _denser(E_in + more, P_in + charge) - _denser(E_in, P_in)
            else:
                own = _denser(sums.E, P)
                rest = _denser(sums.E[here] - link[here], np.maximum(P[here] - expected[here], 0.0))
                gain += _denser(sums.E + link, P + expected) - own + rest - own[here]
                gain -= graph.density_cost * ((size == 1) * 1.0 - float(size[here] == 2))
            gain += log_size[size + 1] - log_size[size[here]]
            gain += number_cost[int(np.count_nonzero(size))] - number_cost[used]
            gain[~allowed] = -np.inf
            best = int(np.argmax(gain))
            if gain[best] > ROUNDING:
                changed = True
                y[r] = best
                sums = _Sums.of(graph, y, q)
    y = np.unique(y, return_inverse=True)[1]
    return _saved(graph, _Sums.of(graph, y, int(y.max()) + 1), shared=shared), y


__all__ = [
    "LEAST_NATS",
    "GroupGraph",
    "exceeds_chance",
    "find_supergroups",
    "scaling_factors",
    "supergroup_nats",
]
