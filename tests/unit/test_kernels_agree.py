"""Kernels give the same bits interpreted and compiled, on what the package passes to them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pytest

from helpers.stores import in_blocks, small_sizes
from kgroups import Search, _csr_nb
from kgroups._csr import connected_components, rows_of_edges, two_core
from kgroups._kernel import Kernel
from kgroups.blocks import (
    StoredPartition,
    _scores_nb,
    _store_nb,
    _sweeps_nb,
    detect_stored,
    open_graph,
    search,
)
from kgroups.energy import Gaussian, kernel_kgroups, kernel_kmeans
from kgroups.generators import lfr_benchmark
from kgroups.graph import Graph
from kgroups.hartigan import (
    Hartigan,
    _hartigan_nb,
    best_kmeans,
    improve_rows,
    refine_labels,
    spread_labels,
)
from kgroups.inference import _beliefs_nb, _gibbs_nb
from kgroups.inference.belief_propagation import (
    Learning,
    Schedule,
    block_model,
    planted_rates,
    propagate,
    rates_of_labels,
)
from kgroups.inference.gibbs import gibbs_masses
from kgroups.search import _scales_nb, _search_nb, finest_level, prepare
from kgroups.search.candidates import connected
from kgroups.search.climbing import Searching
from kgroups.search.objective import Groups, closed_share, contiguity, pearson
from kgroups.search.scales import GroupGraph, find_supergroups
from kgroups.spectrum import BetheHessian, _chebyshev_nb
from kgroups.spectrum.chebyshev import BlockOperator

pytestmark = pytest.mark.compiled


@pytest.fixture
def checked(monkeypatch):
    """Run every kernel both ways, compare all its arrays, and collect those that were called."""
    called = set()

    def both_ways(kernel, *arguments):
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        interpreted = kernel._interpret(copies)
        result = kernel.compiled()(*arguments)
        assert repr(result) == repr(interpreted)
        for place, (one, other) in enumerate(zip(arguments, copies, strict=True)):
            if isinstance(one, np.ndarray):
                assert one.flags.c_contiguous
                assert one.flags.writeable
                assert one.tobytes() == other.tobytes(), (kernel.__name__, place)
            else:
                assert type(one) in (int, float, bool)
        called.add(kernel)
        return result

    monkeypatch.setattr(Kernel, "__call__", both_ways)
    return called


def random_edges(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return *rng.integers(0, n, (2, m)), rng.random(m) + 0.1


def build_rows():
    u, v, w = random_edges(20, 90)
    for weights in (None, w):
        rows_of_edges(u, v, weights, 20, few_edges=-1)
    rows_of_edges(u[u != v], u[u != v] + 20, w[u != v], 40, few_edges=-1)


def multiply_blocks():
    u, v, w = random_edges(60, 200)
    graph = Graph.from_edges(u, v, w, n=60)
    for weighted in (False, True):
        hessian = BetheHessian().bind(graph.simple_adjacency(loops=False), weighted=weighted)
        operator = BlockOperator(hessian, lowest=-0.9, entries_per_task=100, rows_per_task=20)
        for columns in (1, 3, 16):
            X, Y = (operator.normal_block(columns, np.random.default_rng(t)) for t in range(2))
            operator.matmat(X, Y, alpha=1.7)
            operator.matmat(X, Y, alpha=2.0, beta=-1.0)
            operator.products_by_column(X, Y)
            operator.add_product(X, operator.products(X, Y), Y)


def several_components():
    """Return problems without and with weights, of several components and a node without edges."""
    graphs = [nx.planted_partition_graph(2, 9, 0.6, 0.1, seed=seed) for seed in range(3)]
    G = nx.disjoint_union_all([nx.star_graph(40), nx.empty_graph(1), *graphs])
    yield prepare(Graph.from_edges(*np.array(G.edges).T, n=len(G))).problem
    weights = np.random.default_rng(0).lognormal(0.0, 1.0, G.number_of_edges())
    yield prepare(Graph.from_edges(*np.array(G.edges).T, weights, n=len(G))).problem


def move_nodes():
    for problem in several_components():
        k = np.minimum(3, problem.sizes)
        z = np.concatenate([np.arange(n) % min(3, n) for n in problem.sizes])
        for weights in ("association", "uniform", "gram"):
            for candidates in ("neighbors", "all"):
                method = Hartigan(weights, candidates, guard=None)
                refine_labels(method, problem, z, k, np.arange(k.size))


def group_rows():
    rng, k = np.random.default_rng(0), [3, 2, 5, 1, 4]
    tables = [rng.normal(size=shape) for shape in ((40, 3), (10, 1), (25, 4), (1, 2))]
    tables.append(np.repeat(np.eye(3), 4, axis=0))
    draws = [rng.random((3, 1 + count * (1 + count % 3))) for count in k]
    best_kmeans(tables, k, draws, [3, 1, 2, 3, 2])
    for X, count in zip(tables, k, strict=True):
        improve_rows(X, np.arange(len(X)) % count, k=count)


def propagate_beliefs():
    schedule = Schedule(4, 3, 12, 1e-4, 1e-3)
    for problem in several_components():
        k = np.minimum(3, problem.sizes)
        z = np.concatenate([np.arange(n) % min(3, n) for n in problem.sizes])
        which = np.flatnonzero(problem.entries)
        for corrected in (False, True):
            model = block_model(problem.level, degree_corrected=corrected)
            for rule in ("planted", "contrast", "own"):
                propagate(model, z, k, which, Learning(rule, 0.1), schedule)
            for rates in (planted_rates(0.3, 3), rates_of_labels(model, z, 3)):
                propagate(model, z, k, which[-1:], Learning("unchanged"), schedule, rates=rates)


def sample_labels():
    graph, labels = lfr_benchmark(120, degree=6, mixing=0.4, max_degree=20, rng=0)
    model = block_model(
        finest_level(graph.simple_adjacency(), weighted=False), degree_corrected=True
    )
    rates = rates_of_labels(model, labels, int(labels.max()) + 1)
    for few in (0, 100):
        rng = np.random.default_rng(0)
        gibbs_masses(model, labels, rates, sweeps=4, burn_in=1, few_groups=few, rng=rng)


def search_communities():
    parts = [lfr_benchmark(150, degree=6, mixing=0.4, max_degree=20, rng=t).graph for t in range(2)]
    ends = [part.edges()[:2] for part in parts]
    u, v = (np.concatenate([ends[0][t], ends[1][t] + 150]) for t in range(2))
    for weights in (None, np.random.default_rng(0).lognormal(size=u.size)):
        problem = prepare(Graph.from_edges(u, v, weights, n=300)).problem
        level, numbers = problem.level, np.minimum(4, problem.sizes)
        for settings in (Search(), Search(treelike=1.0)):
            searching = Searching(level, settings, np.random.default_rng(0))
            searching.search(searching.cyclic)
            searching.given_number(numbers, searching.cyclic)
        connected(problem, np.arange(300) % numbers[problem.component], numbers, searching.cyclic)
    one = finest_level(parts[0].simple_adjacency(), weighted=False, implicit_entries=0)
    Searching(one, Search(), np.random.default_rng(0)).search(np.zeros(1, dtype=np.int64))


def measure_dispersion():
    for problem in several_components():
        k = np.minimum(3, problem.sizes)
        z = np.concatenate([np.arange(n) % min(3, n) for n in problem.sizes])
        for level in (problem.level, problem.level._replace(data=np.ones(1, dtype=np.float32))):
            linked = np.flatnonzero(problem.entries)
            groups = Groups.of(level, z, k, linked)
            pearson(groups)
            closed_share(groups)
            contiguity(level, z, k, linked)


def group_groups():
    u, v, w = random_edges(120, 900)
    u, v = np.append(u, u[:600]), np.append(v, u[:600] - u[:600] % 6 + v[:600] % 6)
    for weights in (None, np.append(w, w[:600])):
        graph = Graph.from_edges(u, v, weights, n=120).simple_adjacency(loops=False)
        level = finest_level(graph, weighted=weights is not None)
        find_supergroups(GroupGraph.of(level, 1.5))
        find_supergroups(GroupGraph.of(level).apart(np.arange(120) // 5 % 4)[0])


def find_components():
    A = Graph.from_edges(*random_edges(60, 60)[:2], n=60).simple_adjacency(loops=False)
    for group in (None, np.arange(60) % 2):
        connected_components(A, group)
    two_core(A)
    spread_labels(A, np.where(np.arange(60) < 5, np.arange(60), -1))


def cluster_points():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(150, 2)), rng.random(150)
    for cluster in (kernel_kgroups, kernel_kmeans):
        for memory in (0.0, 1e9):
            cluster(X, 4, metric=Gaussian(), sample_weight=w, n_init=2, gram_memory=memory)


def make_stores():
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        u, v, w = (list(map(str, column)) for column in random_edges(40, 200))
        for number, names in enumerate(((u, v), ([f"é{x}" for x in u], v))):
            path = Path(folder, f"{number}.csv")
            path.write_text("".join(map("{},{},{}\n".format, *names, w)))
            for most_slots, weight in ((1, None), (1000, "weight")):
                small_sizes(patch, most_slots=most_slots)
                store = Path(folder, f"{number}{weight}")
                open_graph(path, store=store, weight=weight, block_entries=30)


def score_stores():
    with TemporaryDirectory() as folder:
        u, v, w = random_edges(40, 200)
        for name, columns in (("counted", {}), ("weighted", {"weight": w})):
            path = Path(folder, f"{name}.npz")
            np.savez(path, source=u, target=v, **columns)
            stored = open_graph(path, store=Path(folder, name), block_entries=30)
            StoredPartition(stored, np.arange(stored.n, dtype=np.int32) % 3).scores()


def search_stores():
    G = nx.disjoint_union(nx.planted_partition_graph(5, 20, 0.5, 0.03, seed=0), nx.path_graph(4))
    u, v = np.array(G.edges).T
    weight = np.random.default_rng(0).lognormal(size=u.size)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        in_blocks(patch)
        for name, columns in (("plain", {}), ("weighted", {"weight": weight})):
            path = Path(folder, f"{name}.npz")
            np.savez(path, source=u, target=v, **columns)
            stored = open_graph(path, store=Path(folder, name), block_entries=300)
            detect_stored(stored)
            for threshold in (1, 1_000):
                patch.setattr(search, "_DENSE_GROUPS", threshold)
                detect_stored(stored, rng=threshold)


def both(*runs):
    return lambda: [run() for run in runs]


@pytest.mark.parametrize(
    ("run", "module"),
    [
        (both(build_rows, find_components), _csr_nb),
        (multiply_blocks, _chebyshev_nb),
        (sample_labels, _gibbs_nb),
        (propagate_beliefs, _beliefs_nb),
        (both(move_nodes, cluster_points, group_rows), _hartigan_nb),
        (both(search_communities, measure_dispersion), _search_nb),
        (group_groups, _scales_nb),
        (make_stores, _store_nb),
        (score_stores, _scores_nb),
        (search_stores, _sweeps_nb),
    ],
)
def test_interpreted_and_compiled_kernels_agree_to_the_bit(checked, run, module):
    run()
    kernels = {one for one in vars(module).values() if isinstance(one, Kernel)}
    assert kernels
    assert kernels <= checked
