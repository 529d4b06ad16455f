"""P(k): what it is computed from, what it says, and what it refuses."""

import itertools
import json
from dataclasses import FrozenInstanceError

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.data import needs
from kgroups.errors import InputError, NumberOfCommunitiesError
from kgroups.generators import planted_partition
from kgroups.search import ComponentNumbers, numbers, prepare, scale_nats
from kgroups.uncertainty import number

KARATE = nx.karate_club_graph()
# Twelve caves of six nodes; their description decides.
CAVES = nx.relaxed_caveman_graph(12, 6, 0.25, seed=0)
# Components of several shapes: two with a choice of k, a tree, a small one and an isolated node.
PARTS = nx.disjoint_union_all(
    [
        nx.karate_club_graph(),
        nx.relaxed_caveman_graph(4, 6, 0.2, seed=3),
        nx.path_graph(12),
        nx.complete_graph(4),
        nx.empty_graph(1),
    ]
)


def numbers_of(**nats):
    """Return numbers of communities of a component with these nats, as ``k3=1.5``."""
    found = ComponentNumbers(1, evidence=False)
    found.nats.clear()
    for name, value in nats.items():
        found.add(int(name[1:]), value)
    return found


@pytest.mark.compiled
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("graph", [KARATE, nx.les_miserables_graph(), PARTS], ids=len)
def test_what_detection_finds_is_compared(graph, weight):
    found = kg.k_distribution(graph, weight=weight)
    partition = kg.detect_communities(graph, weight=weight)
    assert found.k_found == len(partition)
    assert found.probability(len(partition)) > 0.0
    assert found.dispersion == partition.report.dispersion
    if found.k == len(partition):
        assert found.explanation == ""
    else:
        assert found.explanation.startswith(f"detect_communities returns {len(partition)}")
        assert found.explanation in str(found)


@pytest.mark.compiled
@pytest.mark.parametrize(
    # Chance gives several communities some evidence: .936 to .986 on six random graphs.
    ("k", "degree", "snr", "least"),
    [(1, 6.0, 0.0, 0.9), (2, 8.0, 2.2, 0.99), (6, 12.0, 2.5, 0.99)],
)
def test_clear_numbers_are_found(k, degree, snr, least):
    graph, _ = planted_partition(600, max(k, 2), degree, snr, rng=3)
    found = kg.k_distribution(graph)
    isolated = int(np.count_nonzero(np.diff(graph.indptr) == 0))
    assert found.k == k + isolated == found.k_found
    assert found.probability(k + isolated) > least


def test_nats_are_those_of_the_description():
    found = kg.k_distribution(CAVES)
    partition = kg.detect_communities(CAVES)
    assert found.compared_by == "description"
    nats = dict(zip(found.k_values.tolist(), found.nats.tolist(), strict=True))
    # What the report says is the least that communities of this number save.
    assert nats[len(partition)] >= partition.report.components[0].nats - 1e-9
    assert found.converged.all()
    weights = np.exp(found.nats - found.nats.max())
    assert found.probabilities == pytest.approx(weights / weights.sum())


@pytest.mark.parametrize("k", [8, 9, 10, 12, 14])
def test_numbers_beside_the_found_one_are_as_good_as_with_k_given(k):
    found = kg.k_distribution(CAVES)
    given = kg.detect_communities(CAVES, k)
    problem = prepare(kg.as_graph(CAVES)).problem.dispersed(found.dispersion)
    one = scale_nats(problem, given.labels)
    # A nat in a thousand: neither of the two searches is exhaustive.
    assert found.nats[found.k_values == k][0] >= one - 1e-3 * found.nats.max()


@pytest.mark.compiled
def test_trying_ends_where_the_rest_is_negligible():
    graph, _ = planted_partition(600, 8, 14.0, 2.7, rng=3)
    found = kg.k_distribution(graph)
    assert found.k == 8
    assert set(range(5, 12)) <= set(found.k_values.tolist())
    # At both ends at least three values far below the best.
    assert (found.nats[-3:] < found.nats.max() - 10.0).all()
    below = found.nats[(found.k_values < 8) & (found.k_values > 1)]
    assert (below[:3] < found.nats.max() - 10.0).all()


def test_numbers_of_components_add_up():
    rng = np.random.default_rng(5)
    parts = [
        {f"k{k}": float(rng.uniform(0.0, 6.0)) for k in range(first, first + count)}
        for first, count in ((2, 3), (1, 4), (3, 2))
    ]
    first, nats, known = number._summed([numbers_of(**part) for part in parts])
    expected = {}
    for choice in itertools.product(*(part.items() for part in parts)):
        total = sum(int(name[1:]) for name, _ in choice)
        weight = np.exp(sum(value for _, value in choice))
        expected[total] = expected.get(total, 0.0) + weight
    assert first == min(expected)
    assert nats == pytest.approx(np.log([expected[k] for k in sorted(expected)]))
    assert known == pytest.approx(nats)


def test_evidence_that_has_not_converged_counts_up_to_the_best():
    one = numbers_of(k1=0.0, k2=5.0, k3=1.0)
    one.add(3, 900.0, converged=False)
    one.add(4, 2.0, converged=False)
    first, nats, known = one.weights()
    assert first == 1
    assert nats.tolist() == [0.0, 5.0, 5.0, 2.0]
    assert known.tolist() == [0.0, 5.0, 1.0, -np.inf]


def test_a_neighbor_without_convergence_is_not_ruled_out():
    found = kg.k_distribution(KARATE)
    rough = found.k_values[~found.converged]
    assert rough.size
    assert "belief propagation did not converge for k =" in str(found)
    assert "1.00" not in str(found)
    assert found.probabilities.max() < 1.0


def shown_of(probabilities, values=(2, 3), **more):
    """Return a distribution with these probabilities, and nothing else of interest."""
    p = np.array(probabilities)
    with np.errstate(divide="ignore"):
        nats = np.log(p)
    options = {"k_found": values[0], "compared_by": "description", "dispersion": 1.0, **more}
    converged = options.pop("converged", np.ones(p.size, dtype=bool))
    return kg.KDistribution(np.array(values[: p.size]), p, nats, converged, n=9, m=9, **options)


@pytest.mark.parametrize(
    ("probabilities", "limited", "shown"),
    [
        ([1.0], False, "P = 1.00"),
        ([1.0], True, "P > 0.99"),
        ([1.0, 0.0], False, "P > 0.99"),
        ([0.9999, 0.0001], False, "P > 0.99"),
        ([0.994, 0.006], False, "P = 0.99"),
        ([0.5001, 0.4999], False, "P = 0.50; 3: 0.50"),
    ],
)
def test_what_is_not_certain_is_not_shown_as_certain(probabilities, limited, shown):
    found = shown_of(probabilities, limited=limited)
    text = f"2 is the most probable number ({shown}{'; others may be as probable' * limited})."
    assert found.about(2) == text
    assert ("1.00" in repr(found)) == (shown == "P = 1.00")


def test_another_number_than_the_most_probable_has_its_reason():
    found = shown_of([0.2, 0.1, 0.7], (2, 3, 5), explanation="the reason")
    assert (
        found.about(2) == "5 is the most probable number (P = 0.70; 2: 0.20; 3: 0.10): the reason."
    )
    assert found.about(3) == (
        "5 is the most probable number (P = 0.70; 3: 0.10; 2: 0.20): detect_communities finds 2 "
        "with its defaults."
    )
    # A number that is not compared has no probability.
    assert "; 9: 0.00; 2: 0.20; 3: 0.10)" in found.about(9)


def test_neighbors_without_convergence_are_named():
    converged = np.array([True, False, True])
    found = shown_of([0.9, 0.02, 0.08], (2, 3, 4), converged=converged)
    assert found.about(2) == "2 is the most probable number (P = 0.90; 4: 0.08; less sure for 3)."


def test_a_number_that_was_missed_is_explained():
    one = numbers_of(k3=10.0, k4=14.5)
    one.found = 3
    values = np.array([3, 4])
    weights = np.exp([-4.5, 0.0])
    found = kg.KDistribution(
        values, weights / weights.sum(), np.array([10.0, 14.5]), np.ones(2, dtype=bool),
        k_found=3, compared_by="description", dispersion=1.0, n=9, m=9,
    )  # fmt: skip
    text = number._explanation(found, [one])
    assert text == (
        "detect_communities returns 3; more numbers were tried here, and 4 communities describe "
        "the graph slightly better than 3 (by 4.5 nats)"
    )
    assert number._explanation(found, [one, one]).endswith("than 3 in one component (by 4.5 nats)")
    unasked = ComponentNumbers(1, evidence=True, asked=False)
    unasked.nats.update({1: 0.0, 4: 3.25})
    assert number._explanation(found, [unasked]) == (
        "detect_communities returns 3 because the spectrum shows no more than one, but 4 "
        "communities describe the graph slightly better than 1 (by 3.2 nats)"
    )
    one.add(3, 14.5)
    assert "the most probable number of each component by itself" in number._explanation(
        found, [one, one]
    )


def test_the_most_probable_total_may_not_be_that_of_the_components():
    one = numbers_of(k1=0.0, k2=-0.5, k3=-0.6)
    first, nats, _ = number._summed([one, one, one])
    # Each component is most probably one community, but seldom all three.
    assert first + int(np.argmax(nats)) > 3


def test_of_equally_probable_numbers_the_one_that_detection_finds_is_named():
    """One community of a symmetric graph and single nodes describe it equally well."""
    found = kg.k_distribution(nx.complete_graph(10))
    assert found.probability(1) == found.probability(10)
    assert (found.k, found.k_found, found.explanation) == (1, 1, "")


def test_the_order_of_nodes_does_not_matter():
    G = nx.relabel_nodes(KARATE, {i: f"node {i:02}" for i in KARATE})
    names = list(G)
    np.random.default_rng(1).shuffle(names)
    H = nx.Graph()
    H.add_nodes_from(names)
    H.add_edges_from(G.edges(data=True))
    one, other = kg.k_distribution(G), kg.k_distribution(H)
    assert one.probabilities == pytest.approx(other.probabilities, abs=1e-12)


@pytest.mark.parametrize("unit", [2.0**-8, 2.0**5])
def test_the_unit_of_weights_does_not_matter(unit):
    G = nx.les_miserables_graph()
    scaled = G.copy()
    for _, _, values in scaled.edges(data=True):
        values["weight"] *= unit
    one, other = kg.k_distribution(G), kg.k_distribution(scaled)
    assert one.k_values.tolist() == other.k_values.tolist()
    assert one.probabilities == pytest.approx(other.probabilities, abs=1e-6)


def test_counts_stand_beside_it():
    found = kg.k_distribution(KARATE, weight=None)
    assert found.spectrum.k_at == kg.estimate_k(KARATE, weight=None).k_at


def test_the_summary_can_be_read():
    found = kg.k_distribution(KARATE, weight=None)
    text = str(found)
    for part in (
        "Number of communities of 34 nodes and 78 edges",
        "most probable: 2 communities",
        "P(k): 2: 0.",
        "the spectrum shows 2 (mean degree), 2 (second moment), 2 (non-backtracking)",
        "compared by the evidence of belief propagation, as in detect_communities",
        "it is not a calibrated probability",
    ):
        assert part in text
    assert repr(found).startswith("KDistribution(k=2, P(k)={2: 0.")
    document = json.loads(json.dumps(found.to_dict()))
    assert document["k"] == document["k_found"] == 2
    assert document["k_values"] == found.k_values.tolist()
    assert document["spectrum"]["k"] == found.spectrum.k
    assert "graph" not in document


@pytest.mark.parametrize(
    ("values", "text"), [([1], "1"), ([1, 2], "1 to 2"), ([1, 5, 6, 7, 9], "1, 5 to 7, 9")]
)
def test_ranges_are_shown(values, text):
    assert number._shown_ranges(np.array(values)) == text


@pytest.mark.parametrize(("graph", "k"), [(nx.Graph(), 0), (nx.empty_graph(3), 3)])
def test_graphs_without_edges(graph, k):
    found = kg.k_distribution(graph)
    assert found.k == k == len(kg.detect_communities(graph))
    assert found.probabilities.tolist() == [1.0]
    assert "most probable" in str(found)


def test_trees_and_small_components_have_the_number_found():
    G = nx.disjoint_union_all([nx.path_graph(30), nx.complete_graph(5), nx.cycle_graph(8)])
    found = kg.k_distribution(G)
    assert found.k_values.tolist() == [len(kg.detect_communities(G))]


def test_it_is_frozen():
    found = kg.k_distribution(KARATE, [1, 2])
    with pytest.raises(FrozenInstanceError):
        found.limited = True
    with pytest.raises(ValueError, match="read-only"):
        found.probabilities[0] = 1.0


def test_progress_names_each_number():
    stages = []
    kg.k_distribution(CAVES, [10, 11, 13], progress=stages.append)
    assert [stage for stage in stages if stage.startswith("trying")][:2] == [
        "trying 11 communities",
        "trying 10 communities",
    ]
    assert any("13 communities" in stage for stage in stages)


def test_the_numbers_given_are_compared_and_no_others():
    found = kg.k_distribution(CAVES, [1, 9, 10, 11, 13])
    assert found.k_values.tolist() == [1, 9, 10, 11, 13]
    assert found.k_found == 12
    assert "detect_communities returns 12, which was not to be compared" in str(found)
    assert found.probabilities.sum() == pytest.approx(1.0)


@pytest.mark.compiled
def test_the_work_allowed_ends_the_trying(monkeypatch):
    monkeypatch.setattr(numbers, "_LEAST_WORK", 0.0)
    found = kg.k_distribution(CAVES, max_work=0.1)
    assert found.limited
    assert "the work allowed by max_work was spent" in str(found)
    assert found.probability(12) > 0.0
    assert not kg.k_distribution(CAVES).limited
    tried = len(kg.k_distribution(CAVES, max_work=1.0).k_values)
    assert len(found.k_values) < tried < len(kg.k_distribution(CAVES).k_values)


def test_a_little_work_is_always_allowed():
    assert not kg.k_distribution(CAVES, max_work=0.0).limited


@pytest.mark.parametrize("k_values", [[], 3, None.__class__])
def test_numbers_must_be_listed(k_values):
    with pytest.raises(InputError, match=r"k_values must be one or more whole numbers"):
        kg.k_distribution(KARATE, k_values)


@pytest.mark.parametrize("k_values", [[0], [35], [2.5]])
def test_each_number_is_checked(k_values):
    with pytest.raises(NumberOfCommunitiesError):
        kg.k_distribution(KARATE, k_values)


@pytest.mark.parametrize("most", [-1.0, float("nan"), "much"])
def test_the_work_is_checked(most):
    with pytest.raises(InputError, match="max_work must be"):
        kg.k_distribution(KARATE, max_work=most)


@pytest.mark.parametrize(
    ("graph", "k", "parts", "found"),
    [
        (PARTS, 2, "5 components", 9),
        (nx.path_graph(20), 2, "1 component", 1),
        (nx.complete_graph(4), 3, "1 component", 1),
    ],
    ids=["parts", "path", "clique"],
)
def test_numbers_that_the_graph_cannot_have_are_refused(graph, k, parts, found):
    with pytest.raises(InputError) as error:
        kg.k_distribution(graph, [k])
    k_found = len(kg.detect_communities(graph))
    for part in (f"can have, got {k}.", f"Each of {parts} has", f"Include {k_found}, the number"):
        assert part in str(error.value)
    assert kg.k_distribution(graph, [k, k_found]).k_values.tolist() == [k_found]


def test_numbers_far_from_those_found_are_compared_in_many_components():
    G = nx.disjoint_union_all(
        [nx.planted_partition_graph(5, 20, 0.6, 0.03, seed=seed) for seed in range(3)]
    )
    found = kg.k_distribution(G, [3, 4, 15, 18])
    assert found.k_found == 15
    assert found.k_values.tolist() == [3, 4, 15, 18]
    assert found.nats[0] == pytest.approx(0.0)
    assert found.probability(15) > 0.99


def test_the_numbers_next_to_the_found_one_are_tried_whatever_the_work(monkeypatch):
    monkeypatch.setattr(numbers, "_LEAST_WORK", 0.0)
    found = kg.k_distribution(CAVES, max_work=0.0)
    assert {11, 12, 13} <= set(found.k_values.tolist())
    assert found.limited
    assert "others may be as probable" in found.about(12)


def test_faint_communities_that_the_spectrum_does_not_show():
    G = nx.planted_partition_graph(3, 22, 0.4, 0.12, seed=15)
    found = kg.k_distribution(G)
    assert (found.k_found, found.k) == (1, 3)
    assert "because the spectrum shows no more than one" in found.explanation
    assert len(kg.detect_communities(G)) == 1


REAL = ("football", "dolphins", "polbooks", "email-Eu-core")


@needs(*REAL)
@pytest.mark.compiled
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("name", ["karate", "les_miserables", *REAL])
def test_what_is_said_of_known_networks_agrees_or_is_explained(name, weight):
    graph = kg.datasets.load(name).graph
    if weight is None:
        graph = kg.Graph(graph.indptr, graph.indices, nodes=graph.nodes)
    partition = kg.detect_communities(graph)
    found = partition.k_distribution()
    assert found.k_found == len(partition)
    sentences = partition.summary().sentences
    (sure,) = (each for each in sentences if "most probable number" in each)
    assert sure.startswith(f"{found.k} is the most probable number")
    if found.k != len(partition):
        better = dict(zip(found.k_values.tolist(), found.nats.tolist(), strict=True))
        # True as far as it can be checked: the number is more probable, and it saves more.
        assert better[found.k] > better[len(partition)]
        assert found.explanation in sure
        assert f"detect_communities returns {len(partition)}" in sure
