"""Kernels on the rows of a block, whose columns and labels are those of the whole graph.

Row i of a block is node ``at + i``. All rows see the same labels and the same table of groups, so
that the result does not depend on which rows make up a block. How a node chooses is computed by the
functions that move units in memory.
"""

from math import log

from kgroups._kernel import kernel
from kgroups._progress import STOP
from kgroups._types import Floats, Indices, Ints
from kgroups.search._search_nb import (
    best_by_description,
    best_by_modularity,
    gathered,
    saving,
)

__all__ = ["choose", "join", "tabulate", "tree_links"]

# Columns and rows of the tables of groups, as in the kernels of the search.
_STRENGTH, _INSIDE, _OWN, _RATE, _LOG_RATE = 0, 1, 2, 3, 4
_SIZE = 0
_UNDECIDED, _KEPT = 0, 1


@kernel(seconds=0.2)
def tabulate(
    E: Floats, K: Floats, N: Ints, m: float, of_size: Floats, group: Floats, counts: Ints,
) -> None:
    """Fill the table of groups from their weights inside, strengths and nodes."""
    quarter = 1.0 / (4.0 * m)
    for a in range(len(N)):
        P = K[a] * K[a] * quarter
        rate = E[a] / P if P > 0.0 else 0.0
        counts[_SIZE, a] = N[a]
        group[a, _INSIDE] = E[a]
        group[a, _STRENGTH] = K[a]
        group[a, _OWN] = of_size[N[a]] + saving(E[a], P, 1.0) if N[a] > 0 else 0.0
        group[a, _RATE] = rate if rate > 1.0 else 0.0
        group[a, _LOG_RATE] = log(rate) if rate > 1.0 else 0.0


@kernel(seconds=1.4)
def choose(
    indptr: Indices, indices: Indices, data: Floats, strength: Floats, at: int, start: int,
    stop: int, z: Indices, m: float, of_size: Floats, of_number: Floats, k: int, inside: float,
    expected: float, penalty: float, margin: float, temperature: float, noise: Floats, shift: int,
    undecided_margin: float, fixed_k: bool, group: Floats, counts: Ints, link: Floats,
    touched: Indices, to: Indices, own: Floats, there: Floats, tally: Floats, control: Ints,
) -> None:
    """Write the group that each row from ``start`` to before ``stop`` would join, and its links.

    With a ``penalty`` above 0 modularity is to rise, by more than ``margin``, otherwise the nats
    saved. ``own`` and ``there`` receive the links of a row to its own group and to the one it
    chooses. Rows without a label, -1, take no part. Of two single nodes only the second joins the
    first, as both might move at once. ``tally`` counts undecided rows, and the links of rows to the
    group they choose. ``link`` holds zeros before and after the call.
    """
    quarter = 1.0 / (4.0 * m)
    for i in range(start, stop):
        if control[STOP] != 0:
            return
        a = z[at + i]
        to[i] = a
        own[i] = 0.0
        there[i] = 0.0
        if a < 0 or (fixed_k and counts[_SIZE, a] == 1):
            continue
        count = gathered(indices, data, indptr[i], indptr[i + 1], z, link, touched)
        own_link = link[a]
        link[a] = 0.0
        if penalty > 0.0:
            best, best_link = best_by_modularity(
                a, strength[i], own_link, penalty, margin, count, group, link, touched
            )
        else:
            best, best_link, lead, _ = best_by_description(
                at + i, a, strength[i], 0.0, 1, own_link, -1, m, quarter, of_size, of_number, 0, k,
                inside, expected, temperature, noise, shift, count, group, link, counts, touched,
            )
            tally[_UNDECIDED] += 1.0 if lead < undecided_margin else 0.0
        own[i] = own_link
        if best == a or (counts[_SIZE, a] == 1 and counts[_SIZE, best] == 1 and best > a):
            there[i] = own_link
        else:
            to[i] = best
            there[i] = best_link
        tally[_KEPT] += there[i]


@kernel(seconds=0.2)
def tree_links(
    indptr: Indices, indices: Indices, at: int, z: Indices, parent: Indices, ends: Indices,
) -> int:
    """Find links that connect whatever the rows of a block connect inside groups; return how many.

    ``parent`` names each node itself at first. The root of a tree is its first node. A link takes
    a row of ``ends``, which has as many rows as there are nodes that the block can connect.
    """
    found = 0
    for i in range(len(indptr) - 1):
        group = z[at + i]
        if group < 0:
            continue
        a = at + i
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        for t in range(indptr[i], indptr[i + 1]):
            b = indices[t]
            if z[b] != group:
                continue
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a != b:
                ends[found, 0] = at + i
                ends[found, 1] = indices[t]
                found += 1
                if b < a:
                    parent[a] = b
                    a = b
                else:
                    parent[b] = a
    return found


@kernel(seconds=0.1)
def join(ends: Indices, count: int, parent: Indices) -> None:
    """Connect the ends of links; the root of a tree is its first node."""
    for t in range(count):
        a = ends[t, 0]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        b = ends[t, 1]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
