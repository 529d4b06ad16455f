"""The graphs that every method of a run gets: drawn with and without groups, and real ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BenchmarkGraph:
    """An undirected simple graph, with the true labels where there are any.

    Only the neighbor graph of single cells has weights.

    ``known`` marks the nodes whose true label is known, where these are not all. A null has no
    groups at all: a method should leave each of its components whole. LFR graphs say that they are
    such, because some methods run on these alone.
    """

    name: str
    n: int
    source: Ints
    target: Ints
    truth: npt.NDArray[Any] | None
    known: npt.NDArray[np.bool_] | None = None
    is_null: bool = False
    is_lfr: bool = False
    weight: npt.NDArray[np.float64] | None = None

    @property
    def m(self) -> int:
        """Number of edges."""
        return self.source.size

    @property
    def true_k(self) -> int | None:
        """Number of true communities."""
        if self.truth is None:
            return None
        return np.unique(self.truth if self.known is None else self.truth[self.known]).size


def planted_partition(name: str, *, n: int, k: int, degree: float, snr: float, seed: int):
    """Draw k equal groups at the signal-to-noise ratio (a - b) / (k sqrt(degree)).

    The number of edges inside and across is binomial and the edges are distinct, so this is the
    planted partition model itself; time and memory are proportional to the number of edges.
    """
    a = degree + snr * (k - 1) * np.sqrt(degree)
    b = degree - snr * np.sqrt(degree)
    if n % k or b < 0:
        msg = f"n must be a multiple of k and snr at most sqrt(degree), got {n=}, {k=}, {snr=}"
        raise ValueError(msg)
    rng = np.random.default_rng(seed)
    size = n // k
    pairs_inside = k * size * (size - 1) // 2
    inside = rng.binomial(pairs_inside, a / n)
    across = rng.binomial(n * (n - 1) // 2 - pairs_inside, b / n)

    def draw_inside(count: int) -> tuple[Ints, Ints]:
        group = rng.integers(k, size=count) * size
        return group + rng.integers(size, size=count), group + rng.integers(size, size=count)

    def draw_across(count: int) -> tuple[Ints, Ints]:
        u, v = rng.integers(n, size=(2, count))
        apart = u // size != v // size
        return u[apart], v[apart]

    codes = np.concatenate(
        [_distinct_pairs(draw_inside, inside, n), _distinct_pairs(draw_across, across, n)]
    )
    # Node numbers must not give the groups away to methods that visit nodes in order.
    shuffled = rng.permutation(n)
    truth = np.empty(n, dtype=np.int64)
    truth[shuffled] = np.arange(n) // size
    return BenchmarkGraph(name, n, shuffled[codes // n], shuffled[codes % n], truth)


def _distinct_pairs(draw: Callable[[int], tuple[Ints, Ints]], count: int, n: int) -> Ints:
    codes = np.empty(0, dtype=np.int64)
    while codes.size < count:
        u, v = draw(int(1.2 * (count - codes.size)) + 16)
        apart = u != v
        low, high = np.minimum(u, v)[apart], np.maximum(u, v)[apart]
        codes = np.concatenate([codes, low * n + high])
        first = np.unique(codes, return_index=True)[1]
        codes = codes[np.sort(first)]
    return codes[:count]


def lfr(name: str, *, n: int, degree: int, mixing: float, seed: int) -> BenchmarkGraph:
    """Draw an LFR graph with NetworKit: exponents 2.5 and 1.5, community sizes 20 to 500."""
    import networkit

    threads = networkit.getMaxNumberOfThreads()
    # Each thread has random numbers of its own: with one, a seed means the same graph everywhere.
    networkit.setNumberOfThreads(1)
    networkit.setSeed(seed, True)
    generator = networkit.generators.LFRGenerator(n)
    generator.generatePowerlawDegreeSequence(degree, 5 * degree, -2.5)
    generator.generatePowerlawCommunitySizeSequence(20, 500, -1.5)
    generator.setMu(mixing)
    graph = generator.generate()
    networkit.setNumberOfThreads(threads)
    pair = np.dtype((np.int64, 2))
    ends = np.fromiter(graph.iterEdges(), dtype=pair, count=graph.numberOfEdges())
    truth = np.array(generator.getPartition().getVector())
    return BenchmarkGraph(name, n, ends[:, 0].copy(), ends[:, 1].copy(), truth, is_lfr=True)


def own_lfr(
    name: str,
    *,
    n: int,
    degree: float,
    mixing: float,
    seed: int,
    internal: str = "binomial",
    **largest: int,
) -> BenchmarkGraph:
    """Draw an LFR graph with kgroups: same laws, but each edge stays inside by a coin of its own.

    NetworKit gives all nodes the same share of edges inside. A method may profit from that, and
    here it cannot unless ``internal`` is ``"fixed"``. ``max_degree`` and ``max_community`` bound
    degrees and sizes.
    """
    from kgroups import generators

    graph, labels = generators.lfr_benchmark(
        n, degree=degree, mixing=mixing, internal=internal, rng=seed, **largest
    )
    source, target, _ = graph.edges()
    return BenchmarkGraph(
        name, n, source.astype(np.int64), target.astype(np.int64), labels, is_lfr=True
    )


def degree_corrected(
    name: str, *, n: int, k: int, degree: float, snr: float, seed: int
) -> BenchmarkGraph:
    """Draw a planted partition whose degrees follow a power law with exponent 2.5."""
    from kgroups import generators

    rng = np.random.default_rng(seed)
    graph, labels = generators.degree_corrected_sbm(
        [n // k] * k, generators.PlantedAffinity(degree, snr), rng=rng
    )
    source, target, _ = graph.edges()
    shuffled = rng.permutation(n)
    truth = np.empty(n, dtype=np.int64)
    truth[shuffled] = labels
    return BenchmarkGraph(name, n, shuffled[source], shuffled[target], truth)


def erdos_renyi(name: str, *, n: int, degree: float, seed: int) -> BenchmarkGraph:
    """Draw a graph in which all pairs are edges with one probability."""
    rng = np.random.default_rng(seed)
    pairs = n * (n - 1) // 2
    count = rng.binomial(pairs, degree / (n - 1))
    codes = _distinct_pairs(lambda wanted: tuple(rng.integers(n, size=(2, wanted))), count, n)
    return BenchmarkGraph(name, n, codes // n, codes % n, None, is_null=True)


def small_world(name: str, *, n: int, degree: int, rewired: float, seed: int) -> BenchmarkGraph:
    """Draw a ring of near neighbors some of whose edges lead elsewhere (Watts and Strogatz)."""
    import networkx as nx

    u, v = np.array(nx.watts_strogatz_graph(n, degree, rewired, seed=seed).edges).T
    return BenchmarkGraph(name, n, u, v, None)


def nearest_neighbors(
    name: str, *, n: int, degree: int, dimension: int, seed: int
) -> BenchmarkGraph:
    """Link each of n points, drawn around a dozen centers, to its nearest ones."""
    rng = np.random.default_rng(seed)
    group = rng.integers(12, size=n)
    X = 3.0 * rng.normal(size=(12, dimension))[group] + rng.normal(size=(n, dimension))
    return neighbors_of(name, X, degree, group)


def neighbors_of(
    name: str, X: npt.NDArray[np.float64], degree: int, truth: npt.NDArray[Any] | None = None
) -> BenchmarkGraph:
    """Link each point to its nearest ones."""
    from scipy.spatial import KDTree

    near = KDTree(X).query(X, degree + 1)[1][:, 1:]
    u, v = linked_pairs(np.repeat(np.arange(len(X)), degree), near.ravel()).T
    return BenchmarkGraph(name, len(X), u, v, truth)


def linked_pairs(u: Ints, v: Ints) -> Ints:
    """Return each pair once, its smaller number first."""
    return np.unique(np.sort(np.column_stack([u, v]), axis=1), axis=0)


def blobs(name: str, *, spread: float, seed: int) -> BenchmarkGraph:
    """Draw 2,000 points around eight centers in ten dimensions, each linked to its 15 nearest."""
    from sklearn.datasets import make_blobs

    X, truth = make_blobs(2_000, 10, centers=8, cluster_std=spread, random_state=seed)
    return _fifteen_neighbors(name, X, truth)


def cloud(name: str, *, seed: int) -> BenchmarkGraph:
    """Draw 900 points of one Gaussian cloud in the plane, each linked to its 15 nearest."""
    X = np.random.default_rng(seed).normal(size=(900, 2))
    return replace(_fifteen_neighbors(name, X, np.zeros(900, dtype=np.int64)), truth=None)


def grid(name: str, *, seed: int) -> BenchmarkGraph:
    """Return a square grid of 30 by 30 nodes; the seed is not used."""
    place = np.arange(900).reshape(30, 30)
    source = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
    target = np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])
    return BenchmarkGraph(name, 900, source, target, None)


def digits(name: str, *, seed: int) -> BenchmarkGraph:
    """Load scikit-learn's images of digits, each linked to its 15 nearest; no use of the seed."""
    from sklearn.datasets import load_digits

    return _fifteen_neighbors(name, *load_digits(return_X_y=True))


def _fifteen_neighbors(
    name: str, X: npt.NDArray[np.float64], truth: npt.NDArray[Any]
) -> BenchmarkGraph:
    from sklearn.neighbors import kneighbors_graph

    near = kneighbors_graph(X, 15)
    u, v = (near + near.T).nonzero()
    once = u < v
    return BenchmarkGraph(name, len(X), u[once].astype(int), v[once].astype(int), truth)


def single_cells(name: str, *, seed: int) -> BenchmarkGraph:
    """Load the 700 blood cells of scanpy with their neighbor graph; the seed is not used."""
    from scanpy.datasets import pbmc68k_reduced
    from scipy import sparse

    cells = pbmc68k_reduced()
    upper = sparse.triu(cells.obsp["connectivities"], k=1).tocoo()
    return BenchmarkGraph(
        name,
        cells.n_obs,
        upper.row.astype(np.int64),
        upper.col.astype(np.int64),
        cells.obs["bulk_labels"].cat.codes.to_numpy(),
        weight=upper.data.astype(np.float64),
    )


def hierarchy(name: str, *, degree: float, seed: int) -> BenchmarkGraph:
    """Draw 27 groups of 81 nodes, which form nine groups of three and three groups of nine.

    ``truth`` has the 27 groups, and divided by 3 and 9 the nine and the three.
    """
    from kgroups import generators

    size, leaves = 81, np.arange(27)
    # Steps to the smallest group that holds both of two leaves.
    apart = sum((leaves // width)[:, None] != leaves // width for width in (1, 3, 9))
    rates = np.array([1.0, 0.16, 0.045, 0.012])[apart]
    n, pairs = size * leaves.size, np.full(rates.shape, float(size**2))
    np.fill_diagonal(pairs, size * (size - 1.0))
    P = rates * (degree * n / (rates * pairs).sum())
    rng = np.random.default_rng(seed)
    graph, labels = generators.stochastic_block_model([size] * leaves.size, P, rng=rng)
    source, target, _ = graph.edges()
    shuffled = rng.permutation(n)
    truth = np.empty(n, dtype=np.int64)
    truth[shuffled] = labels
    return BenchmarkGraph(name, n, shuffled[source], shuffled[target], truth)


def power_law_null(
    name: str, *, n: int, degree: float, exponent: float, seed: int
) -> BenchmarkGraph:
    """Draw a simple graph with degrees by a power law and nothing else.

    The largest degree is the square root of ``n * degree``, above which hubs of a simple graph
    cannot be joined at random, or what the mean allows if that is less.
    """
    from kgroups.generators.lfr import DiscretePowerLaw
    from kgroups.generators.rewiring import simple_pairing

    rng = np.random.default_rng(seed)
    x = np.arange(1.0, np.sqrt(n * degree) + 1)
    mean_up_to = np.cumsum(x ** (1 - exponent)) / np.cumsum(x**-exponent)
    within_mean = int(np.searchsorted(mean_up_to, degree, side="right"))
    law = DiscretePowerLaw.of_mean(degree, min(x.size, within_mean), exponent)
    degrees = law.draw(n, rng)
    degrees[np.argmax(degrees)] -= degrees.sum() % 2
    source, target = simple_pairing(degrees, np.zeros(n, dtype=np.int64), rng)
    return BenchmarkGraph(name, n, source, target, None, is_null=True)


def largest_component(graph: BenchmarkGraph) -> BenchmarkGraph:
    """Return the largest component as a graph of its own."""
    component = components(graph)
    kept = component == np.argmax(np.bincount(component))
    if kept.all():
        return graph
    number = np.cumsum(kept) - 1
    inside = kept[graph.source]
    return replace(
        graph,
        n=int(np.count_nonzero(kept)),
        source=number[graph.source[inside]],
        target=number[graph.target[inside]],
        truth=None if graph.truth is None else graph.truth[kept],
        known=None if graph.known is None else graph.known[kept],
    )


def components(graph: BenchmarkGraph) -> npt.NDArray[Any]:
    """Return the component of each node."""
    from scipy import sparse

    ones = np.ones(graph.m, dtype=np.int8)
    matrix = sparse.coo_matrix((ones, (graph.source, graph.target)), shape=(graph.n, graph.n))
    return sparse.csgraph.connected_components(matrix, directed=False)[1]


def real(name: str, *, seed: int) -> BenchmarkGraph:
    """Load a network of kgroups.datasets; the seed is not used."""
    from kgroups import datasets

    loaded = datasets.load(name)
    source, target, _ = loaded.graph.edges()
    proper = source != target
    truth = loaded.truth
    # Citeseer marks papers without a subject by -1.
    known = truth != -1 if truth is not None and name == "citeseer" else None
    return BenchmarkGraph(
        name,
        loaded.graph.n,
        source[proper].astype(np.int64),
        target[proper].astype(np.int64),
        truth,
        known,
    )
