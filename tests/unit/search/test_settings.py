"""Methods and their settings as options."""

from dataclasses import FrozenInstanceError, fields, replace

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.errors import InputError
from kgroups.search import MoveRules, check_method


@pytest.mark.parametrize("kind", [kg.Auto, kg.Search, kg.Spectral])
def test_methods_are_values(kind):
    method = kind()
    check_method(method)
    assert method == kind()
    assert hash(method) == hash(kind())
    with pytest.raises(FrozenInstanceError):
        method.n = 3


@pytest.mark.parametrize("wrong", ["auto", None, kg.Spectral, 3, kg.Hartigan()])
def test_anything_else_is_no_method(wrong):
    message = r"method must be Auto\(\), Search\(\) or Spectral\(\), got "
    with pytest.raises(InputError, match=message):
        kg.detect_communities(nx.karate_club_graph(), method=wrong)


@pytest.mark.parametrize("wrong", [None, 8, kg.Search, {"starts": 3}])
def test_settings_of_the_search_are_a_search(wrong):
    with pytest.raises(InputError, match=r"search must be Search\(\), got "):
        kg.Auto(wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"starts": 0}, "starts must be a whole number >= 1, got 0"),
        ({"starts": 1.5}, "starts must be a whole number >= 1, got 1.5"),
        ({"patience": 0}, "patience must be a whole number >= 1, got 0"),
        ({"max_visits": 0}, "max_visits must be a whole number >= 1, got 0"),
        ({"max_visits": "many"}, "max_visits must be a whole number >= 1, got 'many'"),
        ({"scales": ()}, "scales must hold at least one exponent, got an empty tuple"),
        ({"scales": (0.3, -1.0)}, r"scales must be made of numbers >= 0, got \(0.3, -1.0\)"),
        ({"temperatures": ("hot",)}, r"temperatures must be made of numbers >= 0, got \('hot',\)"),
        ({"least_gain": -0.1}, "least_gain must be made of numbers >= 0, got -0.1"),
        (
            {"undecided_margin": float("nan")},
            "undecided_margin must be made of numbers >= 0, got nan",
        ),
        ({"at_stake": float("inf")}, "at_stake must be made of numbers >= 0, got inf"),
        ({"at_stake": None}, "at_stake must be made of numbers >= 0, got None"),
        ({"dispersion": 0.9}, "dispersion must be a number >= 1, got 0.9"),
        ({"dispersion": "auto"}, "dispersion must be a number >= 1, got 'auto'"),
        ({"treelike": True}, "treelike must be made of numbers >= 0, got True"),
        ({"significance": "ln 10"}, "significance must be made of numbers >= 0, got 'ln 10'"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        kg.Search(**options)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (kg.Spectral, {"exact_nodes": -1}, "exact_nodes must be a whole number >= 0, got -1"),
        (kg.Auto, {"max_few": 1.5}, "max_few must be a whole number >= 0, got 1.5"),
        (kg.Auto, {"spectral": kg.Search}, r"spectral must be Spectral\(\), got <class"),
        (
            kg.Spectral,
            {"solver": "dense"},
            "solver must be one of 'auto', 'exact', 'filtered', got 'dense'",
        ),
        (kg.Spectral, {"columns": 0.5}, "columns must be a number >= 1, got 0.5"),
        (kg.Spectral, {"sample": 0}, "sample must be a whole number >= 1, got 0"),
    ],
)
def test_bad_settings_of_methods_are_refused(make, options, message):
    with pytest.raises(InputError, match=message):
        make(**options)


FAINT = kg.generators.planted_partition(900, k=2, degree=8.0, snr=1.8, rng=3).graph
SMALL_EXACT = kg.Auto(spectral=kg.Spectral(exact_nodes=100))


def test_exact_nodes_decide_how_eigenvectors_are_computed():
    stages = []
    exact = kg.detect_communities(FAINT, progress=stages.append)
    assert "filtering a subspace" not in stages
    filtered = kg.detect_communities(FAINT, method=SMALL_EXACT, progress=stages.append)
    assert "filtering a subspace" in stages
    assert exact.report.k_found == filtered.report.k_found == 2


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize(("exact_nodes", "same"), [(900, "exact"), (899, "filtered")])
def test_the_solver_follows_from_the_size_unless_it_is_chosen(exact_nodes, same, k):
    stages, expected = [], []
    auto = kg.Spectral(exact_nodes=exact_nodes)
    found = kg.detect_communities(FAINT, k, method=auto, progress=stages.append)
    chosen = kg.Spectral(same, exact_nodes=exact_nodes)
    other = kg.detect_communities(FAINT, k, method=chosen, progress=expected.append)
    assert np.array_equal(found.labels, other.labels)
    assert stages == expected
    assert ("filtering a subspace" in stages) == (same == "filtered")
    # Eigenvalues are counted where all are known exactly, and not on larger graphs.
    assert (found.report.k_hat is None) == (other.report.k_hat is None) == (same == "filtered")


@pytest.mark.parametrize("k", [None, 8])
def test_small_components_are_exact_beside_a_filtered_one(k):
    large = nx.planted_partition_graph(2, 150, 0.12, 0.005, seed=1)
    G = nx.disjoint_union(large, nx.ring_of_cliques(6, 16))
    stages = []
    found = kg.detect_communities(G, k, method=kg.Spectral(exact_nodes=100), progress=stages.append)
    assert "filtering a subspace" in stages
    assert len(found) == 8
    if k is None:
        assert sorted(map(len, found)) == [16] * 6 + [150] * 2
    assert found.report.k_hat is None


@pytest.mark.parametrize("options", [{"max_few": 1}, {"min_few_size": 600}])
def test_a_subspace_is_not_filtered_for_more_communities_than_it_resolves(options):
    stages = []
    method = replace(SMALL_EXACT, **options)
    found = kg.detect_communities(FAINT, method=method, progress=stages.append)
    assert "filtering a subspace" not in stages
    assert len(found) == 1


# One other value for each setting, and some at the border of what is allowed.
OTHER = {
    "scales": [(0.5,), (0.0, 1.0), (0.2, 0.4)],
    "starts": [1, 20],
    "least_gain": [0.0, 0.5],
    "patience": [1, 10],
    "temperatures": [(), (0.5,), (5.0, 2.0, 1.0, 0.5)],
    "undecided_margin": [0.0, 50.0],
    "at_stake": [0.0, 10.0],
    "treelike": [0.0, 1.0],
    "significance": [0.0, 20.0],
    "max_visits": [1, 100],
    "spectral_nodes": [0, 10**20],
    "clear_communities": [0.0, 1e9],
    "clear_signal": [0.0, 1e9],
    "dispersion": [1.0, 1.2],
}
CHANGED = [(name, value) for name, values in OTHER.items() for value in values]


def test_every_setting_is_tried():
    assert set(OTHER) == {one.name for one in fields(kg.Search) if not isinstance(one.default, str)}


@pytest.mark.parametrize(("name", "value"), CHANGED)
def test_communities_are_found_whatever_a_setting_is(name, value):
    settings = replace(kg.Search(), **{name: value})
    G = nx.ring_of_cliques(12, 7)
    cliques = {frozenset(range(7 * a, 7 * a + 7)) for a in range(12)}
    for method in (settings, kg.Auto(settings)):
        assert set(kg.detect_communities(G, method=method)) == cliques
    assert set(kg.detect_communities(G, 12, method=settings)) == cliques


def test_communities_that_save_too_little_are_one():
    G = nx.ring_of_cliques(8, 6)
    saved = kg.detect_communities(G, method=kg.Search()).report.components[0].nats
    for bound, k in ((saved - 1.0, 8), (saved + 1.0, 1)):
        method = kg.Search(significance=bound)
        assert len(kg.detect_communities(G, method=method)) == k


def test_the_rules_of_moves_hold_the_settings():
    settings = kg.Search(undecided_margin=2.0, max_visits=7)
    rules = MoveRules.of(settings, np.random.default_rng(0))
    assert (rules.undecided_margin, rules.max_visits, rules.fixed_k) == (2.0, 7, False)
    # A power of two, as the mask of the kernels needs it.
    assert rules.noise.size & (rules.noise.size - 1) == 0
    assert rules.noise.mean() == pytest.approx(np.euler_gamma, abs=5 * 1.28 / 128)


def test_the_stream_decides_the_noise():
    first, again, other = (
        MoveRules.of(kg.Search(), np.random.default_rng(seed)).noise for seed in (0, 0, 1)
    )
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
