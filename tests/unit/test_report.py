import json
from dataclasses import FrozenInstanceError, replace

import networkx as nx
import pytest

import kgroups as kg
from kgroups.errors import CrowdedThresholdWarning, DisassortativeWarning
from kgroups.report import ComponentReport, RefinementReport, Report

PLAIN = Report(
    method="Spectral",
    n=10,
    m=20,
    n_components=1,
    n_isolated=0,
    loops_dropped=0,
    saturated_weights=0,
    r=2.0,
    r_choice="mean-degree",
    k_given=None,
    k_hat=2,
    k_found=2,
    counting={"dense": 1},
    init="KMeansInit()",
    refinement=RefinementReport(method="no refinement"),
    uninformed=0,
    ordering="sorted names",
    components=(ComponentReport(10, 2, "eigenvectors", "eigenvectors were asked for", k_hat=2),),
)
CROWDED = CrowdedThresholdWarning("k=2 is uncertain")


def test_a_plain_report_has_three_sentences():
    assert PLAIN.lines() == [
        "2 communities: eigenvectors were asked for.",
        "Components whose eigenvalues were counted: 1 dense.",
        "Parameter of the Bethe Hessian: r = 2 (mean-degree).",
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"counting": {}}, "Components whose eigenvalues were counted: none."),
        (
            {"counting": {"pruned": 3, "filter": 1}},
            "Components whose eigenvalues were counted: 3 pruned, 1 filter.",
        ),
        ({"loops_dropped": 4}, "4 self-loops were not used."),
        ({"loops_dropped": 1}, "1 self-loop was not used."),
        ({"saturated_weights": 7}, "7 heavy edge weights were saturated."),
        (
            {"uninformed": 5},
            "5 nodes lie in components without signal, assigned to the largest community.",
        ),
        (
            {"ordering": "input order"},
            "The node names cannot be sorted: another order of the nodes may give other "
            "communities.",
        ),
        ({"warnings": (CROWDED,)}, "Warning: k=2 is uncertain"),
        ({"r": 1.23456, "r_choice": "given"}, "Parameter of the Bethe Hessian: r = 1.235 (given)."),
    ],
)
def test_what_happened_is_said_and_only_then(change, sentence):
    assert sentence in replace(PLAIN, **change).lines()
    assert sentence not in PLAIN.lines()


@pytest.mark.parametrize(
    ("converged", "end"), [(True, "converged"), (False, "stopped before it converged")]
)
@pytest.mark.parametrize(
    ("kept", "guard"),
    [
        ({"hartigan": 3}, ""),
        (
            {"hartigan": 2, "likelihood moves": 1},
            "; the guard kept likelihood moves in 1 component instead",
        ),
    ],
)
def test_refinement_is_summed_up(converged, end, kept, guard):
    done = RefinementReport(
        method="Hartigan()",
        components=3,
        kept=kept,
        sweeps=9,
        moves=14,
        visits=360,
        converged=converged,
    )
    said = replace(PLAIN, refinement=done).lines()
    assert sum(f"9 sweeps, 14 moves, {end}{guard}." in line for line in said) == 1


SEARCHED = ComponentReport(
    10, 4, "search", "they describe the graph clearly better than one community", nats=12.34
)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, "2 communities: eigenvectors were asked for."),
        ({"k_given": 2, "k_hat": 5}, "2 communities, as requested."),
        (
            {"k_given": 5, "k_found": 5, "n_single": 2},
            "3 communities and 2 single nodes, 5 in all, as requested.",
        ),
        ({"k_given": 2, "n_components": 3}, "2 communities in 3 components, as requested."),
        (
            {"method": "given labels", "components": (), "k_given": 2},
            "2 communities, as many as in the labels given.",
        ),
        ({"n": 0, "k_found": 0, "n_components": 0, "components": ()}, "0 communities."),
        ({"k_found": 6, "n_components": 5}, "6 communities in 5 components."),
        (
            {"k_found": 4, "components": (SEARCHED,)},
            "4 communities: they describe the graph clearly better than one community.",
        ),
        (
            {"k_found": 4, "components": (replace(SEARCHED, k_hat=1, undecided=0.031),)},
            "4 communities: they describe the graph clearly better than one community; the "
            "spectrum, which can miss small or faint communities, shows 1; 3.1 % of the nodes are "
            "undecided.",
        ),
        (
            {"k_found": 4, "components": (replace(SEARCHED, k_hat=6),)},
            "4 communities: they describe the graph clearly better than one community; the "
            "spectrum shows 6 eigenvalues, not all of which show a community.",
        ),
    ],
)
def test_the_number_of_communities_is_explained(change, sentence):
    assert replace(PLAIN, **change).about_k() == sentence


def test_each_component_but_single_nodes_is_described_where_there_are_several():
    two, one = (
        ComponentReport(n, 1, "one community", "nothing was found that divides it", component=3 - n)
        for n in (2, 1)
    )
    report = replace(PLAIN, n_components=3, k_found=6, n_single=1, components=(SEARCHED, two, one))
    assert report.lines()[:4] == [
        "5 communities and 1 single node in 3 components.",
        "4 communities in a component of 10 nodes: they describe the graph clearly better than one "
        "community.",
        "1 community in a component of 2 nodes: nothing was found that divides it.",
        "Components whose eigenvalues were counted: 1 dense.",
    ]
    assert report.why == SEARCHED.why


def test_given_labels_say_nothing_of_eigenvalues():
    given = replace(PLAIN, method="given labels", k_given=2, k_hat=None, counting={}, components=())
    assert given.lines() == [
        "2 communities, as many as in the labels given.",
        "Parameter of the Bethe Hessian: r = 2 (mean-degree).",
    ]
    assert given.why == "labels were given"


def test_print_shows_the_size_of_the_graph_the_lines_and_the_time():
    report = replace(PLAIN, m=1, seconds={"reading the graph": 0.25, "searching": 1.0})
    assert str(report).splitlines() == [
        "10 nodes, 1 edge.",
        *PLAIN.lines(),
        "1.250 s: reading the graph 0.250, searching 1.000.",
    ]
    assert str(PLAIN).splitlines() == ["10 nodes, 20 edges.", *PLAIN.lines()]


def test_to_dict_goes_into_json_and_names_the_warnings():
    report = replace(
        PLAIN,
        warnings=(CROWDED, DisassortativeWarning("1 eigenvalue below -1")),
        seconds={"counting communities": 0.25},
    )
    record = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert record == report.to_dict()
    assert record["warnings"] == [
        {"kind": "CrowdedThresholdWarning", "message": "k=2 is uncertain"},
        {"kind": "DisassortativeWarning", "message": "1 eigenvalue below -1"},
    ]
    assert record["refinement"]["method"] == "no refinement"
    assert record["seconds"] == {"counting communities": 0.25}
    assert record["k_given"] is None
    assert record["components"][0]["winner"] == "eigenvectors"


def test_to_dict_holds_copies():
    record = PLAIN.to_dict()
    record["counting"]["dense"] = 99
    assert PLAIN.counting == {"dense": 1}


def test_warnings_are_not_compared_because_they_are_equal_only_to_themselves():
    assert replace(PLAIN, warnings=(CROWDED,)) == PLAIN
    assert replace(PLAIN, k_hat=3) != PLAIN


def test_a_report_is_frozen():
    with pytest.raises(FrozenInstanceError):
        PLAIN.k_found = 3


def test_a_detection_fills_every_part():
    G = nx.disjoint_union(nx.karate_club_graph(), nx.empty_graph(2))
    G.add_edge(0, 0)
    report = kg.detect_communities(G, weight=None).report
    assert (report.n, report.m, report.n_components, report.n_isolated) == (36, 79, 3, 2)
    assert (report.loops_dropped, report.saturated_weights) == (1, 0)
    assert report.r == pytest.approx((2 * 78 / 34) ** 0.5)
    assert (report.r_choice, report.k_given, report.k_hat, report.k_found) == (
        "mean-degree",
        None,
        2,
        4,
    )
    assert sum(report.counting.values()) == report.n_components
    assert list(report.seconds)[-2:] == ["searching", "comparing candidates"]
    assert [component.n for component in report.components] == [34, 1, 1]
    assert report.refinement.converged
    assert report.refinement.visits > 0
    assert report.ordering == "index"


def test_saturated_weights_are_counted():
    G = nx.karate_club_graph()
    nx.set_edge_attributes(G, 1.0, "weight")
    G[0][1]["weight"] = 1e6
    report = kg.detect_communities(G).report
    assert report.saturated_weights == 1
    assert "1 heavy edge weight was saturated." in report.lines()


def test_a_given_number_for_r_is_recorded():
    report = kg.detect_communities(nx.karate_club_graph(), operator=kg.BetheHessian(3.0)).report
    assert (report.r, report.r_choice) == (3.0, "given")


def test_the_warnings_of_the_spectrum_are_in_the_report():
    partition = kg.detect_communities(nx.grid_2d_graph(15, 16))
    kinds = {type(warning) for warning in partition.report.warnings}
    assert kinds > {type(warning) for warning in partition.spectrum.warnings}
    assert CrowdedThresholdWarning in kinds
    said = [line for line in partition.report.lines() if line.startswith("Warning: ")]
    assert len(said) == len(partition.report.warnings)


def test_a_refinement_alone_says_where_its_labels_came_from():
    G = nx.barbell_graph(5, 0)
    report = kg.refine_partition(G, [0] * 4 + [1] * 6).report
    assert (report.why, report.init, report.k_given) == ("labels were given", "given labels", 2)
    assert report.counting == {}
    assert report.refinement.moves == 1


def test_reports_of_equal_calls_are_equal_and_can_be_hashed():
    one, other = (kg.detect_communities(nx.karate_club_graph()).report for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one.seconds != replace(one, seconds={}).seconds
    assert one == replace(one, seconds={}, peak_bytes=1)
    assert one != replace(one, m=1)
