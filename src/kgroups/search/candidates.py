"""Candidates for communities: from the search, from eigenvectors, and by belief propagation."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import masked, readonly, restricted, rows_of
from kgroups._progress import begin_stage, new_tally, run_interruptibly, tell_share
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups.embedding import (
    Init,
    KMeansInit,
    embedding_rows,
    informative_eigenpairs,
    spread_labels,
    strong_rows,
)
from kgroups.hartigan import BACKGROUND_WORK, improve_rows
from kgroups.multilevel import Level, finest_level, shared_moves
from kgroups.refine import Refiner, refine_labels
from kgroups.search.problem import Options, Part, Pieces, Problem, Proposal
from kgroups.search.settings import SIGNIFICANCE, Plan, Search
from kgroups.spectrum import (
    Leading,
    Moments,
    ThinBlock,
    has_structure,
    leading_pairs,
    moments,
)

MAX_MESSAGES = 4e7
"""Messages of belief propagation, of 8 bytes each, that fit in memory: 320 MB."""
# Multiplications that take as long as a message.
_WORK_PER_MESSAGE = 10.0


class Candidate(NamedTuple):
    """A partition of every component, and its scores there."""

    # "search", "eigenvectors" or "one community".
    origin: str
    # Labels without gaps from 0 in each component, nodes sorted by component, and their number.
    z: Ints
    k: Ints
    # Nats saved against one community, all costs included; the highest wins. -inf where the
    # candidate does not take part.
    score: Floats
    # Nats saved by belief propagation before the cost of parameters; NaN where it was not run.
    evidence: Floats

    def replaced(self, which: Ints, other: "Candidate", component: Ints) -> "Candidate":
        """Return the candidate with some components of another; nodes lie in ``component``."""
        taken = np.zeros(self.k.size, dtype=np.bool_)
        taken[which] = True
        z = np.where(taken[component], other.z, self.z)
        rest = (np.where(taken, new, old) for new, old in zip(other[2:], self[2:], strict=True))
        return Candidate(other.origin, z, *rest)


def one_community(problem: Problem) -> Candidate:
    """Return the candidate that there are no communities."""
    z, k = np.zeros(problem.bound.n, dtype=np.int64), np.ones(problem.n_components, dtype=np.int64)
    zero = np.zeros(problem.n_components)
    return Candidate("one community", z, k, zero, np.full_like(zero, np.nan))


def judged(
    problem: Problem,
    origin: str,
    z: Ints,
    k: Ints,
    which: Ints,
    *,
    dense: Bools | None = None,
    max_messages: float = MAX_MESSAGES,
) -> Candidate:
    """Return the labels that belief propagation reaches in some components, with their scores.

    Its communities are made connected. ``z`` and ``k`` are those of a candidate. Communities of the
    search have a density each. Those of eigenvectors have one for all of a component, and need more
    evidence than chance gives on one random graph in ten. ``dense`` tells in which components pairs
    count as linked once at most, which matters only in small dense graphs. Components with more
    than ``max_messages`` messages are scored by their description.
    """
    from kgroups.search._faint_nb import SWEEPS, judge_components

    parts = problem.n_components
    counts, score, evidence = k.copy(), np.full(parts, -math.inf), np.full(parts, np.nan)
    if not which.size:
        return Candidate(origin, z, counts, score, evidence)
    dense = np.zeros(parts, dtype=np.bool_) if dense is None else dense
    own_rates = origin == "search"
    labels, *found = interruptible(
        judge_components,
        problem.level,
        problem.by_component[1],
        which,
        k[which],
        z,
        dense[which],
        own_rates,
        -math.inf if own_rates else SIGNIFICANCE,
        max_messages,
        new_tally(),
        work=_WORK_PER_MESSAGE * SWEEPS * float(problem.entries[which] @ k[which]),
    )
    counts[which], score[which], evidence[which] = found
    return Candidate(origin, labels, counts, score, evidence)


# From this many entries on a kernel runs in a second thread, and the main thread checks for Ctrl-C.
# On smaller graphs a search is short.
_BACKGROUND_ENTRIES = 100_000
# From this many entries on threads share the moves of the first start; below, their waiting for one
# another takes most of what they save.
_SHARED_ENTRIES = 10_000_000
ANY_SAVING_NODES = 9
"""Any saving splits a community up to this size, three triangles, where all pairs are counted."""
PAIRS_NODES = 64
"""Pairs are counted in components up to this size that are one community."""


class Searched(NamedTuple):
    """The result of the search, nodes sorted by component."""

    # Labels, from 0 in each component.
    z: Ints
    # For each component: number of communities, nats saved, and share of undecided nodes.
    k: Ints
    saved: Floats
    undecided: Floats
    # Matrix entries read.
    visits: int
    # Moments of the components whose search started from the spectrum.
    moments: dict[int, Moments]

    def candidate(self) -> Candidate:
        """Return the communities as a candidate, scored by their description."""
        unknown = np.full_like(self.saved, np.nan)
        return Candidate("search", self.z, self.k, self.saved, unknown)


def search(
    problem: Problem,
    settings: Search,
    rng: np.random.Generator,
    *,
    start: Ints | None = None,
    background_entries: int = _BACKGROUND_ENTRIES,
    shared_entries: int = _SHARED_ENTRIES,
) -> Searched:
    """Find the communities of every component with the shortest description.

    ``start`` are labels to start from, in the order of the problem. Graphs with at least
    ``background_entries`` matrix entries are searched in a second thread. In components with at
    least ``shared_entries`` all threads share the moves of the first start.
    """
    from kgroups.multilevel._levels_nb import block_arrays
    from kgroups.search._search_nb import (
        CELLS,
        LABELS,
        NOTHING,
        SPECTRAL,
        UNCERTAIN,
        first_cells,
        search_components,
    )

    level = problem.level
    order, offsets = problem.by_component
    plan, tally = settings.plan(rng), new_tally()
    given, known = np.zeros(0, dtype=np.int32), np.full(problem.n_components, NOTHING)
    measured: dict[int, Moments] = {}
    run = partial(interruptible, background_entries=background_entries)
    if start is not None:
        given = _from_zero(start[order], problem.component[order], problem.n_components)
        known[:] = LABELS
    large = np.flatnonzero((problem.sizes > settings.spectral_nodes) & (known == NOTHING))
    if large.size:
        given = np.zeros(order.size, dtype=np.int32)
    for c in large.tolist():
        first, last = offsets[c], offsets[c + 1]
        if level.A.indptr[last] - level.A.indptr[first] < shared_entries:
            labels, treelike = run(first_cells, level, first, last, plan, tally)
        else:
            indptr, indices, data, strength, inner, nodes = block_arrays(level, first, last)
            part = Level(CSR(indptr, indices, data), strength, inner, nodes)
            labels, treelike = _shared_first_cells(part, plan, tally)
        known[c] = CELLS
        if treelike:
            begin_stage("moments of the spectrum")
            bound = problem.part(c)[1].with_own_r(weighted=problem.uneven).bound
            measured[c] = moments(bound, columns=_PROJECTED_COLUMNS)
            begin_stage("grouping nodes by the spectrum")
            labels = projected_labels(measured[c], rng)
            begin_stage("searching")
            if labels is None:
                known[c] = NOTHING
            else:
                many = measured[c].k > settings.clear_communities
                faint = measured[c].s < settings.clear_signal
                known[c] = UNCERTAIN if many and faint else SPECTRAL
        if known[c]:
            given[first:last] = labels
    found = run(search_components, level, offsets, given, known, plan, tally)
    visits = int(tally[0]) + sum(one.visits for one in measured.values())
    z, k, saved, undecided = found
    return Searched(z.astype(np.int64), k, saved, undecided, visits, measured)


def _shared_first_cells(level: Level, plan: Plan, tally: Ints) -> tuple[Any, bool]:
    """Return the cells of the first start by moves that threads share."""
    from kgroups.search._search_nb import first_penalty, numbered_cells

    rules = plan.rules
    penalty = first_penalty(level, plan)
    z = shared_moves(level, penalty, rules.margin, rules.max_visits, tally)
    labels, treelike = interruptible(numbered_cells, level, z, plan, tally)
    return labels, bool(treelike)


def projected_labels(measured: Moments, rng: np.random.Generator) -> Any:
    """Group nodes by their rows of the filtered random vectors; None if communities are not few.

    The filter leaves little else than the eigenvectors of communities in these vectors, so that
    their rows are a random projection of the spectral embedding.
    """
    n = len(measured.block)
    few = measured.k <= _MAX_PROJECTED and n >= _MIN_PROJECTED_SIZE * measured.k
    if not (few and has_structure(measured)):
        return None
    groups = max(2, round(_GROUPS_PER_COMMUNITY * measured.k))
    size = min(n, max(_MIN_SAMPLE, _SAMPLE_PER_GROUP * groups))
    chosen = np.sort(rng.choice(n, size, replace=False))
    X = _unit_rows(measured.block[chosen])
    means = _means(X, KMeansInit(n_init=1).labels(X, groups, rng), groups)
    z = _nearest(measured.block, means, normalized=False)
    present = np.bincount(z, minlength=groups) > 0
    return (np.cumsum(present, dtype=np.int32) - np.int32(1))[z]


def nats_saved(level: Level, z: Ints) -> float:
    """Return the nats that a partition of a connected graph saves in its description."""
    from kgroups.search._search_nb import nats_by_component

    return float(nats_by_component(level, np.array([0, z.size]), z.astype(np.int32))[0])


def nats_in_component(problem: Problem, component: int, z: Ints) -> float:
    """Return the nats that labels of the whole graph save in the description of a component."""
    from kgroups.search._search_nb import nats_by_component

    order, offsets = problem.by_component
    block, labels = offsets[component : component + 2], np.zeros(z.size, dtype=np.int32)
    rows = slice(*block.tolist())
    labels[rows] = np.unique(z[order[rows]], return_inverse=True)[1]
    return float(nats_by_component(problem.level, block, labels)[0])


def annealed(
    level: Level, z: Ints, settings: Search, rng: np.random.Generator
) -> tuple[Ints, float, int]:
    """Anneal labels of a connected graph; return them, the nats saved and the entries read."""
    from kgroups.search._search_nb import annealed_communities

    tally, labels = new_tally(), z.astype(np.int32)
    found, saved = interruptible(annealed_communities, level, labels, settings.plan(rng), tally)
    return found.astype(np.int64), float(saved), int(tally[0])


def given_number(
    level: Level, k: int, settings: Search, rng: np.random.Generator
) -> tuple[Ints, int]:
    """Find exactly ``k`` communities of a connected graph; return them and the entries read."""
    from kgroups.search._search_nb import search_given_k

    tally = new_tally()
    z = interruptible(search_given_k, level, k, settings.plan(rng), tally)
    return z.astype(np.int64), int(tally[0])


def split_small(A: CSR, z: Ints, most: Ints, settings: Search, rng: np.random.Generator) -> Ints:
    """Split small communities, each without regard to the others.

    ``A`` has no loops, and its weights are ignored. The labels have no gaps, and communities are
    connected. ``most`` is the size up to which the community of each node is tried.
    """
    from kgroups.search._search_nb import small_split

    size = np.bincount(z)
    rows = np.flatnonzero(size[z] <= most)
    if not rows.size:
        return z
    rows = rows[np.argsort(z[rows], kind="stable")]
    chosen, ends = np.zeros(z.size, dtype=np.bool_), rows_of(A)
    chosen[rows] = True
    inside = masked(A, chosen[ends] & (z[ends] == z[A.indices]))
    level = finest_level(restricted(inside, rows), weighted=False)
    counts = np.unique(z[rows], return_counts=True)[1]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    tally = new_tally()
    labels = small_split(level, offsets, ANY_SAVING_NODES, settings.plan(rng), tally)
    split, new = z.copy(), labels > 0
    community = np.repeat(np.arange(counts.size), counts)
    split[rows[new]] = (size.size + PAIRS_NODES * community + labels)[new]
    return np.unique(split, return_inverse=True)[1]


def _from_zero(z: Ints, component: Ints, n_components: int) -> Any:
    """Return labels that start from 0 in each component and have no gaps there."""
    names, first = np.unique(component * (int(z.max(initial=0)) + 1) + z, return_inverse=True)
    owner = np.empty(names.size, dtype=np.int64)
    owner[first] = component
    start = np.searchsorted(owner, np.arange(n_components))
    return (first - start[component]).astype(np.int32)


def interruptible(
    kernel: Callable[..., Any],
    graph: Level | Pieces,
    *arguments: Any,
    background_entries: int = _BACKGROUND_ENTRIES,
    work: float = 0.0,
) -> Any:
    """Call a kernel whose last argument is a tally; Ctrl-C sets the flag in it that stops it.

    It runs in a second thread on large graphs, or if it makes many multiplications.
    """
    if len(graph.A.indices) < background_entries and work <= BACKGROUND_WORK:
        return kernel(graph, *arguments)
    return run_interruptibly(kernel, graph, *arguments)


# Columns of a projected embedding: random vectors, enough to tell hundreds of communities apart,
# and the one that finds the Perron vector.
_PROJECTED_COLUMNS = 16
# Communities that these can show, and nodes that each must have on average: in smaller ones
# contraction saves as much.
_MAX_PROJECTED = 512
_MIN_PROJECTED_SIZE = 500
# Groups of projected rows for each community; halves of a community are merged later.
_GROUPS_PER_COMMUNITY = 1.5
# Rows of the sample for each of these groups, and rows at least.
_SAMPLE_PER_GROUP = 30
_MIN_SAMPLE = 4_000
# Rows of the sample of k-means per community, at least: its means must be known well.
_SAMPLE_PER_COMMUNITY = 50
# Sweeps over all rows after the sample has been labeled; few rows move.
_SWEEPS_ON_ALL = 10
# Rows per chunk; bounds the temporary arrays.
_CHUNK = 1 << 13


def by_eigenvectors(
    part: Part, V: Floats, options: Options, rng: np.random.Generator, *, connected: bool = True
) -> Proposal:
    """Find as many communities of a connected part as there are eigenvectors."""
    k, init = V.shape[1], options.init
    X = embedding_rows(V, init.rows)
    strong = strong_rows(V)
    if strong.all() or np.count_nonzero(strong) < k:
        z = init.labels(X, k, rng)
    else:
        z = np.full(len(X), -1, dtype=np.int64)
        z[strong] = init.labels(X[strong], k, rng)
        z = spread_labels(part.A, z)
    return refined(part, z, options.refine, connected=connected)


def refined(
    part: Part, z: Ints, refine: Refiner | None, *, connected: bool = True, fast: bool = False
) -> Proposal:
    """Refine labels without gaps, and make communities connected if ``connected``."""
    k, refinement = int(z.max()) + 1, None
    if refine is not None and k > 1:
        refinement = refine_labels(refine, part.refinement(k, fast=fast), z)
        z = refinement.z
    if connected:
        z, k = absorb_fragments(part.A, z)
    return Proposal(z, k, refinement)


def absorb_fragments(A: CSR, z: Ints) -> tuple[Ints, int]:
    """Make every group connected: its largest piece stays, the others join a neighboring group.

    A fragment joins the group to which its edges weigh most. On a connected graph the number of
    groups stays the same. The search attaches fragments by description length instead.
    """
    from kgroups._components_nb import connect_groups

    labels, n_groups = z.astype(np.int64, copy=True), int(z.max(initial=-1)) + 1
    data = A.data[:1] if A.data.strides == (0,) else A.data
    arguments = *readonly(A._replace(data=data)), labels, n_groups, new_tally()
    if len(A.indices) < _BACKGROUND_ENTRIES:
        connect_groups(*arguments)
    else:
        run_interruptibly(connect_groups, *arguments)
    return labels, n_groups


def by_filter(
    part: Part,
    measured: Moments,
    options: Options,
    rng: np.random.Generator,
    *,
    k: int | None = None,
    leading: Leading | None = None,
) -> Proposal:
    """Find the communities of a connected part by Ritz vectors of a Chebyshev filter.

    By default there are as many as Ritz values beyond the edge of noise. ``leading`` are the
    eigenpairs if they are known. If ``k`` is close to the number of nodes, exact eigenpairs are
    used.
    """
    if leading is None:
        leading = leading_pairs(measured, count=k)
    if k is not None and leading.k < k:
        # The filter removes some eigenvectors in the middle of the spectrum.
        values, V = informative_eigenpairs(part.bound, k, "normalized")
        vectors = V / np.sqrt(part.bound.diagonal)[:, np.newaxis]
        leading = Leading(values, vectors.astype(np.float32), complete=True)
    k = leading.k
    if k < 2:
        return Proposal(np.zeros(part.bound.n, dtype=np.int64), 1, None)
    z = _labels(_unit_rows(leading.vectors), k, options.init, options.spectral.sample, rng)
    return refined(part, z, options.refine, connected=False, fast=True)


def _means(X: Floats, z: Ints, k: int) -> Floats:
    means = np.zeros((k, X.shape[1]))
    np.add.at(means, z, X)
    means /= np.bincount(z, minlength=k)[:, np.newaxis]
    return means


def _nearest(X: Any, means: Floats, *, normalized: bool = True) -> Ints:
    """Return the nearest mean of each row, which is scaled to length 1 if not ``normalized``."""
    half_square = 0.5 * np.einsum("ac,ac->a", means, means)
    z = np.empty(len(X), dtype=np.int64)
    for some in _chunks(len(X)):
        rows = X[some] if normalized else _unit_rows(X[some])
        z[some] = np.argmax(np.einsum("ic,ac->ia", rows, means) - half_square, axis=1)
        tell_share(some.start, len(X))
    return z


def _unit_rows(vectors: ThinBlock) -> Floats:
    rows = np.empty(vectors.shape)
    for some in _chunks(len(rows)):
        rows[some] = embedding_rows(vectors[some].astype(float), "normalized")
    return rows


def _chunks(n: int) -> list[slice]:
    return [slice(i, i + _CHUNK) for i in range(0, n, _CHUNK)]


def _labels(X: Floats, k: int, init: Init, sample: int, rng: np.random.Generator) -> Ints:
    """Label a sample of the rows, give all others the nearest mean, and let rows move."""
    n, size = X.shape[0], max(sample, _SAMPLE_PER_COMMUNITY * k)
    if n <= 2 * size:
        return init.labels(X, k, rng)
    chosen = np.sort(rng.choice(n, size, replace=False))
    on_sample = init.labels(X[chosen], k, rng)
    z = _nearest(X, _means(X[chosen], on_sample, k))
    # A row of the sample keeps its label, so that no group is empty.
    z[chosen] = on_sample
    return improve_rows(X, z, k=k, max_sweeps=_SWEEPS_ON_ALL)[0]
