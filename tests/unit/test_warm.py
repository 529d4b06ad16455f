"""``kgroups.warm`` compiles all that later calls use."""

import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import igraph
import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import sparse

import kgroups as kg
from helpers.stores import in_blocks, random_edges, small_sizes, stored
from helpers.terminal import Terminal
from kgroups._kernel import KERNELS, Kernel
from kgroups.blocks import detect_stored
from kgroups.blocks import search as block_search
from kgroups.energy import Gaussian, kernel_kgroups, kernel_kmeans
from kgroups.generators import planted_partition
from kgroups.inference.confidence import confidence_of_labels
from kgroups.search import prepare


def allow_compilation(patch):
    patch.setenv("KGROUPS_JIT", "auto")
    patch.delenv("NUMBA_DISABLE_JIT", raising=False)


@pytest.fixture(scope="module")
def types_after_warming():
    with pytest.MonkeyPatch.context() as patch:
        allow_compilation(patch)
        kg.warm(progress=False)
    return types_compiled()


@pytest.fixture
def warmed(types_after_warming, monkeypatch):
    """Compile every kernel, and return the number of types for which each is compiled."""
    allow_compilation(monkeypatch)
    return types_after_warming


def types_compiled():
    return {
        f"{kernel.__module__}.{kernel.__name__}": len(kernel.compiled().signatures)
        for kernel in KERNELS
        if kernel.__module__.startswith("kgroups.")
    }


def kernels_of_the_package():
    for module in walk_packages(kg.__path__, "kgroups."):
        if module.name.endswith("_nb"):
            for value in vars(import_module(module.name)).values():
                if isinstance(value, Kernel):
                    yield f"{module.name}.{value.__name__}"


def test_every_kernel_of_the_package_is_compiled(warmed):
    assert set(kernels_of_the_package()) == {name for name, types in warmed.items() if types}
    files = Path(kg.__file__).parent.rglob("*_nb.py")
    assert sum(file.read_text().count("\n@kernel(") for file in files) == len(warmed)


def weighted(graph):
    u, v, _ = graph.edges()
    return kg.Graph.from_edges(u, v, np.random.default_rng(0).random(u.size) + 0.5, n=graph.n)


def detect_small_graphs():
    karate, looped = nx.karate_club_graph(), nx.karate_club_graph()
    looped.add_edge(0, 0)
    pieces = nx.disjoint_union_all([karate, nx.path_graph(5), nx.star_graph(7), nx.empty_graph(3)])
    for graph in (karate, looped, pieces, nx.ring_of_cliques(6, 5)):
        for weight in (None, "weight"):
            for k in (None, 6, 8):
                kg.detect_communities(graph, k, weight=weight, self_loops="keep")


def detect_larger_graphs():
    faint, _ = planted_partition(700, k=2, degree=5.0, snr=1.4, rng=1)
    clear, _ = planted_partition(700, k=6, degree=12.0, snr=3.0, rng=1)
    for graph in (faint, weighted(faint), clear, weighted(clear)):
        for k in (None, 3):
            for method in (kg.Auto(), kg.Search(), kg.Spectral("exact"), kg.Spectral("filtered")):
                kg.detect_communities(graph, k, method=method)


def detect_with_options():
    karate = nx.karate_club_graph()
    for k in (None, 3):
        for refine in (None, kg.BeliefPropagation()):
            kg.detect_communities(karate, k, refine=refine)
        for init in (kg.QRInit(), kg.KMeansInit(rows="raw")):
            kg.detect_communities(karate, k, init=init)
    found = kg.detect_communities(karate, init=kg.WarmStart(np.arange(34) % 3))
    kg.refine_partition(karate, found)
    kg.refine_partition(karate, found, weight=None)


def infer():
    for weight in (None, "weight"):
        partition = kg.posterior(nx.karate_club_graph(), 2, weight=weight).partition
        for most in (0.0, 1e6):
            confidence_of_labels(prepare(partition.graph), partition.labels, most_messages=most)
    kg.significance(nx.karate_club_graph())


def cluster_points():
    points = np.random.default_rng(0).normal(size=(40, 3))
    for cluster in (kernel_kgroups, kernel_kmeans):
        for init in ("k-means++", "random", np.arange(40) % 3):
            for memory in (0.0, 1e9):
                cluster(points, 3, metric=Gaussian(), init=init, gram_memory=memory)
        cluster(points @ points.T, 3, metric="gram", sample_weight=np.arange(40))


@pytest.mark.parametrize(
    "call",
    [
        detect_small_graphs,
        detect_larger_graphs,
        detect_with_options,
        infer,
        cluster_points,
    ],
)
def test_later_calls_compile_nothing(warmed, call):
    call()
    assert types_compiled() == warmed


def test_later_conversions_of_large_graphs_compile_nothing(warmed, tmp_path):
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 500, (2, 40_000))
    ring = igraph.Graph.Ring(40_000)
    kg.as_graph(ring)
    ring.es["weight"] = rng.random(40_000).tolist()
    kg.as_graph(ring)
    for weights in ({}, {"weight": rng.random(40_000)}):
        for names in ((u, v), (u * 2**40, v * 2**40), (u.astype("U9"), v.astype("U9"))):
            columns = {"source": names[0], "target": names[1], **weights}
            np.savez(tmp_path / "a.npz", **columns)
            graph = kg.as_graph(tmp_path / "a.npz")
            pyarrow.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
            kg.as_graph(tmp_path / "a.parquet")
            graph.permuted(rng.permutation(graph.n))
            assert graph.n_loops > 0
        sparse.save_npz(tmp_path / "a.npz", graph.to_scipy())
        kg.as_graph(tmp_path / "a.npz")
    assert types_compiled() == warmed


@pytest.mark.parametrize("kind", [int, str])
def test_later_stores_compile_nothing(warmed, tmp_path, monkeypatch, kind):
    u, v, w = random_edges()
    lines = [f"{kind(a)},{kind(b)},{c}\n" for a, b, c in zip(u, v, w, strict=True)]
    (tmp_path / "a.csv").write_text("".join(lines) + ("" if kind is int else "a,b,1\n"))
    for most_slots, weight in ((1, None), (1000, "weight")):
        small_sizes(monkeypatch, most_slots=most_slots)
        kg.open_graph(tmp_path / "a.csv", store=tmp_path / str(weight), weight=weight)
    assert types_compiled() == warmed


@pytest.mark.filterwarnings("ignore::kgroups.errors.KGroupsWarning")
def test_later_searches_in_stores_compile_nothing(warmed, tmp_path, monkeypatch):
    in_blocks(monkeypatch)
    graph, _ = planted_partition(1_200, k=3, degree=6.0, snr=1.6, rng=1)
    for name, given in (("plain", graph), ("weighted", weighted(graph))):
        store = stored(given, tmp_path / name, block_entries=500)
        for few in (2, 1_000):
            monkeypatch.setattr(block_search, "_DENSE_GROUPS", few)
            detect_stored(store, method=kg.Search(spectral_nodes=500, dispersion=few))
    assert types_compiled() == warmed


def test_a_function_is_told_how_many_kernels_are_ready(warmed):
    told = []
    assert kg.warm(progress=lambda *call: told.append(call)) == len(KERNELS)
    assert told[-1] == (len(KERNELS), len(KERNELS))


def test_a_bar_is_drawn_on_a_terminal(warmed, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    kg.warm()
    assert "kernel" in sys.stderr.getvalue()


def test_nothing_is_compiled_where_that_is_forbidden(monkeypatch):
    from kgroups import _warm

    monkeypatch.setenv("KGROUPS_JIT", "never")
    monkeypatch.setattr(_warm, "_run_compiled", None)
    assert kg.warm() == 0
    _warm.warm_detection()


def test_progress_is_checked():
    with pytest.raises(kg.errors.InputError, match="progress must be True, False or a callable"):
        kg.warm(progress="yes")
