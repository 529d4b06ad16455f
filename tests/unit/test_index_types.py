"""More entries than int32 can count: index types and codes of pairs, without so many entries."""

import igraph
import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups import _csr
from kgroups._csr import index_type
from kgroups.adapters import Structure, as_graph
from kgroups.backends.networkx.graph import convert_from_nx
from kgroups.generators.blocks import BlockPairs, Blocks
from kgroups.generators.planted import all_pairs, pair_codes
from kgroups.metrics import _cells

HUGE = 2**31


def clear_groups():
    return nx.planted_partition_graph(3, 20, 0.6, 0.02, seed=1)


def as_igraph(G):
    return igraph.Graph(n=len(G), edges=list(G.edges))


def as_file(G, folder):
    path = folder / "edges.csv"
    path.write_text("".join(f"{1_000 * u},{1_000 * v}\n" for u, v in G.edges))
    return path


FORMS = {
    "networkx": lambda G, folder: G,
    "view": lambda G, folder: G.subgraph(list(G)),
    "igraph": lambda G, folder: as_igraph(G),
    "matrix": lambda G, folder: nx.to_scipy_sparse_array(G),
    "arrays": lambda G, folder: tuple(np.array(G.edges).T),
    "file": as_file,
}


@pytest.fixture
def small_bound(monkeypatch):
    """Take ten for the largest number of entries that int32 counts."""
    monkeypatch.setattr(_csr, "INT32_BOUND", 10)


def test_int32_is_used_while_it_fits():
    assert index_type(5, HUGE - 2) is np.int32
    assert index_type(5, HUGE - 1) is np.int64
    assert index_type(HUGE, 5) is np.int64


@pytest.mark.parametrize("form", FORMS)
def test_a_graph_of_more_entries_than_int32_counts_is_read_in_int64(form, tmp_path, monkeypatch):
    G = clear_groups()
    short = as_graph(FORMS[form](G, tmp_path))
    monkeypatch.setattr(_csr, "INT32_BOUND", 10)
    long = as_graph(FORMS[form](G, tmp_path))
    assert short.indptr.dtype == short.indices.dtype == np.int32
    assert long.indptr.dtype == long.indices.dtype == np.int64
    assert long.indptr.tolist() == short.indptr.tolist()
    assert long.indices.tolist() == short.indices.tolist()


@pytest.mark.slow
def test_a_graph_of_more_entries_than_int32_counts_has_the_same_communities(monkeypatch):
    """All kernels in int64; compiling them takes a minute or two."""
    G = clear_groups()
    short = kg.detect_communities(G, rng=0)
    monkeypatch.setattr(_csr, "INT32_BOUND", 10)
    long = kg.detect_communities(G, rng=0)
    assert long.labels.tolist() == short.labels.tolist()
    assert len(long) == 3


def test_structures_and_conversions_choose_the_type(small_bound):
    G = clear_groups()
    assert Structure(G._adj).indices.dtype == np.int64
    view = convert_from_nx(G.subgraph(list(G)))
    assert view.indptr.dtype == view.indices.dtype == np.int64


def test_generators_choose_the_type(small_bound):
    drawn = kg.generators.planted_partition(60, 2, 6.0, 1.5, rng=0)
    assert drawn.graph.indices.dtype == np.int64


def test_cells_of_many_classes_and_groups_are_told_apart():
    top = 60_000
    truth = np.array([0, top - 1, top - 1], np.int32)
    labels = np.array([1, top - 1, 2], np.int32)
    table = _cells(truth, labels, top, top)
    assert table.rows.tolist() == [0, top - 1, top - 1]
    assert table.columns.tolist() == [1, 2, top - 1]


def test_pairs_of_nodes_have_codes_of_64_bits():
    n = HUGE - 2
    u, v = np.array([0, n - 1], np.int32), np.array([n - 1, n - 2], np.int32)
    assert pair_codes(u, v, n).tolist() == [n - 1, (n - 2) * n + n - 1]


def test_numbers_of_pairs_are_counted_beyond_int32():
    side = 1 << 17
    blocks = Blocks(np.array([side, side]))
    across = BlockPairs(np.array([0]), np.array([1]), np.array([0.5]))
    _, u, v = next(all_pairs(blocks, across))
    assert int(u.max()) < side <= int(v.min())
