import os
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import block_diag

from helpers import oracles_spectrum as oracles
from helpers.strategies_spectrum import TEXTBOOK, adjacency_of, csr_of, random_adjacency
from kgroups import Graph, _progress
from kgroups._csr import connected_components, two_core
from kgroups._csr_nb import label_components
from kgroups._progress import STOP, TOTAL, new_control


@pytest.mark.parametrize("seed", range(25))
def test_components_are_numbered_by_their_first_node(seed):
    A = random_adjacency(seed, largest=40, loops=seed % 2 == 0)
    count, labels = connected_components(csr_of(A))
    expected_count, expected = oracles.components(A)
    assert count == expected_count
    np.testing.assert_array_equal(labels, expected)
    group = np.random.default_rng(seed).integers(0, 2, len(A))
    count, labels = connected_components(csr_of(A), group)
    expected_count, expected = oracles.components(A * (group[:, None] == group))
    assert count == expected_count
    np.testing.assert_array_equal(labels, expected)


def test_no_nodes_no_components():
    count, labels = connected_components(csr_of(np.zeros((0, 0))))
    assert count == 0
    assert labels.shape == (0,)


@pytest.mark.parametrize("seed", range(40))
def test_two_core_of_random_graphs(seed):
    A = random_adjacency(seed, largest=40, loops=seed % 2 == 0)
    np.testing.assert_array_equal(two_core(csr_of(A)), oracles.two_core(A))


@pytest.mark.parametrize("name", TEXTBOOK)
def test_two_core_of_known_graphs(name):
    A = adjacency_of(TEXTBOOK[name])
    np.testing.assert_array_equal(two_core(csr_of(A)), oracles.two_core(A))


def test_two_core_of_a_long_path_ending_in_a_triangle():
    n = 200_000
    ends = np.arange(n - 1)
    graph = Graph.from_edges(np.append(ends, n - 3), np.append(ends + 1, n - 1))
    assert np.flatnonzero(two_core(graph.csr)).tolist() == [n - 3, n - 2, n - 1]


def test_two_core_of_a_tree_is_empty():
    assert not two_core(csr_of(adjacency_of(nx.balanced_tree(2, 6)))).any()


def path_of(n):
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n)).csr


def labeled(csr, *, offsets=None, which=(0,), group=None, control=None):
    """Return the labels and counts of the kernel, -1 where it has not written."""
    n = len(csr.indptr) - 1
    offsets = np.array([0, n] if offsets is None else offsets)
    labels, counts = np.full(n, -1, dtype=np.int32), np.full(offsets.size - 1, -1)
    group = np.zeros(n, dtype=np.int32) if group is None else group.astype(np.int32)
    control, stack = new_control() if control is None else control, np.empty(n, dtype=np.int32)
    arrays = csr.indptr.copy(), csr.indices.copy(), offsets, np.array(which), group
    label_components(*arrays, labels, counts, stack, control)
    return labels, counts


@pytest.mark.parametrize("seed", range(25))
def test_components_are_numbered_from_zero_in_each_block(seed):
    """The second of three blocks is left alone."""
    rng = np.random.default_rng(seed)
    blocks = [random_adjacency(seed + t, largest=12, loops=seed % 2 == 0) for t in range(3)]
    offsets = np.concatenate([[0], np.cumsum([len(A) for A in blocks])])
    group = rng.integers(0, 3, offsets[-1])
    csr = csr_of(block_diag(*blocks))
    labels, counts = labeled(csr, offsets=offsets, which=(0, 2), group=group)
    for c in (0, 2):
        rows = slice(offsets[c], offsets[c + 1])
        expected_count, expected = oracles.components(
            blocks[c] * (group[rows, None] == group[rows])
        )
        assert labels[rows].tolist() == expected.tolist()
        assert counts[c] == expected_count
    assert (labels[offsets[1] : offsets[2]] == -1).all()
    assert counts[1] == -1


def test_a_flag_ends_the_labeling_of_components():
    csr = path_of(10_000)
    for flag in (0, 1):
        control = new_control()
        control[STOP] = flag
        labels, _ = labeled(csr, control=control)
        assert (labels >= 0).all() == (flag == 0)
        assert control[TOTAL] == (0 if flag else 10_000)


@pytest.mark.compiled
def test_components_of_a_large_graph_are_labeled_in_another_thread(monkeypatch):
    csr, used = path_of(300), []
    expected = connected_components(csr)[1].tolist()
    run = _progress.run_interruptibly
    monkeypatch.setattr(_progress, "run_interruptibly", lambda *a: used.append(1) or run(*a))
    monkeypatch.setattr(_progress, "_BACKGROUND_ENTRIES", 100)
    assert connected_components(csr)[1].tolist() == expected
    assert used == [1]


# Edges below and above the number from which kernels build the matrix, weighted and not.
WHATEVER_IS_LOADED = """
import sys
if sys.argv[1] == "numba":
    import numba
import hashlib
import numpy as np
from kgroups import Graph, _csr

assert ("numba" in sys.modules) == (sys.argv[1] == "numba")
called = []
for name in ("_rows_by_sorting", "_rows_by_counting"):
    def watched(*arguments, name=name, function=getattr(_csr, name), **options):
        called.append(name)
        return function(*arguments, **options)
    setattr(_csr, name, watched)
digest = hashlib.sha256()
for m in (60, 20_000, 40_000):
    rng = np.random.default_rng(m)
    u, v = rng.integers(m, size=(2, m))
    for w in (None, rng.uniform(0.1, 1.0, m)):
        graph = Graph.from_edges(u, v, w, n=m)
        count, component = _csr.connected_components(graph.csr)
        for array in (*graph.csr, component):
            digest.update(array.tobytes())
        called.append(count)
print(called, digest.hexdigest())
"""


def test_the_way_depends_on_the_size_and_not_on_what_is_imported():
    answers = {
        subprocess.run(
            [sys.executable, "-c", WHATEVER_IS_LOADED, loaded],
            env=os.environ | {"KGROUPS_JIT": "auto"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for loaded in ("numba", "nothing")
    }
    assert len(answers) == 1
    (answer,) = answers
    assert answer.count("_rows_by_sorting") == 4
    assert answer.count("_rows_by_counting") == 2
