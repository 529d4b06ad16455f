"""Kernels of belief propagation, with rates that are learned, in some components of a level.

The components have the same number of groups. Marginals have a row for each node and messages one
for each matrix entry, those of the components one after another: at position p of the components
they start at ``firsts[p]`` and ``messages[p]``. Rates, shares and sums have a row for each of them.
"""

from math import exp, floor, inf, log, sqrt

from kgroups._kernel import kernel
from kgroups._progress import STOP
from kgroups._types import Floats, Indices, Ints

__all__ = ['STATE', 'propagate', 'reverse_entries']

RULES = ("unchanged", "planted", "contrast", "own")
"""Names of the rules by which rates are learned; kernels take their number."""
_UNCHANGED, _PLANTED, _CONTRAST, _OWN = 0, 1, 2, 3
# Rows of the sums over each group: expected weight of edges inside, theta, what rates of 1 expect
# inside, and nodes.
_EDGES, _TOTAL, _PAIRS, _SIZES = 0, 1, 2, 3
# State of a component between two calls of ``propagate``, and its initial values.
BETWEEN, EVIDENCE, RESIDUAL, _DAMPING, _BEFORE, _STEP, _SWEEP, DONE, ENDED = range(9)
STATE = (0.0, 0.0, inf, 0.0, inf, 0.0, 0.0, 0.0, 0.0)
# Counts of edges and pairs are never taken to be smaller: rates stay positive and finite.
LEAST_EDGES = 1e-3
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


@kernel(seconds=0.07)
def reverse_entries(indptr: Indices, indices: Indices, place: Ints, reverse: Ints) -> None:
    """Find for each entry (i, j) the place of the entry (j, i); the matrix is symmetric.

    ``place`` holds where each row starts, and is changed.
    """
    # Rows come in order, so the entries of column j are met in the order of row j.
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            reverse[t] = place[j]
            place[j] += 1


def larger(a: float, b: float) -> float:
    """Return the larger of two numbers."""
    return a if a > b else b


def raise_rates(
    w: float, k: int, inside: Floats, between: float, spread: float, above: Floats, inner: Floats,
) -> float:
    """Raise rates, given as logarithms up to 0, to the power w; return that of the rate between.

    ``spread`` is the difference between the largest and the smallest rate inside. ``above``
    receives how much each power inside exceeds the one returned, ``inner`` w times each power
    inside.
    """
    # Powers below 1e-300 count as that: a factor of 0 would leave no message.
    low = exp(larger(w * between, -3.0 * _SPAN))
    high = 0.0
    for a in range(k):
        if a == 0 or spread > 0.0:
            high = exp(larger(w * inside[a], -3.0 * _SPAN))
        above[a] = high - low
        inner[a] = w * high
    return low


def learn_rates(
    rule: int, least: float, sums: Floats, p: int, k: int, m: float, between: float, inside: Floats,
    prior: Floats,
) -> float:
    """Replace rates and shares by those that a rule learns; return the rate between groups.

    ``planted``: one rate inside all groups, and shares as expected. ``contrast``: the contrast of
    equal groups moves halfway to what explains the expected edges, and stays at ``least`` or
    above. ``own``: a rate for each group, with one edge more at their common rate, moves halfway
    on a logarithmic scale.
    """
    n = 0.0
    inner = 0.0
    among = 0.0
    for a in range(k):
        n += sums[_SIZES, p, a]
        inner += sums[_EDGES, p, a]
        among += sums[_PAIRS, p, a]
    # The rates inside and between groups that explain the expected edges.
    learned = larger(m - inner, LEAST_EDGES) / larger(m - among, LEAST_EDGES)
    common = inner / larger(among, LEAST_EDGES)
    if rule == _UNCHANGED:
        learned = between
    elif rule == _PLANTED:
        common = larger(common, _LEAST_RATIO * learned)
        for a in range(k):
            inside[p, a] = common
            prior[p, a] = larger(sums[_SIZES, p, a] / n, _LEAST_SHARE)
    elif rule == _CONTRAST:
        common = larger(common, learned)
        now = (inside[p, 0] - between) / (inside[p, 0] + (k - 1) * between)
        found = (common - learned) / (common + (k - 1) * learned)
        mu = larger(0.5 * (now + found), least)
        mu = mu if mu < MOST_CONTRAST else MOST_CONTRAST
        learned = 1.0 - mu
        for a in range(k):
            inside[p, a] = 1.0 + (k - 1) * mu
            prior[p, a] = 1.0 / k
    else:
        for a in range(k):
            own = sums[_EDGES, p, a] + 1.0
            own /= sums[_PAIRS, p, a] + 1.0 / larger(common, LEAST_RATE)
            inside[p, a] = sqrt(inside[p, a] * larger(own, LEAST_RATIO_OWN * learned))
            prior[p, a] = (sums[_SIZES, p, a] + 1.0) / (n + k)
        learned = larger(sqrt(between * learned), LEAST_RATE)
    return learned


def sweep(
    indptr: Indices, data: Floats, reverse: Ints, theta: Floats, first: int, last: int,
    heaviest: float, m: float, k: int, p: int, at: int, to: int, inside: Floats, prior: Floats,
    message: Floats, marginal: Floats, sums: Floats, more: Floats, field: Floats, product: Floats,
    logs: Floats, sent: Floats, above: Floats, inner: Floats, log_inside: Floats, state: Floats,
    control: Ints,
) -> None:
    """Update the messages and the marginal of each node, in order and in place.

    Nodes i and j are linked at the rate theta[i] theta[j] times ``inside[a]`` if both are in
    group a, and times that between groups otherwise. An edge of weight w counts as w edges: the
    rate to the power w is averaged over the groups of its other end. ``heaviest`` is the largest
    weight, 0 if all weights are 1, and ``m`` the sum of all weights. The state has the rate between
    groups, and the share of the messages and marginals that stays as it was; it receives the Bethe
    free energy saved against one community, in nats, but for a term of the pairs of nodes, and the
    mean change of a marginal. The sweep ends early if ``control[STOP]`` is set.
    """
    between = state[p, BETWEEN]
    damping = state[p, _DAMPING]
    weighted = heaviest > 0.0
    renewed = 1.0 - damping
    slot = indptr[first]
    # An edge is the factor low + above[a] times a message, all rates to the power of its weight.
    low = between
    log_between = log(between)
    largest = log_between
    least = inside[p, 0]
    most = inside[p, 0]
    for a in range(k):
        rate = inside[p, a]
        more[a] = rate - between
        above[a] = more[a]
        inner[a] = 1.0
        log_inside[a] = log(rate)
        largest = larger(largest, log_inside[a])
        least = rate if rate < least else least
        most = larger(most, rate)
        sums[_EDGES, p, a] = 0.0
    # Powers of the largest rate would overflow: all rates are divided by it.
    if not weighted:
        largest = 0.0
    log_between -= largest
    widest = larger(abs(log_between), 1e-3)
    for a in range(k):
        log_inside[a] -= largest
        widest = larger(widest, abs(log_inside[a]))
    chunk = floor(larger(_SPAN / (widest * larger(heaviest, 1.0)), 1.0))
    saved = 0.0
    change = 0.0
    factors = 1.0
    pending = 0
    fetched = 0.0
    for i in range(first, last):
        if control[STOP] != 0:
            return
        begin = indptr[i]
        end = indptr[i + 1]
        th = theta[i]
        own = at + i - first
        # Messages to the node lie far apart. Reading both ends of each first lets the processor
        # fetch them at the same time, which takes a third off the time of a sweep at k = 10.
        for t in range(begin, end):
            back = to + reverse[t] - slot
            fetched += message[back, 0] + message[back, k - 1]
        for a in range(k):
            product[a] = 1.0
            logs[a] = 0.0
        for t in range(begin, end):
            back = to + reverse[t] - slot
            if weighted:
                low = raise_rates(
                    float(data[t]), k, log_inside, log_between, most - least, above, inner
                )
            for a in range(k):
                product[a] *= low + above[a] * message[back, a]
            if (t - begin + 1) % chunk == 0:
                for a in range(k):
                    logs[a] += log(product[a])
                    product[a] = 1.0
        top = -1e300
        for a in range(k):
            sums[_TOTAL, p, a] -= th * marginal[own, a]
            field[a] = logs[a] - th * more[a] * sums[_TOTAL, p, a]
            top = larger(top, field[a])
        norm = 0.0
        for a in range(k):
            field[a] = prior[p, a] * product[a] * exp(field[a] - top)
            norm += field[a]
        saved += top + log(norm)
        for a in range(k):
            field[a] /= norm
            belief = marginal[own, a]
            change += abs(field[a] - belief)
            belief = damping * belief + renewed * field[a]
            marginal[own, a] = belief
            sums[_TOTAL, p, a] += th * belief
        for t in range(begin, end):
            back = to + reverse[t] - slot
            norm = 0.0
            if weighted:
                low = raise_rates(
                    float(data[t]), k, log_inside, log_between, most - least, above, inner
                )
            # The normalization of a message is one over the factor of its edge.
            for a in range(k):
                x = message[back, a]
                sent[a] = field[a] / (low + above[a] * x)
                norm += sent[a]
                sums[_EDGES, p, a] += sent[a] * x * inner[a]
            factors *= norm
            pending += 1
            if pending == chunk:
                saved += 0.5 * log(factors)
                factors = 1.0
                pending = 0
            norm = renewed / norm
            forth = to + t - slot
            for a in range(k):
                message[forth, a] = damping * message[forth, a] + norm * sent[a]
    # Each edge was met from both of its ends.
    for a in range(k):
        sums[_EDGES, p, a] *= 0.5 if weighted else 0.5 * inside[p, a]
    # Messages are not negative, but only a sum that is used is not optimized away.
    saved += 0.5 * log(factors) + (fetched if fetched < 0.0 else 0.0)
    state[p, EVIDENCE] = saved + m * (1.0 - between + largest)
    state[p, RESIDUAL] = change / (last - first)


@kernel(seconds=2.8, per_item=4e-5)
def propagate(
    indptr: Indices, indices: Indices, data: Floats, offsets: Ints, reverse: Ints, theta: Floats,
    heaviest: Floats, edge_sums: Floats, which: Ints, k: int, firsts: Ints, messages: Ints,
    z: Ints, from_labels: bool, inside: Floats, prior: Floats, message: Floats,
    marginal: Floats, softness: float, sums: Floats, rule: int, least: float, steps: int,
    sweeps: int, final_sweeps: int, tolerance: float, rate_tolerance: float, state: Floats,
    budget: int, more: Floats, field: Floats, product: Floats, logs: Floats, sent: Floats,
    above: Floats, inner: Floats, log_inside: Floats, learned: Floats, shares: Floats,
    control: Ints,
) -> None:
    """Sweep and learn rates in turn, all in place, for at most ``budget`` sweeps a component.

    There are ``steps`` of learning, with ``sweeps`` before each and ``final_sweeps`` after the
    last one. The state of a component says whether it has ended: neither marginals nor rates
    change any more, or all sweeps were made; otherwise another call goes on. A flag in
    ``control[STOP]`` ends it at once.

    In the first call messages are set by the labels ``z``; a share ``softness`` of each is spread
    over all groups. With ``from_labels`` the first rates are learned from the labels too.
    """
    one = 0 if len(data) == 1 else -1
    for p in range(len(which)):
        c = which[p]
        first = offsets[c]
        last = offsets[c + 1]
        at = firsts[p]
        to = messages[p]
        m = edge_sums[c]
        slot = indptr[first]
        if state[p, ENDED] != 0.0:
            continue
        if state[p, DONE] == 0.0:
            for a in range(k):
                sums[_EDGES, p, a] = 0.0
            spread = softness / k
            for i in range(first, last):
                own = at + i - first
                for a in range(k):
                    marginal[own, a] = spread
                marginal[own, z[i]] = spread + (1.0 - softness)
                for t in range(indptr[i], indptr[i + 1]):
                    forth = to + t - slot
                    for a in range(k):
                        message[forth, a] = marginal[own, a]
        left = budget
        while True:
            # Sums over all nodes: theta, what rates of 1 expect inside each group, and nodes.
            for a in range(k):
                sums[_TOTAL, p, a] = 0.0
                sums[_PAIRS, p, a] = 0.0
                sums[_SIZES, p, a] = 0.0
            for i in range(first, last):
                for a in range(k):
                    belief = marginal[at + i - first, a]
                    share = theta[i] * belief
                    sums[_TOTAL, p, a] += share
                    sums[_PAIRS, p, a] -= share * share
                    sums[_SIZES, p, a] += belief
            for a in range(k):
                among = sums[_PAIRS, p, a] + sums[_TOTAL, p, a] * sums[_TOTAL, p, a]
                sums[_PAIRS, p, a] = 0.5 * larger(among, 0.0)
            if left < budget:
                for a in range(k):
                    state[p, EVIDENCE] += (inside[p, a] - state[p, BETWEEN]) * sums[_PAIRS, p, a]
                final = state[p, _STEP] == steps
                residual = state[p, RESIDUAL]
                state[p, DONE] += 1.0
                converged = residual <= tolerance
                if not converged and state[p, _SWEEP] % _WINDOW == 0.0:
                    if residual > _STALLED * state[p, _BEFORE]:
                        damping = state[p, _DAMPING] + _DAMPING_STEP
                        state[p, _DAMPING] = damping if damping < _MOST_DAMPING else _MOST_DAMPING
                    state[p, _BEFORE] = residual
                state[p, _SWEEP] += 1.0
                if converged or not state[p, _SWEEP] < (final_sweeps if final else sweeps):
                    for a in range(k):
                        learned[p, a] = inside[p, a]
                        shares[p, a] = prior[p, a]
                    between = learn_rates(
                        rule, least, sums, p, k, m, state[p, BETWEEN], learned, shares
                    )
                    widest = 0.0
                    for a in range(k):
                        widest = larger(widest, abs(log(learned[p, a] / inside[p, a])))
                    if final or (converged and widest <= rate_tolerance):
                        state[p, ENDED] = 1.0
                        break
                    for a in range(k):
                        inside[p, a] = learned[p, a]
                        prior[p, a] = shares[p, a]
                    state[p, BETWEEN] = between
                    state[p, _BEFORE] = inf
                    state[p, _STEP] += 1.0
                    state[p, _SWEEP] = 0.0
            elif state[p, DONE] == 0.0 and from_labels:
                for i in range(first, last):
                    for t in range(indptr[i], indptr[i + 1]):
                        if z[indices[t]] == z[i]:
                            sums[_EDGES, p, z[i]] += 0.5 * float(data[t & one])
                # One rate inside all groups comes first, and is where own ones start from.
                state[p, BETWEEN] = 1.0
                for first_rule in range(_PLANTED, rule + 1):
                    if first_rule != _CONTRAST:
                        state[p, BETWEEN] = learn_rates(
                            first_rule, least, sums, p, k, m, state[p, BETWEEN], inside, prior
                        )
            if left == 0:
                break
            left -= 1
            sweep(
                indptr, data, reverse, theta, first, last, heaviest[c], m, k, p, at, to, inside,
                prior, message, marginal, sums, more, field, product, logs, sent, above, inner,
                log_inside, state, control,
            )
            if control[STOP] != 0:
                return
