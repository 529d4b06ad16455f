"""Candidates for communities, how they are scored, and what a detection records about them."""

import math
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kgroups._progress import begin_stage, tell_share
from kgroups._types import Bools, Floats, Indices, Ints
from kgroups.hartigan import (
    Hartigan,
    Init,
    KMeansInit,
    Refinement,
    Refiner,
    embedding_rows,
    improve_rows,
    informative_eigenpairs,
    refine_labels,
    spread_labels,
    strong_rows,
)
from kgroups.inference import Learning, Schedule, block_model, propagate
from kgroups.inference.belief_propagation import BlockModel
from kgroups.report import ComponentReport, RefinementReport
from kgroups.search.climbing import Searching, State, attached
from kgroups.search.objective import Borders, dispersion_of, nats_saved, totals
from kgroups.search.problem import Problem, labels_from_zero
from kgroups.search.settings import (
    SIGNIFICANCE,
    Method,
    Search,
    dense_solves,
)
from kgroups.spectrum import (
    ComponentCounts,
    Leading,
    Moments,
    ThinBlock,
    count_components,
    has_structure,
    leading_pairs,
    moments,
)

MAX_MESSAGES = 4e7
"""Messages of belief propagation, of 8 bytes each, that fit in memory: 320 MB."""
ANY_SAVING_NODES = 9
"""Where all pairs are counted, any saving splits a community of up to this size: 3 triangles."""
# Schedule of belief propagation from the labels of a candidate: the largest number of sweeps, with
# rates learned after each, and the mean change of a marginal at which it ends.
_SWEEPS = Schedule(49, 1, 1, 1e-3, math.inf)
# Columns of a projected embedding: random vectors, enough to tell hundreds of communities apart,
# and the one that finds the Perron vector.
_PROJECTED_COLUMNS = 16
MAX_PROJECTED = 512
"""Number of communities that a projected embedding can show."""
# Nodes that each must have on average: with smaller ones contraction saves as much.
_MIN_PROJECTED_SIZE = 500
# Groups of projected rows for each community; halves of a community are merged later.
_GROUPS_PER_COMMUNITY = 1.5
# Sample rows for each of these groups, and least number of sample rows in all.
_SAMPLE_PER_GROUP = 30
_MIN_SAMPLE = 4_000
# Rows per chunk, and entries of a chunk with a column for each group; bounds the temporary arrays.
_CHUNK, _CHUNK_ENTRIES = 1 << 13, 1 << 19
# Least number of columns of a filtered subspace, as the moments may show too few communities.
_MIN_COLUMNS = 24
# Eigenvectors computed beyond the count, as the next larger numbers of communities are tried too.
_EXTRA_VECTORS = 3
# Least number of sample rows of k-means per community, so that means are accurate.
_SAMPLE_PER_COMMUNITY = 50
# Sweeps over all rows after the sample has been labeled; few rows move.
_SWEEPS_ON_ALL = 10


class Options(NamedTuple):
    """The options of the caller."""

    method: Method
    init: Init
    refine: Refiner | None
    progress: Callable[[str], None]

    @property
    def chosen(self) -> bool:
        """Whether the caller has chosen how eigenvectors become labels."""
        return self.init != KMeansInit() or self.refine != Hartigan()


@dataclass(eq=False)
class RefinementTotals:
    """Sums over all refinements of a detection."""

    components: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    sweeps: int = 0
    moves: int = 0
    visits: int = 0
    converged: bool = True
    models: Counter[str] = field(default_factory=Counter)

    def add(self, one: Refinement) -> None:
        """Count one refinement."""
        self.components += 1
        self.kept[one.kept] += 1
        self.sweeps += one.sweeps
        self.moves += one.moves
        self.visits += one.visits
        self.converged &= one.converged
        if one.model:
            self.models[one.model] += 1

    def report(self, refiner: Refiner | None) -> RefinementReport:
        """Return the totals of a method as the report shows them."""
        return RefinementReport(
            "no refinement" if refiner is None else repr(refiner),
            self.components,
            dict(self.kept),
            self.sweeps,
            self.moves,
            self.visits,
            self.converged,
            dict(self.models),
            getattr(refiner, "name", RefinementReport.name),
        )


@dataclass(eq=False)
class Detection:
    """Labels in the order of the problem, and how they were found.

    ``counts`` are the eigenvalues above the threshold, if all components were counted. The
    ``dispersion`` is what the evidence of edges was divided by. Communities are ``clear`` in
    components in which they save a nat per node if edges count in full.
    """

    z: Ints
    uninformed: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    refinements: RefinementTotals = field(default_factory=RefinementTotals)
    components: list[ComponentReport] = field(default_factory=list)
    visits: int = 0
    counts: ComponentCounts | None = None
    dispersion: float = 1.0
    clear: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    borders: Borders | None = None

    def record(self, refinement: Refinement) -> Ints:
        """Record a refinement, and return its labels."""
        self.refinements.add(refinement)
        return refinement.z

    def assign_uninformed(self) -> None:
        """Give the nodes without a label, which are -1, to the largest community."""
        self.uninformed = np.flatnonzero(self.z < 0)
        if self.uninformed.size:
            self.z[self.uninformed] = int(np.argmax(np.bincount(self.z[self.z >= 0])))


class Candidate(NamedTuple):
    """A partition of every component, and its scores there."""

    # "search", "eigenvectors" or "one community".
    origin: str
    # Labels without gaps from 0 in each component, and their number.
    z: Ints
    k: Ints
    # Nats saved against one community, all costs included; the highest wins. -inf where the
    # candidate does not take part.
    score: Floats
    # Nats saved by belief propagation before the cost of parameters; NaN where it was not run.
    evidence: Floats
    # Nats saved in the description, share of undecided nodes, and the mean change of a marginal in
    # the last sweep of beliefs; NaN where they are not known.
    nats: Floats
    undecided: Floats
    residual: Floats

    def replaced(self, which: Ints, other: "Candidate", problem: Problem) -> "Candidate":
        """Return the candidate with some components of another."""
        taken = np.zeros(self.k.size, dtype=np.bool_)
        taken[which] = True
        z = np.where(np.repeat(taken, problem.sizes), other.z, self.z)
        rest = (np.where(taken, new, old) for new, old in zip(other[2:], self[2:], strict=True))
        return Candidate(other.origin, z, *rest)


def candidate(origin: str, z: Ints, k: Ints, score: Floats, **known: Floats) -> Candidate:
    """Return a candidate; the scores that are not given are unknown, NaN."""
    unknown = np.full(k.size, np.nan)
    names = ("evidence", "nats", "undecided", "residual")
    return Candidate(origin, z, k, score, *(known.get(name, unknown) for name in names))


def one_community(problem: Problem, origin: str = "one community") -> Candidate:
    """Return the candidate that there are no communities."""
    zero, parts = np.zeros(problem.n, dtype=np.int64), problem.n_components
    return candidate(origin, zero, np.ones(parts, dtype=np.int64), np.zeros(parts))


def connected(problem: Problem, z: Ints, k: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Return connected communities of some components, and their numbers.

    Fragments join the neighboring community that saves most, and so do single nodes.
    """
    labels, parts = z.astype(np.int32), problem.n_components
    undecided = np.zeros(problem.level.n, dtype=np.bool_)
    state = State(labels, k, np.zeros(parts), undecided, np.zeros(parts))
    found = attached(problem.level, problem.objective, state, which)
    return found.z.astype(np.int64), found.k


class Judge:
    """Scores candidates by belief propagation."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        # Messages computed.
        self.visits = 0

    @cached_property
    def _model(self) -> BlockModel:
        return block_model(self._problem.level)

    def scored(
        self,
        z: Ints,
        k: Ints,
        which: Ints,
        *,
        own_rates: bool,
        by_pairs: Bools | None = None,
        max_messages: float = MAX_MESSAGES,
        least_evidence: float = SIGNIFICANCE,
    ) -> Candidate:
        """Return the labels that belief propagation reaches in some components, with their scores.

        ``z`` and ``k`` are those of a candidate. With ``own_rates``, each community has its own
        density, as in the description that the search uses. Otherwise, as for eigenvectors, all
        communities of a component share one; they need more than ``least_evidence``, by default
        what chance gives on one random graph in ten, and are made connected. In components scored
        ``by_pairs``, each pair of nodes counts as linked at most once, which matters in small dense
        graphs only. Components with more than ``max_messages`` messages are scored by their
        description.
        """
        problem = self._problem
        z, k, learning = z.copy(), k.copy(), Learning("own" if own_rates else "planted")
        score, (evidence, residual) = np.full(k.size, -np.inf), np.full((2, k.size), np.nan)
        numbers = problem.entries * k
        large = which[numbers[which] > max_messages]
        if large.size:
            # On so large a graph the moments of the spectrum have already shown structure.
            nats = nats_saved(problem.level, z, k, problem.objective, large)
            score[large] = np.maximum(nats[large], SIGNIFICANCE)
        for some in _batches(which[numbers[which] <= max_messages], numbers, max_messages):
            found = propagate(self._model, z, k, some, learning, _SWEEPS)
            for c, one in zip(some.tolist(), found, strict=True):
                self.visits += one.sweeps * int(numbers[c])
                evidence[c], residual[c] = one.evidence, one.residual
                score[c] = one.score(float(self._model.m[c]), own_rates=own_rates)
                labels = np.argmax(one.marginals, axis=1)
                present = np.bincount(labels, minlength=int(k[c])) > 0
                z[problem.rows(c)] = (np.cumsum(present) - 1)[labels]
                k[c] = np.count_nonzero(present)
        if by_pairs is not None and by_pairs[which].any():
            saved = self._saturation(z, k, which[by_pairs[which]])
            evidence, score = evidence + saved, score + saved
        if not own_rates:
            score[which[evidence[which] <= least_evidence]] = -np.inf
            z, k = connected(problem, z, k, which)
        origin = "search" if own_rates else "eigenvectors"
        return candidate(origin, z, k, score, evidence=evidence, residual=residual)

    def _saturation(self, z: Ints, k: Ints, which: Ints) -> Floats:
        """Return the nats that a binomial code saves beyond a Poisson one."""
        found, saved = totals(self._problem.level, z.astype(np.int32), k, which), np.zeros(k.size)
        for c in which.tolist():
            groups, n = slice(*found.firsts[c : c + 2].tolist()), int(self._problem.sizes[c])
            outside, others = 0.5 * float(found.sums[c, 1]), 0.5 * n * (n - 1.0)
            nats = -_binomial_excess(outside, others)
            for E, N in zip(found.E[groups].tolist(), found.N[groups].tolist(), strict=True):
                pairs = 0.5 * N * (N - 1.0)
                nats += _binomial_excess(E, pairs)
                outside, others = outside - E, others - pairs
            saved[c] = nats + _binomial_excess(outside, others)
        return saved


def _binomial_excess(E: float, pairs: float) -> float:
    empty = pairs - E
    return E + (empty * math.log(empty / max(pairs, 1.0)) if empty > 0.0 else 0.0)


def _batches(which: Ints, numbers: Ints, most: float) -> list[Ints]:
    """Return components in batches whose numbers sum to about ``most``, or of a single one."""
    if numbers[which].sum() <= most:
        return [which] if which.size else []
    batch = (np.cumsum(numbers[which]) - numbers[which]) // max(most, 1.0)
    return np.split(which, np.flatnonzero(np.diff(batch)) + 1)


def search(
    problem: Problem,
    settings: Search,
    rng: np.random.Generator,
    *,
    start: Ints | None = None,
) -> tuple[Candidate, int, dict[int, Moments]]:
    """Find the communities of every component with the shortest description.

    ``start`` are labels to start from. Returns also the matrix entries read, and the moments of
    the components whose search started from the spectrum.
    """
    searching = Searching(problem.level, settings, rng, problem.dispersion)
    measured: dict[int, Moments] = {}

    def spectrum(c: int) -> tuple[Indices, bool] | None:
        begin_stage("moments of the spectrum")
        hessian = problem.part(c).with_own_operator().hessian
        one = measured[c] = moments(hessian, columns=_PROJECTED_COLUMNS)
        begin_stage("grouping nodes by the spectrum")
        labels = projected_labels(one, rng)
        begin_stage("searching")
        clear = one.k <= settings.clear_communities or one.s >= settings.clear_signal
        return None if labels is None else (labels, clear)

    labels = None if start is None else labels_from_zero(start, problem)[0]
    found = searching.search(searching.cyclic, labels=labels, spectrum=spectrum)
    visits = searching.visits + sum(one.visits for one in measured.values())
    return _candidate(found, searching), visits, measured


def search_again(
    problem: Problem, settings: Search, rng: np.random.Generator, found: Candidate
) -> tuple[Candidate, int]:
    """Search again where there are communities, as edges count less than when they were found.

    Returns also the matrix entries read.
    """
    searching = Searching(problem.level, settings, rng, problem.dispersion)
    which = np.flatnonzero(found.k > 1)
    again = searching.search(which, labels=found.z.astype(np.int32), searched=True)
    return found.replaced(which, _candidate(again, searching), problem), searching.visits


def _candidate(found: State, searching: Searching) -> Candidate:
    z, saved, nats = found.z.astype(np.int64), found.saved, searching.objective.nats(found.saved)
    return candidate("search", z, found.k, saved, nats=nats, undecided=found.share)


def projected_labels(measured: Moments, rng: np.random.Generator) -> Any:
    """Group nodes by their rows of the filtered random vectors; None if communities are not few.

    The filter leaves little else than the eigenvectors of communities in these vectors, so that
    their rows are a random projection of the spectral embedding.
    """
    if not shows_few(measured):
        return None
    groups = max(2, round(_GROUPS_PER_COMMUNITY * measured.k))
    return projected_groups(measured.block, groups, rng)


def shows_few(measured: Moments) -> bool:
    """Return whether the moments show so few communities that projected rows tell them apart."""
    few = measured.k <= MAX_PROJECTED and measured.operator.n >= _MIN_PROJECTED_SIZE * measured.k
    return few and has_structure(measured)


def projected_groups(block: Any, groups: int, rng: np.random.Generator) -> Indices:
    """Group rows by k-means on a sample, the others by the nearest mean; none is left empty."""
    n = len(block)
    size = min(n, max(_MIN_SAMPLE, _SAMPLE_PER_GROUP * groups))
    chosen = np.sort(rng.choice(n, size, replace=False))
    X = unit_rows(block[chosen])
    on_sample = KMeansInit(n_init=1).labels([X], [min(groups, size)], int(rng.integers(2**63)))[0]
    # Of rows that are equal, some groups may get none.
    on_sample = np.unique(on_sample, return_inverse=True)[1]
    groups = int(on_sample.max()) + 1
    z = nearest(block, means_of(X, on_sample, groups), normalized=False)
    present = np.bincount(z, minlength=groups) > 0
    return (np.cumsum(present, dtype=np.int32) - np.int32(1))[z]


def means_of(X: Floats, z: Ints, k: int) -> Floats:
    """Return the mean row of each group."""
    means = np.zeros((k, X.shape[1]))
    np.add.at(means, z, X)
    means /= np.bincount(z, minlength=k)[:, np.newaxis]
    return means


def nearest(X: Any, means: Floats, *, normalized: bool = True) -> Ints:
    """Return the nearest mean of each row, which is scaled to length 1 if not ``normalized``."""
    half_square = 0.5 * np.einsum("ac,ac->a", means, means)
    z = np.empty(len(X), dtype=np.int64)
    for some in _chunks(len(X), max(1, _CHUNK_ENTRIES // len(means))):
        rows = X[some] if normalized else unit_rows(X[some])
        z[some] = np.argmax(np.einsum("ic,ac->ia", rows, means) - half_square, axis=1)
        tell_share(some.start, len(X))
    return z


def unit_rows(vectors: ThinBlock) -> Floats:
    """Return the rows of a block of vectors, each scaled to length 1."""
    rows = np.empty(vectors.shape)
    for some in _chunks(len(rows)):
        rows[some] = embedding_rows(vectors[some].astype(float), "normalized")
    return rows


def _chunks(n: int, rows: int = _CHUNK) -> list[slice]:
    return [slice(i, i + rows) for i in range(0, n, rows)]


class Spectra:
    """The eigenvectors of components: how many communities they show, and which.

    ``k_hat`` are the numbers of eigenvalues above the threshold, -1 where they are not counted. The
    search may have measured the moments of some components.
    """

    def __init__(
        self,
        problem: Problem,
        k_hat: Ints,
        options: Options,
        entropy: int,
        found: Detection,
        measured: dict[int, Moments] | None = None,
    ) -> None:
        self._problem, self._k_hat, self._options = problem, k_hat, options
        self._entropy, self._found = entropy, found
        self._measured = {} if measured is None else measured
        self._vectors: dict[int, Floats] = {}
        # Labels by a filtered subspace.
        self._filtered: dict[int, Ints] = {}

    def counts(self, which: Ints) -> Ints:
        """Return how many communities the spectrum shows in some components, 1 if none."""
        method, k_hat = self._options.method, self._k_hat[which]
        unsure = k_hat < 0
        measured = [method.measures(n) for n in self._problem.sizes[which].tolist()]
        unsure |= (k_hat > 1) & np.array(measured, dtype=np.bool_)
        k = np.maximum(1, k_hat)
        for position in np.flatnonzero(unsure).tolist():
            k[position] = self._count_by_moments(int(which[position]))
        return k

    def _count_by_moments(self, c: int) -> int:
        options, k_hat = self._options, int(self._k_hat[c])
        method = options.method
        options.progress("moments of the spectrum")
        part = self._problem.part(c).with_own_operator()
        measured = self._measured.get(c)
        if measured is None:
            measured = moments(part.hessian)
            self._found.visits += measured.visits
        if method.compares and not has_structure(measured):
            return 1
        if k_hat >= 0:
            return k_hat
        if not method.resolves(measured.k, part.n):
            return 1
        options.progress("filtering a subspace")
        most = max(_MIN_COLUMNS, int(options.method.spectral_settings.columns * measured.k))
        leading = leading_pairs(measured, most=most)
        if method.compares and not leading.complete:
            return 1
        self._filtered[c] = labels_by_filter(part, leading, options, self._entropy, self._found)
        return self._filtered_number(c)

    def _filtered_number(self, c: int) -> int:
        return int(self._filtered[c].max(initial=0)) + 1 if c in self._filtered else 0

    def with_counts(self, which: Ints) -> Ints:
        """Return the components in which other numbers than the count can be tried."""
        return which[self._k_hat[which] >= 0]

    def communities(self, which: Ints, k: Ints) -> tuple[Ints, Ints]:
        """Return ``k`` communities of some components, made connected, and how many these are."""
        problem, z = self._problem, np.zeros(self._problem.n, dtype=np.int64)
        # A filtered subspace has one number of communities.
        filtered = {c for c in which.tolist() if self._filtered_number(c) == k[c]}
        for c in filtered:
            z[problem.rows(c)] = self._filtered[c]
        exact = np.array([c for c in which.tolist() if c not in filtered], dtype=np.int64)
        V = [self._vectors_of(c, int(k[c])) for c in exact.tolist()]
        labels = labels_by_vectors(problem, V, exact, self._options, self._entropy, self._found)
        for c, own in zip(exact.tolist(), labels, strict=True):
            z[problem.rows(c)] = own
        return connected(problem, z, k, which)

    def _vectors_of(self, c: int, k: int) -> Floats:
        V = self._vectors.get(c)
        if V is None or V.shape[1] < k:
            hessian = self._problem.part(c).hessian
            count = min(k + _EXTRA_VECTORS, hessian.n)
            V = informative_eigenpairs(hessian, count, self._options.init.rows)[1]
            self._vectors[c] = V
        return V[:, :k]

    def as_candidate(self, which: Ints) -> Candidate:
        """Return the communities of the eigenvectors in some components."""
        none = one_community(self._problem, "eigenvectors")
        k = none.k.copy()
        k[which] = self.counts(which)
        z, found = self.communities(which[k[which] > 1], k)
        return candidate("eigenvectors", z, found, none.score)


def labels_by_vectors(
    problem: Problem,
    vectors: list[Floats],
    which: Ints,
    options: Options,
    entropy: int,
    found: Detection,
) -> list[Ints]:
    """Group the nodes of some components by as many eigenvectors as there are communities."""
    init, tables, chosen, k = options.init, [], [], []
    for V in vectors:
        strong = np.flatnonzero(strong_rows(V))
        strong = np.arange(len(V)) if strong.size < V.shape[1] else strong
        tables.append(embedding_rows(V, init.rows)[strong])
        chosen.append(strong)
        k.append(V.shape[1])
    z, numbers = np.zeros(problem.n, dtype=np.int64), np.ones(problem.n_components, dtype=np.int64)
    numbers[which] = k
    each = zip(which.tolist(), chosen, init.labels(tables, k, entropy), strict=True)
    for c, strong, labels in each:
        rows = problem.rows(c)
        if strong.size < rows.stop - rows.start:
            own = np.full(rows.stop - rows.start, -1, dtype=np.int64)
            own[strong] = labels
            labels = spread_labels(problem.part(c).A, own)
        z[rows] = labels
    if options.refine is None:
        return [z[problem.rows(c)] for c in which.tolist()]
    refined = refine_labels(options.refine, problem, z, numbers, which)
    return [found.record(one) for one in refined]


def labels_by_filter(
    part: Problem, leading: Leading, options: Options, entropy: int, found: Detection
) -> Ints:
    """Group the nodes of a connected part by Ritz vectors of a Chebyshev filter."""
    k = leading.k
    if k < 2:
        return np.zeros(part.n, dtype=np.int64)
    X = unit_rows(leading.vectors)
    z = _labels(X, k, options.init, options.method.spectral_settings.sample, entropy)
    if options.refine is None:
        return z
    one, numbers = np.zeros(1, dtype=np.int64), np.array([k])
    return found.record(refine_labels(options.refine, replace(part, fast=True), z, numbers, one)[0])


def leading_of(part: Problem, measured: Moments, k: int) -> Leading:
    """Return ``k`` leading eigenpairs of a connected part, exact ones if the filter has fewer."""
    leading = leading_pairs(measured, count=k)
    if leading.k >= k:
        return leading
    # The filter removes some eigenvectors in the middle of the spectrum.
    values, V = informative_eigenpairs(part.hessian, k, "normalized")
    vectors = V / np.sqrt(part.hessian.scale)[:, np.newaxis]
    return Leading(values, vectors.astype(np.float32), complete=True)


def _labels(X: Floats, k: int, init: Init, sample: int, entropy: int) -> Ints:
    """Label a sample of the rows, give all others the nearest mean, and let rows move."""
    n, size = X.shape[0], max(sample, _SAMPLE_PER_COMMUNITY * k)
    if n <= 2 * size:
        return init.labels([X], [k], entropy)[0]
    chosen = np.sort(np.random.default_rng([entropy, k]).choice(n, size, replace=False))
    on_sample = init.labels([X[chosen]], [k], entropy)[0]
    z = nearest(X, means_of(X[chosen], on_sample, k))
    # A row of the sample keeps its label, so that no group is empty.
    z[chosen] = on_sample
    return improve_rows(X, z, k=k, max_sweeps=_SWEEPS_ON_ALL)[0]


class Contest(NamedTuple):
    """The candidates for the communities of each component, and what decides between them."""

    problem: Problem
    # The problem with the dispersion by which the candidates were compared.
    described: Problem
    options: Options
    candidates: list[Candidate]
    # What is known about the communities so far, except their labels.
    found: Detection
    # Where the description decides, whatever the others score.
    decided: Bools
    # Eigenvalues above the threshold, -1 where they were not counted.
    k_hat: Ints
    # Components with more than one cycle, those of them that evidence decides, and those of the
    # latter for which it was computed.
    cyclic: Bools
    faint: Bools
    asked: Bools
    judge: Judge
    spectra: Spectra | None


def propose(
    problem: Problem, options: Options, rng: np.random.Generator, *, start: Ints | None = None
) -> Contest:
    """Return candidates for the communities of each component: one community, then the others.

    They are connected, and never reach across components. ``start`` are labels to start from.
    """
    method, progress = options.method, options.progress
    found, described = Detection(problem.component.copy()), problem
    candidates, measured = [one_community(problem)], dict[int, Moments]()
    decided = found.clear = np.zeros(problem.n_components, dtype=np.bool_)
    settings = method.search_settings
    if settings is not None:
        progress("searching")
        searched, found.visits, measured = search(problem, settings, rng, start=start)
        # Where a description saves a nat per node, its communities are reliable.
        decided = found.clear = searched.score >= problem.sizes
        found.dispersion = _dispersion(problem, searched, found.clear, settings)
        if found.dispersion > 1.0:
            progress("searching with the dispersion")
            described = problem.dispersed(found.dispersion)
            searched, visits = search_again(described, settings, rng, searched)
            found.visits += visits
            # Belief propagation takes edges as independent: where they are not, the search decides.
            decided = np.ones_like(decided)
        candidates.append(searched)
    # A component with fewer edges than nodes + 1 is a tree or has one cycle.
    cyclic = problem.entries >= 2 * (problem.sizes + 1)
    k_hat, faint = np.full(problem.n_components, -1, dtype=np.int64), np.zeros_like(cyclic)
    asked, judge, spectra = np.zeros_like(cyclic), Judge(problem), None
    if method.has_spectrum:
        faint = ~decided & cyclic & (problem.sizes > ANY_SAVING_NODES)
        which, entropy = np.flatnonzero(faint), int(rng.integers(2**63))
        with dense_solves(problem.n, method) if which.size else nullcontext():
            if which.size:
                k_hat = _count_eigenvalues(problem, options, faint, found)
            if start is None:
                # Where the spectrum shows fewer than two, eigenvectors have nothing to propose.
                which = which[(k_hat[which] < 0) | (k_hat[which] > 1)]
            spectra = Spectra(problem, k_hat, options, entropy, found, measured)
            if not method.compares:
                candidates.append(
                    spectra.as_candidate(which)
                    if start is None
                    else _refined_start(problem, start, which, options.refine, found)
                )
            elif which.size:
                progress("comparing candidates")
                asked[which] = True
                candidates[1:] = _with_evidence(problem, candidates[1], which, spectra, judge)
    return Contest(
        problem,
        described,
        options,
        candidates,
        found,
        decided,
        k_hat,
        cyclic,
        faint,
        asked,
        judge,
        spectra,
    )


def _dispersion(problem: Problem, searched: Candidate, clear: Bools, settings: Search) -> float:
    """Return what to divide the evidence of edges by: as given, or as the clear components show."""
    if settings.dispersion is not None:
        return float(settings.dispersion)
    return dispersion_of(problem.level, searched.z, searched.k, np.flatnonzero(clear))


def _with_evidence(
    problem: Problem, searched: Candidate, which: Ints, spectra: Spectra, judge: Judge
) -> list[Candidate]:
    """Return the search and the eigenvectors in some components, scored by evidence in nats.

    Each candidate is scored under the model that it assumes. The description gives each community
    its own density, so the search is scored by beliefs with one density per community, and its
    labels are kept. Eigenvectors assume no such densities, so their communities share one.
    """
    several = which[searched.k[which] > 1]
    own = judge.scored(searched.z, searched.k, several, own_rates=True)
    return [
        searched._replace(score=np.maximum(searched.score, own.score)),
        _by_eigenvectors(problem, which, spectra, judge, by_pairs=searched.k == 1),
    ]


def _by_eigenvectors(
    problem: Problem, which: Ints, spectra: Spectra, judge: Judge, *, by_pairs: Bools
) -> Candidate:
    """Return the communities of eigenvectors in some components, and what beliefs make of them.

    Belief propagation decides between the number of eigenvalues and the numbers next to it.
    """
    k = np.ones(problem.n_components, dtype=np.int64)
    k[which] = spectra.counts(which)

    def tried(which: Ints, k: Ints) -> Candidate:
        labels, left = spectra.communities(which, k)
        return judge.scored(labels, left, which, own_rates=False, by_pairs=by_pairs)

    which = which[k[which] > 1]
    best = tried(which, k)
    rising = spectra.with_counts(which)
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
        # Where more communities were better, fewer are not tried.
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
            z[problem.rows(c)] = found.record(one)
    return candidate("eigenvectors", *connected(problem, z, k, which), none.score)


def _count_eigenvalues(problem: Problem, options: Options, faint: Bools, found: Detection) -> Ints:
    """Return the eigenvalues above the threshold where eigenvectors are exact, -1 elsewhere."""
    k_hat = np.full(problem.n_components, -1, dtype=np.int64)
    exact = faint & (problem.sizes <= options.method.spectral_settings.largest_exact)
    if not exact.any():
        return k_hat
    rows = np.flatnonzero(exact[problem.component])
    names = (np.cumsum(exact) - 1)[problem.component[rows]]
    hessian = problem.hessian if exact.all() else problem.hessian.restrict(rows)
    counted = count_components(hessian, names)
    k_hat[exact] = counted.k
    found.counts = counted if exact.all() else None
    return k_hat
