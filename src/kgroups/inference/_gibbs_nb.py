"""Kernel of the Gibbs chain: bare arrays in and out, random numbers among them."""

from math import exp, log

from kgroups._kernel import kernel
from kgroups._types import Floats, Indices, Ints

__all__ = ["TRIES", "resample"]

TRIES = 4
"""Draws of a community without a link before all of them are weighed."""

# A larger exponent would overflow.
_MOST = 700.0


@kernel(seconds=0.92)
def resample(
    indptr: Indices, indices: Indices, data: Floats, theta: Floats, gain: Floats, cost: Floats,
    prior: Floats, log_prior: Floats, cumulative: Floats, unlinked: Floats, slots: Ints,
    group: Indices, mass: Floats, first: Indices, z: Indices, total: Floats, place: Ints,
    linked: Ints, score: Floats, start: int, uniforms: Floats, record: bool,
) -> None:
    """Draw the group of consecutive nodes from ``start`` on, given those of all others.

    A node i with links of weight w to group a joins it with probability proportional to
    prior[a] exp(w gain[a] - theta[i] cost[a] total[a]). ``cumulative`` are cumulated priors,
    ``total`` the sum of theta in each group. Groups without a link to the node count with their
    sum ``unlinked[i]``; if that is empty, all groups are weighed one by one. With ``record`` the
    probability of each group in the slots of a node is added to ``mass``. Each row of
    ``uniforms`` has 1 + 2 TRIES numbers. ``place`` is -1 everywhere, before and after; ``linked``
    and ``score`` have room for all groups, or for one more than the neighbors of any node.
    """
    k = len(gain)
    everything = len(unlinked) == 0
    for row in range(uniforms.shape[0]):
        i = start + row
        th = theta[i]
        total[z[i]] -= th
        # The first group is always weighed, so that its probability can be recorded.
        count = k if everything else 1
        for a in range(count):
            linked[a] = a if everything else first[i]
            place[linked[a]] = a
            score[a] = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            a = z[indices[t]]
            if place[a] < 0:
                place[a] = count
                linked[count] = a
                score[count] = 0.0
                count += 1
            score[place[a]] += data[t]
        rest = 0.0 if everything else unlinked[i]
        top = -1e300
        for c in range(count):
            a = linked[c]
            alone = -th * cost[a] * total[a]
            rest -= 0.0 if everything else prior[a] * exp(min(alone, _MOST))
            score[c] = score[c] * gain[a] + alone + log_prior[a]
            top = max(top, score[c])
        norm = 0.0
        for c in range(count):
            score[c] = exp(score[c] - top)
            norm += score[c]
        rest = exp(min(log(rest) - top, _MOST)) if rest > 0.0 else 0.0
        if record:
            for s in range(slots[i], slots[i + 1]):
                if place[group[s]] >= 0:
                    mass[s] += score[place[group[s]]] / (norm + rest)
        drawn = z[i]
        u = uniforms[row, 0] * (norm + rest)
        if u < norm or count == k or rest <= 0.0:
            c = 0
            while u >= score[c] and c < count - 1:
                u -= score[c]
                c += 1
            drawn = linked[c]
        else:
            u = (u - norm) / rest
            drawn = _unlinked_group(prior, cumulative, cost, total, th, place, u, uniforms, row)
        for c in range(count):
            place[linked[c]] = -1
        z[i] = drawn
        total[drawn] += th


def _unlinked_group(
    prior: Floats, cumulative: Floats, cost: Floats, total: Floats, th: float, place: Ints,
    u: float, uniforms: Floats, row: int,
) -> int:
    """Draw a group without a link: by rejection, and by weighing all if that fails."""
    k = len(cost)
    for c in range(TRIES):
        mass = uniforms[row, 1 + 2 * c] * cumulative[k - 1]
        a, last = 0, k - 1
        while a < last:
            middle = (a + last) // 2
            if cumulative[middle] < mass:
                a = middle + 1
            else:
                last = middle
        if place[a] < 0 and uniforms[row, 2 + 2 * c] < exp(min(-th * cost[a] * total[a], 0.0)):
            return a
    norm, least = 0.0, 1e300
    for a in range(k):
        if place[a] < 0:
            least = min(least, th * cost[a] * total[a])
    for a in range(k):
        if place[a] < 0:
            norm += prior[a] * exp(least - th * cost[a] * total[a])
    u, drawn = u * norm, 0
    for a in range(k):
        if place[a] < 0:
            drawn = a
            u -= prior[a] * exp(least - th * cost[a] * total[a])
            if u < 0.0:
                break
    return drawn
