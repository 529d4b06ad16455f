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

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kgroups._csr import row_sums
from kgroups._progress import new_tally, run_kernel
from kgroups._types import Floats, Indices, Ints
from kgroups.search import _supergroups_nb as kernels
from kgroups.search._climbing_nb import ROUNDING
from kgroups.search.levels import Level
from kgroups.search.objective import GROUPS_PER_MERGE, log_factorials

LEAST_NATS = 3.0
"""Nats that super-groups must save."""
# With fewer groups, super-groups have nothing to tell.
_LEAST_GROUPS = 4
# Merges end in one partition for each number of super-groups; this many of the best are improved
# by moves.
_BEST_CUTS = 6
# Models of the densities of super-groups: one that they share, and one each.
_SHARED, _OWN = 1, 0
# Relative accuracy of the eigenvalue that is compared with its bound.
_EIGENVALUE_ACCURACY = 1e-3


class GroupGraph(NamedTuple):
    """The edges between groups, and how many are expected; components are not linked."""

    indptr: Ints
    indices: Ints
    e: Floats
    # Factors of the expected numbers.
    a: Floats
    # Where each component starts among the groups, and their number.
    offsets: Ints
    # Sum of the edges of each component, and what their number was divided by.
    edges: Floats
    dispersion: float

    @classmethod
    def of(cls, groups: Level, dispersion: float = 1.0) -> "GroupGraph":
        """Return the graph of the units of a level, whose weights were divided by a dispersion."""
        return cls._of(groups.indptr, groups.indices, groups.data, groups.offsets, dispersion)

    @classmethod
    def _of(
        cls, indptr: Indices, indices: Indices, data: Floats, offsets: Ints, dispersion: float
    ) -> "GroupGraph":
        e, k = data.astype(np.float64), indptr.size - 1
        sums = row_sums(np.repeat(np.arange(k), np.diff(indptr)), e, k)
        a, edges = np.zeros(k), np.zeros(offsets.size - 1)
        for c, (first, last) in enumerate(pairwise(offsets.tolist())):
            if last - first >= _LEAST_GROUPS:
                a[first:last] = scaling_factors(sums[first:last])
                edges[c] = 0.5 * float(sums[first:last].sum())
        whole = indptr.astype(np.int64), indices.astype(np.int64)
        return cls(*whole, e, a, offsets.astype(np.int64), edges, dispersion)

    @property
    def density_cost(self) -> Floats:
        """Nats that tell the number of edges in a super-group of each component."""
        return np.asarray(np.log(self.dispersion * self.edges + 1.0))

    @property
    def rows(self) -> Ints:
        """The group of each entry."""
        return np.repeat(np.arange(self.a.size), np.diff(self.indptr))

    def apart(self, part: Ints) -> tuple["GroupGraph", Ints]:
        """Return the graph whose components are parts of this one, and the order of its groups.

        Expectations are scaled to each part alone.
        """
        order, k = np.argsort(part, kind="stable"), self.a.size
        place = np.empty(k, dtype=np.int64)
        place[order] = np.arange(k)
        rows = self.rows
        inside = part[rows] == part[self.indices]
        first, second = place[rows[inside]], place[self.indices[inside]]
        by_row = np.argsort(first, kind="stable")
        lengths = np.bincount(first, minlength=k)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        offsets = np.concatenate([[0], np.cumsum(np.bincount(part))])
        entries = second[by_row], self.e[inside][by_row]
        return self._of(indptr, *entries, offsets, self.dispersion), order


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
    def root(x: Floats, w: float) -> Floats:
        return np.asarray(2.0 * x / (1.0 + np.sqrt(np.maximum(1.0 - 4.0 * x * w, 0.0))))

    def excess(w: float) -> float:
        return float(w * root(sums, w).sum() - 1.0)

    def excess_beside_larger_root(w: float) -> float:
        return float(root(others, w).sum() - root(sums[hub], w))

    last = 0.25 / most
    all_small = excess(last) >= 0.0
    condition = excess if all_small else excess_beside_larger_root
    # Between the two branches rounding may leave no change of sign.
    crosses = condition(0.0) * condition(last) <= 0.0
    w = float(brentq(condition, 0.0, last, xtol=np.finfo(float).tiny)) if crosses else last
    a = np.sqrt(w) * root(sums, w)
    if not all_small:
        a[hub] = 1.0 / np.sqrt(w) - a[hub]
    return np.asarray(a)


def exceeds_chance(graph: GroupGraph, component: int = 0) -> bool:
    r"""Tell whether edges between groups deviate from expectation by more than chance allows.

    The largest eigenvalue of :math:`(e_{rs} - p_{rs}) / \sqrt{p_{rs}}` is near
    :math:`2 \sqrt k` if edges are independent, and larger if there are super-groups.
    """
    from scipy import sparse
    from scipy.sparse.linalg import LinearOperator, eigsh

    first, last = graph.offsets[component : component + 2].tolist()
    slots = slice(*graph.indptr[[first, last]].tolist())
    a, k = graph.a[first:last], last - first
    root = np.sqrt(a)
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=a > 0.0)
    rows, columns = graph.rows[slots] - first, graph.indices[slots] - first
    values = inverse[rows] * graph.e[slots] * inverse[columns]
    observed = sparse.csr_array((values, (rows, columns)), shape=(k, k))

    def product(x: Floats) -> Floats:
        x = x.ravel()
        return np.asarray(observed @ x - root * (root @ x) + a * x)

    operator = LinearOperator((k, k), matvec=product, dtype=float)
    # Any fixed vector that is not one of few groups.
    start, accuracy = np.cos(np.arange(k)), _EIGENVALUE_ACCURACY
    largest = eigsh(operator, 1, which="LA", v0=start, tol=accuracy, return_eigenvectors=False)
    return bool(largest[0] > 2.0 * np.sqrt(np.count_nonzero(a)))


def find_supergroups(graph: GroupGraph) -> tuple[Ints, Floats]:
    """Return the super-groups of each component that save most nats, and these nats.

    They are 0 where there are none that save enough.
    """
    k = np.diff(graph.offsets)
    saved, y = np.zeros(k.size), np.zeros(graph.a.size, dtype=np.int64)
    some = np.add.reduceat(np.append(graph.a, 0.0), graph.offsets[:-1]) > 0.0
    which = np.flatnonzero((k >= _LEAST_GROUPS) & some)
    # Merging fewer groups takes less time than their eigenvalue.
    screened = which[k[which] >= 2 * GROUPS_PER_MERGE]
    flat = [c for c in screened.tolist() if not exceeds_chance(graph, c)]
    which = np.setdiff1d(which, flat)
    if which.size:
        _run_kernel(graph, which, y, saved)
        for first, last in zip(graph.offsets[which], graph.offsets[which + 1], strict=True):
            # Moves may have left some empty.
            y[first:last] = np.unique(y[first:last], return_inverse=True)[1]
    return y, np.where(saved > LEAST_NATS, saved, 0.0)


def _run_kernel(graph: GroupGraph, which: Ints, y: Ints, saved: Floats) -> None:
    """Fill the labels of super-groups and their nats in some components."""
    k = int(np.diff(graph.offsets)[which].max())
    entries = int(np.diff(graph.indptr[graph.offsets])[which].max())
    saved[which] = LEAST_NATS
    run_kernel(
        kernels.group_groups,
        len(graph.indices),
        *graph[:6],
        graph.density_cost,
        log_factorials(k + 2),
        which,
        GROUPS_PER_MERGE,
        y,
        saved,
        np.empty((4, k)),
        np.empty((6, k), dtype=np.int64),
        np.empty(k),
        np.empty(2 * (k + 1), dtype=np.int64),
        np.empty(2 * entries, dtype=np.int64),
        np.empty(2 * entries),
        np.empty((_BEST_CUTS, k), dtype=np.int64),
        np.empty(_BEST_CUTS),
        np.array([_SHARED, _OWN]),
        new_tally(),
    )


def supergroup_nats(graph: GroupGraph, y: Ints) -> float:
    """Return U, the nats that super-groups save in a graph of one component."""
    y = np.unique(y, return_inverse=True)[1]
    k, q = y.size, int(y.max()) + 1
    if not 1 < q < k or not graph.a.any():
        return 0.0
    factorial, m = log_factorials(k + 2), float(graph.edges[0])
    own = y[graph.rows]
    same = own == y[graph.indices]
    E = 0.5 * row_sums(own[same], graph.e[same], q)
    P = 0.5 * (np.square(row_sums(y, graph.a, q)) - row_sums(y, np.square(graph.a), q))
    size, cost = np.bincount(y), float(graph.density_cost[0])
    each = float(_denser(E, P).sum()) - cost * np.count_nonzero(size > 1)
    inside, chance = E.sum(keepdims=True), P.sum(keepdims=True)
    shared = float(_denser(inside, chance)[0]) - cost
    between = float(_divergence(m - inside, m - chance)[0]) if inside[0] > chance[0] else 0.0
    labels = factorial[k - 1] - factorial[q - 1] - factorial[k - q] - factorial[q]
    labels += factorial[k] - factorial[size].sum()
    return max(shared, each) + between - float(labels)


def _denser(E: Floats, P: Floats) -> Floats:
    return np.where((E > P) & (P > 0.0), _divergence(E, P), 0.0)


def _divergence(E: Floats, P: Floats) -> Floats:
    """Return E ln(E / P) - E + P, or P if E is not positive."""
    positive = (E > 0.0) & (P > 0.0)
    ratio = np.where(positive, E, 1.0) / np.where(positive, P, 1.0)
    return np.where(positive, E * np.log(ratio) - E + P, P)


__all__ = [
    "LEAST_NATS",
    "GroupGraph",
    "exceeds_chance",
    "find_supergroups",
    "scaling_factors",
    "supergroup_nats",
]
