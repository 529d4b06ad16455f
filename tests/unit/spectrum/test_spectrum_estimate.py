import json
import pickle

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.data import each, needs
from kgroups import BetheHessian, Graph, datasets, estimate_k
from kgroups._csr import connected_components
from kgroups.errors import (
    CrowdedThresholdWarning,
    DisassortativeWarning,
    InputError,
    KGroupsWarning,
)
from kgroups.spectrum import Spectrum, count_components, subspace
from kgroups.spectrum.count import Layout, count_on
from kgroups.spectrum.estimate import spectrum_of

RULES = ("mean-degree", "second-moment", "nonbacktracking")


def kinds(spectrum):
    return {type(warning) for warning in spectrum.warnings}


@pytest.mark.parametrize(
    ("name", "k"),
    each(
        [
            ("karate", 2),
            ("dolphins", 2),
            ("football", 10),
            ("polbooks", 4),
            ("drosophila_left", 2),
            ("drosophila_right", 2),
        ]
    ),
)
def test_k_of_the_papers_small_networks(name, k):
    symmetrize = "union" if name.startswith("drosophila") else None
    spectrum = estimate_k(datasets.load(name, symmetrize=symmetrize).graph, weight=None)
    assert spectrum.k == k
    assert CrowdedThresholdWarning not in kinds(spectrum)


@needs("ca-GrQc")
def test_k_of_ca_grqc_with_and_without_its_loops():
    graph = datasets.load("ca-GrQc").graph
    assert estimate_k(graph, self_loops="keep").k == 165
    spectrum = estimate_k(graph)
    assert spectrum.k == 164
    assert [spectrum.k_at[rule] for rule in RULES] == [164, 87, 29]
    assert spectrum.methods["inertia"] > 0
    assert spectrum.methods["pruned"] > 0
    assert kinds(spectrum) == {CrowdedThresholdWarning}


@needs("cora")
def test_k_of_cora_at_the_three_rules():
    spectrum = estimate_k(datasets.load("cora").graph)
    assert [spectrum.k_at[rule] for rule in RULES] == [61, 36, 40]


def test_eigenvalues_gap_and_rules_of_karate():
    graph = nx.karate_club_graph()
    spectrum = estimate_k(graph, weight=None)
    N = BetheHessian().normalized_matrix(graph, weight=None).toarray()
    nu = np.linalg.eigvalsh(N)[::-1]
    np.testing.assert_allclose(spectrum.eigenvalues, nu[: len(spectrum.eigenvalues)])
    assert spectrum.gap == pytest.approx(nu[1] - nu[2])
    assert spectrum.r_choice == "mean-degree"
    for rule in RULES:
        own = estimate_k(graph, weight=None, operator=BetheHessian(rule))
        assert own.r == spectrum.r_at[rule]
        assert own.k == spectrum.k_at[rule]
        assert own.r_choice == rule
    given = estimate_k(graph, weight=None, operator=BetheHessian(3.0))
    assert given.r_choice == "given"
    assert given.r == 3.0
    assert given.k_at == spectrum.k_at


@pytest.mark.parametrize(
    "graph", [nx.empty_graph(0), nx.empty_graph(1), nx.empty_graph(4), nx.path_graph(2)]
)
def test_graphs_without_structure_have_defined_answers(graph):
    spectrum = estimate_k(graph)
    assert spectrum.k == 0
    assert set(spectrum.k_at.values()) == {0}
    assert spectrum.warnings == ()
    assert np.isfinite(spectrum.gap)
    assert "shows no communities" in repr(spectrum)


def test_a_single_clique_is_one_community():
    spectrum = estimate_k(nx.complete_graph(8))
    assert spectrum.k == 1
    assert spectrum.below_minus_one == 0


@pytest.mark.parametrize(
    "graph",
    [
        nx.grid_2d_graph(30, 30),
        nx.triangular_lattice_graph(25, 25),
        nx.random_geometric_graph(500, 0.08, seed=1),
        nx.watts_strogatz_graph(1000, 6, 0.05, seed=1),
    ],
    ids=["grid", "triangles", "geometric", "small world"],
)
def test_meshes_crowd_the_threshold(graph):
    spectrum = estimate_k(graph)
    assert CrowdedThresholdWarning in kinds(spectrum)
    crowded = next(w for w in spectrum.warnings if isinstance(w, CrowdedThresholdWarning))
    assert str(crowded).startswith(
        f"the number of communities that the spectrum shows, {spectrum.k}, is uncertain: grids,"
    )


def test_k_of_the_grid_is_the_known_wrong_one():
    assert estimate_k(nx.grid_2d_graph(30, 30)).k == 37


@pytest.mark.parametrize(
    "graph",
    [
        nx.planted_partition_graph(4, 32, 0.4, 0.05, seed=0),
        nx.planted_partition_graph(10, 100, 0.08, 0.003, seed=0),
        nx.ring_of_cliques(10, 8),
        nx.gnm_random_graph(1000, 5000, seed=0),
        nx.barabasi_albert_graph(1000, 3, seed=0),
    ],
    ids=["girvan-newman", "ten groups", "cliques", "random", "preferential"],
)
def test_clear_communities_and_random_graphs_do_not_crowd_it(graph):
    assert kinds(estimate_k(graph)) == set()


@pytest.mark.parametrize(
    "graph",
    [
        nx.complete_bipartite_graph(6, 9),
        nx.complete_multipartite_graph(8, 8, 8),
        nx.stochastic_block_model([300, 300], [[0.001, 0.03], [0.03, 0.001]], seed=0),
    ],
    ids=["complete bipartite", "complete tripartite", "disassortative blocks"],
)
def test_groups_that_avoid_themselves_are_told(graph):
    spectrum = estimate_k(graph)
    assert spectrum.below_minus_one >= 1
    warning = next(w for w in spectrum.warnings if isinstance(w, DisassortativeWarning))
    assert "nodes avoid one another" in str(warning)
    assert f"{spectrum.below_minus_one} eigenvalue" in str(warning)
    N = BetheHessian().normalized_matrix(graph).toarray()
    assert spectrum.below_minus_one == np.count_nonzero(np.linalg.eigvalsh(N) < -1.0)


def test_weights_are_seen_and_can_be_ignored():
    graph = nx.gnm_random_graph(120, 1200, seed=3)
    for u, v in graph.edges:
        graph[u][v]["weight"] = 6.0 if u % 3 == v % 3 else 1.0
    assert estimate_k(graph, weight=None).k == 1
    assert estimate_k(graph).k == 3


def test_one_enormous_weight_does_not_hide_the_communities():
    graph = nx.planted_partition_graph(3, 60, 0.3, 0.02, seed=0)
    assert estimate_k(graph).k == 3
    nx.set_edge_attributes(graph, 1.0, "weight")
    u, v = next(iter(graph.edges))
    graph[u][v]["weight"] = 1000.0
    assert estimate_k(graph).k == 3


def test_dict_json_and_pickle_round_trips():
    spectrum = estimate_k(nx.grid_2d_graph(30, 30))
    assert kinds(spectrum) == {CrowdedThresholdWarning, DisassortativeWarning}
    again = Spectrum.from_dict(json.loads(json.dumps(spectrum.to_dict())))
    for copy in (again, pickle.loads(pickle.dumps(spectrum))):
        assert copy == spectrum
        assert [(type(w), str(w)) for w in copy.warnings] == [
            (type(w), str(w)) for w in spectrum.warnings
        ]


def test_a_warning_of_unknown_kind_is_kept_as_a_plain_one():
    values = estimate_k(nx.karate_club_graph()).to_dict()
    values["warnings"] = [{"kind": "InputError", "message": "a"}, {"kind": "?", "message": "b"}]
    assert [type(w) for w in Spectrum.from_dict(values).warnings] == [KGroupsWarning] * 2


def test_repr_says_what_matters():
    text = repr(estimate_k(nx.karate_club_graph(), weight=None))
    assert text.splitlines() == [
        "Spectrum(shows 2 communities)",
        "  k by rule for r: mean-degree 2, second-moment 2, nonbacktracking 2",
        "  r = 2.142 (mean-degree), gap at 1: 0.229",
        "  eigenvalues of N_r: 1.288 1.021 | 1 | 0.792 0.658 0.406",
    ]
    assert repr(estimate_k(nx.grid_2d_graph(30, 30))).startswith(
        "Spectrum(shows 37 communities)\n  CrowdedThresholdWarning: the number of communities"
    )
    assert repr(estimate_k(nx.empty_graph(3))).startswith("Spectrum(shows no communities)\n")


def test_what_is_known_can_be_handed_in():
    adjacency = Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3]).simple_adjacency()
    hessian = BetheHessian().bind(adjacency, weighted=False)
    _, labels = connected_components(adjacency)
    counts = count_components(hessian, labels)
    expected = spectrum_of(hessian, adjacency, weighted=False)
    assert spectrum_of(hessian, adjacency, weighted=False, counts=counts) == expected


def test_self_loops_must_be_dropped_or_kept():
    with pytest.raises(InputError, match="self_loops must be one of 'drop', 'keep', got True"):
        estimate_k(nx.karate_club_graph(), self_loops=True)


def test_estimate_k_is_public():
    assert kg.estimate_k is estimate_k


@pytest.mark.statistical
@pytest.mark.parametrize("name", each(["karate", "dolphins", "football", "polbooks"]))
def test_rewired_networks_hold_one_community(name):
    """Configuration-model nulls: 135 of 135 counts were 1 on a prototype; none of 8 may differ."""
    graph = datasets.load(name).graph
    source, target, _ = graph.edges()
    start = nx.Graph(zip(source.tolist(), target.tolist(), strict=True))
    for seed in range(8):
        null = nx.double_edge_swap(
            start.copy(), nswap=10 * start.number_of_edges(), max_tries=10**6, seed=seed
        )
        assert estimate_k(null).k == 1


@pytest.mark.compiled
def test_estimates_are_called_estimates(monkeypatch):
    """With so few columns allowed, the many communities of a large graph are not all found."""
    from kgroups.plotting import plot_spectrum

    graph = kg.generators.lfr_benchmark(
        20_000, degree=20, mixing=0.4, max_community=500, rng=0
    ).graph
    adjacency = graph.simple_adjacency()
    hessian = BetheHessian().bind(adjacency, weighted=False)
    monkeypatch.setattr(subspace, "_ROWS_TIMES_SQUARED_COLUMNS", 0.0)
    layout = Layout(hessian, connected_components(adjacency)[1])
    counts = count_on(hessian, layout, sign=1, with_next=True)
    spectrum = spectrum_of(hessian, adjacency, weighted=False, counts=counts)
    assert not spectrum.is_exact
    assert spectrum.k_low < spectrum.k < spectrum.k_high
    assert not any(spectrum.exact_at.values())
    assert spectrum.eigenvalues == ()
    assert f"shows {spectrum.k} communities, an estimate between {spectrum.k_low} and" in repr(
        spectrum
    )
    assert f"mean-degree about {spectrum.k}" in repr(spectrum)
    assert Spectrum.from_dict(json.loads(json.dumps(spectrum.to_dict()))) == spectrum
    assert f"k about {spectrum.k}" in plot_spectrum(spectrum).get_title("left")


def test_an_eigenvalue_at_the_threshold_is_listed_below_it():
    """A regular graph of degree d has the eigenvalue 1 at r = d - 1."""
    graph = nx.random_regular_graph(13, 600, seed=1)
    spectrum = estimate_k(graph, operator=BetheHessian(12.0))
    assert spectrum.k == spectrum.shown_above == 0
    assert spectrum.eigenvalues[0] == pytest.approx(1.0)
    assert spectrum.gap == pytest.approx(0.0, abs=1e-9)
