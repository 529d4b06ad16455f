"""From a problem to communities when their number is not given."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kgroups._csr import without_diagonal
from kgroups._types import Bools, Ints
from kgroups.embedding import Seed, informative_eigenpairs
from kgroups.multilevel import Level
from kgroups.refine import Hartigan, absorb_fragments
from kgroups.report import ComponentReport
from kgroups.search.arbiter import Candidate, decide, one_community, posterior_candidate
from kgroups.search.multistart import Searched, search, split_small
from kgroups.search.problem import Detection, Part, Problem
from kgroups.search.settings import Auto, Exact, ManyGroups, Regime, Search
from kgroups.search.spectral import Spectral, by_eigenvectors, by_filter, from_labels
from kgroups.spectrum import Moments, count_components, has_structure, leading_pairs, moments

__all__ = ["EXACT_NODES", "FEWEST_NODES", "MOST_FEW", "REPORTED", "communities_found"]

EXACT_NODES = 1_000
"""Eigenvectors of components up to this size are computed exactly."""

# From this size on the moments of the spectrum tell a random graph from communities.
_JUDGED_NODES = 500
# Communities that a filtered subspace can show: at most so many, of so many nodes each.
MOST_FEW = 64
FEWEST_NODES = 200
# Columns that the subspace may grow to, for each community that the moments show.
_COLUMNS = 2.0
_FEWEST_COLUMNS = 24
# Eigenvectors beyond the number asked for.
_BESIDE = 2
# Components described in the report.
REPORTED = 3


class _Options(NamedTuple):
    regime: Regime
    init: Seed
    refine: Hartigan | None
    weighted: bool
    tell: Callable[[str], None]


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
    options = _Options(regime, init, refine, problem.uneven, tell)
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
    if not isinstance(regime, ManyGroups):
        entropy = int(rng.integers(2**63))
        # A component with fewer edges than nodes + 1 is a tree or has one cycle.
        rich = (problem.sizes >= 6) & (problem.entries >= 2 * (problem.sizes + 1))
        for c in np.flatnonzero(faint & rich).tolist():
            rows = slice(int(offsets[c]), int(offsets[c + 1]))
            stream = np.random.default_rng([entropy, c])
            first = None if start is None else _numbered(start[order[rows]])
            mine = None if searched is None else _candidate(searched, rows, c)
            won, report = _component(problem, c, options, mine, first, stream, found)
            z[rows] = won.z
            found.components.append(report)
    counts = np.ones(problem.n_components, dtype=np.int64)
    np.maximum.at(counts, component, z + 1)
    found.z[order] = (np.cumsum(counts) - counts)[component] + z
    if isinstance(regime, Auto) and np.any(faint):
        found.z = _with_small_ones_split(problem, found.z, faint, regime.search, rng)
    _report(found, problem, searched, counts)
    return found


def _candidate(searched: Searched, rows: slice, component: int) -> Candidate:
    nats = float(searched.saved[component])
    return Candidate(searched.z[rows], int(searched.k[component]), "search", nats, nats)


def _numbered(z: Ints) -> Ints:
    return np.unique(z, return_inverse=True)[1]


def _component(
    problem: Problem,
    component: int,
    options: _Options,
    searched: Candidate | None,
    start: Ints | None,
    rng: np.random.Generator,
    found: Detection,
) -> tuple[Candidate, ComponentReport]:
    """Find the communities of one component by eigenvectors, the search beside them or not."""
    _, part = problem.part(component)
    n = part.bound.n
    spectral = _Spectrum(part, options, rng, found)
    if searched is None:
        own = spectral.alone(start)
        won, why = own, "asked for"
    else:
        level = part.level(weighted=options.weighted)
        won, why = decide(searched, n, lambda first: _candidates(level, first, spectral))
    report = ComponentReport(n, won.k, won.origin, why, won.nats, won.evidence, spectral.k_hat)
    return won, report


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
            proposed = Candidate(labels, k, "eigenvectors", 0.0, 0.0)
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
    """The eigenvectors of one component: how many communities they show, and which."""

    def __init__(
        self, part: Part, options: _Options, rng: np.random.Generator, found: Detection
    ) -> None:
        self._part, self._options, self._rng, self._found = part, options, rng, found
        self._filtered: Spectral | None = None
        self._vectors = np.zeros((part.bound.n, 0))
        self.k_hat: int | None = None
        n, regime = part.bound.n, options.regime
        self._exact = isinstance(regime, Exact) or (isinstance(regime, Auto) and n <= EXACT_NODES)

    def count(self) -> int:
        """Return the number of communities that the spectrum shows, 1 if none."""
        part, n = self._part, self._part.bound.n
        if self._exact:
            counted = count_components(part.bound, np.zeros(n, dtype=np.int64))
            self.k_hat = int(counted.k[0])
            judged = isinstance(self._options.regime, Auto) and n >= _JUDGED_NODES
            if self.k_hat > 1 and judged and not has_structure(self._moments()):
                return 1
            return max(1, self.k_hat)
        self._options.tell("moments of the spectrum")
        part = part.with_own_r(weighted=self._options.weighted)
        judged_moments = self._moments(part)
        if isinstance(self._options.regime, Auto):
            affordable = judged_moments.k <= MOST_FEW and n >= FEWEST_NODES * judged_moments.k
            if not (has_structure(judged_moments) and affordable):
                return 1
        self._options.tell("filtering a subspace")
        most = max(_FEWEST_COLUMNS, int(_COLUMNS * judged_moments.k))
        leading = leading_pairs(judged_moments, most=most)
        if isinstance(self._options.regime, Auto) and not leading.complete:
            return 1
        self._filtered = by_filter(
            part,
            judged_moments,
            self._options.init,
            self._options.refine,
            self._rng,
            leading=leading,
        )
        if self._filtered.refinement is not None:
            self._found.refinements.append(self._filtered.refinement)
        return self._filtered.k

    def _moments(self, part: Part | None = None) -> Moments:
        part = self._part.with_own_r(weighted=self._options.weighted) if part is None else part
        found = moments(part.bound)
        self._found.visits += found.visits
        return found

    def allows(self, k: int) -> bool:
        """Tell if communities of another number than the count can be had."""
        return self._exact and 2 <= k < self._part.bound.n

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
    apart = np.where(faint[problem.component], z, -1)
    split = split_small(A, _numbered(apart), settings, rng)
    return _numbered(split * (int(z.max(initial=0)) + 1) + np.where(apart < 0, z, 0))


def _report(found: Detection, problem: Problem, searched: Searched | None, counts: Ints) -> None:
    """Describe the largest components, those of the search among them."""
    if searched is not None:
        told = {}
        for c in np.argsort(-problem.sizes, kind="stable")[:REPORTED].tolist():
            if searched.saved[c] >= problem.sizes[c]:
                nats = float(searched.saved[c])
                told[c] = ComponentReport(
                    int(problem.sizes[c]),
                    int(counts[c]),
                    "search",
                    f"the description is shorter by {nats:.1f} nats",
                    nats,
                    undecided=float(searched.undecided[c]),
                )
        found.components += told.values()
    found.components.sort(key=lambda report: -report.n)
    del found.components[REPORTED:]
