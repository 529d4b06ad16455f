"""Kernels of belief propagation and of the rates that are learned: bare arrays in and out."""

from math import exp, inf, isfinite, lgamma, log, sqrt
from typing import cast

import numpy as np
from numba import njit

from kgroups._types import CSR, Floats, Ints
from kgroups.inference.propagation import BlockModel, Evidence, Schedule
from kgroups.multilevel import Level
from kgroups.multilevel._moving_nb import add_inner_weights

__all__ = [
    "BETWEEN",
    "DONE",
    "EVIDENCE",
    "LEAST_RATE",
    "LEAST_RATIO_OWN",
    "MOST_CONTRAST",
    "RESIDUAL",
    "RULES",
    "STATE",
    "evidence_of_labels",
    "expected_totals",
    "first_beliefs",
    "learn_rates",
    "model_of",
    "parameter_cost",
    "propagate",
    "reversed_entries",
    "two_rates",
]

RULES = ("unchanged", "planted", "contrast", "own")
"""Names of the rules by which rates are learned; kernels take their number."""
_UNCHANGED, _PLANTED, _CONTRAST, _OWN = range(len(RULES))
# A literal has a type of its own, for which numba would compile the kernels below once more.
_BY_PLANTED, _BY_OWN = cast(int, np.int64(_PLANTED)), cast(int, np.int64(_OWN))
_CORRECTED = cast(bool, np.bool_(1))
# Where things stand between two calls of ``propagate``, and at first.
BETWEEN, EVIDENCE, RESIDUAL, _DAMPING, _BEFORE, _STEP, _SWEEP, DONE = range(8)
STATE = (0.0, 0.0, inf, 0.0, inf, 0.0, 0.0, 0.0)
# Counts of edges and pairs are never taken to be smaller: rates stay positive and finite.
_LEAST_EDGES = 1e-3
_LEAST_SHARE = 1e-30
LEAST_RATE = 1e-3
# Rates inside groups exceed the rate between them at least by this factor.
_LEAST_RATIO = 1.001
LEAST_RATIO_OWN = 1.01
MOST_CONTRAST = 0.98
# Messages that swing between two states, as those of leaves around a hub do, are damped: more
# each time that the residual has not fallen to this share within a window of sweeps.
_WINDOW = 9
_STALLED = 0.9
_DAMPING_STEP = 0.2
_MOST_DAMPING = 0.8
# Products of factors span at most this many nats before they become logarithms: e^230 = 1e100.
_SPAN = 230.0


@njit(cache=True, nogil=True, error_model="numpy")
def reversed_entries(A: CSR) -> Ints:
    """Return for each entry (i, j) the place of the entry (j, i); the matrix is symmetric."""
    place = A.indptr.astype(np.int64)
    reverse = np.empty(A.indices.size, np.int64)
    # Rows come in order, so the entries of column j are met in the order of row j.
    for i in range(A.indptr.size - 1):
        for t in range(A.indptr[i], A.indptr[i + 1]):
            j = A.indices[t]
            reverse[t] = place[j]
            place[j] += 1
    return reverse


@njit(cache=True, nogil=True, error_model="numpy")
def model_of(level: Level, degree_corrected: bool) -> tuple[Ints, Floats, float, float]:
    """Return what :class:`BlockModel` has beside the matrix, for a graph with at least one edge.

    Propensities are degrees, or equal.
    """
    A, d = level.A, level.strength
    m, heaviest, weighted = 0.5 * d.sum(), 0.0, False
    for weight in A.data:
        heaviest = max(heaviest, float(weight))
        weighted = weighted or weight != 1.0
    theta = d.copy() if degree_corrected else np.ones(d.size)
    pairs = 0.5 * (theta.sum() ** 2 - np.square(theta).sum())
    theta *= sqrt(m / pairs)
    return reversed_entries(A), theta, heaviest if weighted else 0.0, m


@njit(cache=True, nogil=True, error_model="numpy")
def first_beliefs(
    model: BlockModel, z: Ints, k: int, softness: float
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
    """Return what a sweep changes: messages, marginals, and totals over all nodes.

    A share ``softness`` of each first message is spread over all groups.
    """
    n, indptr = z.size, model.A.indptr
    marginal = np.full((n, k), softness / k)
    message = np.empty((model.A.indices.size, k))
    for i in range(n):
        marginal[i, z[i]] += 1.0 - softness
        message[indptr[i] : indptr[i + 1]] = marginal[i]
    edges, total, pairs, sizes = np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k)
    expected_totals(model.theta, marginal, total, pairs, sizes)
    return message, marginal, edges, total, pairs, sizes


@njit(cache=True, nogil=True, error_model="numpy")
def expected_totals(
    theta: Floats, marginal: Floats, total: Floats, pairs: Floats, sizes: Floats
) -> None:
    """Sum over all nodes: theta, what rates of 1 expect inside each group, and numbers of nodes."""
    total[:] = 0.0
    pairs[:] = 0.0
    sizes[:] = 0.0
    for i in range(theta.size):
        for a in range(total.size):
            share = theta[i] * marginal[i, a]
            total[a] += share
            pairs[a] -= share * share
            sizes[a] += marginal[i, a]
    for a in range(total.size):
        pairs[a] = 0.5 * max(pairs[a] + total[a] * total[a], 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _raise_rates(
    w: float, inside: Floats, between: float, alike: bool, more: Floats, inner: Floats
) -> float:
    """Raise rates, given as logarithms up to 0, to the power of a weight; return that between.

    ``more`` receives the difference of each power inside to it, ``inner`` w times that inside.
    """
    # Powers below 1e-300 count as that: a factor of 0 would leave no message.
    low, high = exp(max(w * between, -3.0 * _SPAN)), 0.0
    for a in range(inside.size):
        if a == 0 or not alike:
            high = exp(max(w * inside[a], -3.0 * _SPAN))
        more[a], inner[a] = high - low, w * high
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(
    A: CSR,
    reverse: Ints,
    theta: Floats,
    heaviest: float,
    m: float,
    inside: Floats,
    between: float,
    prior: Floats,
    message: Floats,
    marginal: Floats,
    edges: Floats,
    total: Floats,
    pairs: Floats,
    sizes: Floats,
    damping: float,
    tally: Ints,
) -> tuple[float, float]:
    """Update the messages and the marginal of each node, in order and in place.

    Nodes i and j are linked at the rate theta[i] theta[j] times ``inside[a]`` if both are in
    group a, and times ``between`` otherwise. An edge of weight w counts as w edges: the rate to
    the power w is averaged over the groups of its other end. ``heaviest`` is the largest weight,
    0 if all weights are 1, and ``m`` the sum of all weights. ``edges`` receives the expected
    weight of the edges inside each group; ``total``, ``pairs`` and ``sizes`` are those of
    :func:`expected_totals`, before and after. A share ``damping`` of the messages and marginals
    stays as it was. The sweep ends early if ``tally[2]`` is set.

    Returns the Bethe free energy saved against one community, in nats, and the mean change of a
    marginal.
    """
    n, k, weighted = theta.size, inside.size, heaviest > 0.0
    more, field, product, logs = inside - between, np.zeros(k), np.ones(k), np.zeros(k)
    sent, renewed = np.zeros(k), 1.0 - damping
    # An edge is the factor low + above[a] times a message, all rates to the power of its weight.
    low, above, inner = between, more.copy(), np.ones(k)
    log_inside, log_between, alike, largest = np.log(inside), log(between), True, 0.0
    if weighted:
        # Powers of the largest rate would overflow: all rates are divided by it.
        largest = max(log_between, log_inside.max())
        log_inside, log_between = log_inside - largest, log_between - largest
    widest = max(abs(log_between), 1e-3)
    for a in range(k):
        widest = max(widest, abs(log_inside[a]))
        alike = alike and inside[a] == inside[0]
        edges[a] = 0.0
    chunk = max(1, int(_SPAN / (widest * max(heaviest, 1.0))))
    saved, change, factors, pending, fetched = 0.0, 0.0, 1.0, 0, 0.0
    for i in range(n):
        if tally[2] != 0:
            break
        first, last, th = A.indptr[i], A.indptr[i + 1], theta[i]
        # Messages to the node lie far apart. Reading both ends of each first lets the processor
        # fetch them at the same time, which takes a third off the time of a sweep at k = 10.
        for t in range(first, last):
            fetched += message[reverse[t], 0] + message[reverse[t], k - 1]
        for a in range(k):
            product[a], logs[a] = 1.0, 0.0
        for t in range(first, last):
            back = reverse[t]
            if weighted:
                low = _raise_rates(float(A.data[t]), log_inside, log_between, alike, above, inner)
            for a in range(k):
                product[a] *= low + above[a] * message[back, a]
            if (t - first + 1) % chunk == 0:
                for a in range(k):
                    logs[a] += log(product[a])
                    product[a] = 1.0
        top = -1e300
        for a in range(k):
            total[a] -= th * marginal[i, a]
            field[a] = logs[a] - th * more[a] * total[a]
            top = max(top, field[a])
        norm = 0.0
        for a in range(k):
            field[a] = prior[a] * product[a] * exp(field[a] - top)
            norm += field[a]
        saved += top + log(norm)
        for a in range(k):
            field[a] /= norm
            change += abs(field[a] - marginal[i, a])
            marginal[i, a] = damping * marginal[i, a] + renewed * field[a]
            total[a] += th * marginal[i, a]
        for t in range(first, last):
            back, norm = reverse[t], 0.0
            if weighted:
                low = _raise_rates(float(A.data[t]), log_inside, log_between, alike, above, inner)
            # The normalization of a message is one over the factor of its edge.
            for a in range(k):
                x = message[back, a]
                sent[a] = field[a] / (low + above[a] * x)
                norm += sent[a]
                edges[a] += sent[a] * x * inner[a]
            factors *= norm
            pending += 1
            if pending == chunk:
                saved += 0.5 * log(factors)
                factors, pending = 1.0, 0
            norm = renewed / norm
            for a in range(k):
                message[t, a] = damping * message[t, a] + norm * sent[a]
    # Each edge was met from both of its ends.
    for a in range(k):
        edges[a] *= 0.5 if weighted else 0.5 * inside[a]
    expected_totals(theta, marginal, total, pairs, sizes)
    saved += m * (1.0 - between + largest)
    for a in range(k):
        saved += more[a] * pairs[a]
    # Messages are not negative, but only a sum that is used is not optimized away.
    return saved + 0.5 * log(factors) + min(fetched, 0.0), change / max(n, 1)


@njit(cache=True, nogil=True, error_model="numpy")
def two_rates(edges: Floats, pairs: Floats, m: float, ratio: float) -> tuple[float, float]:
    """Return the rates inside and between groups that explain the expected edges."""
    inner, among = float(edges.sum()), float(pairs.sum())
    between = max(m - inner, _LEAST_EDGES) / max(m - among, _LEAST_EDGES)
    return max(inner / max(among, _LEAST_EDGES), ratio * between), between


@njit(cache=True, nogil=True, error_model="numpy")
def learn_rates(
    rule: int,
    least: float,
    edges: Floats,
    pairs: Floats,
    sizes: Floats,
    m: float,
    between: float,
    inside: Floats,
    prior: Floats,
) -> float:
    """Replace rates and shares by those that a rule learns; return the rate between groups.

    ``planted``: one rate inside all groups, and shares as expected. ``contrast``: the contrast of
    equal groups moves halfway to what explains the expected edges, and stays at ``least`` or
    above. ``own``: a rate for each group, with one edge more at their common rate, moves halfway
    on a logarithmic scale.
    """
    k = inside.size
    if rule == _PLANTED:
        common, learned = two_rates(edges, pairs, m, _LEAST_RATIO)
        n = sizes.sum()
        for a in range(k):
            inside[a] = common
            prior[a] = max(sizes[a] / n, _LEAST_SHARE)
        return learned
    if rule == _CONTRAST:
        common, learned = two_rates(edges, pairs, m, 1.0)
        now = (inside[0] - between) / (inside[0] + (k - 1) * between)
        found = (common - learned) / (common + (k - 1) * learned)
        mu = float(min(max(0.5 * (now + found), least), MOST_CONTRAST))
        inside[:] = 1.0 + (k - 1) * mu
        prior[:] = 1.0 / k
        return 1.0 - mu
    if rule == _OWN:
        common, learned = two_rates(edges, pairs, m, 0.0)
        n = sizes.sum()
        for a in range(k):
            own = (edges[a] + 1.0) / (pairs[a] + 1.0 / max(common, LEAST_RATE))
            inside[a] = sqrt(inside[a] * max(own, LEAST_RATIO_OWN * learned))
            prior[a] = (sizes[a] + 1.0) / (n + k)
        return float(max(sqrt(between * learned), LEAST_RATE))
    return between


@njit(cache=True, nogil=True, error_model="numpy")
def propagate(
    A: CSR,
    reverse: Ints,
    theta: Floats,
    heaviest: float,
    m: float,
    message: Floats,
    marginal: Floats,
    edges: Floats,
    total: Floats,
    pairs: Floats,
    sizes: Floats,
    inside: Floats,
    prior: Floats,
    learning: tuple[int, float],
    schedule: tuple[int, int, int, float, float],
    state: Floats,
    budget: int,
    tally: Ints,
) -> bool:
    """Sweep and learn rates in turn, all in place, for at most ``budget`` sweeps.

    ``schedule`` has the steps of learning, the sweeps before each step and after the last one,
    and the tolerances of marginals and rates. Returns whether neither changes any more, or all
    sweeps were made; otherwise another call goes on. A flag in ``tally[2]`` ends it at once.
    """
    rule, least = learning
    steps, sweeps, final_sweeps, tolerance, rate_tolerance = schedule
    learned, shares = inside.copy(), prior.copy()
    while budget > 0:
        last = state[_STEP] == steps
        state[EVIDENCE], residual = _sweep(
            A,
            reverse,
            theta,
            heaviest,
            m,
            inside,
            state[BETWEEN],
            prior,
            message,
            marginal,
            edges,
            total,
            pairs,
            sizes,
            state[_DAMPING],
            tally,
        )
        if tally[2] != 0:
            return True
        budget -= 1
        state[DONE] += 1
        state[RESIDUAL] = residual
        converged = residual <= tolerance
        if not converged and state[_SWEEP] % _WINDOW == 0:
            if residual > _STALLED * state[_BEFORE]:
                state[_DAMPING] = min(state[_DAMPING] + _DAMPING_STEP, _MOST_DAMPING)
            state[_BEFORE] = residual
        state[_SWEEP] += 1
        if not converged and state[_SWEEP] < (final_sweeps if last else sweeps):
            continue
        if last:
            return True
        learned[:], shares[:] = inside, prior
        between = learn_rates(rule, least, edges, pairs, sizes, m, state[BETWEEN], learned, shares)
        if converged:
            change = 0.0
            for a in range(inside.size):
                change = max(change, abs(log(learned[a] / inside[a])))
            if change <= rate_tolerance:
                return True
        inside[:], prior[:] = learned, shares
        state[BETWEEN], state[_BEFORE] = between, inf
        state[_STEP] += 1
        state[_SWEEP] = 0
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def parameter_cost(n: int, m: float, k: int) -> float:
    """Return the nats that rates and sizes of k groups cost, less ln k! for their names."""
    return 0.5 * log(m) + 0.5 * (k - 1) * log(n) - lgamma(k + 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def evidence_of_labels(
    level: Level,
    z: Ints,
    k: int,
    own_rates: bool,
    max_sweeps: int,
    tolerance: float,
    softness: float,
    tally: Ints,
) -> Evidence:
    """Propagate beliefs from labels of a connected graph, with rates learned in each sweep.

    There is one rate between groups and one inside all of them, or inside each with ``own_rates``,
    on top of degrees. Groups that end with less than a node in sum do not count.
    """
    reverse, theta, heaviest, m = model_of(level, _CORRECTED)
    model = BlockModel(level.A, reverse, theta, heaviest, m)
    beliefs = first_beliefs(model, z, k, softness)
    message, marginal, edges, total, pairs, sizes = beliefs
    add_inner_weights(model.A, z, 0, z.size, edges)
    inside, prior = np.ones(k), np.full(k, 1.0 / k)
    state = np.array(STATE)
    state[BETWEEN] = learn_rates(_BY_PLANTED, 0.0, edges, pairs, sizes, model.m, 1.0, inside, prior)
    rule = _BY_PLANTED
    if own_rates:
        rule = _BY_OWN
        state[BETWEEN] = learn_rates(
            rule, 0.0, edges, pairs, sizes, model.m, state[BETWEEN], inside, prior
        )
    schedule = Schedule(max_sweeps - 1, 1, 1, tolerance, inf)
    propagate(
        model.A,
        model.reverse,
        model.theta,
        model.heaviest,
        model.m,
        message,
        marginal,
        edges,
        total,
        pairs,
        sizes,
        inside,
        prior,
        (rule, 0.0),
        schedule,
        state,
        max_sweeps,
        tally,
    )
    names, labels, used, count = np.full(k, -1), np.empty(z.size, np.int64), 0, 0
    for i in range(z.size):
        labels[i] = np.argmax(marginal[i])
        names[labels[i]] = 0
    for a in range(k):
        used += 1 if sizes[a] > 1.0 else 0
        if names[a] == 0:
            names[a] = count
            count += 1
    evidence = state[EVIDENCE] if isfinite(state[EVIDENCE]) else -inf
    score = evidence - parameter_cost(z.size, model.m, max(used, 1))
    if own_rates:
        score -= 0.5 * (max(used, 1) - 1) * log(model.m)
    return Evidence(names[labels], count, evidence, score, marginal, state[RESIDUAL] <= tolerance)
