r"""What a verdict measures: the second eigenvalue, its null distribution, and distances.

The second eigenvalue :math:`\nu_2` of N_r at :math:`r = \sqrt{\rho(B)}` is near 1 or below on
random graphs, whatever their degrees, and :math:`(s + 1/s)/2` on a graph whose communities have
the signal-to-noise ratio s > 1.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from kgroups._blas import DENSE, DenseLimits, single_threaded
from kgroups._csr import connected_components, restricted, rows_of, writable
from kgroups._parallel import finished_batches
from kgroups._progress import Progress, counted_progress
from kgroups._types import CSR, Floats, Ints
from kgroups.generators import configuration_model
from kgroups.generators.rewiring import rewire
from kgroups.graph import Graph
from kgroups.spectrum import (
    BetheHessian,
    Moments,
    PartialEigenpairsError,
    all_eigenvalues,
    lanczos_pairs,
    moments,
    start_vector,
)
from kgroups.uncertainty._distances_nb import total_distance

# Tolerance of ARPACK; the error of an eigenvalue is about its square.
_TOLERANCE = 1e-6
# Swaps per edge on the way from the graph to the common ancestor of the nulls, and again from
# there to each null; after ten in all nothing of the graph is left but its degrees.
_SWAPS_PER_EDGE = 5.0
# Breadth-first searches from a sample of nodes; the mean distance is then known to about 3 %.
_SOURCES = 32
# Swaps per edge before the distances of a reshuffled graph are measured.
_SWAPS_PER_RESHUFFLE = 2.0
# Reshuffled graphs whose mean distances are averaged; one of a graph with more edges than this.
_RESHUFFLES, _FEW_EDGES = 5, 100_000


def cyclic_nodes(adjacency: CSR) -> Ints:
    """Return the nodes of the components that have at least two cycles.

    The others have no eigenvalue of N_r above 1 at any r > 1.
    """
    count, component = connected_components(adjacency)
    nodes = np.bincount(component, minlength=count)
    entries = np.bincount(component[rows_of(adjacency)], minlength=count)
    return np.flatnonzero((entries > 2 * nodes)[component])


def second_eigenvalue(adjacency: CSR, *, limits: DenseLimits = DENSE) -> float:
    """Return the second eigenvalue of N_r at r = sqrt(rho(B)), without weights.

    Equal eigenvalues of several components count each. There must be at least two nodes.
    """
    bound = BetheHessian("nonbacktracking").bind(adjacency, weighted=False)
    if bound.n > limits.eigenpairs:
        from scipy.sparse.linalg import LinearOperator

        matrix = bound.normalized_matrix()
        try:
            first, vector = lanczos_pairs(matrix, 1, start_vector(bound), tolerance=_TOLERANCE)
            x = vector[:, 0]

            # The first eigenvalue is moved to -1, so that a copy of it is found.
            def without_first(y: Floats) -> Floats:
                flat = y.reshape(bound.n)
                return np.asarray(matrix @ flat - (first[0] + 1.0) * (x @ flat) * x)

            rest = LinearOperator(matrix.shape, matvec=without_first, dtype=float)
            start = np.random.default_rng(0).standard_normal(bound.n)
            second, _ = lanczos_pairs(rest, 1, start - (x @ start) * x, tolerance=_TOLERANCE)
            return float(second[0])
        except PartialEigenpairsError:
            if bound.n > limits.exact_counts:
                raise
    return float(all_eigenvalues(bound, sign=1)[1])


def null_eigenvalues(
    graph: Graph,
    nulls: int,
    seeds: np.random.SeedSequence,
    *,
    n_jobs: int | None,
    progress: Progress,
) -> Floats:
    """Return the second eigenvalues of random graphs with the degrees of a simple graph.

    All nulls are drawn from one common ancestor, which is as many steps of a reversible chain away
    from the given graph as from each of them. So the given graph and the nulls are exchangeable
    where the given graph is itself a random one, and its rank among them is exactly uniform
    however slowly the chain mixes (Besag and Clifford, Biometrika 76, 1989).
    """
    first, *others = seeds.spawn(nulls + 1)
    ancestor = _rewired(graph, first)
    values = np.empty(nulls)
    run = partial(_draw_nulls, ancestor)
    done = 0
    with counted_progress(nulls, "null", progress=progress) as show:
        for batch in finished_batches(run, list(enumerate(others)), n_jobs):
            for place, value in batch:
                values[place] = value
            done += len(batch)
            show(done)
    return values


def _draw_nulls(
    ancestor: Graph, tasks: Sequence[tuple[int, np.random.SeedSequence]]
) -> list[tuple[int, float]]:
    """Return the places of nulls and their second eigenvalues."""
    # For matrices of any size, because other nulls use the other cores.
    with single_threaded(0):
        return [(place, second_eigenvalue(_rewired(ancestor, seed).csr)) for place, seed in tasks]


def _rewired(graph: Graph, seed: np.random.SeedSequence) -> Graph:
    rng = np.random.default_rng(seed)
    return configuration_model(graph, swaps_per_edge=_SWAPS_PER_EDGE, rng=rng)


def moments_of(adjacency: CSR) -> Moments:
    """Return the moments of N_r at r = sqrt(rho(B)) on the components with at least two cycles.

    A second component with an eigenvalue above 1 is structure like any other.
    """
    bound = BetheHessian("nonbacktracking").bind(adjacency, weighted=False)
    return moments(bound.restrict(cyclic_nodes(adjacency)))


def stretch_of_distances(adjacency: CSR, labels: Ints, rng: np.random.Generator) -> float:
    """Return the mean distance over that with edges reshuffled within and between communities.

    Every node keeps how many neighbors it has inside and outside of its community. Distances are
    those within the largest component.
    """
    own = _mean_distance(adjacency, rng)
    rows, n = rows_of(adjacency), labels.size
    upper = rows < adjacency.indices
    u, v = rows[upper], adjacency.indices[upper].astype(np.int64)
    others = []
    for _ in range(_RESHUFFLES if u.size <= _FEW_EDGES else 1):
        rewire(u, v, n, _SWAPS_PER_RESHUFFLE, rng, labels=labels)
        others.append(_mean_distance(Graph.from_edges(u, v, n=n).csr, rng))
    return own / float(np.mean(others))


def _mean_distance(adjacency: CSR, rng: np.random.Generator) -> float:
    """Return the mean distance of two nodes of the largest component, from a sample of sources."""
    _, component = connected_components(adjacency)
    members = np.flatnonzero(component == np.argmax(np.bincount(component)))
    sources = members
    if members.size > _SOURCES:
        sources = rng.choice(members, _SOURCES, replace=False)
    n = len(adjacency.indptr) - 1
    pattern = writable(adjacency.indptr), writable(adjacency.indices)
    total = total_distance(*pattern, sources, np.full(n, -1), np.empty(n, np.int64))
    return int(total) / (sources.size * (members.size - 1))


def without_isolated(adjacency: CSR) -> tuple[CSR, Ints]:
    """Return the graph on the nodes that have an edge, and these nodes."""
    nodes = np.flatnonzero(np.diff(adjacency.indptr))
    return restricted(adjacency, nodes), nodes
