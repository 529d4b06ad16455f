"""Decide between candidates for the communities of each component, and report why."""

import math
from collections.abc import Sequence

import numpy as np

from kgroups._blas import DENSE
from kgroups._csr import masked, restricted, rows_of, without_diagonal
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups.report import ComponentReport, how_clearly
from kgroups.search.candidates import ANY_SAVING_NODES, Candidate, Contest, Detection
from kgroups.search.climbing import Searching
from kgroups.search.levels import finest_level
from kgroups.search.objective import (
    MOST_SEPARATION,
    Borders,
    contiguity,
    log_factorials,
    nats_saved,
    separation,
    totals,
)
from kgroups.search.problem import Problem, labels_from_zero
from kgroups.search.settings import Method, Search, dense_solves
from kgroups.spectrum import ComponentCounts, count_components

PAIRS_NODES = 64
"""All pairs are counted in components of up to this size that form one community."""
REPORTED = 3
"""Components described in the report, the largest first."""
_NO_MORE = "nothing was found that divides it"
_ASKED_FOR = "eigenvectors were asked for"
_SPLIT_BY_PAIRS = (
    "groups of a few nodes with nearly all pairs linked are described better in pieces"
)
# Places of candidates.
_ONE, _SEARCH = 0, 1
# With fewer communities, all links that leave one lead to the same other one.
_LEAST_GROUPS = 3
# Size of the first sample of nodes from which pairs of links are counted; each has many pairs.
_SAMPLE = 1_000


def decide(contest: Contest, rng: np.random.Generator) -> Detection:
    """Return the communities of the candidate that wins in each component, and why it does."""
    problem, candidates, found = contest.problem, contest.candidates, contest.found
    method = contest.options.method
    winner = np.full(problem.n_components, len(candidates) - 1)
    if method.compares:
        winner = winners(candidates, contest.decided)
    z = np.choose(winner[problem.component], [candidate.z for candidate in candidates])
    counts = np.ones(problem.n_components, dtype=np.int64)
    np.maximum.at(counts, problem.component, z + 1)
    found.z = (np.cumsum(counts) - counts)[problem.component] + z
    if method.compares and method.search_settings is not None:
        # Where the search has found communities, they are kept.
        whole = ~contest.decided & contest.cyclic & (candidates[_SEARCH].k == 1)
        if whole.any():
            found.z = _split_small_communities(problem, found.z, whole, method.search_settings, rng)
    found.borders = borders_of(problem, contest.described, found.z)
    _report(contest, winner)
    return found


def winners(candidates: Sequence[Candidate], decided: Bools) -> Ints:
    """Return which candidate wins in each component: the highest score, the first of equals.

    One community comes first, the search second. Where the description has ``decided``, the search
    wins whatever the others score.
    """
    winner = np.argmax([candidate.score for candidate in candidates], axis=0)
    return np.where(decided, _SEARCH, winner)


def reported_counts(problem: Problem, method: Method, found: Detection) -> ComponentCounts | None:
    """Return the eigenvalues above the threshold where they decided, and in small graphs."""
    used = any(component.k_hat is not None for component in found.components)
    small = used and problem.n <= DENSE.counts
    if not (small or method.counts_all(int(problem.sizes.max(initial=0)))):
        return None
    if found.counts is not None:
        return found.counts
    with dense_solves(problem.n, method):
        return count_components(problem.hessian, problem.component)


def reason(candidate: Candidate, component: int, nats: float) -> str:
    """Return why a candidate that has won is preferred to one community; it saves ``nats``."""
    if candidate.k[component] == 1:
        return _NO_MORE
    score = float(candidate.score[component])
    if not np.isnan(candidate.evidence[component]):
        better, by = how_clearly(score), f"{score:.1f} nats by belief propagation"
    elif nats > 0.0:
        better, by = how_clearly(nats), f"{nats:.1f} nats shorter"
    else:
        return f"found by the {candidate.origin}, too faint for a shorter description of the graph"
    return f"they describe the graph {better} better than one community ({by})"


def borders_of(problem: Problem, described: Problem, z: Ints) -> Borders | None:
    """Return contiguity, separation and patches, or None if no component has three communities.

    ``described`` is the problem with the evidence of edges divided by the dispersion. Components
    are measured separately. The contiguity and the separation returned are those of the component
    with the most patches, or of the largest one if there are no patches; patches are counted in
    all. The separation is measured only where the contiguity is clear.
    """
    z, k = labels_from_zero(z, problem)
    which = np.flatnonzero(k >= _LEAST_GROUPS)
    if not which.size:
        return None
    # Most graphs need no more than a sample.
    sampled = contiguity(problem.level, z, k, which, at_most=_SAMPLE)
    clear = which[[one.is_clear(which.size) for one in sampled]]
    measured = dict(zip(which.tolist(), sampled, strict=True))
    if clear.size:
        whole = contiguity(problem.level, z, k, clear)
        measured |= zip(clear.tolist(), whole, strict=True)
    borders = {}
    for c, one in measured.items():
        share, patches = None, 0
        if one.is_clear(which.size):
            share = separation(described.level, described.objective, z, k, np.array([c]))
            patches = int(k[c]) if share < MOST_SEPARATION else 0
        borders[c] = Borders(one.ratio, share, patches)
    shown = max(borders, key=lambda c: (borders[c].patches, problem.sizes[c]))
    return borders[shown]._replace(patches=sum(one.patches for one in borders.values()))


def _split_small_communities(
    problem: Problem, z: Ints, which: Bools, settings: Search, rng: np.random.Generator
) -> Ints:
    """Split small communities in some components, by a code that counts all pairs."""
    A, k = without_diagonal(problem.A) if problem.loops else problem.A, 0
    # Repeated, as pieces may be split again.
    while k <= z.max(initial=-1):
        k = int(z.max()) + 1
        whole = np.bincount(z)[z] == problem.sizes[problem.component]
        most = np.where(whole, PAIRS_NODES, ANY_SAVING_NODES) * which[problem.component]
        z = split_small(A, z, most, settings, rng)
    return z


def split_small(A: CSR, z: Ints, most: Ints, settings: Search, rng: np.random.Generator) -> Ints:
    """Split small communities, each independently of the others.

    ``A`` has no loops, and its weights are ignored. The labels have no gaps, and communities are
    connected. ``most`` is, for each node, the largest size at which its community is tried.
    """
    size = np.bincount(z)
    rows = np.flatnonzero(size[z] <= most)
    if not rows.size:
        return z
    rows = rows[np.argsort(z[rows], kind="stable")]
    chosen, ends = np.zeros(z.size, dtype=np.bool_), rows_of(A)
    chosen[rows] = True
    inside = masked(A, chosen[ends] & (z[ends] == z[A.indices]))
    counts = np.unique(z[rows], return_counts=True)[1]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    level = finest_level(restricted(inside, rows), weighted=False, offsets=offsets)
    searching = Searching(level, settings, rng)
    which = searching.cyclic
    if not which.size:
        return z
    labels, k = searching.modularity_groups(which)
    found = totals(level, labels, k, which)
    least = np.where(counts <= ANY_SAVING_NODES, 0.0, settings.significance)
    saved = _pairs_saved(found.E, found.N, found.firsts, counts, level.strength, level.entries // 2)
    better = np.zeros(counts.size, dtype=np.bool_)
    better[which] = (k[which] > 1) & (saved[which] > least[which])
    community = np.repeat(np.arange(counts.size), counts)
    new = better[community] & (labels > 0)
    split = z.copy()
    split[rows[new]] = (size.size + PAIRS_NODES * community + labels)[new]
    return np.unique(split, return_inverse=True)[1]


def _pairs_saved(E: Floats, N: Ints, firsts: Ints, n: Ints, strength: Floats, m: Ints) -> Floats:
    """Return the nats that communities save when edges are coded as positions among the pairs.

    For small simple graphs, of n nodes and m edges each: where nearly all pairs are linked, a model
    that may link a pair twice is inaccurate. All communities of a graph share one density. The
    graph as one community is coded in the same way, or by its degrees and a matching of their ends
    if that is shorter.
    """
    k, parts = np.diff(firsts), n.size
    owner, graph = np.repeat(np.arange(parts), k), np.repeat(np.arange(parts), n)
    largest = int(max((n * (n - 1) // 2).max(), (n + 2 * m).max(), 1))
    log_factorial = log_factorials(largest + 1)

    def log_binomial(whole: Ints, part: Ints) -> Floats:
        inner = log_factorial[part] + log_factorial[whole - part]
        return np.asarray(log_factorial[whole] - inner)

    inside = np.bincount(owner, E, minlength=parts).astype(np.int64)
    pairs = np.bincount(owner, N * (N - 1) // 2, minlength=parts).astype(np.int64)
    orders = np.bincount(owner, log_factorial[N], minlength=parts)
    all_pairs = n * (n - 1) // 2
    by_degrees = log_binomial(n + 2 * m - 1, 2 * m) + log_factorial[2 * m]
    by_degrees -= m * math.log(2.0) + log_factorial[m]
    by_degrees -= np.bincount(graph, log_factorial[strength.astype(np.int64)], minlength=parts)
    whole = np.minimum(log_binomial(all_pairs, m), by_degrees)
    labels = log_binomial(n - 1, np.maximum(k - 1, 0)) + log_factorial[n] - orders
    labels -= log_factorial[k]
    sent = log_binomial(pairs, inside) + log_binomial(all_pairs - pairs, m - inside)
    return np.asarray(whole - sent - labels - np.log(m + 1.0))


def _report(contest: Contest, winner: Ints) -> None:
    """Describe the largest components: which candidate won, and why."""
    found, problem, candidates = contest.found, contest.described, contest.candidates
    searches = contest.options.method.search_settings is not None
    for c in np.argsort(-problem.sizes, kind="stable")[:REPORTED].tolist():
        won, rows = candidates[winner[c]], problem.rows(c)
        labels, share = found.z[rows] - found.z[rows].min(), None
        for known in candidates:
            if not np.isnan(known.nats[c]) and np.array_equal(labels, known.z[rows]):
                k, nats, share = int(known.k[c]), float(known.nats[c]), float(known.undecided[c])
                break
        else:
            labels = np.unique(labels, return_inverse=True)[1]
            k, nats = int(labels.max()) + 1, nats_in_component(problem, c, labels)
        evidence, divides = float(won.evidence[c]), int(won.k[c]) > 1
        by_search = searches and divides and int(winner[c]) == _SEARCH
        why = reason(won, c, nats) if searches or not divides else _ASKED_FOR
        origin = won.origin if divides else candidates[_ONE].origin
        if won.k[c] < k and not by_search:
            why = f"{why}; {_SPLIT_BY_PAIRS}" if divides else _SPLIT_BY_PAIRS
            origin = "pairs of nodes"
        found.components.append(
            ComponentReport(
                rows.stop - rows.start,
                k,
                origin,
                why,
                nats,
                None if np.isnan(evidence) else evidence,
                int(contest.k_hat[c]) if contest.k_hat[c] >= 0 else None,
                share if by_search else None,
                c,
            )
        )


def nats_in_component(problem: Problem, component: int, labels: Ints) -> float:
    """Return the nats that labels of a component, from 0 on, save in its description."""
    part = problem.part(component)
    return float(nats_saved(part.level, labels, np.array([labels.max() + 1]), part.objective)[0])
