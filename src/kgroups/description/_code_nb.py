"""Code lengths of one connected graph, merges of groups, and the code of small graphs."""

from math import lgamma, log

import numpy as np
from numba import njit

from kgroups._types import Indices, Ints
from kgroups.multilevel import Code, Level
from kgroups.multilevel._levels_nb import coarsened, renumbered
from kgroups.multilevel._moving_nb import denser, group_totals, saved_by_totals, sparser

# A round merges at least one group in this many, so that rounds stay few.
_GROUPS_PER_MERGE = 50


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _density_cost(size: int, edges: float) -> float:
    """Return the nats that code how many edges a community has inside."""
    return log(min(0.5 * size * (size - 1.0), edges) + 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def code_of(level: Level) -> Code:
    """Return the code lengths of a connected graph."""
    n = level.nodes.sum()
    m = 0.5 * level.strength.sum()
    log_factorial = np.zeros(n + 2)
    for i in range(2, n + 2):
        log_factorial[i] = log_factorial[i - 1] + log(i)
    of_size, of_number = np.zeros(n + 1), np.zeros(n + 2)
    for i in range(n + 1):
        of_size[i] = log_factorial[i] - _density_cost(i, m)
    for k in range(2, n + 1):
        orders = log_factorial[k - 1] + log_factorial[n - k] - log_factorial[n - 1]
        of_number[k] = orders + log_factorial[k] - log_factorial[n]
    # One community saves nothing.
    of_number[1] = -of_size[n]
    return Code(m, of_size, of_number)


@njit(cache=True, nogil=True, error_model="numpy")
def nats_saved_nb(level: Level, z: Indices, k: int, code: Code, tally: Ints) -> float:
    """Return the nats that ``k`` communities save."""
    E, K, N = group_totals(level, z, k, tally)
    return saved_by_totals(E, K, N, code)


@njit(cache=True, nogil=True, error_model="numpy")
def merged_down(groups: Level, code: Code, target: int, tally: Ints) -> tuple[Indices, int]:
    """Merge groups with their best partners until ``target`` are left; return the new labels.

    Each round makes half of the merges, so that later ones choose among the new groups. The cost of
    a density, which a merge saves, is ignored: it would favor merges of groups that moves have not
    yet corrected.
    """
    label = np.arange(groups.nodes.size).astype(np.int32)
    k = groups.nodes.size
    while k > target and tally[2] == 0:
        A, E, K, N = groups.A, groups.inner, groups.strength, groups.nodes
        quarter = 1.0 / (4.0 * code.edges)
        own = np.empty(k)
        for a in range(k):
            own[a] = code.of_size[N[a]] + _density_cost(N[a], code.edges)
            own[a] += denser(E[a], K[a] * K[a] * quarter)
        X, Y = code.edges - E.sum(), code.edges - np.square(K).sum() * quarter
        gain, partner = np.full(k, -np.inf), np.full(k, -1, np.int32)
        for a in range(k):
            for t in range(A.indptr[a], A.indptr[a + 1]):
                b, x = A.indices[t], A.data[t]
                both, size = K[a] + K[b], N[a] + N[b]
                more = code.of_size[size] + _density_cost(size, code.edges) - own[a] - own[b]
                more += denser(E[a] + E[b] + x, both * both * quarter)
                more += sparser(X - x, Y - 2.0 * K[a] * K[b] * quarter)
                if more > gain[a] or partner[a] < 0:
                    gain[a], partner[a] = more, b
        most = max((k - target + 1) // 2, min(k - target, k // _GROUPS_PER_MERGE))
        into, merges = np.full(k, -1, np.int32), 0
        for a in np.argsort(-gain, kind="mergesort"):
            b = partner[a]
            if merges < most and b >= 0 and into[a] < 0 and into[b] < 0:
                into[a] = into[b] = b
                merges += 1
        if merges == 0:
            break
        for a in range(k):
            if into[a] < 0:
                into[a] = a
        into, k = renumbered(into, k)
        label = into[label]
        groups = coarsened(groups, into, k, tally)
    return label, k


@njit(cache=True, nogil=True, error_model="numpy")
def _log_binomial(n: float, k: float) -> float:
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def pairs_saved(level: Level, z: Indices, k: int) -> float:
    """Return the nats that communities save when edges are coded as positions among the pairs.

    For small simple graphs: where nearly all pairs are linked, a model that may link a pair twice
    is inaccurate. All communities share one density. The graph as one community is coded in the
    same way, or by its degrees and a matching of their ends if that is shorter.
    """
    n = level.nodes.size
    E, _, N = group_totals(level, z, k, np.zeros(3, np.int64))
    m, inside, pairs, orders = 0.5 * level.strength.sum(), E.sum(), 0.0, 0.0
    for a in range(k):
        pairs += 0.5 * N[a] * (N[a] - 1.0)
        orders += lgamma(N[a] + 1.0)
    all_pairs = 0.5 * n * (n - 1.0)
    by_degrees = _log_binomial(n + 2.0 * m - 1.0, 2.0 * m) + lgamma(2.0 * m + 1.0)
    by_degrees -= m * log(2.0) + lgamma(m + 1.0)
    for i in range(n):
        by_degrees -= lgamma(level.strength[i] + 1.0)
    whole = min(_log_binomial(all_pairs, m), by_degrees)
    labels = _log_binomial(n - 1.0, k - 1.0) + lgamma(n + 1.0) - orders - lgamma(k + 1.0)
    sent = _log_binomial(pairs, inside) + _log_binomial(all_pairs - pairs, m - inside)
    return float(whole - sent - labels - log(m + 1.0))
