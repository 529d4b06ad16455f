"""The search in connected graphs, compiled as a whole so that small graphs are fast."""

from math import gcd
from typing import NamedTuple, cast

import numpy as np
from numba import njit

from kgroups._components_nb import label_components
from kgroups._types import Bools, Floats, Indices, Ints
from kgroups.description._code_nb import (
    code_of,
    merged_down,
    nats_saved_nb,
    pairs_saved,
)
from kgroups.multilevel import Code, Level, Rules
from kgroups.multilevel._levels_nb import (
    block_level,
    coarsened,
    intersection,
    members_of,
    renumbered,
)
from kgroups.multilevel._moving_nb import denser, group_totals, move
from kgroups.search.settings import Plan

# Fraction of the golden ratio: its multiples spread the orders of visits evenly.
_GOLDEN = 0.6180339887498949
# Groups per node that agglomeration starts from, and the factor by which a step reduces them.
_FINEST_SHARE = 0.1
_STEP_DOWN = 1.25
# Numbers of starts, and a number of groups that is not given. A literal 0 or 1 has a type of its
# own, for which numba would compile all kernels below once more.
_FIRST, _SECOND = cast(int, np.int64(0)), cast(int, np.int64(1))
_UNKNOWN = cast(int, np.int64(0))
# What is known of a component before its search: nothing, labels of the caller, the cells of the
# first start, labels from the spectrum, or labels from the spectrum that the first start may beat.
NOTHING, LABELS, CELLS, SPECTRAL, UNCERTAIN = 0, 1, 2, 3, 4


class State(NamedTuple):
    """A partition, and how certain it is."""

    # Labels without gaps, their number, and the nats that they save.
    z: Indices
    k: int
    saved: float
    # Units that have another community nearly as good, and their share of the nodes.
    undecided: Bools
    undecided_share: float


@njit(cache=True, nogil=True, error_model="numpy")
def _step(n: int, start: int) -> int:
    """Return a step that visits all of n units, in another order for each start."""
    step = 1
    if start > 0 and n > 3:
        step = int(n * ((_GOLDEN * start) % 1.0))
        while gcd(step, n) != 1:
            step += 1
        step %= n
    return step


@njit(cache=True, nogil=True, error_model="numpy")
def _climb(
    level: Level,
    z: Indices,
    code: Code,
    start: int,
    temperatures: Floats,
    waiting: Bools,
    undecided: Bools,
    plan: Plan,
    tally: Ints,
) -> State:
    """Move units, then groups of them, then groups of groups, until nothing saves more.

    ``waiting`` and ``undecided`` say which units are visited first; both are changed.
    """
    nodes, first, share = level.nodes, undecided, 0
    labels = np.arange(z.size).astype(np.int32)
    while True:
        n = z.size
        step = _step(n, start)
        saved = move(level, z, code, 0.0, plan.rules, temperatures, step, waiting, undecided, tally)
        z, k = renumbered(z, n)
        labels = z[labels]
        if k == n or k == 1 or tally[2] != 0:
            for i in range(nodes.size):
                share += nodes[i] if first[i] else 0
            return State(labels, k, saved, first, share / nodes.sum())
        level = coarsened(level, z, k, tally)
        tally[0] += level.A.indices.size
        z, temperatures = np.arange(k).astype(np.int32), temperatures[:0]
        waiting, undecided = np.ones(k, np.bool_), np.ones(k, np.bool_)


@njit(cache=True, nogil=True, error_model="numpy")
def _climb_all(
    level: Level, z: Indices, code: Code, start: int, temperatures: Floats, plan: Plan, tally: Ints
) -> State:
    """Climb with all units waiting."""
    n = z.size
    waiting, undecided = np.ones(n, np.bool_), np.ones(n, np.bool_)
    return _climb(level, z, code, start, temperatures, waiting, undecided, plan, tally)


@njit(cache=True, nogil=True, error_model="numpy")
def _with_cells(
    level: Level, cells: Indices, count: int, code: Code, start: int, plan: Plan, tally: Ints
) -> State:
    """Climb with whole cells, each at first a group of its own, then with nodes."""
    top, apart = coarsened(level, cells, count, tally), np.arange(count).astype(np.int32)
    tally[0] += level.A.indices.size
    found = _climb_all(top, apart, code, start, plan.temperatures[:0], plan, tally)
    return _climb_all(level, found.z[cells], code, start, plan.temperatures[:0], plan, tally)


@njit(cache=True, nogil=True, error_model="numpy")
def _joined(
    level: Level, best: State, rival: State, code: Code, start: int, plan: Plan, tally: Ints
) -> State:
    """Join two partitions: the cells of their intersection move, then nodes.

    Cells start from the better partition, and from singletons.
    """
    first = best
    if rival.saved > best.saved:
        best, rival = rival, best
    cells, count = intersection(best.z, rival.z, best.k)
    if count == best.k == rival.k:
        # The same partition: rounding alone may have put the rival first.
        return first
    before = np.empty(count, np.int32)
    for i in range(cells.size):
        before[cells[i]] = best.z[i]
    top, none = coarsened(level, cells, count, tally), plan.temperatures[:0]
    tally[0] += level.A.indices.size
    lead = _climb_all(top, before.copy(), code, start, none, plan, tally)
    other = _climb_all(top, np.arange(count).astype(np.int32), code, start, none, plan, tally)
    if other.saved > lead.saved:
        lead = other
    # Decided nodes wait only if their cell, or that of a neighbor, has moved.
    moved, waiting = _moved(top.nodes, before, lead.z, best.k), best.undecided.copy()
    A = level.A
    for i in range(cells.size):
        if tally[2] != 0:
            break
        if moved[cells[i]]:
            waiting[i] = True
            for t in range(A.indptr[i], A.indptr[i + 1]):
                waiting[A.indices[t]] = True
    undecided = best.undecided.copy()
    return _climb(level, lead.z[cells], code, start, none, waiting, undecided, plan, tally)


@njit(cache=True, nogil=True, error_model="numpy")
def _moved(nodes: Ints, before: Indices, after: Indices, k: int) -> Bools:
    """Tell which cells have left their group: a group is where its largest cell is.

    Where largest cells of several groups are together now, only the largest of all has stayed.
    """
    largest, owner = np.full(k, -1, np.int32), np.full(before.size, -1, np.int32)
    for c in range(before.size):
        a = before[c]
        if largest[a] < 0 or nodes[c] > nodes[largest[a]]:
            largest[a] = c
    for a in range(k):
        b = after[largest[a]]
        if owner[b] < 0 or nodes[largest[a]] > nodes[largest[owner[b]]]:
            owner[b] = a
    moved = np.empty(before.size, np.bool_)
    for c in range(before.size):
        moved[c] = owner[after[c]] != before[c]
    return moved


@njit(cache=True, nogil=True, error_model="numpy")
def _cells(
    level: Level, z: Indices, code: Code, resolution: float, start: int, plan: Plan, tally: Ints
) -> tuple[Indices, int]:
    """Move units from ``z`` on while modularity at a resolution rises."""
    n = z.size
    z, penalty = z.copy(), resolution / (2.0 * code.edges)
    waiting, none = np.ones(n, np.bool_), plan.temperatures[:0]
    step = _step(n, start)
    move(level, z, code, penalty, plan.rules, none, step, waiting, waiting, tally)
    return renumbered(z, n)


@njit(cache=True, nogil=True, error_model="numpy")
def _modularity_groups(
    level: Level, code: Code, resolution: float, start: int, plan: Plan, tally: Ints
) -> tuple[Indices, int]:
    """Return groups of high modularity at a resolution: on all levels, then nodes once more."""
    labels = np.arange(level.nodes.size).astype(np.int32)
    top = level
    while True:
        n = top.nodes.size
        z, k = _cells(top, np.arange(n).astype(np.int32), code, resolution, start, plan, tally)
        labels = z[labels]
        if k == n:
            return _cells(level, labels, code, resolution, _FIRST, plan, tally)
        top = coarsened(top, z, k, tally)
        tally[0] += top.A.indices.size


@njit(cache=True, nogil=True, error_model="numpy")
def _annealed(level: Level, state: State, code: Code, plan: Plan, tally: Ints) -> State:
    """Anneal while that gains enough, and while enough nodes are undecided for it to matter."""
    while state.k > 1 and tally[2] == 0:
        if _stake(level, state, plan) <= plan.least_gain:
            break
        waiting, undecided = np.zeros(state.z.size, np.bool_), state.undecided.copy()
        z, temperatures = state.z.copy(), plan.temperatures
        rival = _climb(level, z, code, _FIRST, temperatures, waiting, undecided, plan, tally)
        gain = rival.saved - state.saved
        if gain > 0.0:
            state = rival
        if gain <= plan.least_gain * abs(state.saved):
            break
    return state


@njit(cache=True, nogil=True, error_model="numpy")
def _is_treelike(level: Level, cells: Indices, count: int, plan: Plan, tally: Ints) -> bool:
    """Tell if cells have hardly more links inside than a spanning tree."""
    E, _, N = group_totals(level, cells, count, tally)
    inside, links = E.sum(), 0
    for a in range(count):
        links += N[a] - 1
    return bool(inside - links < plan.treelike * inside)


@njit(cache=True, nogil=True, error_model="numpy")
def _agglomerated(
    level: Level, cells: Indices, count: int, k_given: int, code: Code, plan: Plan, tally: Ints
) -> State:
    """Merge groups step by step, with annealed moves at each step.

    Ends at ``k_given`` groups; if that is 0, one step after the best number.
    """
    rules, target = plan.rules, max(1, k_given)
    fixed = Rules(rules.noise, rules.undecided_margin, rules.max_visits, rules.margin, keep=True)
    n = level.nodes.size
    z, k = cells, count
    first = max(target, int(_FINEST_SHARE * n))
    if k > first:
        label, k = merged_down(coarsened(level, z, k, tally), code, first, tally)
        z = label[z]
    best = State(z, k, -np.inf, np.ones(n, np.bool_), 1.0)
    while True:
        z, temperatures = z.copy(), plan.temperatures
        waiting, undecided = np.ones(n, np.bool_), np.ones(n, np.bool_)
        saved = move(
            level, z, code, 0.0, fixed, temperatures, _step(n, _FIRST), waiting, undecided, tally
        )
        improved = saved >= best.saved
        if improved or k_given:
            best = State(z, k, saved, undecided, undecided.mean())
        if k <= target or not (improved or k_given) or tally[2] != 0:
            return best
        fewer = max(target, int(k / _STEP_DOWN))
        label, k = merged_down(coarsened(level, z, k, tally), code, fewer, tally)
        tally[0] += level.A.indices.size
        z = label[z]


@njit(cache=True, nogil=True, error_model="numpy")
def _stake(level: Level, state: State, plan: Plan) -> float:
    """Return the nats that undecided nodes could still save, as a share of those saved."""
    nats = state.undecided_share * plan.rules.undecided_margin * level.nodes.sum()
    return float(nats / abs(state.saved)) if state.saved != 0.0 else np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _is_settled(level: Level, state: State, plan: Plan) -> bool:
    """Tell if so few nodes are undecided that another start would gain next to nothing."""
    return state.saved >= level.nodes.sum() and _stake(level, state, plan) <= plan.at_stake


@njit(cache=True, nogil=True, error_model="numpy")
def _first_cells(
    level: Level, code: Code, resolution: float, plan: Plan, tally: Ints
) -> tuple[Indices, int, bool]:
    """Return the cells of the first start, their number, and whether they are locally trees."""
    everyone = np.arange(level.nodes.size).astype(np.int32)
    cells, count = _cells(level, everyone, code, resolution, _FIRST, plan, tally)
    return cells, count, _is_treelike(level, cells, count, plan, tally)


@njit(cache=True, nogil=True, error_model="numpy")
def _first_start(
    level: Level, code: Code, base: float, plan: Plan, tally: Ints
) -> tuple[State, bool]:
    """Return the communities of the first start, and whether the graph is locally a tree."""
    n, resolution = level.nodes.size, base ** plan.scales[0]
    cells, count, treelike = _first_cells(level, code, resolution, plan, tally)
    if not treelike:
        return _with_cells(level, cells, count, code, _FIRST, plan, tally), False
    # Without short cycles communities, if any, are large, and moves of single nodes miss them.
    best = State(np.zeros(n, np.int32), 1, 0.0, np.ones(n, np.bool_), 1.0)
    for scale in (resolution, 1.0):
        if tally[2] != 0:
            break
        z, _ = _modularity_groups(level, code, scale, _SECOND, plan, tally)
        rival = _climb_all(level, z, code, _FIRST, plan.temperatures, plan, tally)
        rival = _annealed(level, rival, code, plan, tally)
        if rival.saved > best.saved:
            best = rival
        if _is_settled(level, best, plan):
            break
    return best, True


@njit(cache=True, nogil=True, error_model="numpy")
def first_cells(
    level: Level, first: int, last: int, plan: Plan, tally: Ints
) -> tuple[Indices, bool]:
    """Return the cells of the first start in a block of nodes, and whether it is locally a tree."""
    part = block_level(level, first, last)
    code = code_of(part)
    resolution = _finest_resolution(part, code.edges) ** plan.scales[0]
    cells, _, treelike = _first_cells(part, code, resolution, plan, tally)
    return cells, treelike


@njit(cache=True, nogil=True, error_model="numpy")
def first_penalty(level: Level, plan: Plan) -> float:
    """Return the penalty at which the moves of the first start are made."""
    edges = 0.5 * level.strength.sum()
    return float(_finest_resolution(level, edges) ** plan.scales[0] / (2.0 * edges))


@njit(cache=True, nogil=True, error_model="numpy")
def numbered_cells(level: Level, z: Indices, plan: Plan, tally: Ints) -> tuple[Indices, bool]:
    """Return cells with numbers without gaps, and whether they show that the graph is a tree."""
    cells, count = renumbered(z, z.size)
    return cells, _is_treelike(level, cells, count, plan, tally)


@njit(cache=True, nogil=True, error_model="numpy")
def _finest_resolution(level: Level, edges: float) -> float:
    """Return the resolution at which hardly any two nodes join; 1 is modularity."""
    return float(max(1.0, level.nodes.sum() ** 2 / (2.0 * edges)))


@njit(cache=True, nogil=True, error_model="numpy")
def _search(level: Level, given: Indices, known: int, code: Code, plan: Plan, tally: Ints) -> State:
    """Return the best communities of a connected graph: starts, joined while that gains."""
    n, none = level.nodes.size, plan.temperatures[:0]
    base = _finest_resolution(level, code.edges)
    if known in (LABELS, SPECTRAL):
        best = _climb_all(level, given.copy(), code, _FIRST, none, plan, tally)
    elif known == CELLS:
        best = _with_cells(level, given, given.max() + 1, code, _FIRST, plan, tally)
    else:
        best, treelike = _first_start(level, code, base, plan, tally)
        if known == UNCERTAIN:
            rival = _climb_all(level, given.copy(), code, _FIRST, none, plan, tally)
            rival = _annealed(level, rival, code, plan, tally)
            if rival.saved > best.saved:
                best = rival
        if treelike and best.k == 1 and n > plan.spectral_nodes:
            # Other starts find more only in small graphs, and cost 1,000 visits per edge.
            return best
    if known == SPECTRAL:
        best = _annealed(level, best, code, plan, tally)
        if best.saved < n:
            # Communities are faint, or cells looked like trees because they are stars.
            best = _next_start(level, best, code, base, _FIRST, plan, tally)
        if best.saved < n or _is_settled(level, best, plan):
            # Where communities are faint other starts would find less, at 400 visits per edge.
            return best
        best = _further_starts(level, best, code, base, plan, tally)
        return _annealed(level, best, code, plan, tally)
    # Not after given labels: the nodes of communities that these have merged are not undecided.
    if known != LABELS and best.saved >= n and _stake(level, best, plan) <= plan.least_gain:
        # Nothing is left that another start could gain.
        return best
    if plan.starts > 1 and tally[2] == 0:
        # The errors of a partition of high modularity differ from those of cells.
        z, k = _modularity_groups(level, code, 1.0, _FIRST, plan, tally)
        saved = nats_saved_nb(level, z, k, code, tally)
        rival = State(z, k, saved, np.ones(n, np.bool_), 1.0)
        leader = max(best.saved, saved)
        best = _joined(level, best, rival, code, _FIRST, plan, tally)
        agreed = best.saved - leader <= plan.least_gain * abs(best.saved)
        if known == LABELS or not agreed or not _is_settled(level, best, plan):
            best = _further_starts(level, best, code, base, plan, tally)
    return _annealed(level, best, code, plan, tally)


@njit(cache=True, nogil=True, error_model="numpy")
def _next_start(
    level: Level, best: State, code: Code, base: float, start: int, plan: Plan, tally: Ints
) -> State:
    """Start again at the resolution of a start, and join the result with the best one so far.

    Where the best is faint, so that most nodes are undecided, the start is annealed first.
    """
    everyone = np.arange(level.nodes.size).astype(np.int32)
    resolution = base ** plan.scales[start % plan.scales.size]
    cells, count = _cells(level, everyone, code, resolution, start, plan, tally)
    rival = _with_cells(level, cells, count, code, start, plan, tally)
    if best.saved < level.nodes.size:
        rival = _annealed(level, rival, code, plan, tally)
    return _joined(level, best, rival, code, start, plan, tally)


@njit(cache=True, nogil=True, error_model="numpy")
def _further_starts(
    level: Level, best: State, code: Code, base: float, plan: Plan, tally: Ints
) -> State:
    """Make more starts while that gains; where the best is faint, also descend."""
    n, failures = level.nodes.size, 0
    for start in range(1, plan.starts):
        if failures == plan.patience or tally[2] != 0:
            break
        before = best.saved
        best = _next_start(level, best, code, base, start, plan, tally)
        failures = failures + 1 if best.saved - before <= plan.least_gain * abs(best.saved) else 0
    if best.saved < n and tally[2] == 0:
        everyone = np.arange(n).astype(np.int32)
        cells, count = _cells(level, everyone, code, base ** plan.scales[0], _FIRST, plan, tally)
        merged = _agglomerated(level, cells, count, _UNKNOWN, code, plan, tally)
        none = plan.temperatures[:0]
        rival = _climb_all(level, merged.z.copy(), code, _FIRST, none, plan, tally)
        best = _joined(level, best, rival, code, _FIRST, plan, tally)
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _root(into: Indices, a: int) -> int:
    while into[a] != a:
        a = into[a]
    return a


@njit(cache=True, nogil=True, error_model="numpy")
def _attach_fragments(level: Level, state: State, code: Code, tally: Ints) -> State:
    """Merge fragments of groups, and single nodes, with the neighboring group that saves most.

    The largest piece of a group stays where it is.
    """
    z, k = state.z, state.k
    piece = np.full(z.size, -1, np.int64)
    count = label_components(level.A.indptr, level.A.indices, z.astype(np.int64), piece, tally)
    if tally[2] != 0:
        return state
    quarter = 1.0 / (4.0 * code.edges)
    top = coarsened(level, piece.astype(np.int32), count, tally)
    if tally[2] != 0:
        return state
    group, largest = np.empty(count, np.int32), np.full(k, -1, np.int32)
    for i in range(z.size):
        group[piece[i]] = z[i]
    for c in range(count):
        a = group[c]
        if largest[a] < 0 or top.nodes[c] > top.nodes[largest[a]]:
            largest[a] = c
    loose = np.ones(count, np.bool_)
    for a in range(k):
        loose[largest[a]] = top.nodes[largest[a]] == 1
    if k == 1 or not loose.any():
        return state
    E, K, N = top.inner.copy(), top.strength.copy(), top.nodes.copy()
    into, link = np.arange(count).astype(np.int32), np.zeros(count)
    # By size, in order among equals.
    for c in members_of(N.astype(np.int32), N.max() + 1)[1]:
        a = _root(into, c)
        if not loose[c] or N[a] > top.nodes[c]:
            # It stays, or others have joined it.
            continue
        best, best_gain, best_link = -1, -np.inf, 0.0
        for t in range(top.A.indptr[c], top.A.indptr[c + 1]):
            link[_root(into, top.A.indices[t])] += top.A.data[t]
        for t in range(top.A.indptr[c], top.A.indptr[c + 1]):
            b = _root(into, top.A.indices[t])
            if b == a or link[b] == 0.0:
                continue
            Ka, Kb = K[a], K[b]
            gain = code.of_size[N[a] + N[b]] - code.of_size[N[b]]
            gain += denser(E[a] + E[b] + link[b], (Ka + Kb) * (Ka + Kb) * quarter)
            gain -= denser(E[b], Kb * Kb * quarter)
            if gain > best_gain:
                best, best_gain, best_link = b, gain, link[b]
        for t in range(top.A.indptr[c], top.A.indptr[c + 1]):
            link[_root(into, top.A.indices[t])] = 0.0
        if best >= 0:
            E[best] += E[a] + best_link
            K[best] += K[a]
            N[best] += N[a]
            into[a] = best
    for c in range(count):
        into[c] = _root(into, c)
    labels, k = renumbered(into[piece], count)
    saved = nats_saved_nb(level, labels, k, code, tally)
    return State(labels, k, saved, state.undecided, state.undecided_share)


@njit(cache=True, nogil=True, error_model="numpy")
def _connected(level: Level, state: State, code: Code, plan: Plan, tally: Ints) -> State:
    """Return connected communities, after more moves if these are better for it."""
    none = plan.temperatures[:0]
    best = _attach_fragments(level, state, code, tally)
    if best.saved < state.saved:
        moved = _climb_all(level, best.z.copy(), code, _FIRST, none, plan, tally)
        rival = _attach_fragments(level, moved, code, tally)
        if rival.saved > best.saved:
            best = rival
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def search_components(
    level: Level, offsets: Ints, given: Indices, known: Ints, plan: Plan, tally: Ints
) -> tuple[Indices, Ints, Floats, Floats]:
    """Search every component, which are consecutive blocks of nodes.

    Returns labels of connected communities that start from 0 in each component; for each component
    the number of communities, the nats saved, and the share of undecided nodes.
    """
    parts = offsets.size - 1
    labels = np.zeros(level.nodes.size, np.int32)
    counts, saved, undecided = np.ones(parts, np.int64), np.zeros(parts), np.zeros(parts)
    for c in range(parts):
        first, last = offsets[c], offsets[c + 1]
        # A tree or a single cycle has no more links than it needs: nothing is saved.
        links = level.A.indptr[last] - level.A.indptr[first]
        if links < 2 * (last - first + 1):
            continue
        part = block_level(level, first, last)
        code = code_of(part)
        labels_given = given[first:last] if given.size else given
        found = _search(part, labels_given, known[c], code, plan, tally)
        if tally[2] != 0:
            break
        found = _connected(part, found, code, plan, tally)
        if not found.saved > plan.significance:
            continue
        for i in range(last - first):
            labels[first + i] = found.z[i]
        counts[c], saved[c], undecided[c] = found.k, found.saved, found.undecided_share
    return labels, counts, saved, undecided


@njit(cache=True, nogil=True, error_model="numpy")
def annealed_communities(
    level: Level, z: Indices, plan: Plan, tally: Ints
) -> tuple[Indices, float]:
    """Anneal labels of a connected graph; return connected communities and the nats saved."""
    code = code_of(level)
    state = _climb_all(level, z.copy(), code, _FIRST, plan.temperatures, plan, tally)
    state = _connected(level, state, code, plan, tally)
    return state.z, state.saved


@njit(cache=True, nogil=True, error_model="numpy")
def search_given_k(level: Level, k: int, plan: Plan, tally: Ints) -> Indices:
    """Return exactly ``k`` communities of a connected graph."""
    code, n = code_of(level), level.nodes.size
    base = _finest_resolution(level, code.edges)
    everyone = np.arange(n).astype(np.int32)
    cells, count = _cells(level, everyone, code, base ** plan.scales[0], _FIRST, plan, tally)
    if count < k:
        cells, count = everyone, n
    return _agglomerated(level, cells, count, k, code, plan, tally).z


@njit(cache=True, nogil=True, error_model="numpy")
def nats_by_component(level: Level, offsets: Ints, z: Indices) -> Floats:
    """Return the nats that labels save in each component; labels start from 0 in each."""
    saved = np.zeros(offsets.size - 1)
    for c in range(saved.size):
        first, last = offsets[c], offsets[c + 1]
        part = block_level(level, first, last)
        labels, k = renumbered(z[first:last], last - first)
        if k > 1:
            saved[c] = nats_saved_nb(part, labels, k, code_of(part), np.zeros(3, np.int64))
    return saved


@njit(cache=True, nogil=True, error_model="numpy")
def small_split(level: Level, offsets: Ints, tiny: int, plan: Plan, tally: Ints) -> Indices:
    """Split connected graphs so small that all pairs of nodes can be counted.

    With ``tiny`` nodes or fewer any saving counts. Returns labels that start from 0 in each.
    """
    labels = np.zeros(level.nodes.size, np.int32)
    for c in range(offsets.size - 1):
        first, last = offsets[c], offsets[c + 1]
        part = block_level(level, first, last)
        if part.A.indices.size < 2 * (last - first + 1):
            continue
        z, k = _modularity_groups(part, code_of(part), 1.0, _FIRST, plan, tally)
        least = 0.0 if last - first <= tiny else plan.significance
        if k > 1 and pairs_saved(part, z, k) > least:
            labels[first:last] = z
    return labels
