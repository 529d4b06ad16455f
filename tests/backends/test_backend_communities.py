"""Louvain and Leiden through the networkx backend: networkx's objective, igraph's draws."""

import random
import threading
from statistics import mean

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgroups as kg
from helpers.backend_parity import assert_declined
from helpers.strategies_backends import cases
from kgroups.backends.networkx import communities
from kgroups.backends.networkx.graph import convert_from_nx
from kgroups.backends.networkx.interface import NETWORKX_VERSION
from kgroups.errors import InputError
from kgroups.studies import METHODS, TrialContext

modularity = nx.community.modularity
leiden_on_modularity = pytest.mark.skipif(
    not (3, 5) <= NETWORKX_VERSION < (3, 7), reason="networkx has no Leiden on modularity"
)
COUNTED = ("none", "partial")


def leiden(G, **options):
    """Call the backend's own function, which networkx 3.4 knows no name for."""
    converted = convert_from_nx(G, edge_attrs={options.get("weight", "weight"): 1})
    return communities.leiden_communities(converted, seed=random.Random(1), **options)


def edge_weights(graph, weight):
    return [w for *_, w in graph.edges(data=weight, default=1)]


@given(cases(weights=COUNTED), st.sampled_from([None, "weight"]), st.integers(0, 99))
def test_louvain_levels_are_partitions_that_rise_as_networkx_defines_them(case, weight, seed):
    G = case.graph
    if G.number_of_edges() and not sum(edge_weights(G, weight)):
        assert_declined(nx.community.louvain_communities, G, weight=weight)
        return
    levels = list(nx.community.louvain_partitions(G, weight, seed=seed, backend="kgroups"))
    best = nx.community.louvain_communities(G, weight, seed=seed, backend="kgroups")
    assert levels[-1] == best
    for level in levels:
        assert nx.community.is_partition(G, level)
        assert all(type(part) is set for part in level)
    assert {id(v) for part in best for v in part} == {id(v) for v in G}
    if G.number_of_edges():
        scores = [modularity(G, level, weight) for level in levels]
        assert scores == sorted(scores)
        assert scores[0] >= modularity(G, [{v} for v in G], weight) - 1e-12


@given(cases(weights=COUNTED), st.sampled_from([None, "weight"]))
def test_leiden_communities_are_partitions(case, weight):
    G = case.graph
    if weight and G.number_of_edges() and not sum(edge_weights(G, weight)):
        with pytest.raises(NotImplementedError, match="not all 0"):
            leiden(G, weight=weight)
        return
    parts = leiden(G, weight=weight) if weight else leiden(G, weight="absent")
    assert nx.community.is_partition(G, parts)
    assert {id(v) for part in parts for v in part} == {id(v) for v in G}


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["karate", "weighted karate", "planted", "loops", "parallel"])
@pytest.mark.parametrize("resolution", [1, 0.5, 2])
def test_louvain_is_as_good_as_networkx(name, resolution):
    """The mean of 20 runs is within five standard errors of the mean of 20 of networkx."""
    G = {
        "karate": nx.Graph(nx.karate_club_graph().edges),
        "weighted karate": nx.karate_club_graph(),
        "planted": nx.planted_partition_graph(4, 25, 0.4, 0.05, seed=1),
        "loops": nx.karate_club_graph(),
        "parallel": nx.MultiGraph([*nx.karate_club_graph().edges] * 2),
    }[name]
    if name == "loops":
        G.add_edges_from([(v, v, {"weight": 3 * v}) for v in list(G)[:9]])
    scores = {}
    for backend in ("kgroups", "networkx"):
        runs = (
            nx.community.louvain_communities(G, resolution=resolution, seed=s, backend=backend)
            for s in range(20)
        )
        scores[backend] = [modularity(G, parts, resolution=resolution) for parts in runs]
    spread = np.hypot(np.std(scores["kgroups"]), np.std(scores["networkx"])) / np.sqrt(20)
    assert mean(scores["kgroups"]) >= mean(scores["networkx"]) - 5 * spread - 1e-9
    assert mean(scores["networkx"]) >= mean(scores["kgroups"]) - 5 * spread - 1e-2


def test_louvain_stops_at_the_threshold_of_networkx():
    G = nx.planted_partition_graph(6, 30, 0.4, 0.02, seed=1)
    every = list(nx.community.louvain_partitions(G, seed=3, backend="kgroups"))
    assert len(every) > 1
    gains = np.diff([modularity(G, level) for level in ([{v} for v in G], *every)])
    stopped = nx.community.louvain_partitions(G, seed=3, threshold=gains[0], backend="kgroups")
    assert list(stopped) == every[:1]


def test_seeds_repeat_and_move_on():
    G = nx.gnm_random_graph(60, 200, seed=2)
    run = nx.community.louvain_communities
    assert run(G, seed=4, backend="kgroups") == run(G, seed=4, backend="kgroups")
    source = random.Random(4)
    drawn = [run(G, seed=source, backend="kgroups") for _ in range(8)]
    assert any(one != drawn[0] for one in drawn)


def louvain_of_backend():
    return nx.community.louvain_communities(nx.karate_club_graph(), seed=1, backend="kgroups")


def louvain_of_study():
    graph = kg.generators.planted_partition(40, 2, 6.0, 1.5, rng=0).graph
    return METHODS["louvain"].find(TrialContext(graph, graph, 2, 5)).tolist()


@pytest.fixture
def igraph_generator():
    """Return what sets the generator of igraph; the default one is set again afterwards."""
    yield igraph.set_random_number_generator
    igraph.set_random_number_generator(random)


def drawn():
    return igraph.Graph.Erdos_Renyi(20, m=30).get_edgelist()


@pytest.mark.parametrize("call", [louvain_of_backend, louvain_of_study])
def test_igraph_draws_from_pythons_generator_again_afterwards(call):
    random.seed(11)
    before = drawn()
    random.seed(11)
    call()
    assert drawn() == before


@pytest.mark.parametrize("call", [louvain_of_backend, louvain_of_study])
def test_igraph_draws_from_its_own_generator_again_afterwards(call, igraph_generator):
    expected = call()
    igraph_generator(None)
    assert call() == expected
    before = random.getstate()
    drawn()
    assert random.getstate() == before


@pytest.mark.parametrize("call", [louvain_of_backend, louvain_of_study])
def test_a_generator_that_the_caller_gave_to_igraph_is_never_replaced(call, igraph_generator):
    own = random.Random(3)
    igraph_generator(own)
    with pytest.raises((NotImplementedError, InputError), match=r"kgroups|set_random_number_gen"):
        call()
    before = own.getstate()
    drawn()
    assert own.getstate() != before


def test_each_thread_keeps_its_generator_of_igraph():
    """New threads draw from igraph's own generator, where igraph was built with threads in mind."""
    expected, found = louvain_of_backend(), []
    one_at_a_time, both_ran = threading.Lock(), threading.Barrier(2, timeout=60)

    def draws_from_python():
        with one_at_a_time:
            before = random.getstate()
            drawn()
            return random.getstate() != before

    def run():
        before = draws_from_python()
        both_ran.wait()
        found.extend(louvain_of_backend() == expected for _ in range(20))
        both_ran.wait()
        found.append(draws_from_python() == before)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 42
    assert draws_from_python()


@leiden_on_modularity
def test_leiden_of_networkx_reaches_the_known_best_modularity():
    G = nx.karate_club_graph()
    best = max(
        modularity(G, nx.community.leiden_communities(G, None, seed=s, backend="kgroups"), None)
        for s in range(5)
    )
    assert best == pytest.approx(0.41979, abs=1e-5)


@leiden_on_modularity
def test_leiden_partitions_are_its_iterations():
    G = nx.gnm_random_graph(200, 600, seed=1)
    levels = list(nx.community.leiden_partitions(G, seed=5, backend="kgroups"))
    scores = [modularity(G, level) for level in levels]
    assert len(levels) > 1
    assert all(np.diff(scores) > 0)
    for count, level in enumerate(levels, 1):
        limited = nx.community.leiden_communities(G, max_level=count, seed=5, backend="kgroups")
        assert limited == level


def test_leiden_of_networkx_3_7_optimises_the_potts_model_by_default():
    converted = convert_from_nx(nx.ring_of_cliques(6, 5), edge_attrs={"weight": 1})
    source = random.Random(1)
    by_default = communities.leiden_communities_by_metric(converted, resolution=0.2, seed=source)
    assert len(by_default) == 6
    # At resolution 1 no set of nodes but a clique is worth joining; a clique is worth nothing.
    single = communities.leiden_communities_by_metric(converted, resolution=1.1, seed=source)
    assert len(single) == 30
    on_modularity = communities.leiden_communities_by_metric(
        converted, resolution=1.1, seed=source, metric="modularity"
    )
    assert len(on_modularity) == 6
    (last,) = list(communities.leiden_partitions_by_metric(converted, resolution=0.2, seed=source))[
        -1:
    ]
    assert sorted(map(sorted, last)) == sorted(map(sorted, by_default))
    with pytest.raises(NotImplementedError, match="metric must be 'cpm' or 'modularity'"):
        communities.leiden_communities_by_metric(converted, metric="other")


@pytest.mark.parametrize(
    ("resolution", "expected"),
    [
        (0.2, [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9]]),
        (0.4, [[0, 1, 2], [3, 4], [5, 6], [7, 8, 9]]),
    ],
)
def test_leiden_of_networkx_3_7_on_its_own_example(resolution, expected):
    converted = convert_from_nx(nx.barbell_graph(3, 4), edge_attrs={"weight": 1})
    found = communities.leiden_communities_by_metric(
        converted, resolution=resolution, seed=random.Random(1)
    )
    assert sorted(map(sorted, found)) == expected


def test_leiden_counts_self_loops_in_the_degrees():
    """Without the loops the two triangles would be one community each."""
    G = nx.Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)])
    assert len(leiden(G)) == 2
    G.add_edges_from((v, v, {"weight": 40}) for v in range(6))
    assert len(leiden(G)) == 6
    assert modularity(G, leiden(G)) > modularity(G, [{0, 1, 2}, {3, 4, 5}])


def test_max_level_must_be_positive():
    with pytest.raises(ValueError, match="max_level argument must be a positive integer"):
        nx.community.louvain_communities(nx.path_graph(3), max_level=0, backend="kgroups")


def test_what_igraph_does_otherwise_is_left_to_networkx():
    G = nx.path_graph(3)
    assert_declined(nx.community.louvain_communities, nx.DiGraph(G))
    assert_declined(nx.community.louvain_communities, G, resolution=-1)
    assert_declined(nx.community.louvain_communities, G, resolution=True)
    for weight in (-1.0, float("nan"), float("inf"), 0):
        G = nx.Graph()
        G.add_edge(0, 1, weight=weight)
        assert_declined(nx.community.louvain_communities, G)
        assert_declined(nx.community.louvain_partitions, G)
