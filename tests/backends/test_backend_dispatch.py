"""When networkx calls the backend, what it keeps, and what its import loads."""

import copy
import inspect
import os
import pickle
import subprocess
import sys

import networkx as nx
import pytest
from hypothesis import given

import _kgroups_nx
import kgroups as kg
from helpers.strategies_backends import Subclass, cases
from kgroups.backends.networkx import backend_interface
from kgroups.backends.networkx.graph import convert_from_nx, convert_to_nx
from kgroups.backends.networkx.interface import EXPECTED_FAILURES, SERVED, can_run, should_run


@pytest.fixture
def automatic():
    """Let networkx choose the backend itself."""
    # networkx 3.4 does not restore nx.config(backend_priority=[...]).
    with nx.config.backend_priority(algos=["kgroups"]):
        yield


@pytest.fixture
def served(monkeypatch):
    """Return the names of the functions that networkx called, in order."""
    names = []
    for name in SERVED:
        function = getattr(backend_interface, name)

        def call(*args, name=name, function=function, **kwargs):
            names.append(name)
            return function(*args, **kwargs)

        monkeypatch.setattr(backend_interface, name, call)
    return names


def gnm(n=300, m=1_500):
    return nx.gnm_random_graph(n, m, seed=1)


def halves(G):
    nodes = list(G)
    return [set(nodes[: len(nodes) // 2]), set(nodes[len(nodes) // 2 :])]


def is_converted(G):
    """Whether networkx keeps a conversion of a graph for this backend."""
    return bool((G.__networkx_cache__ or {}).get("backends", {}).get("kgroups"))


def run_python(code):
    finished = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return finished.stdout.strip()


def test_importing_networkx_loads_nothing_of_kgroups_but_its_names():
    loaded = run_python(
        "import networkx, sys\n"
        "print(*sorted({m.partition('.')[0] for m in sys.modules} "
        "& {'kgroups', '_kgroups_nx', 'numba', 'igraph', 'llvmlite'}))"
    )
    assert loaded == "_kgroups_nx"


def test_the_names_themselves_load_nothing():
    before_and_after = run_python(
        "import sys, typing\n"
        "before = set(sys.modules)\n"
        "import _kgroups_nx; _kgroups_nx.get_info()\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    assert before_and_after == "_kgroups_nx"


def test_the_listed_functions_are_the_served_ones():
    info = _kgroups_nx.get_info()
    assert list(info["functions"]) == list(SERVED)
    assert info["backend_name"] == "kgroups"
    assert all(
        set(text) <= {"additional_docs", "additional_parameters"}
        for text in info["functions"].values()
    )
    assert "the k lowest eigenvalues" in nx.bethe_hessian_spectrum.__doc__


def test_defaults_are_those_of_networkx():
    for name, ours in SERVED.items():
        native = nx.utils.backends._registered_algorithms.get(name)
        if native is None:
            assert name.startswith("leiden")
            continue
        theirs = inspect.signature(native).parameters
        for parameter in inspect.signature(ours.function).parameters.values():
            if parameter.name in theirs:
                assert parameter.default == theirs[parameter.name].default, (name, parameter)
            else:
                assert (name, parameter.name) == ("bethe_hessian_spectrum", "k")


def test_at_most_ten_tests_of_networkx_are_expected_to_fail():
    assert len(EXPECTED_FAILURES) <= 10
    assert all(EXPECTED_FAILURES.values())


def test_expected_failures_of_networkx_are_known_from_an_empty_folder(tmp_path):
    """Names of tests begin at pytest's root, which without a project is the tests' own folder."""
    module, names = "networkx.algorithms.community.tests.test_louvain", []
    for test in EXPECTED_FAILURES:
        assert test.startswith(f"{module}::")
        names.append(test.partition("::")[2])
    chosen = ["--pyargs", module, "-k", " or ".join(names)]
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "NETWORKX_TEST_BACKEND": "kgroups"},
    )
    assert finished.returncode == 0, finished.stdout
    assert f"{len(names)} xfailed" in finished.stdout


def test_large_plain_graphs_are_taken_automatically(automatic, served):
    G = gnm()
    nx.community.modularity(G, halves(G))
    nx.to_scipy_sparse_array(G)
    assert served == ["modularity", "to_scipy_sparse_array"]


def test_small_graphs_and_views_are_left_to_networkx(automatic, served):
    G = gnm(30, 60)
    nx.community.modularity(G, halves(G))
    view = gnm().subgraph(range(250))
    nx.community.modularity(view, halves(view))
    nx.to_scipy_sparse_array(view)
    assert served == []


def test_louvain_is_taken_on_views_too(automatic, served):
    nx.community.louvain_communities(gnm().subgraph(range(250)), seed=1)
    assert served == ["louvain_communities"]


def test_calls_that_cannot_run_are_explained():
    twice = can_run("modularity", (gnm(), [], None), {"weight": None})
    assert twice == "unexpected keyword argument 'weight'"
    assert "at most 2 arguments" in can_run("inter_community_edges", (gnm(), [], 2), {})


@pytest.mark.parametrize(
    "function", [nx.community.louvain_communities, nx.community.louvain_partitions]
)
def test_louvain_says_why_it_refuses_directed_graphs(function):
    D = gnm().to_directed()
    for graph in (D, nx.DiGraph()):
        with pytest.raises(NotImplementedError, match="kgroups") as raised:
            function(graph, backend="kgroups")
        reason = str(raised.value.__cause__)
        assert "networkx computes with the directions" in reason
        assert "G.to_undirected(), which drops the directions" in reason


@pytest.mark.parametrize("name", SERVED)
def test_directed_graphs_are_left_to_networkx(name):
    D = gnm().to_directed()
    reason = "undirected graphs only"
    assert reason in should_run(name, (D,), {})
    with pytest.raises(NotImplementedError, match=reason):
        convert_from_nx(D, name=name)


def test_directed_louvain_is_left_to_networkx():
    D = gnm().to_directed()
    assert "undirected graphs only" in should_run("louvain_communities", (D,), {})
    expected = nx.community.louvain_communities(D, seed=1)
    with nx.config.backend_priority(algos=["kgroups"]):
        assert nx.community.louvain_communities(D, seed=1) == expected


def test_a_changed_graph_is_read_again():
    G = gnm()
    before = nx.community.modularity(G, halves(G), backend="kgroups")
    G.add_edge(0, 299)
    assert not is_converted(G)
    after = nx.community.modularity(G, halves(G), backend="kgroups")
    assert after == pytest.approx(nx.community.modularity(G, halves(G), backend="networkx"))
    assert after != before


def test_views_follow_the_graph_below_them():
    G = gnm()
    view = G.subgraph(range(200))
    blocks = halves(view)
    for _ in range(2):
        ours = nx.community.modularity(view, blocks, backend="kgroups")
        assert ours == pytest.approx(nx.community.modularity(view, blocks, backend="networkx"))
        G.add_edges_from([(i, i + 1) for i in range(60)])


def test_what_other_backends_keep_of_a_view_stays():
    view = gnm().subgraph(range(200))
    view.__networkx_cache__["backends"] = {"other": {"key": "graph"}}
    nx.community.modularity(view, halves(view), backend="kgroups")
    assert view.__networkx_cache__ == {"backends": {"other": {"key": "graph"}}}
    view.__networkx_cache__ = None
    nx.community.modularity(view, halves(view), backend="kgroups")
    assert view.__networkx_cache__ is None


def test_a_subclass_keeps_its_conversion_until_it_changes():
    G = Subclass(gnm())
    before = nx.community.modularity(G, halves(G), backend="kgroups")
    assert is_converted(G)
    G.add_edge(0, 299)
    assert not is_converted(G)
    assert nx.community.modularity(G, halves(G), backend="kgroups") != before


def test_a_graph_without_a_cache_is_read_at_each_call():
    G = gnm()
    G.__networkx_cache__ = None
    blocks = halves(G)
    for weight in (1, 5):
        nx.set_edge_attributes(G, {(u, v): weight * u for u, v in G.edges}, "weight")
        ours = nx.community.modularity(G, blocks, backend="kgroups")
        assert ours == pytest.approx(nx.community.modularity(G, blocks, backend="networkx"))
    assert not is_converted(G)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copied_graph_is_converted_again(duplicate):
    G = gnm()
    nx.community.modularity(G, halves(G), backend="kgroups")
    twin = duplicate(G)
    twin.add_edge(0, 299)
    ours = nx.community.modularity(twin, halves(G), backend="kgroups")
    assert ours == pytest.approx(nx.community.modularity(twin, halves(G), backend="networkx"))


def test_a_pickled_graph_needs_no_kgroups_and_holds_no_arrays(tmp_path):
    G = gnm()
    plain = len(pickle.dumps(G))
    nx.community.modularity(G, halves(G), backend="kgroups")
    kg.detect_communities(G)
    written = pickle.dumps(G)
    assert len(written) < plain + 500
    file = tmp_path / "graph.pickle"
    file.write_bytes(written)
    code = (
        "import sys\n"
        "sys.modules.update({'kgroups': None, '_kgroups_nx': None})\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        f"import pickle; G = pickle.load(open({str(file)!r}, 'rb'))\n"
        "print(G.number_of_edges())"
    )
    assert run_python(code) == "1500"
    again = pickle.loads(written)
    ours = nx.community.modularity(again, halves(again), backend="kgroups")
    assert ours == pytest.approx(nx.community.modularity(G, halves(G), backend="networkx"))


@given(cases())
def test_there_and_back(case):
    G = case.graph
    converted_graph = convert_from_nx(G, edge_attrs={"weight": 1})
    parallel = len(set(G.edges())) < G.number_of_edges()
    if parallel and any("weight" in data for *_, data in G.edges(data=True)):
        return
    back = convert_to_nx(converted_graph)
    assert list(back) == list(G)
    assert back.is_directed() == G.is_directed()
    assert back.is_multigraph() == G.is_multigraph()
    assert nx.utils.edges_equal(
        [(u, v, {"weight": w}) for u, v, w in back.edges(data="weight", default=1)],
        [(u, v, {"weight": w}) for u, v, w in G.edges(data="weight", default=1)],
    )


def test_weights_of_single_parallel_edges_are_not_invented():
    G = nx.MultiGraph()
    G.add_edge(0, 1, weight=2)
    G.add_edge(0, 1, weight=3)
    with pytest.raises(NotImplementedError, match="only their sums"):
        convert_to_nx(convert_from_nx(G, edge_attrs={"weight": 1}))


def test_a_converted_graph_goes_to_networkx_where_kgroups_has_no_function():
    graph = convert_from_nx(nx.path_graph(3))
    assert convert_to_nx("no graph") == "no graph"
    with nx.config(fallback_to_nx=True):
        assert nx.diameter(graph) == 2
    assert repr(graph) == "Graph with 3 nodes and 2 edges"
    assert len(graph) == 3
    assert 2 in graph
    assert [] not in graph


def test_what_does_not_fit_into_arrays_is_left_to_networkx():
    with pytest.raises(NotImplementedError, match="single edge attributes, not all"):
        convert_from_nx(nx.path_graph(3), preserve_edge_attrs=True)
    with pytest.raises(NotImplementedError, match="a networkx graph is needed, got NodeView"):
        convert_from_nx(nx.path_graph(3).nodes)
