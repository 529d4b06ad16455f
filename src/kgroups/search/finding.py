"""Find communities when their number is not given."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kgroups._csr import without_diagonal
from kgroups._types import Bools, Ints
from kgroups.embedding import Init, informative_eigenpairs
from kgroups.multilevel import Level
from kgroups.refine import Refiner
from kgroups.report import ComponentReport
from kgroups.search.candidates import (
    ANY_SAVING_NODES,
    PAIRS_NODES,
    Candidate,
    Searched,
    absorb_fragments,
    by_eigenvectors,
    by_filter,
    nats_saved,
    one_community,
    posterior_candidate,
    refined,
    search,
    split_small,
)
from kgroups.search.problem import Detection, Options, Part, Problem
from kgroups.search.settings import Auto, Exact, ManyGroups, Regime, Search
from kgroups.spectrum import (
    ComponentCounts,
    Moments,
    count_components,
    has_structure,
    leading_pairs,
    moments,
)

# Columns of a filtered subspace at least, as the moments may show too few communities.
_MIN_COLUMNS = 24
# Eigenvectors computed beyond the count, as the next larger numbers of communities are tried too.
_EXTRA_VECTORS = 2
_NO_MORE = "there is no sign of more"
_SPLIT_BY_EIGENVECTORS = "eigenvectors show fainter communities inside a large one"
_SPLIT_BY_PAIRS = (
    "groups of a few nodes with nearly all pairs linked are described better in pieces"
)
REPORTED = 3
"""Components described in the report, the largest first."""


def find_communities(
    problem: Problem,
    regime: Regime,
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
    found = Detection(problem.component.copy())
    options = Options(regime, init, refine, problem.uneven, progress)
    order, offsets = problem.by_component
    z, saved, searched = np.zeros(order.size, dtype=np.int64), np.zeros(problem.n_components), None
    if isinstance(regime, Auto | ManyGroups):
        progress("searching")
        searched = search(problem, regime.search, rng, start=start)
        z, saved = searched.z, searched.saved
        found.visits += searched.visits
    faint = saved < problem.sizes
    k_hat = np.full(problem.n_components, -1, dtype=np.int64)
    if not isinstance(regime, ManyGroups):
        # A component with fewer edges than nodes + 1 is a tree or has one cycle.
        cyclic = problem.entries >= 2 * (problem.sizes + 1)
        nontrivial = faint & cyclic & (problem.sizes > ANY_SAVING_NODES)
        exact = nontrivial & _solved_exactly(problem, regime)
        if exact.any():
            counted = _counts(problem, exact)
            k_hat[exact] = counted.k
            found.counts = counted if exact.all() else None
        proposed = nontrivial & ~(exact & (k_hat < 2)) if start is None else nontrivial
        entropy = int(rng.integers(2**63))
        for c in np.flatnonzero(proposed).tolist():
            rows = slice(int(offsets[c]), int(offsets[c + 1]))
            stream = np.random.default_rng([entropy, c])
            first = None if start is None else _numbered(start[order[rows]])
            measured = None if searched is None else searched.moments.get(c)
            part = problem.part(c)[1]
            spectrum = _Spectrum(part, int(k_hat[c]), options, stream, found, measured)
            if searched is None:
                won, why = spectrum.alone(first), "eigenvectors were asked for"
            else:
                won, why = _winner(spectrum, searched.candidate(rows, c))
            z[rows], k_hat[c] = won.z, spectrum.k_hat
            count = spectrum.k_hat if spectrum.k_hat >= 0 else None
            n = int(problem.sizes[c])
            found.components.append(
                ComponentReport(
                    n, won.k, won.origin, why, won.nats, won.evidence, count, component=c
                )
            )
        if isinstance(regime, Auto):
            for c in np.flatnonzero(~faint & (problem.sizes > regime.moments_nodes)).tolist():
                rows = slice(int(offsets[c]), int(offsets[c + 1]))
                z[rows] = _split_giants(problem.part(c)[1], z[rows], regime, options, rng, found)
    component, counts = problem.component[order], np.ones(problem.n_components, dtype=np.int64)
    np.maximum.at(counts, component, z + 1)
    found.z[order] = (np.cumsum(counts) - counts)[component] + z
    if isinstance(regime, Auto) and np.any(faint):
        found.z = _split_small_communities(problem, found.z, faint, regime.search, rng)
    _report(found, problem, searched, k_hat, faint)
    return found


def decide(
    searched: Candidate, n: int, propose: Callable[[Candidate], list[Candidate]]
) -> tuple[Candidate, str]:
    """Return the candidate that wins in a component of n nodes, and why.

    If the search saves a nat per node, its labels are reliable and its description decides.
    Otherwise others are proposed, and the highest score wins.
    """
    if searched.score >= n:
        return searched, _description_reason(searched.nats)
    best = max(propose(searched), key=lambda candidate: candidate.score)
    if best.k == 1:
        return best, _NO_MORE
    if best.evidence is None and best.nats > 0.0:
        return best, _description_reason(best.nats)
    if best.evidence is None:
        return best, "found by the eigenvectors, below what a description can resolve"
    proposer = "the eigenvectors" if best.origin == "eigenvectors" else "the search"
    return best, (
        f"proposed by {proposer}; belief propagation prefers them to one community by "
        f"{best.score:.1f} nats"
    )


def _description_reason(nats: float) -> str:
    """Return the reason for communities that shorten the description."""
    return f"they shorten the description of the graph by {nats:.1f} nats"


def _split_giants(
    part: Part,
    z: Ints,
    regime: Auto,
    options: Options,
    rng: np.random.Generator,
    found: Detection,
) -> Ints:
    """Split communities that hold much of a clear component if faint ones are inside.

    Beside clear communities faint ones save too little to be kept apart; alone, eigenvectors show
    them and belief propagation decides.
    """
    least = max(regime.moments_nodes, regime.giant_share * z.size)
    for giant in np.flatnonzero(np.bincount(z) >= least).tolist():
        rows = np.flatnonzero(z == giant)
        if rows.size == z.size:
            break
        inside = part.restricted(rows).with_own_r(weighted=options.weighted)
        k_hat = -1
        if rows.size <= regime.exact_nodes:
            k_hat = int(count_components(inside.bound, np.zeros(rows.size, dtype=np.int64)).k[0])
        spectrum = _Spectrum(inside, k_hat, options, rng, found)
        won, _ = _winner(spectrum, one_community(rows.size))
        labels, _ = absorb_fragments(inside.A, won.z)
        z[rows] = np.where(labels == 0, giant, int(z.max()) + labels)
    return z


def _solved_exactly(problem: Problem, regime: Regime) -> Bools:
    """Return for each component whether its eigenvectors are computed exactly."""
    if isinstance(regime, Auto):
        return np.asarray(problem.sizes <= regime.exact_nodes)
    return np.full(problem.n_components, isinstance(regime, Exact))


def _counts(problem: Problem, chosen: Bools) -> ComponentCounts:
    """Count the eigenvalues above the threshold in each chosen component."""
    rows = np.flatnonzero(chosen[problem.component])
    names = (np.cumsum(chosen) - 1)[problem.component[rows]]
    bound = problem.bound if chosen.all() else problem.bound.restrict(rows)
    return count_components(bound, names)


def _numbered(z: Ints) -> Ints:
    return np.unique(z, return_inverse=True)[1]


def _winner(spectrum: "_Spectrum", searched: Candidate) -> tuple[Candidate, str]:
    """Return the best candidate of one component, and why it wins."""
    level = spectrum.level()
    return decide(searched, level.strength.size, lambda first: _candidates(level, first, spectrum))


def _candidates(level: Level, searched: Candidate, spectrum: "_Spectrum") -> list[Candidate]:
    """Return all candidates of a component in which the search saves little."""
    candidates = [one_community(level.strength.size), searched]
    if searched.k > 1:
        candidates.append(posterior_candidate(level, searched, dense=False))
    tried: dict[int, Candidate] = {}

    def at(k: int) -> Candidate:
        if k not in tried:
            labels = spectrum.labels(k)
            nats = nats_saved(level, labels)
            proposed = Candidate(labels, k, "eigenvectors", nats, nats)
            tried[k] = posterior_candidate(level, proposed, dense=searched.k == 1)
        return tried[k]

    k = spectrum.count()
    if k > 1:
        # The free energy decides between the count and the numbers next to it.
        for step in (1, -1):
            while spectrum.allows(k + step) and at(k + step).score > at(k).score:
                k += step
        candidates.append(at(k))
    return candidates


class _Spectrum:
    """The eigenvectors of one component: how many communities they show, and which.

    ``k_hat`` is the number of eigenvalues above the threshold, -1 if they are not counted.
    """

    def __init__(
        self,
        part: Part,
        k_hat: int,
        options: Options,
        rng: np.random.Generator,
        found: Detection,
        measured: Moments | None = None,
    ) -> None:
        self.k_hat = k_hat
        self._measured = measured
        self._part, self._options, self._rng, self._found = part, options, rng, found
        self._filtered: Ints | None = None
        self._vectors = np.zeros((part.bound.n, 0))

    def level(self) -> Level:
        """Return the finest level of the component."""
        return self._part.level(weighted=self._options.weighted)

    def count(self) -> int:
        """Return the number of communities that the spectrum shows, 1 if none."""
        options, n, regime = self._options, self._part.bound.n, self._options.regime
        auto = regime if isinstance(regime, Auto) else None
        if self.k_hat >= 0 and not (auto and self.k_hat > 1 and n >= auto.moments_nodes):
            return max(1, self.k_hat)
        options.progress("moments of the spectrum")
        part = self._part.with_own_r(weighted=options.weighted)
        measured = self._measured
        if measured is None:
            measured = moments(part.bound)
            self._found.visits += measured.visits
        if auto and not has_structure(measured):
            return 1
        if self.k_hat >= 0:
            return self.k_hat
        if auto and not auto.resolves(measured.k, n):
            return 1
        options.progress("filtering a subspace")
        most = max(_MIN_COLUMNS, int(options.few.columns * measured.k))
        leading = leading_pairs(measured, most=most)
        if auto and not leading.complete:
            return 1
        filtered = by_filter(part, measured, options, self._rng, leading=leading)
        self._filtered = self._found.keep(filtered)
        return filtered.k

    def allows(self, k: int) -> bool:
        """Tell whether eigenvectors can give a number of communities other than the count."""
        return self.k_hat >= 0 and 2 <= k < self._part.bound.n

    def labels(self, k: int) -> Ints:
        """Return ``k`` communities."""
        if self._filtered is not None:
            return self._filtered
        part, options = self._part, self._options
        if self._vectors.shape[1] < k:
            count = min(k + _EXTRA_VECTORS, part.bound.n)
            self._vectors = informative_eigenpairs(part.bound, count, options.init.rows)[1]
        return self._found.keep(by_eigenvectors(part, self._vectors[:, :k], options, self._rng))

    def alone(self, start: Ints | None) -> Candidate:
        """Return the communities of the eigenvectors, or those that refinement reaches."""
        if start is not None:
            found = refined(self._part, start, self._options.refine)
            return Candidate(found.z, found.k, "eigenvectors", 0.0, 0.0)
        k = self.count()
        if k == 1:
            return one_community(self._part.bound.n)
        z, k = absorb_fragments(self._part.A, self.labels(k))
        return Candidate(z, k, "eigenvectors", 0.0, 0.0)


def _split_small_communities(
    problem: Problem, z: Ints, faint: Bools, settings: Search, rng: np.random.Generator
) -> Ints:
    """Make communities connected, and split small ones, in components that save little."""
    A = without_diagonal(problem.A)
    z, _ = absorb_fragments(A, _numbered(z))
    k = 0
    # Repeated, as pieces may be split again. Communities of other components are decided by the
    # description of the whole.
    while k <= z.max(initial=-1):
        k = int(z.max()) + 1
        whole = np.bincount(z)[z] == problem.sizes[problem.component]
        most = np.where(whole, PAIRS_NODES, ANY_SAVING_NODES) * faint[problem.component]
        z = split_small(A, z, most, settings, rng)
    return z


def _report(
    found: Detection, problem: Problem, searched: Searched | None, k_hat: Ints, faint: Bools
) -> None:
    """Describe the largest components: which candidate won, and why."""
    decided = {report.component: report for report in found.components}
    found.components = []
    for c in np.argsort(-problem.sizes, kind="stable")[:REPORTED].tolist():
        n, k = int(problem.sizes[c]), np.unique(found.z[problem.component == c]).size
        count = int(k_hat[c]) if k_hat[c] >= 0 else None
        if c in decided:
            report = decided[c]
        elif searched is not None and searched.saved[c] > 0.0:
            nats, share = float(searched.saved[c]), float(searched.undecided[c])
            why, found_k = _description_reason(nats), int(searched.k[c])
            report = ComponentReport(n, found_k, "search", why, nats, None, count, share, c)
        else:
            report = ComponentReport(n, 1, "one community", _NO_MORE, k_hat=count, component=c)
        if report.k != k:
            # Communities were split after the decision.
            split = _SPLIT_BY_PAIRS if faint[c] else _SPLIT_BY_EIGENVECTORS
            winner = "pairs of nodes" if faint[c] else report.winner
            why = split if report.k == 1 else f"{report.why}; {split}"
            report = replace(report, k=k, winner=winner, why=why)
        found.components.append(report)
