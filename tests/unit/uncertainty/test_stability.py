"""Stability of partitions: what is returned, kept, saved and said about bad arguments."""

import copy
import json
import pickle

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers import oracles_stability as oracles
from kgroups.errors import FileFormatError, InputError, InstabilityWarning, PartitionError
from kgroups.inference.confidence import Confidence
from kgroups.metrics import ami
from kgroups.uncertainty import Stability
from kgroups.uncertainty.stability import resampled


@pytest.fixture(scope="module")
def karate():
    return kg.detect_communities(nx.karate_club_graph())


@pytest.fixture(scope="module")
def stability(karate):
    return karate.stability()


def found_again(partition, resamples, drop, **settings):
    """Return the labels of the resamples one by one, and which nodes have an edge."""
    graph = kg.Graph(partition.graph.indptr, partition.graph.indices, partition.graph.weights)
    found = []
    for seed in np.random.SeedSequence(0).spawn(resamples):
        of_edges, of_detection = map(np.random.default_rng, seed.spawn(2))
        drawn = resampled(graph, drop, of_edges)
        labels = kg.detect_communities(drawn, rng=of_detection, **settings).labels
        found.append((labels.tolist(), (drawn.degrees > 0).tolist()))
    return found


def test_shares_are_those_of_the_labels_of_the_resamples(karate, stability):
    resamples = found_again(karate, 10, 0.1)
    own = karate.labels.tolist()
    matchings = []
    for labels, linked in resamples:
        kept = np.flatnonzero(linked)
        best = list(oracles.best_matchings(karate.labels[kept], np.array(labels)[kept]))
        assert len(best) == 1
        matchings += best
    nodes, communities = oracles.shares(own, resamples, matchings)
    assert dict(enumerate(stability.nodes.tolist())) == pytest.approx(nodes)
    assert dict(enumerate(stability.communities.tolist())) == pytest.approx(communities)
    source, target, share = stability.edges
    edges = list(zip(source.tolist(), target.tolist(), strict=True))
    assert edges == list(zip(*(end.tolist() for end in karate.graph.edges()[:2]), strict=True))
    expected = oracles.together(resamples, edges)
    assert dict(zip(edges, share.tolist(), strict=True)) == pytest.approx(expected)
    pairs = []
    for i, (labels, linked) in enumerate(resamples):
        for others, others_linked in resamples[:i]:
            both = [v for v in range(34) if linked[v] and others_linked[v]]
            pairs.append(ami([labels[v] for v in both], [others[v] for v in both]))
    assert stability.agreement == pytest.approx(np.mean(pairs))


def test_nodes_that_lost_their_edges_do_not_count_as_disagreement():
    # One community, whose leaves are cut off now and then.
    G = nx.gnm_random_graph(60, 150, seed=4)
    found = kg.detect_communities(G, 1).stability(4)
    assert found.agreement == 1.0


def test_more_resamples_begin_with_the_same_ones(karate):
    few, more = (kg.Partition(karate.labels, graph=karate.graph).stability(r) for r in (2, 3))
    two, three = (2 * few.nodes, 3 * more.nodes)
    assert ((three - two > -1e-9) & (three - two < 1 + 1e-9)).all()


def test_cores_and_what_is_outside_are_all_nodes(karate, stability):
    for threshold in (0.0, 0.8, 0.9, 1.0):
        cores = stability.cores(threshold)
        assert len(cores) == len(karate)
        assert all(core <= community for core, community in zip(cores, karate, strict=True))
        outside = stability.outside(threshold)
        assert set(karate.nodes) == set(outside).union(*cores)
        assert sum(map(len, cores)) + len(outside) == len(karate.nodes)
        shares = [stability.nodes[node] for node in outside]
        assert shares == sorted(shares)
        assert all(share < threshold for share in shares)
    with pytest.raises(InputError, match="threshold must be a number from 0 to 1, got 2"):
        stability.cores(2)


def test_it_is_computed_once_for_each_setting(karate):
    partition = kg.Partition(karate.labels, graph=karate.graph)
    first = partition.stability(2)
    assert partition.known_stability is first
    assert partition.stability(2, rng=0) is first
    assert partition.stability(2, rng=1) is not first
    assert partition.known_stability.seed == 1
    assert partition.stability(2, 0.2).drop == 0.2
    generator = np.random.default_rng(5)
    assert partition.stability(2, rng=generator).seed != partition.stability(2, rng=generator).seed


def test_it_is_read_only(stability):
    for values in (stability.nodes, stability.communities, *stability.edges):
        assert not values.flags.writeable


def test_processes_give_the_same(karate, stability):
    pytest.importorskip("joblib")
    partition = kg.Partition(karate.labels, graph=karate.graph)
    found = partition.stability(3, n_jobs=2)
    here = kg.Partition(karate.labels, graph=karate.graph).stability(3)
    assert found.to_dict() == here.to_dict()


def test_progress_counts_the_resamples(karate):
    told = []
    partition = kg.Partition(karate.labels, graph=karate.graph)
    partition.stability(3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_interrupts_leave_nothing_behind(karate):
    partition = kg.Partition(karate.labels, graph=karate.graph)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        partition.stability(3, progress=stop)
    assert partition.known_stability is None


# --- The settings of the detection ---------------------------------------------------------------


def test_resamples_are_found_as_the_partition_was(monkeypatch, karate):
    asked = []

    def detect(graph, *, rng, **settings):
        asked.append(settings)
        return kg.detect_communities(graph, **settings)

    monkeypatch.setattr("kgroups.uncertainty.stability.detect_communities", detect)
    chosen = {
        "operator": kg.BetheHessian(r="second-moment"),
        "method": kg.Spectral(),
        "init": kg.QRInit(),
        "refine": None,
        "self_loops": "keep",
    }
    graph = karate.graph
    partition = kg.detect_communities(graph, 3, **chosen)
    pickle.loads(pickle.dumps(partition)).stability(2)
    copy.copy(partition).stability(2)
    assert asked == [{"k": 3, **chosen}] * 4
    asked.clear()
    kg.detect_communities(graph, init=kg.WarmStart(karate)).stability(2)
    assert [settings["init"] for settings in asked] == [kg.KMeansInit()] * 2
    asked.clear()
    kg.Partition(karate.labels, graph=graph).stability(2)
    kg.refine_partition(graph, karate).stability(2)
    assert asked == [{}] * 4


def test_levels_are_found_again_with_their_number_of_communities(monkeypatch):
    graph = kg.generators.stochastic_block_model(
        [30] * 9, np.kron(np.eye(3), np.full((3, 3), 0.15)) + 0.45 * np.eye(9) + 0.005, rng=0
    ).graph
    levels = kg.detect_communities(graph).levels()
    assert len(levels) > 1
    for place, level in enumerate(levels):
        k = level._found_with["k"]
        assert k == (None if place == levels.returned else level.k)
        assert level.stability(3).agreement > 0.9


# --- Special graphs ------------------------------------------------------------------------------


def test_without_edges_nothing_is_known_of_nodes():
    partition = kg.detect_communities(kg.Graph.from_edges([], [], n=3))
    found = partition.stability(2)
    assert np.isnan(found.nodes).all()
    assert np.isnan(found.communities).all()
    assert found.edges.share.size == 0
    assert found.outside() == (0, 1, 2)
    assert found.to_dict()["nodes"] == [None] * 3
    assert "no edges are left that could tell" in str(found)
    assert np.isnan(found.agreement)
    assert found.to_dict()["agreement"] is None
    assert "nan" not in found.sentence


def test_no_nodes_at_all():
    found = kg.detect_communities(kg.Graph.from_edges([], [], n=0)).stability(2)
    assert found.nodes.size == found.communities.size == 0
    assert found.cores() == found.outside() == ()
    assert str(found).startswith("Stability of 0 communities of 0 nodes, 2 resamples")


def test_isolated_nodes_do_not_count():
    edges = np.array(nx.ring_of_cliques(4, 5).edges).T
    graph = kg.Graph.from_edges(*edges, n=22)
    found = kg.detect_communities(graph).stability(3)
    assert np.isnan(found.nodes[20:]).all()
    assert (found.nodes[:20] == 1.0).all()
    assert np.isnan(found.communities).sum() == 2
    assert found.outside() == (20, 21)
    assert "20 nodes of the 20 that keep edges (100 %) stay" in str(found)
    assert "100 % of the nodes that keep edges stay" in found.sentence


def test_one_community_stays():
    partition = kg.detect_communities(nx.complete_graph(8))
    found = partition.stability(3)
    assert (found.nodes == 1.0).all()
    assert found.communities.tolist() == [1.0]
    assert found.agreement == 1.0


def test_disconnected_weighted_and_directed_graphs():
    parts = nx.disjoint_union(nx.ring_of_cliques(3, 6), nx.ring_of_cliques(3, 6))
    nx.set_edge_attributes(parts, 2.5, "weight")
    directed = nx.DiGraph(parts.edges)
    for found in (
        kg.detect_communities(parts).stability(3),
        kg.detect_communities(directed, symmetrize="sum").stability(3),
    ):
        assert found.communities.tolist() == [1.0] * 6
        assert found.nodes.tolist() == [1.0] * 36


def test_dropping_nothing_shows_what_the_search_leaves_to_chance():
    found = kg.detect_communities(nx.ring_of_cliques(5, 5)).stability(3, 0.0)
    assert found.agreement == pytest.approx(1.0)
    assert (found.nodes == 1.0).all()


def test_dropping_nearly_everything(karate):
    found = kg.Partition(karate.labels, graph=karate.graph).stability(3, 0.99)
    assert np.isnan(found.nodes).any()
    assert np.nanmin(found.nodes) >= 0.0


def test_self_loops_and_edges_of_weight_zero_are_no_edges():
    graph = kg.Graph.from_edges([0, 0, 1, 2, 2], [0, 1, 2, 2, 3], [1.0, 1.0, 1.0, 1.0, 0.0])
    found = kg.detect_communities(graph, self_loops="keep").stability(2)
    assert found.edges.source.tolist() == [0, 1]
    assert found.edges.target.tolist() == [1, 2]
    assert np.isnan(found.nodes[3])


# --- Arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"resamples": 1}, r"resamples must be a whole number >= 2, got 1"),
        ({"resamples": 2.5}, r"resamples must be a whole number >= 2, got 2\.5"),
        ({"drop": -0.1}, r"drop must be a number from 0 to 1, got -0\.1"),
        ({"drop": "0.1"}, r"drop must be a number from 0 to 1, got '0\.1'"),
        ({"drop": 1}, r"drop must be below 1, got 1: without edges"),
        ({"rng": -1}, r"rng must be None, a whole number >= 0"),
        ({"n_jobs": 0}, r"n_jobs must be None or a whole number other than 0, got 0"),
        ({"progress": 3}, r"progress must be True, False or a callable"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_arguments_are_validated(karate, arguments, message):
    with pytest.raises(InputError, match=message):
        karate.stability(**arguments)


def test_without_a_graph_there_is_advice():
    with pytest.raises(PartitionError, match="needs the graph") as caught:
        kg.Partition([0, 1]).stability()
    assert "graph=kgroups.as_graph(graph)" in str(caught.value)


# --- Text, tables and files ----------------------------------------------------------------------


def made(nodes, communities, labels, **options):
    names = [f"n{i}" for i in range(len(labels))]
    return Stability(
        np.array(nodes), np.array(communities), 0.8125, 10, 0.1, 0, np.array(labels), names,
        **options,
    )  # fmt: skip


def test_the_summary_names_the_least_stable_communities():
    shown = made([1.0, 0.9, 0.4], [0.75, 0.25], [0, 0, 1])
    assert str(shown).splitlines() == [
        "Stability of 1 community and 1 single node of 3 nodes, 10 resamples without 10 % of the "
        "edges",
        "  two resamples agree with a mean AMI of 0.812",
        "  2 nodes (66 %) stay with their community in at least 0.9 of the resamples",
        "  communities, the least stable first: 1 (0.25), 0 (0.75)",
    ]
    assert repr(shown) == "Stability(agreement=0.812, resamples=10, drop=0.1)"
    many = made([1.0, *[0.5] * 7], [1.0, *[0.1 * a for a in range(7)]], range(8))
    assert str(many).endswith("1 (0.00), 2 (0.10), 3 (0.20), 4 (0.30), 5 (0.40), 6 (0.50), ...")
    assert "1 node (12 %) stays with its" in str(many)


def test_nodes_as_a_column(karate, stability):
    pytest.importorskip("pandas")
    table = karate.to_dataframe(["node", "stability"])
    assert table["stability"].tolist() == stability.nodes.tolist()


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_files_keep_nodes_and_communities(tmp_path, karate, stability, suffix):
    path = tmp_path / f"karate{suffix}"
    karate.save(path)
    again = kg.Partition.load(path)
    assert again.known_stability.to_dict() == stability.to_dict()
    assert again.stability() is again.known_stability
    assert again.known_stability.cores() == stability.cores()
    with pytest.raises(PartitionError, match="edges needs the graph"):
        _ = again.known_stability.edges
    with pytest.raises(PartitionError, match=r"known_stability"):
        again.stability(5)


@pytest.mark.parametrize(("suffix", "extra"), [(".csv", None), (".parquet", "pyarrow")])
@pytest.mark.parametrize("with_confidence", [False, True])
def test_tables_have_a_column_that_is_not_read(tmp_path, suffix, extra, with_confidence):
    pandas = pytest.importorskip("pandas")
    if extra:
        pytest.importorskip(extra)
    known = made([1.0, np.nan, 0.25], [0.5, np.nan], [0, 1, 0])
    sure = Confidence(np.ones(3), np.array([1, 0, 1]), np.zeros(3), "table", converged=True)
    partition = kg.Partition(
        [0, 1, 0], "abc", stability=known, confidence=sure if with_confidence else None
    )
    path = tmp_path / f"table{suffix}"
    partition.save(path)
    read = pandas.read_csv if suffix == ".csv" else pandas.read_parquet
    column = read(path)["stability"]
    assert column.isna().tolist() == [False, True, False]
    assert column.dropna().tolist() == [1.0, 0.25]
    again = kg.Partition.load(path)
    assert again == partition
    assert again.known_stability is None
    assert again.known_confidence is None


def test_it_follows_the_numbers_of_the_communities():
    partition = kg.Partition(
        [7, 4, 4], "abc", stability=made([0.1, 0.2, 0.3], [0.9, 0.5], [7, 4, 4])
    )
    assert partition.known_stability.communities.tolist() == [0.9, 0.5]
    partition = kg.Partition(
        [4, 7, 7], "abc", stability=made([0.1, 0.2, 0.3], [0.9, 0.5], [4, 7, 7])
    )
    assert partition.known_stability.communities.tolist() == [0.5, 0.9]
    assert partition.known_stability.cores(0.2) == (frozenset("bc"), frozenset())
    again = pickle.loads(pickle.dumps(partition))
    assert again.known_stability.to_dict() == partition.known_stability.to_dict()


@pytest.mark.parametrize(
    ("nodes", "communities", "what"),
    [
        ([0.5], [1.0, 1.0], "each node, 2 in all"),
        ([0.5, 1.5], [1.0, 1.0], "each node"),
        ([0.5, 1.0], [1.0], "each community, 2 in all"),
        ([0.5, 1.0], [1.0, -1.0], "each community"),
    ],
    ids=["one node", "above 1", "one community", "below 0"],
)
def test_what_does_not_fit_is_refused(nodes, communities, what):
    with pytest.raises(PartitionError, match=f"stability must have a number.*{what}"):
        kg.Partition([0, 1], "ab", stability=made(nodes, communities, [0, 1]))


def test_a_damaged_file_is_refused(tmp_path, karate, stability):
    path = tmp_path / "karate.json"
    karate.save(path)
    document = json.loads(path.read_text())
    for wrong in ({}, {"nodes": 3}, {"nodes": ["x"] * 34}, {"communities": [1.0]}, {"seed": []}):
        kept = {**stability.to_dict(), **wrong} if wrong else {}
        path.write_text(json.dumps({**document, "stability": kept}))
        with pytest.raises(FileFormatError):
            kg.Partition.load(path)


# --- Beside confidence ---------------------------------------------------------------------------


def beside(sure, stay):
    n = len(sure)
    labels = [0] * n
    none = np.full(n, -1)
    known = Confidence(np.array(sure), none, np.zeros(n), "one community", converged=True)
    return kg.Partition(labels, stability=made(stay, [1.0], labels), confidence=known)


def test_sure_nodes_that_leave_are_a_reason_to_doubt():
    (warning,) = beside([0.95, 0.9, 0.5], [0.8, 0.98, 0.0])._instability()
    assert str(warning).startswith("the communities are less certain than the confidence says")
    assert "2 nodes have a confidence of at least 0.9" in str(warning)
    assert "stay with their communities in 0.89 of the resamples" in str(warning)
    assert beside([0.95, 0.9, 0.5], [0.8, 1.0, 0.0])._instability() == ()
    assert beside([0.5, 0.6], [0.0, 0.0])._instability() == ()
    assert len(beside([1.0, 1.0], [0.0, np.nan])._instability()) == 1
    assert kg.Partition([0, 1])._instability() == ()


def test_the_warning_comes_when_both_are_known():
    G = nx.karate_club_graph()
    for first, second in (("confidence", "stability"), ("stability", "confidence")):
        partition = kg.detect_communities(G, weight=None)
        getattr(partition, first)()
        with pytest.warns(InstabilityWarning, match="stay with their communities") as caught:
            getattr(partition, second)()
        assert caught[0].filename == __file__
        getattr(partition, second)()
        assert len(caught) == 1
