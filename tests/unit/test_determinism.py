import json
import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups import _kernel

GRAPHS = {
    "karate": nx.karate_club_graph(),
    "les miserables": nx.les_miserables_graph(),
    "ring of cliques": nx.ring_of_cliques(12, 5),
    "grid": nx.grid_2d_graph(8, 8),
    "random": nx.gnm_random_graph(150, 400, seed=3),
    "two equal parts": nx.disjoint_union(nx.karate_club_graph(), nx.karate_club_graph()),
    "florentine": nx.florentine_families_graph(),
}


def shuffled(G, seed):
    rng = np.random.default_rng(seed)
    nodes = list(G)
    edges = list(G.edges(data=True))
    other = nx.Graph()
    other.add_nodes_from(nodes[i] for i in rng.permutation(len(nodes)))
    for i in rng.permutation(len(edges)):
        u, v, data = edges[i]
        other.add_edge(*((v, u) if rng.random() < 0.5 else (u, v)), **data)
    return other


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("k", [None, 3])
def test_node_and_edge_order_do_not_matter(name, k):
    G = GRAPHS[name]
    expected, drawn = kg.detect_communities(G, k), kg.detect_communities(G, k, rng=7)
    for seed in range(4):
        other = shuffled(G, seed)
        assert kg.detect_communities(other, k).membership == expected.membership
        assert kg.detect_communities(other, k, rng=7).membership == drawn.membership


@pytest.mark.parametrize("name", ["karate", "les miserables"])
def test_repeated_calls_agree(name):
    G = GRAPHS[name]
    assert kg.detect_communities(G, 3) == kg.detect_communities(G, 3)
    assert kg.detect_communities(G, 3, rng=5) == kg.detect_communities(G, 3, rng=5)


def test_random_numbers_show_the_chance_of_the_order_of_nodes():
    """The rows of a matrix have no names, so that permuting them is another draw of chance."""
    A = nx.to_numpy_array(nx.watts_strogatz_graph(34, 4, 0.1, seed=14))
    by_rows, by_rng = set(), set()
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(len(A))
        by_rows.add(len(kg.detect_communities(A[np.ix_(order, order)])))
        by_rng.add(len(kg.detect_communities(A, rng=seed)))
    assert by_rng == by_rows == {4, 5, 6}


def test_ties_show_even_where_nothing_else_is_drawn():
    G = nx.disjoint_union(nx.path_graph(8), nx.path_graph(8))
    options = {"method": kg.Spectral("exact"), "init": kg.QRInit()}
    found = {kg.detect_communities(G, 3, rng=seed, **options) for seed in range(8)}
    assert len(found) > 1
    assert len({kg.detect_communities(G, 3, **options) for _ in range(3)}) == 1


@pytest.mark.parametrize("k", [None, 4])
def test_random_numbers_change_no_name_of_what_is_reported(k):
    parts = [nx.complete_graph(size) for size in (12, 30, 9, 20)]
    G = nx.disjoint_union_all([*parts, nx.empty_graph(3)])
    G = nx.relabel_nodes(G, {node: f"v{(31 * node) % 74:02d}" for node in G})
    expected = kg.detect_communities(G, k)
    for seed in range(6):
        found = kg.detect_communities(G, k, rng=seed)
        assert found.membership == expected.membership
        assert found.uninformed == expected.uninformed
        assert found.report.components == expected.report.components


@pytest.mark.parametrize(
    "G",
    [
        nx.star_graph(400),
        nx.complete_bipartite_graph(200, 200),
        nx.complete_multipartite_graph(100, 100, 100, 100),
        nx.grid_2d_graph(20, 21, periodic=True),
    ],
    ids=["star", "bipartite", "multipartite", "torus"],
)
@pytest.mark.parametrize("rows", ["normalized", "raw"])
def test_graphs_with_few_distinct_eigenvalues_repeat(G, rows):
    init = kg.KMeansInit(rows=rows)
    first = kg.detect_communities(G, 4, init=init)
    assert all(kg.detect_communities(G, 4, init=init) == first for _ in range(2))


def test_names_that_cannot_be_sorted_are_kept_in_order_and_said():
    G = nx.relabel_nodes(nx.karate_club_graph(), lambda i: i if i % 2 else str(i))
    partition = kg.detect_communities(G, weight=None)
    assert sorted(map(len, partition)) == [16, 18]
    assert partition.report.ordering == "input order"
    assert any("cannot be sorted" in line for line in partition.report.lines())


SCRIPT = """
import json, networkx as nx, kgroups as kg
ring = nx.ring_of_cliques(60, 5)
cases = [
    (nx.les_miserables_graph(), None, kg.KMeansInit()),
    (nx.gnm_random_graph(600, 1500, seed=3), None, kg.KMeansInit()),
    (nx.grid_2d_graph(9, 9), None, kg.KMeansInit()),
    (nx.planted_partition_graph(8, 60, 0.2, 0.01, seed=1), 4, kg.KMeansInit()),
    (nx.star_graph(350), 4, kg.KMeansInit()),
    (ring, 4, kg.KMeansInit()),
    (ring, 4, kg.KMeansInit(rows="raw")),
    (ring, 4, kg.QRInit()),
    (nx.balanced_tree(3, 4), 4, kg.KMeansInit(rows="raw")),
]
for G, k, init in cases:
    found = kg.detect_communities(G, k, init=init)
    print(json.dumps([sorted(map(str, c)) for c in found]))
"""


def test_hash_seed_threads_and_process_do_not_matter():
    answers = set()
    for hash_seed, threads in [("0", "1"), ("12345", "2")]:
        environment = dict(os.environ, PYTHONHASHSEED=hash_seed)
        for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
            environment[f"{name}_NUM_THREADS"] = threads
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = run.stdout.splitlines()
        assert all(json.loads(line) for line in lines)
        answers.add(tuple(lines))
    assert len(answers) == 1


KERNELS = """
import networkx as nx
import kgroups as kg

for G in (
    nx.grid_2d_graph(20, 20, periodic=True),
    nx.grid_2d_graph(20, 20),
    nx.circulant_graph(400, (1, 2)),
):
    for k in (3, 4, 7):
        for init in (kg.KMeansInit(), kg.QRInit()):
            print(kg.detect_communities(G, k, init=init).labels.tolist())
"""


def test_equal_eigenvalues_give_the_same_communities_under_every_blas_kernel():
    """OpenBLAS has other kernels for other processors, which round differently."""
    answers = {
        subprocess.run(
            [sys.executable, "-c", KERNELS],
            env=os.environ | {"OPENBLAS_CORETYPE": kernel},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for kernel in ("Prescott", "Nehalem", "Haswell")
    }
    assert len(answers) == 1


def test_the_compiler_may_not_reorder_sums():
    # A loop that writes to arrays is compiled twice: for arrays that lie close to each other,
    # numbers are taken one at a time. If sums may be reordered, the two differ in the last digit.
    source = Path(kg.__file__).parent
    assert "fastmath" not in _kernel._OPTIONS
    assert [path.name for path in source.rglob("*.py") if "fastmath" in path.read_text()] == []
