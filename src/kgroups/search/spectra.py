"""Communities by eigenvectors: how many the spectrum shows, and which."""

from dataclasses import replace

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.hartigan import (
    Init,
    embedding_rows,
    improve_rows,
    informative_eigenpairs,
    refine_labels,
    spread_labels,
    strong_rows,
)
from kgroups.search.candidates import (
    Candidate,
    candidate,
    connected,
    means_of,
    nearest,
    one_community,
    unit_rows,
)
from kgroups.search.detection import Detection, Options
from kgroups.search.problem import Problem
from kgroups.search.settings import Auto
from kgroups.spectrum import Leading, Moments, has_structure, leading_pairs, moments

# Columns of a filtered subspace at least, as the moments may show too few communities.
_MIN_COLUMNS = 24
# Eigenvectors computed beyond the count, as the next larger numbers of communities are tried too.
_EXTRA_VECTORS = 3
# Rows of the sample of k-means per community, at least: its means must be known well.
_SAMPLE_PER_COMMUNITY = 50
# Sweeps over all rows after the sample has been labeled; few rows move.
_SWEEPS_ON_ALL = 10


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
        if isinstance(method, Auto):
            unsure |= (k_hat > 1) & (self._problem.sizes[which] >= method.moments_nodes)
        k = np.maximum(1, k_hat)
        for position in np.flatnonzero(unsure).tolist():
            k[position] = self._count_by_moments(int(which[position]))
        return k

    def _count_by_moments(self, c: int) -> int:
        options, k_hat = self._options, int(self._k_hat[c])
        auto = options.method if isinstance(options.method, Auto) else None
        options.progress("moments of the spectrum")
        part = self._problem.part(c).with_own_r()
        measured = self._measured.get(c)
        if measured is None:
            measured = moments(part.bound)
            self._found.visits += measured.visits
        if auto and not has_structure(measured):
            return 1
        if k_hat >= 0:
            return k_hat
        if auto and not auto.resolves(measured.k, part.n):
            return 1
        options.progress("filtering a subspace")
        most = max(_MIN_COLUMNS, int(options.spectral.columns * measured.k))
        leading = leading_pairs(measured, most=most)
        if auto and not leading.complete:
            return 1
        self._filtered[c] = labels_by_filter(part, leading, options, self._entropy, self._found)
        return self._filtered_number(c)

    def _filtered_number(self, c: int) -> int:
        return int(self._filtered[c].max(initial=0)) + 1 if c in self._filtered else 0

    def allows(self, which: Ints) -> Ints:
        """Return the components in which other numbers than the count can be tried."""
        return which[self._k_hat[which] >= 0]

    def communities(self, which: Ints, k: Ints) -> tuple[Ints, Ints]:
        """Return ``k`` communities of some components, and how many are left when connected."""
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
            bound = self._problem.part(c).bound
            count = min(k + _EXTRA_VECTORS, bound.n)
            V = informative_eigenpairs(bound, count, self._options.init.rows)[1]
            self._vectors[c] = V
        return V[:, :k]

    def alone(self, which: Ints) -> Candidate:
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
    return [found.keep(one) for one in refined]


def labels_by_filter(
    part: Problem, leading: Leading, options: Options, entropy: int, found: Detection
) -> Ints:
    """Group the nodes of a connected part by Ritz vectors of a Chebyshev filter."""
    k = leading.k
    if k < 2:
        return np.zeros(part.n, dtype=np.int64)
    X = unit_rows(leading.vectors)
    z = _labels(X, k, options.init, options.spectral.sample, entropy)
    if options.refine is None:
        return z
    one, numbers = np.zeros(1, dtype=np.int64), np.array([k])
    return found.keep(refine_labels(options.refine, replace(part, fast=True), z, numbers, one)[0])


def leading_of(part: Problem, measured: Moments, k: int) -> Leading:
    """Return ``k`` leading eigenpairs of a connected part, exact ones if the filter has fewer."""
    leading = leading_pairs(measured, count=k)
    if leading.k >= k:
        return leading
    # The filter removes some eigenvectors in the middle of the spectrum.
    values, V = informative_eigenpairs(part.bound, k, "normalized")
    vectors = V / np.sqrt(part.bound.diagonal)[:, np.newaxis]
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
