"""From a problem to communities when their number is not given."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kgroups._csr import restricted, without_diagonal
from kgroups._types import Bools, Ints
from kgroups.embedding import Seed, informative_eigenpairs
from kgroups.multilevel import Level
from kgroups.refine import Hartigan, absorb_fragments
from kgroups.report import ComponentReport
from kgroups.search.arbiter import (
    ONE,
    OPENED,
    PIECES,
    Candidate,
    decide,
    description_wins,
    one_community,
    posterior_candidate,
)
from kgroups.search.multistart import (
    COUNTED_NODES,
    SMALL_NODES,
    Searched,
    nats_saved,
    search,
    split_small,
)
from kgroups.search.problem import Detection, Options, Part, Problem
from kgroups.search.settings import Auto, Exact, ManyGroups, Regime, Search
from kgroups.search.spectral import Spectral, by_eigenvectors, by_filter, from_labels
from kgroups.spectrum import count_components, has_structure, leading_pairs, moments

__all__ = ["EXACT_NODES", "FEWEST_NODES", "MOST_FEW", "REPORTED", "communities_found"]

EXACT_NODES = 1_000
"""Eigenvectors of components up to this size are computed exactly."""

# From this size on the moments of the spectrum tell a random graph from communities.
_JUDGED_NODES = 500
# A community with this share of its component may hide fainter ones.
_GIANT = 0.25
MOST_FEW = 64
"""Communities that a filtered subspace can show."""
FEWEST_NODES = 200
"""Nodes that these communities must have on average."""
# Columns that the subspace may grow to, for each community that the moments show.
_COLUMNS = 2.0
_FEWEST_COLUMNS = 24
# Eigenvectors beyond the number asked for.
_BESIDE = 2
REPORTED = 3
"""Components described in the report, the largest first."""


def communities_found(
    problem: Problem,
    regime: Regime,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    *,
    start: Ints | None = None,
    tell: Callable[[str], None] = lambda stage: None,
) -> Detection:
    """Find communities when k is not given: connected, and never across components.

    Parameters
    ----------
    problem : Problem
        The graph.
    regime : Regime
        Which candidates there are.
    init, refine
        First labels from eigenvectors, and their refinement.
    rng : Generator
        Each component has a stream of its own.
    start : ndarray of shape (n,), optional
        Labels to start from.
    tell : callable
        Called with the name of each stage.
    """
    found = Detection(problem.component.copy())
    options = Options(regime, init, refine, problem.uneven, tell)
    order, offsets = problem.by_component
    component = problem.component[order]
    z, saved = np.zeros(order.size, dtype=np.int64), np.zeros(problem.n_components)
    searched = None
    if isinstance(regime, Auto | ManyGroups):
        tell("searching")
        searched = search(problem, regime.search, rng, start=start)
        z, saved = searched.z, searched.saved.copy()
        found.visits += searched.visits
    faint = saved < problem.sizes
    k_hat = np.full(problem.n_components, -1, dtype=np.int64)
    if not isinstance(regime, ManyGroups):
        # A component with fewer edges than nodes + 1 is a tree or has one cycle.
        rich = faint & (problem.sizes > SMALL_NODES) & (problem.entries >= 2 * (problem.sizes + 1))
        exact = rich & _solved_exactly(problem, regime)
        k_hat[exact] = _counts(problem, exact)
        asked = rich & ~(exact & (k_hat < 2)) if start is None else rich
        entropy = int(rng.integers(2**63))
        for c in np.flatnonzero(asked).tolist():
            rows = slice(int(offsets[c]), int(offsets[c + 1]))
            stream = np.random.default_rng([entropy, c])
            first = None if start is None else _numbered(start[order[rows]])
            mine = None if searched is None else _candidate(searched, rows, c)
            spectral = _Spectrum(problem.part(c)[1], int(k_hat[c]), options, stream, found)
            won, why = _winner(spectral, mine, first)
            z[rows] = won.z
            k_hat[c] = spectral.k_hat
            found.components.append(
                ComponentReport(
                    int(problem.sizes[c]),
                    won.k,
                    won.origin,
                    why,
                    won.nats,
                    won.evidence,
                    int(k_hat[c]) if k_hat[c] >= 0 else None,
                    component=c,
                )
            )
        if isinstance(regime, Auto):
            for c in np.flatnonzero(~faint & (problem.sizes > _JUDGED_NODES)).tolist():
                rows = slice(int(offsets[c]), int(offsets[c + 1]))
                z[rows] = _giants_opened(problem.part(c)[1], z[rows], options, rng, found)
    counts = np.ones(problem.n_components, dtype=np.int64)
    np.maximum.at(counts, component, z + 1)
    found.z[order] = (np.cumsum(counts) - counts)[component] + z
    if isinstance(regime, Auto) and np.any(faint):
        found.z = _with_small_ones_split(problem, found.z, faint, regime.search, rng)
    _report(found, problem, searched, k_hat, faint)
    return found


def _giants_opened(
    part: Part, z: Ints, options: Options, rng: np.random.Generator, found: Detection
) -> Ints:
    """Look for faint communities inside a community that holds much of a clear component.

    Beside clear communities faint ones save too little to be kept apart; alone, eigenvectors show
    them and belief propagation decides.
    """
    size = np.bincount(z)
    for giant in np.flatnonzero(size >= max(_JUDGED_NODES, _GIANT * z.size)).tolist():
        rows = np.flatnonzero(z == giant)
        if rows.size == z.size:
            break
        inside = Part(restricted(part.A, rows), part.d[rows], part.bound.restrict(rows))
        inside = inside.with_own_r(weighted=options.weighted)
        k_hat = -1
        if rows.size <= EXACT_NODES:
            k_hat = int(count_components(inside.bound, np.zeros(rows.size, dtype=np.int64)).k[0])
        spectral = _Spectrum(inside, k_hat, options, rng, found)
        won, _ = _winner(spectral, one_community(rows.size), None)
        labels, _ = absorb_fragments(inside.A, won.z)
        z[rows] = np.where(labels == 0, giant, int(z.max()) + labels)
    return z


def _solved_exactly(problem: Problem, regime: Regime) -> Bools:
    """Tell for each component whether its eigenvectors are computed exactly."""
    if isinstance(regime, Auto):
        return np.asarray(problem.sizes <= EXACT_NODES)
    return np.full(problem.n_components, isinstance(regime, Exact))


def _counts(problem: Problem, chosen: Bools) -> Ints:
    """Return the number of eigenvalues above the threshold in each chosen component."""
    if not chosen.any():
        return np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(chosen[problem.component])
    names = (np.cumsum(chosen) - 1)[problem.component[rows]]
    bound = problem.bound if chosen.all() else problem.bound.restrict(rows)
    return count_components(bound, names).k


def _candidate(searched: Searched, rows: slice, component: int) -> Candidate:
    nats = float(searched.saved[component])
    return Candidate(searched.z[rows], int(searched.k[component]), "search", nats, nats)


def _numbered(z: Ints) -> Ints:
    return np.unique(z, return_inverse=True)[1]


def _winner(
    spectral: "_Spectrum", searched: Candidate | None, start: Ints | None
) -> tuple[Candidate, str]:
    """Return the communities of one component: by eigenvectors alone, or the best candidate."""
    if searched is None:
        return spectral.alone(start), "eigenvectors were asked for"
    level = spectral.level()
    return decide(searched, level.strength.size, lambda first: _candidates(level, first, spectral))


def _candidates(level: Level, searched: Candidate, spectral: "_Spectrum") -> list[Candidate]:
    """Return all candidates of a component in which the search saves little."""
    n = level.strength.size
    candidates = [one_community(n), searched]
    dense = searched.k == 1
    if searched.k > 1:
        candidates.append(posterior_candidate(level, searched, dense=False))
    tried: dict[int, Candidate] = {}

    def at(k: int) -> Candidate:
        if k not in tried:
            labels = spectral.labels(k)
            nats = nats_saved(level, labels)
            proposed = Candidate(labels, k, "eigenvectors", nats, nats)
            tried[k] = posterior_candidate(level, proposed, dense=dense)
        return tried[k]

    k = spectral.count()
    if k > 1:
        # The free energy decides how many of the communities beside the count there are.
        for step in (1, -1):
            while spectral.allows(k + step) and at(k + step).score > at(k).score:
                k += step
        candidates.append(at(k))
    return candidates


class _Spectrum:
    """The eigenvectors of one component: how many communities they show, and which.

    ``k_hat`` is the number of eigenvalues above the threshold, -1 where they are not counted.
    """

    def __init__(
        self,
        part: Part,
        k_hat: int,
        options: Options,
        rng: np.random.Generator,
        found: Detection,
    ) -> None:
        self.k_hat = k_hat
        self._part, self._options, self._rng, self._found = part, options, rng, found
        self._filtered: Spectral | None = None
        self._vectors = np.zeros((part.bound.n, 0))

    def level(self) -> Level:
        """Return the finest level of the component."""
        return self._part.level(weighted=self._options.weighted)

    def count(self) -> int:
        """Return the number of communities that the spectrum shows, 1 if none."""
        options, n = self._options, self._part.bound.n
        auto = isinstance(options.regime, Auto)
        if self.k_hat >= 0 and not (auto and self.k_hat > 1 and n >= _JUDGED_NODES):
            return max(1, self.k_hat)
        options.tell("moments of the spectrum")
        part = self._part.with_own_r(weighted=options.weighted)
        judged = moments(part.bound)
        self._found.visits += judged.visits
        if auto and not has_structure(judged):
            return 1
        if self.k_hat >= 0:
            return self.k_hat
        if auto and not (judged.k <= MOST_FEW and n >= FEWEST_NODES * judged.k):
            return 1
        options.tell("filtering a subspace")
        most = max(_FEWEST_COLUMNS, int(_COLUMNS * judged.k))
        leading = leading_pairs(judged, most=most)
        if auto and not leading.complete:
            return 1
        self._filtered = by_filter(
            part, judged, options.init, options.refine, self._rng, leading=leading
        )
        if self._filtered.refinement is not None:
            self._found.refinements.append(self._filtered.refinement)
        return self._filtered.k

    def allows(self, k: int) -> bool:
        """Tell if communities of another number than the count can be had."""
        return self.k_hat >= 0 and 2 <= k < self._part.bound.n

    def labels(self, k: int) -> Ints:
        """Return ``k`` communities."""
        if self._filtered is not None:
            return self._filtered.z
        part, init = self._part, self._options.init
        if self._vectors.shape[1] < k:
            # A few more than asked for: the numbers beside it are tried too.
            count = min(k + _BESIDE, part.bound.n)
            self._vectors = informative_eigenpairs(part.bound, count, init.rows)[1]
        V = self._vectors[:, :k]
        found = by_eigenvectors(part, V, init, self._options.refine, self._rng)
        if found.refinement is not None:
            self._found.refinements.append(found.refinement)
        return found.z

    def alone(self, start: Ints | None) -> Candidate:
        """Return the communities of the eigenvectors, or those that labels lead to."""
        if start is not None:
            found = from_labels(self._part, start, self._options.refine)
            return Candidate(found.z, found.k, "eigenvectors", 0.0, 0.0)
        k = self.count()
        if k == 1:
            return one_community(self._part.bound.n)
        z, k = absorb_fragments(self._part.A, self.labels(k))
        return Candidate(z, k, "eigenvectors", 0.0, 0.0)


def _with_small_ones_split(
    problem: Problem, z: Ints, faint: Bools, settings: Search, rng: np.random.Generator
) -> Ints:
    """Make communities connected, and split small ones, in components that save little."""
    A = without_diagonal(problem.A)
    z, _ = absorb_fragments(A, _numbered(z))
    # Communities elsewhere are decided by the description of the whole.
    k = 0
    while k <= z.max(initial=-1):
        # Again, as long as pieces of pieces are better.
        k = int(z.max()) + 1
        whole = np.bincount(z)[z] == problem.sizes[problem.component]
        most = np.where(whole, COUNTED_NODES, SMALL_NODES) * faint[problem.component]
        z = split_small(A, z, most, settings, rng)
    return z


def _report(
    found: Detection, problem: Problem, searched: Searched | None, k_hat: Ints, faint: Bools
) -> None:
    """Describe the largest components: who won, and why."""
    told = {report.component: report for report in found.components}
    found.components = []
    for c in np.argsort(-problem.sizes, kind="stable")[:REPORTED].tolist():
        n, k = int(problem.sizes[c]), np.unique(found.z[problem.component == c]).size
        count = int(k_hat[c]) if k_hat[c] >= 0 else None
        nats = 0.0 if searched is None else float(searched.saved[c])
        if c in told:
            report = told[c]
        elif searched is not None and nats > 0.0:
            why, share = description_wins(nats), float(searched.undecided[c])
            found_k = int(searched.k[c])
            report = ComponentReport(n, found_k, "search", why, nats, None, count, share, c)
        else:
            report = ComponentReport(n, 1, "one community", ONE, k_hat=count, component=c)
        if report.k != k:
            # Communities were split after the decision.
            more, winner = (PIECES, "pairs of nodes") if faint[c] else (OPENED, report.winner)
            why = more if report.k == 1 else f"{report.why}; {more}"
            report = replace(report, k=k, winner=winner, why=why)
        found.components.append(report)
