"""Find communities when their number is not given."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from kgroups._csr import without_diagonal
from kgroups._types import Bools, Ints
from kgroups.hartigan import Init, Refiner, refine_labels
from kgroups.report import ComponentReport, how_clearly
from kgroups.search.candidates import (
    ANY_SAVING_NODES,
    PAIRS_NODES,
    Candidate,
    Detection,
    Judge,
    Options,
    Spectra,
    candidate,
    connected,
    one_community,
    search,
    search_again,
    split_small,
)
from kgroups.search.objective import (
    MOST_SEPARATION,
    Borders,
    contiguity,
    dispersion_of,
    nats_saved,
    separation,
)
from kgroups.search.problem import Problem, labels_from_zero
from kgroups.search.settings import Auto, Method, Search, dense_solves
from kgroups.spectrum import Moments, count_components

_COMPARING = "comparing candidates"
_NO_MORE = "nothing was found that divides it"
_ASKED_FOR = "eigenvectors were asked for"
_SPLIT_BY_PAIRS = (
    "groups of a few nodes with nearly all pairs linked are described better in pieces"
)
# Place of the search among the candidates.
_SEARCH = 1
REPORTED = 3
"""Components described in the report, the largest first."""
# With fewer communities, links that leave one have no choice.
_LEAST_GROUPS = 3
# Nodes from which pairs of links are counted at first; there are many pairs at each.
_SAMPLE = 1_000


class Contest(NamedTuple):
    """What was found, and what competed for it in each component."""

    found: Detection
    # The problem with the dispersion by which the candidates were compared.
    described: Problem
    candidates: Sequence[Candidate]
    # Where the description decides, whatever the others score.
    clear: Bools
    winner: Ints
    # Eigenvalues above the threshold, -1 where they were not counted.
    k_hat: Ints
    # Components with more than one cycle, those of them that evidence decides, and those of these
    # where it was asked.
    cyclic: Bools
    faint: Bools
    asked: Bools
    judge: Judge
    spectra: Spectra | None


def find_communities(
    problem: Problem,
    method: Method,
    init: Init,
    refine: Refiner | None,
    rng: np.random.Generator,
    *,
    start: Ints | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Detection:
    """Find communities when k is not given: connected, and never across components.

    ``start`` are labels to start from; ``progress`` is called with the name of each stage.
    """
    contest = compete(problem, method, init, refine, rng, start=start, progress=progress)
    found = contest.found
    found.borders = borders_of(problem, contest.described, found.z)
    _report(contest)
    return found


def compete(
    problem: Problem,
    method: Method,
    init: Init,
    refine: Refiner | None,
    rng: np.random.Generator,
    *,
    start: Ints | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Contest:
    """Find candidates for the communities of each component, and take the best."""
    found = Detection(problem.component.copy())
    options = Options(method, init, refine, progress)
    candidates, measured = [one_community(problem)], dict[int, Moments]()
    if options.search is not None:
        progress("searching")
        searched, found.visits, measured = search(problem, options.search, rng, start=start)
        candidates.append(searched)
    # Where a description saves a nat per node, its communities are reliable.
    clear = found.clear = candidates[-1].score >= problem.sizes
    described = problem
    if options.search is not None:
        found.dispersion = _dispersion(problem, searched, clear, options.search)
        if found.dispersion > 1.0:
            progress("searching with the dispersion")
            described = problem.dispersed(found.dispersion)
            candidates[-1], visits = search_again(described, options.search, rng, searched)
            found.visits += visits
            # Belief propagation takes edges as independent: where they are not, the search decides.
            clear = np.ones_like(clear)
    # A component with fewer edges than nodes + 1 is a tree or has one cycle.
    cyclic = problem.entries >= 2 * (problem.sizes + 1)
    k_hat, faint = np.full(problem.n_components, -1, dtype=np.int64), np.zeros_like(cyclic)
    asked, judge, spectra = np.zeros_like(cyclic), Judge(problem), None
    if not isinstance(method, Search):
        faint = ~clear & cyclic & (problem.sizes > ANY_SAVING_NODES)
        which, entropy = np.flatnonzero(faint), int(rng.integers(2**63))
        with dense_solves(problem.n, method) if which.size else nullcontext():
            if which.size:
                k_hat = _count_eigenvalues(problem, options, faint, found)
            if start is None:
                # Where the spectrum shows fewer than two, eigenvectors have nothing to propose.
                which = which[(k_hat[which] < 0) | (k_hat[which] > 1)]
            spectra = Spectra(problem, k_hat, options, entropy, found, measured)
            if not isinstance(method, Auto):
                candidates.append(
                    spectra.alone(which)
                    if start is None
                    else _refined_start(problem, start, which, refine, found)
                )
            elif which.size:
                progress(_COMPARING)
                asked[which] = True
                candidates[1:] = _with_evidence(problem, candidates[1], which, spectra, judge)
    # Elsewhere the last candidate is the only one that was asked for.
    winner = np.full(problem.n_components, len(candidates) - 1)
    if isinstance(method, Auto):
        winner = decide(candidates, clear)
    z = np.choose(winner[problem.component], [candidate.z for candidate in candidates])
    counts = np.ones(problem.n_components, dtype=np.int64)
    np.maximum.at(counts, problem.component, z + 1)
    found.z = (np.cumsum(counts) - counts)[problem.component] + z
    if isinstance(method, Auto):
        # Where the search has found communities, their description stands.
        whole = ~clear & cyclic & (candidates[_SEARCH].k == 1)
        if whole.any():
            found.z = _split_small_communities(problem, found.z, whole, method.search, rng)
    return Contest(
        found, described, candidates, clear, winner, k_hat, cyclic, faint, asked, judge, spectra
    )


def borders_of(problem: Problem, described: Problem, z: Ints) -> Borders | None:
    """Return what the borders of communities are like, None where there are hardly any.

    ``described`` is the problem with the evidence of edges divided by the dispersion. Components
    are judged one by one; the numbers are those of the one with most patches, or if there are none
    of the largest. The separation is measured where the contiguity is clear.
    """
    z, k = labels_from_zero(z, problem), np.zeros(problem.n_components, dtype=np.int64)
    np.maximum.at(k, problem.component, z + 1)
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


def _dispersion(problem: Problem, searched: Candidate, clear: Bools, settings: Search) -> float:
    """Return what to divide the evidence of edges by: as given, or as the clear components show."""
    if settings.dispersion is not None:
        return float(settings.dispersion)
    return dispersion_of(problem.level, searched.z, searched.k, np.flatnonzero(clear))


def decide(candidates: Sequence[Candidate], clear: Bools) -> Ints:
    """Return which candidate wins in each component: the highest score, the first of equals.

    One community comes first, the search second. Where the description is ``clear``, the search
    wins whatever the others score.
    """
    winner = np.argmax([candidate.score for candidate in candidates], axis=0)
    return np.where(clear, _SEARCH, winner)


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
        return "found by the eigenvectors, too faint for a shorter description of the graph"
    return f"they describe the graph {better} better than one community ({by})"


def _with_evidence(
    problem: Problem, searched: Candidate, which: Ints, spectra: Spectra, judge: Judge
) -> list[Candidate]:
    """Return the search and the eigenvectors in some components, scored by evidence in nats.

    Evidence is that of the model that a candidate stands for. The description gives each community
    a density of its own, so the search is scored by beliefs with own densities, and its labels are
    kept. Eigenvectors know no densities: their communities have one.
    """
    several = which[searched.k[which] > 1]
    own = judge.judged("search", searched.z, searched.k, several)
    return [
        searched._replace(score=np.maximum(searched.score, own.score)),
        _by_eigenvectors(problem, which, spectra, judge, dense=searched.k == 1),
    ]


def _by_eigenvectors(
    problem: Problem, which: Ints, spectra: Spectra, judge: Judge, *, dense: Bools
) -> Candidate:
    """Return the communities of eigenvectors in some components, and what beliefs make of them.

    Belief propagation decides between the number of eigenvalues and the numbers next to it.
    """
    k = np.ones(problem.n_components, dtype=np.int64)
    k[which] = spectra.counts(which)

    def tried(which: Ints, k: Ints) -> Candidate:
        labels, left = spectra.communities(which, k)
        return judge.judged("eigenvectors", labels, left, which, dense=dense)

    which = which[k[which] > 1]
    best = tried(which, k)
    rising = spectra.allows(which)
    for step in (1, -1):
        climbing, last = rising, k.copy()
        while True:
            more = k + step
            climbing = climbing[(more[climbing] > 1) & (more[climbing] < problem.sizes[climbing])]
            if not climbing.size:
                break
            rival = tried(climbing, more)
            climbing = climbing[rival.score[climbing] > best.score[climbing]]
            best = best.replaced(climbing, rival, problem)
            k[climbing] += step
        # Where more communities are better, fewer are not.
        rising = rising[k[rising] == last[rising]]
    return best


def _refined_start(
    problem: Problem, start: Ints, which: Ints, refine: Refiner | None, found: Detection
) -> Candidate:
    """Return what refinement makes of given labels in some components."""
    none = one_community(problem, "eigenvectors")
    z, k = none.z, none.k
    for c in which.tolist():
        rows = problem.rows(c)
        z[rows] = np.unique(start[rows], return_inverse=True)[1]
        k[c] = z[rows].max() + 1
    if refine is not None:
        several = which[k[which] > 1]
        refined = refine_labels(refine, problem, z, k, several)
        for c, one in zip(several.tolist(), refined, strict=True):
            z[problem.rows(c)] = found.keep(one)
    return candidate("eigenvectors", *connected(problem, z, k, which), none.score)


def _count_eigenvalues(problem: Problem, options: Options, faint: Bools, found: Detection) -> Ints:
    """Return the eigenvalues above the threshold where eigenvectors are exact, -1 elsewhere."""
    k_hat = np.full(problem.n_components, -1, dtype=np.int64)
    exact = faint & (problem.sizes <= options.spectral.largest_exact)
    if not exact.any():
        return k_hat
    rows = np.flatnonzero(exact[problem.component])
    names = (np.cumsum(exact) - 1)[problem.component[rows]]
    hessian = problem.hessian if exact.all() else problem.hessian.restrict(rows)
    counted = count_components(hessian, names)
    k_hat[exact] = counted.k
    found.counts = counted if exact.all() else None
    return k_hat


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


def _report(contest: Contest) -> None:
    """Describe the largest components: which candidate won, and why."""
    found, problem, candidates, _, winner, k_hat, *_ = contest
    asked_for = len(candidates) == 2 and candidates[1].origin == "eigenvectors"
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
        evidence, origin, why = float(won.evidence[c]), won.origin, reason(won, c, nats)
        if won.k[c] == 1:
            origin = "one community"
        elif asked_for:
            why = _ASKED_FOR
        if won.k[c] < k and origin != "search":
            why = _SPLIT_BY_PAIRS if won.k[c] == 1 else f"{why}; {_SPLIT_BY_PAIRS}"
            origin = "pairs of nodes"
        found.components.append(
            ComponentReport(
                rows.stop - rows.start,
                k,
                origin,
                why,
                nats,
                None if np.isnan(evidence) else evidence,
                int(k_hat[c]) if k_hat[c] >= 0 else None,
                share if origin == "search" else None,
                c,
            )
        )


def nats_in_component(problem: Problem, component: int, labels: Ints) -> float:
    """Return the nats that labels of a component, from 0 on, save in its description."""
    part = problem.part(component)
    return float(nats_saved(part.level, labels, np.array([labels.max() + 1]), part.objective)[0])
