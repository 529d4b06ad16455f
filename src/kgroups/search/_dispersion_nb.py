"""Kernels of correlated links: how those between groups spread, and triangles inside groups.

Groups are numbered through all components; ``order`` lists the nodes that take part by their
groups, and those of group r start at ``firsts[r]``.
"""

from kgroups._kernel import kernel
from kgroups._progress import STOP
from kgroups._types import Floats, Indices, Ints

__all__ = ["shared", "spread", "triangles"]


@kernel(seconds=0.7)
def spread(
    indptr: Indices, indices: Indices, data: Floats, group: Indices, order: Ints, firsts: Ints,
    to_indptr: Indices, to_indices: Indices, to_data: Floats, sums: Floats, between: Floats,
    link: Floats, touched: Indices, control: Ints,
) -> None:
    """Add up Pearson's statistic of the links of nodes to other groups, given how many they are.

    ``to_*`` are the links between groups. A row of ``sums`` receives for a group the statistic, its
    expectation if the links were independent, and the degrees of freedom. ``between`` and ``link``
    are zeros at first, and are zeros in the end.
    """
    one = 0 if len(data) == 1 else -1
    for r in range(len(firsts) - 1):
        whole = 0.0
        for t in range(to_indptr[r], to_indptr[r + 1]):
            between[to_indices[t]] = float(to_data[t])
            whole += float(to_data[t])
        others = to_indptr[r + 1] - to_indptr[r]
        statistic = 0.0
        squares = 0.0
        shares = 0.0
        rest = 0.0
        for place in range(firsts[r], firsts[r + 1]):
            if control[STOP] != 0:
                return
            i = order[place]
            count = 0
            own = 0.0
            square = 0.0
            for t in range(indptr[i], indptr[i + 1]):
                s = group[indices[t]]
                if s == r:
                    continue
                weight = float(data[t & one])
                own += weight
                # In double precision: numba leaves a weight in single precision.
                square += 1.0 * weight * weight
                touched[count] = s
                count += 1 if link[s] == 0.0 else 0
                link[s] += weight
            if count == 0:
                continue
            total = 0.0
            for position in range(count):
                s = touched[position]
                total += link[s] * link[s] / between[s]
                link[s] = 0.0
            statistic += total * whole / own - own
            squares += square
            shares += square / own * (whole - own)
            rest += whole - own
        for t in range(to_indptr[r], to_indptr[r + 1]):
            between[to_indices[t]] = 0.0
        sums[r, 0] = statistic
        # Links are drawn without replacement: one that is all links of its group is no surprise.
        left = whole - squares / whole if whole > 0.0 else 0.0
        if others > 1 and left > 0.0:
            sums[r, 1] = (others - 1) * shares / left
            sums[r, 2] = (others - 1) * rest / left


@kernel(seconds=0.5)
def triangles(
    indptr: Indices, indices: Indices, group: Indices, order: Ints, inside: Ints, found: Floats,
    mark: Ints, control: Ints,
) -> None:
    """Count the links of each node inside its group, and the triangles inside each group.

    A triangle is found from its node of most links, by the links of the two others, so that the
    time is at most that of the links times the root of their number. ``mark`` is -1 at first.
    """
    for place in range(len(order)):
        if control[STOP] != 0:
            return
        i = order[place]
        r = group[i]
        degree = indptr[i + 1] - indptr[i]
        count = 0
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            if group[j] != r:
                continue
            count += 1
            less = indptr[j + 1] - indptr[j]
            if less < degree or (less == degree and j < i):
                mark[j] = i
        inside[i] = count
        closed = 0
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            if mark[j] != i:
                continue
            for u in range(indptr[j], indptr[j + 1]):
                # Both orders of the two other nodes are found.
                closed += 1 if mark[indices[u]] == i else 0
        found[r] += 0.5 * closed


@kernel(seconds=0.4)
def shared(
    indptr: Indices, indices: Indices, group: Indices, nodes: Ints, outside: Ints, meeting: Floats,
    found: Floats, pairs: Floats, link: Ints, control: Ints,
) -> None:
    """Count pairs of links to other groups, from some nodes and one that each is linked to inside.

    ``pairs`` receives their number by group, ``found`` that of those to the same other group.
    ``outside`` are the links of a node to other groups, ``meeting`` those that make pairs with each
    of them. All are zeros at first; ``link`` is zeros in the end, too. A pair is found from its
    node of most links, by the links of the other, so that the time is at most that of the links
    times the root of their number.
    """
    for place in range(len(nodes)):
        if control[STOP] != 0:
            return
        i = nodes[place]
        r = group[i]
        own = 0
        for t in range(indptr[i], indptr[i + 1]):
            s = group[indices[t]]
            if s != r:
                link[s] += 1
                own += 1
        outside[i] = own
        degree = indptr[i + 1] - indptr[i]
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            less = indptr[j + 1] - indptr[j]
            if own == 0 or group[j] != r or less > degree or (less == degree and j > i):
                continue
            same = 0
            others = 0
            for u in range(indptr[j], indptr[j + 1]):
                s = group[indices[u]]
                if s != r:
                    same += link[s]
                    others += 1
            outside[j] = others
            found[r] += 1.0 * same
            pairs[r] += 1.0 * own * others
            meeting[i] += 1.0 * others
            meeting[j] += 1.0 * own
        for t in range(indptr[i], indptr[i + 1]):
            link[group[indices[t]]] = 0
