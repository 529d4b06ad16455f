"""Find communities when their number is not given."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache

import numpy as np

from kgroups._blas import DENSE
from kgroups._csr import without_diagonal
from kgroups._progress import new_tally
from kgroups._types import Bools, Floats, Ints
from kgroups.embedding import (
    SWEEPS_EXPECTED,
    Init,
    KMeansInit,
    informative_eigenpairs,
    trials_of,
)
from kgroups.refine import Hartigan, Refiner
from kgroups.report import ComponentReport
from kgroups.search.candidates import (
    ANY_SAVING_NODES,
    PAIRS_NODES,
    Candidate,
    Searched,
    absorb_fragments,
    annealed,
    by_eigenvectors,
    by_filter,
    interruptible,
    judged,
    nats_in_component,
    nats_saved,
    one_community,
    refined,
    search,
    split_small,
)
from kgroups.search.problem import Detection, Options, Problem
from kgroups.search.settings import Auto, Method, Search, dense_solves
from kgroups.spectrum import (
    count_components,
    has_structure,
    leading_pairs,
    moments,
)

# Columns of a filtered subspace at least, as the moments may show too few communities.
_MIN_COLUMNS = 24
# Eigenvectors computed beyond the count, as the next larger numbers of communities are tried too.
_EXTRA_VECTORS = 3
_COMPARING = "comparing candidates"
_NO_MORE = "there is no sign of more"
_ASKED_FOR = "eigenvectors were asked for"
_SPLIT_BY_PAIRS = (
    "groups of a few nodes with nearly all pairs linked are described better in pieces"
)
# Place of the search among the candidates.
_SEARCH = 1
REPORTED = 3
"""Components described in the report, the largest first."""


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
    found = Detection(problem.component.copy())
    options = Options(method, init, refine, problem.uneven, progress)
    candidates, searched = [one_community(problem)], None
    if options.search is not None:
        progress("searching")
        searched = search(problem, options.search, rng, start=start)
        candidates.append(searched.candidate())
        found.visits += searched.visits
    # Where a description saves a nat per node, its communities are reliable.
    clear = candidates[-1].score >= problem.sizes
    k_hat = np.full(problem.n_components, -1, dtype=np.int64)
    if not isinstance(method, Search):
        # A component with fewer edges than nodes + 1 is a tree or has one cycle.
        cyclic = problem.entries >= 2 * (problem.sizes + 1)
        nontrivial = ~clear & cyclic & (problem.sizes > ANY_SAVING_NODES)
        entropy = int(rng.integers(2**63))
        with dense_solves(problem.bound.n, method) if nontrivial.any() else nullcontext():
            _count_eigenvalues(problem, options, nontrivial, k_hat, found)
            # Where the spectrum shows fewer than two, eigenvectors have nothing to propose.
            proposed = nontrivial & ((k_hat < 0) | (k_hat > 1) | (start is not None))
            which = np.flatnonzero(proposed)
            spectra = Spectra(problem, k_hat, options, entropy, found, searched)
            if not isinstance(method, Auto):
                candidates.append(
                    spectra.alone(which)
                    if start is None
                    else _refined_start(problem, start, which, refine, found)
                )
            elif which.size:
                progress(_COMPARING)
                candidates[1:] = _with_evidence(problem, candidates[1], which, spectra)
    # Elsewhere the last candidate is the only one that was asked for.
    winner = np.full(problem.n_components, len(candidates) - 1)
    if isinstance(method, Auto):
        winner = decide(candidates, clear)
    order, offsets = problem.by_component
    component = problem.component[order]
    z = np.choose(winner[component], [candidate.z for candidate in candidates])
    if isinstance(method, Auto):
        for c in np.flatnonzero(clear & (problem.sizes > method.moments_nodes)).tolist():
            rows = slice(int(offsets[c]), int(offsets[c + 1]))
            with dense_solves(problem.bound.n, method):
                z[rows] = _split_giants(problem, c, z[rows], method, options, rng, found)
    counts = np.ones(problem.n_components, dtype=np.int64)
    np.maximum.at(counts, component, z + 1)
    found.z[order] = (np.cumsum(counts) - counts)[component] + z
    if isinstance(method, Auto):
        # Where the search has found communities, their description stands.
        whole = ~clear & (candidates[_SEARCH].k == 1)
        found.z = _split_small_communities(problem, found.z, whole, method.search, rng)
    _report(found, problem, candidates, winner, k_hat, searched)
    return found


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
    if not np.isnan(candidate.evidence[component]):
        return (
            "proposed by the eigenvectors; belief propagation prefers them to one community by "
            f"{candidate.score[component]:.1f} nats"
        )
    if nats > 0.0:
        return f"they shorten the description of the graph by {nats:.1f} nats"
    return "found by the eigenvectors, below what a description can resolve"


def _with_evidence(
    problem: Problem, searched: Candidate, which: Ints, spectra: "Spectra"
) -> list[Candidate]:
    """Return the search and the eigenvectors in some components, scored by evidence in nats.

    Evidence is that of the model that a candidate stands for. The description gives each community
    a density of its own, so the search is scored by beliefs with own densities, and its labels are
    kept. Eigenvectors know no densities: their communities have one.
    """
    several = which[searched.k[which] > 1]
    own = judged(problem, "search", searched.z, searched.k, several)
    return [
        searched._replace(score=np.maximum(searched.score, own.score)),
        _by_eigenvectors(problem, which, spectra, dense=searched.k == 1),
    ]


def _by_eigenvectors(
    problem: Problem, which: Ints, spectra: "Spectra", *, dense: Bools
) -> Candidate:
    """Return the communities of eigenvectors in some components, and what beliefs make of them.

    Belief propagation decides between the number of eigenvalues and the numbers next to it.
    """
    k = np.ones(problem.n_components, dtype=np.int64)
    k[which] = spectra.counts(which)

    def tried(which: Ints, k: Ints) -> Candidate:
        labels = spectra.labels(which, k[which])
        return judged(problem, "eigenvectors", labels, k, which, dense=dense)

    which = which[k[which] > 1]
    best = tried(which, k)
    component = problem.component[problem.by_component[0]]
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
            best = best.replaced(climbing, rival, component)
            k[climbing] += step
        # Where more communities are better, fewer are not.
        rising = rising[k[rising] == last[rising]]
    return best


def _refined_start(
    problem: Problem, start: Ints, which: Ints, refine: Refiner | None, found: Detection
) -> Candidate:
    """Return what refinement makes of given labels in some components."""
    best = one_community(problem)._replace(origin="eigenvectors")
    order, offsets = problem.by_component
    for c in which.tolist():
        rows = slice(int(offsets[c]), int(offsets[c + 1]))
        spectral = refined(problem.part(c)[1], _numbered(start[order[rows]]), refine)
        best.z[rows], best.k[c] = found.keep(spectral), spectral.k
    return best


def _split_giants(
    problem: Problem,
    component: int,
    z: Ints,
    method: Auto,
    options: Options,
    rng: np.random.Generator,
    found: Detection,
) -> Ints:
    """Split communities that hold much of a clear component if the whole then saves more.

    Moves of nodes and of groups seldom split a community; its own eigenvectors show where.
    """
    part = problem.part(component)[1]
    least = max(method.moments_nodes, method.giant_share * z.size)
    split = z.copy()
    for giant in np.flatnonzero(np.bincount(z) >= least).tolist():
        rows = np.flatnonzero(z == giant)
        if rows.size == z.size:
            break
        part_inside = part.restricted(rows).with_own_r(weighted=options.weighted)
        A, bound, one = part_inside.A, part_inside.bound, np.zeros(rows.size, dtype=np.int64)
        inside = Problem(A, bound, one, 1, problem.weighted, problem.loops)
        k_hat = np.array([-1])
        if rows.size <= options.spectral.largest_exact:
            k_hat = count_components(bound, one).k
        spectra = Spectra(inside, k_hat, options, int(rng.integers(2**63)), found)
        every = np.zeros(1, dtype=np.int64)
        proposed = _by_eigenvectors(inside, every, spectra, dense=np.ones(1, dtype=np.bool_))
        split[rows] = np.where(proposed.z == 0, giant, int(split.max()) + proposed.z)
    if np.array_equal(split, z):
        return z
    level = part.level(weighted=options.weighted, loops=problem.loops)
    split, saved, visits = annealed(level, split, method.search, rng)
    found.visits += visits
    return split if saved > nats_saved(level, z) else z


def _count_eigenvalues(
    problem: Problem, options: Options, nontrivial: Bools, k_hat: Ints, found: Detection
) -> None:
    """Count the eigenvalues above the threshold where eigenvectors are computed exactly."""
    exact = nontrivial & (problem.sizes <= options.spectral.largest_exact)
    if not exact.any():
        return
    rows = np.flatnonzero(exact[problem.component])
    names = (np.cumsum(exact) - 1)[problem.component[rows]]
    bound = problem.bound if exact.all() else problem.bound.restrict(rows)
    counted = count_components(bound, names)
    k_hat[exact] = counted.k
    found.counts = counted if exact.all() else None


def _numbered(z: Ints) -> Ints:
    return np.unique(z, return_inverse=True)[1]


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
        searched: Searched | None = None,
    ) -> None:
        self._problem, self._k_hat, self._options = problem, k_hat, options
        self._entropy, self._found = entropy, found
        self._measured = {} if searched is None else searched.moments
        self._filtered: dict[int, Ints] = {}
        self._own: dict[int, Floats] = {}
        # Eigenvectors, those of a component row by row from ``begin`` on.
        self._vectors = np.zeros(0)
        self._begin, self._columns = np.zeros((2, problem.n_components), dtype=np.int64)

    def counts(self, which: Ints) -> Ints:
        """Return how many communities the spectrum shows in some components, 1 if none."""
        method, k_hat = self._options.method, self._k_hat[which]
        unsure = k_hat < 0
        if isinstance(method, Auto):
            unsure |= (k_hat > 1) & (self._problem.sizes[which] >= method.moments_nodes)
        k = np.maximum(1, k_hat)
        for position in np.flatnonzero(unsure).tolist():
            k[position] = self._count_by_moments(int(which[position]))
        if unsure.any() and isinstance(method, Auto):
            self._options.progress(_COMPARING)
        return k

    def _count_by_moments(self, c: int) -> int:
        options, part, k_hat = self._options, self._problem.part(c)[1], int(self._k_hat[c])
        auto = options.method if isinstance(options.method, Auto) else None
        options.progress("moments of the spectrum")
        part = part.with_own_r(weighted=options.weighted)
        measured = self._measured.get(c)
        if measured is None:
            measured = moments(part.bound)
            self._found.visits += measured.visits
        if auto and not has_structure(measured):
            return 1
        if k_hat >= 0:
            return k_hat
        if auto and not auto.resolves(measured.k, part.bound.n):
            return 1
        options.progress("filtering a subspace")
        most = max(_MIN_COLUMNS, int(options.spectral.columns * measured.k))
        leading = leading_pairs(measured, most=most)
        if auto and not leading.complete:
            return 1
        filtered = by_filter(part, measured, options, self._stream(c), leading=leading)
        self._filtered[c] = self._found.keep(filtered)
        return filtered.k

    def allows(self, which: Ints) -> Ints:
        """Return the components in which eigenvectors can give other numbers than the count."""
        return which[self._k_hat[which] >= 0]

    def labels(self, which: Ints, k: Ints) -> Ints:
        """Return ``k`` communities of some components, from 0 in each."""
        z, offsets = np.zeros(self._problem.bound.n, dtype=np.int64), self._problem.by_component[1]
        single = np.full(which.size, self._options.chosen)
        if self._filtered:
            single |= np.isin(which, list(self._filtered))
        for c, count in zip(which[single].tolist(), k[single].tolist(), strict=True):
            z[offsets[c] : offsets[c + 1]] = self._labels_of(c, count)
        if not single.all():
            z += self._labels_at_once(which[~single], k[~single])
        return z

    def _labels_of(self, c: int, k: int) -> Ints:
        """Return ``k`` communities of one component, in the way that the caller has chosen."""
        if c in self._filtered:
            return self._filtered[c]
        part, options, V = self._problem.part(c)[1], self._options, self._own.get(c)
        if V is None or V.shape[1] < k:
            count = min(k + _EXTRA_VECTORS, part.bound.n)
            V = self._own[c] = informative_eigenpairs(part.bound, count, options.init.rows)[1]
        return self._found.keep(by_eigenvectors(part, V[:, :k], options, self._stream(c)))

    def _stream(self, c: int) -> np.random.Generator:
        return np.random.default_rng([self._entropy, c])

    def _labels_at_once(self, which: Ints, k: Ints) -> Ints:
        """Return ``k`` communities of some components, in the default way."""
        from kgroups.refine._likelihood_nb import KEPT
        from kgroups.search._faint_nb import communities_by_vectors

        problem, init, refine = self._problem, KMeansInit(), Hartigan()
        missing = self._columns[which] < k
        if missing.any():
            self._load_vectors(which[missing], k[missing])
        # Components share the random numbers of their number of communities.
        numbers, kind = np.unique(k, return_inverse=True)
        drawn = [_draws(self._entropy, count, init.n_init) for count in numbers.tolist()]
        ends = np.cumsum([0, *map(len, drawn)])
        labels, done = interruptible(
            communities_by_vectors,
            problem.pieces,
            problem.by_component[1],
            which,
            k,
            self._vectors,
            self._begin[which],
            self._columns[which],
            np.concatenate(drawn),
            ends[:-1][kind],
            ends[1:][kind],
            init.n_init,
            init.max_work,
            refine.candidates == "all",
            refine.margin,
            refine.max_sweeps,
            -1.0 if refine.guard is None else refine.guard,
            new_tally(),
            work=init.n_init * SWEEPS_EXPECTED * float(problem.sizes[which] @ (k * k)),
        )
        self._found.refinements.add_all(done, KEPT)
        return np.asarray(labels)

    def _load_vectors(self, which: Ints, k: Ints) -> None:
        """Compute ``k`` eigenvectors of some components, and a few more."""
        from kgroups.search._faint_nb import leading_vectors

        problem, sizes = self._problem, self._problem.sizes[which]
        columns = np.minimum(k + _EXTRA_VECTORS, sizes)
        begin = np.cumsum([0, *(columns * sizes)])
        self._begin[which], self._columns[which] = self._vectors.size + begin[:-1], columns
        small = sizes <= DENSE.eigenpairs
        vectors, tied = interruptible(
            leading_vectors,
            problem.pieces,
            problem.by_component[1],
            which,
            columns,
            begin,
            small,
            new_tally(),
            work=float(np.sum(sizes[small].astype(float) ** 3)),
        )
        # Vectors of equal eigenvalues need a basis that does not depend on the solver.
        for position in np.flatnonzero(tied | ~small).tolist():
            bound = problem.part(int(which[position]))[1].bound
            V = informative_eigenpairs(bound, int(columns[position]), "normalized")[1]
            vectors[begin[position] : begin[position + 1]] = V.ravel()
        self._vectors = np.concatenate([self._vectors, vectors])

    def alone(self, which: Ints) -> Candidate:
        """Return the communities of the eigenvectors in some components."""
        best = one_community(self._problem)._replace(origin="eigenvectors")
        k = self.counts(which)
        which, k = which[k > 1], k[k > 1]
        best.z[:], offsets = self.labels(which, k), self._problem.by_component[1]
        best.k[which] = k
        for c in self._filtered:
            rows = slice(int(offsets[c]), int(offsets[c + 1]))
            best.z[rows] = absorb_fragments(self._problem.part(c)[1].A, best.z[rows])[0]
        return best


@lru_cache(maxsize=16)
def _draws(entropy: int, k: int, starts: int) -> Floats:
    """Return the random numbers of all starts of k-means with k groups."""
    # Cached, as drawing them takes longer than k-means on a small graph.
    return np.random.default_rng([entropy, k]).random(starts * (1 + k * trials_of(k)))


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


def _report(
    found: Detection,
    problem: Problem,
    candidates: Sequence[Candidate],
    winner: Ints,
    k_hat: Ints,
    searched: Searched | None,
) -> None:
    """Describe the largest components: which candidate won, and why."""
    asked_for = len(candidates) == 2 and candidates[1].origin == "eigenvectors"
    order, offsets = problem.by_component
    for c in np.argsort(-problem.sizes, kind="stable")[:REPORTED].tolist():
        won, rows = candidates[winner[c]], slice(int(offsets[c]), int(offsets[c + 1]))
        labels, share = found.z[order[rows]], None
        k = np.unique(labels).size
        if searched is not None and np.array_equal(labels - labels.min(), searched.z[rows]):
            nats, share = float(searched.saved[c]), float(searched.undecided[c])
        else:
            nats = nats_in_component(problem, c, found.z)
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
