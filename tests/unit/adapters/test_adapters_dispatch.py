"""The one door: what it takes, what it refuses, what it leaves unloaded."""

import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from kgroups.adapters import as_graph
from kgroups.errors import FileFormatError, GraphError, InputError
from kgroups.graph import Graph


def test_a_graph_passes_through():
    graph = Graph.from_edges([0, 1], [1, 2], [2.0, 1.0])
    assert as_graph(graph) is graph
    assert as_graph(graph, symmetrize="sum") is graph
    assert as_graph(graph, weight="anything") is graph


def test_weight_none_drops_weights_and_keeps_multiplicity():
    graph = Graph.from_edges([0, 0, 1], [1, 1, 2], [2.0, 3.0, 1.0], nodes="abc")
    plain = as_graph(graph, weight=None)
    assert plain.weights.tolist() == [2, 2, 1, 1]
    assert plain.multiplicity.tolist() == [2, 2, 1, 1]
    assert plain.nodes == ("a", "b", "c")
    binary = as_graph(graph, symmetrize="union")
    assert binary.weights is None
    assert binary.multiplicity is None


@pytest.mark.parametrize("obj", [5, None, b"ab", object()])
def test_anything_else_is_refused_with_a_list_of_what_is_taken(obj):
    message = (
        rf"a graph is needed, got {type(obj).__module__}\.{type(obj).__qualname__}\."
        r"(.|\n)*networkx(.|\n)*igraph(.|\n)*NetworKit(.|\n)*scipy\.sparse(.|\n)*numpy"
        r"(.|\n)*list of edges(.|\n)*source, target(.|\n)*dict from nodes(.|\n)*"
        r"pandas or pyarrow(.|\n)*kgroups\.Graph(.|\n)*file"
    )
    with pytest.raises(GraphError, match=message):
        as_graph(obj)


@pytest.mark.parametrize("weight", [1, ("a",), True])
def test_weight_must_be_a_name(weight):
    with pytest.raises(InputError, match="weight must be the name of an edge attribute or None"):
        as_graph(nx.path_graph(3), weight=weight)


def test_symmetrize_must_be_known():
    message = "symmetrize must be one of None, 'sum', 'union', got 'max'"
    with pytest.raises(InputError, match=message):
        as_graph(nx.path_graph(3), symmetrize="max")


def test_a_string_is_a_file():
    message = r"nowhere\.csv: there is no such file\.\n.*known network is kgroups\.datasets\.load"
    with pytest.raises(FileFormatError, match=message):
        as_graph("nowhere.csv")


def test_no_graph_package_is_loaded_for_arrays():
    code = (
        "import sys, numpy as np; from kgroups.adapters import as_graph;"
        "as_graph((np.array([0, 1]), np.array([1, 2]))); as_graph(np.eye(3));"
        "heavy = {'networkx', 'igraph', 'pandas', 'pyarrow', 'numba'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_every_form_of_one_graph_is_the_same_graph(tmp_path):
    import igraph
    import pandas as pd
    from scipy import sparse

    G = nx.karate_club_graph()
    A = nx.to_scipy_sparse_array(G)
    upper = sparse.triu(A).tocoo()
    columns = (upper.row, upper.col, upper.data)
    table = pd.DataFrame(dict(zip(("source", "target", "weight"), columns, strict=True)))
    table.to_csv(tmp_path / "karate.csv", index=False)
    sparse.save_npz(tmp_path / "karate.npz", A)
    nx.write_gml(G, tmp_path / "karate.gml")
    expected = as_graph(G)
    for form in [
        nx.MultiGraph(G),
        igraph.Graph.from_networkx(G),
        A,
        A.toarray(),
        columns,
        table,
        *(tmp_path / f"karate.{suffix}" for suffix in ("csv", "npz", "gml")),
    ]:
        graph = as_graph(form)
        assert list(graph.nodes) == list(range(34))
        assert np.array_equal(graph.indptr, expected.indptr)
        assert np.array_equal(graph.indices, expected.indices)
        assert np.array_equal(graph.weights, expected.weights)
        assert graph.multiplicity is None
