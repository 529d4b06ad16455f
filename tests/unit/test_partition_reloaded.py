"""A partition that is saved, loaded with its graph, and used; and graphs for other programs."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgroups as kg
from kgroups.errors import InputError, PartitionError
from kgroups.partition import Partition

SUFFIXES = [".json", ".json.gz", ".csv", ".csv.gz", ".parquet"]
GRAPHS = {".gml": nx.read_gml, ".graphml": nx.read_graphml, ".gexf": nx.read_gexf}


@pytest.fixture
def found():
    G = nx.relabel_nodes(nx.ring_of_cliques(4, 5), "n{:02}".format)
    return kg.detect_communities(G)


def forms_of(G):
    """Return the graph as objects of other kinds that keep the names of nodes."""
    edges = nx.to_pandas_edgelist(G)
    return [G, kg.as_graph(G), (edges["source"].to_numpy(), edges["target"].to_numpy()), edges]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_partition_is_loaded_with_its_graph_in_any_form(found, tmp_path, suffix):
    path = tmp_path / f"p{suffix}"
    found.save(path)
    for graph in forms_of(found.to_networkx()):
        again = Partition.load(path, graph=graph)
        assert again == found
        assert again.scores() == found.scores()
        assert again.graph.n == found.graph.n


def test_it_does_what_a_partition_that_was_detected_does(found, tmp_path):
    found.save(tmp_path / "p.csv")
    again = Partition.load(tmp_path / "p.csv", graph=found.graph)
    np.testing.assert_array_equal(again.confidence(), found.confidence())
    assert again.spectrum == found.spectrum
    assert again.disconnected == ()
    assert again.plot(names=["n00"]) is not None
    assert again.stability(resamples=2).communities.tolist() == [1.0] * 4
    assert [row["hub"] for row in again.summary()] == [row["hub"] for row in found.summary()]
    again.to_html(tmp_path / "p.html", levels=False, uncertainty=False)


def test_what_was_known_follows_the_order_of_the_graph(found, tmp_path):
    found.confidence()
    found.stability(resamples=2)
    _ = found.spectrum
    found.save(tmp_path / "p.json")
    G = nx.Graph()
    G.add_nodes_from(reversed(found.nodes))
    G.add_edges_from(found.to_networkx().edges)
    again = Partition.load(tmp_path / "p.json", graph=G)
    assert list(again.nodes) == list(G)
    assert again == found
    np.testing.assert_array_equal(again.known_confidence.own, found.known_confidence.own[::-1])
    for i, node in enumerate(again.nodes):
        other = found.runner_up()[found.nodes.index(node)]
        assert again[again.runner_up()[i]] == found[other]
    assert again.known_stability.nodes.tolist() == found.known_stability.nodes[::-1].tolist()
    assert set(again.known_stability.cores()) == set(found.known_stability.cores())
    assert again.known_spectrum == found.spectrum


def test_uninformed_nodes_are_those_of_the_graph(tmp_path):
    graph = nx.disjoint_union(nx.ring_of_cliques(2, 6), nx.empty_graph(2))
    found = kg.detect_communities(graph, 2)
    assert found.uninformed == (12, 13)
    found.save(tmp_path / "p.json")
    assert Partition.load(tmp_path / "p.json", graph=graph).uninformed == (12, 13)
    texts = nx.relabel_nodes(graph, str)
    assert Partition.load(tmp_path / "p.json", graph=texts).uninformed == ("12", "13")


def test_names_are_matched_as_text_where_only_their_types_differ(tmp_path):
    G = nx.path_graph(["7", "8", "9"])
    Partition([0, 0, 1], ["7", "8", "9"]).save(tmp_path / "p.csv")
    assert Partition.load(tmp_path / "p.csv").nodes == (7, 8, 9)
    assert Partition.load(tmp_path / "p.csv", graph=G).membership == {"7": 0, "8": 0, "9": 1}
    Partition([0, 0, 1], ["7", "8", "9"]).save(tmp_path / "p.json")
    numbers = nx.path_graph([7, 8, 9])
    assert Partition.load(tmp_path / "p.json", graph=numbers).nodes == (7, 8, 9)
    # Where two nodes are one text, only equal names are the same.
    both = nx.path_graph([7, "7", "8"])
    with pytest.raises(PartitionError, match=r"Only in the file: 8, 9\.\n  Only in the graph: '7'"):
        Partition.load(tmp_path / "p.csv", graph=both)


def test_up_to_ten_nodes_that_do_not_match_are_named(tmp_path):
    path = tmp_path / "p.json"
    Partition([0] * 13, [f"f{i}" for i in range(12)] + ["both"]).save(path)
    graph = nx.path_graph(["g0", "both", "g1"])
    message = (
        r"p\.json and the graph must have the same nodes\.\n"
        r"  Only in the file: 'f0', 'f1', 'f2', .*, 'f9' and 2 more\.\n"
        r"  Only in the graph: 'g0', 'g1'\.\n  Use the graph that the partition was found on\."
    )
    with pytest.raises(PartitionError, match=message):
        Partition.load(path, graph=graph)
    with pytest.raises(kg.errors.DirectedGraphError, match="undirected"):
        Partition.load(path, graph=nx.DiGraph([(0, 1)]))


def test_a_partition_without_a_graph_says_how_to_load_it_with_one(found, tmp_path):
    found.save(tmp_path / "p.json")
    with pytest.raises(PartitionError, match=r"or with Partition\.load\(path, graph=graph\)"):
        Partition.load(tmp_path / "p.json").scores()


@given(st.permutations(range(8)), st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_any_labels_come_back_on_a_graph_in_any_order(tmp_path_factory, order, labels):
    path = tmp_path_factory.mktemp("saved") / "p.json"
    partition = Partition(labels, [str(i) for i in range(8)])
    partition.save(path)
    graph = nx.empty_graph(map(str, order))
    again = Partition.load(path, graph=graph)
    assert list(again.nodes) == list(graph)
    assert again == partition


@pytest.mark.parametrize("suffix", GRAPHS)
def test_graphs_are_saved_with_communities_weights_and_confidence(tmp_path, suffix):
    G = nx.relabel_nodes(nx.barbell_graph(4, 0), "node {}".format)
    nx.set_edge_attributes(G, 2.5, "weight")
    partition = kg.detect_communities(G)
    partition.confidence()
    path = tmp_path / f"g{suffix}"
    partition.save(path)
    back = GRAPHS[suffix](path)
    assert dict(back.nodes(data="community")) == partition.membership
    confidence = dict(zip(partition.nodes, partition.confidence().tolist(), strict=True))
    assert dict(back.nodes(data="confidence")) == pytest.approx(confidence)
    assert {frozenset(edge) for edge in back.edges} == {frozenset(edge) for edge in G.edges}
    assert {weight for _, _, weight in back.edges(data="weight")} == {2.5}
    before = path.read_bytes()
    partition.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", GRAPHS)
def test_levels_are_saved_as_attributes(found, tmp_path, suffix):
    levels = found.levels()
    levels.save(tmp_path / f"g{suffix}")
    back = GRAPHS[suffix](tmp_path / f"g{suffix}")
    for name, level in zip(levels.names, levels, strict=True):
        assert dict(back.nodes(data=name)) == level.membership


def test_a_file_of_a_graph_is_the_same_on_any_day(found, tmp_path, monkeypatch):
    found.save(tmp_path / "today.gexf")
    monkeypatch.setattr("time.strftime", lambda *_: "1999-12-31")
    found.save(tmp_path / "then.gexf")
    assert (tmp_path / "then.gexf").read_bytes() == (tmp_path / "today.gexf").read_bytes()


@pytest.mark.parametrize("suffix", GRAPHS)
def test_graph_files_need_the_graph_and_names_that_they_can_hold(tmp_path, suffix):
    path = tmp_path / f"g{suffix}"
    with pytest.raises(PartitionError, match=rf"saving as \{suffix} needs the graph"):
        Partition([0, 1]).save(path)
    for names, message in (
        ([("a", 1), "b"], r"must be whole numbers or text, got \('a', 1\) of type tuple"),
        ([1, "1"], "must differ as text, got 1 and '1'"),
        ([10**5000, 1], "names in a graph file must be numbers or text of ordinary length"),
    ):
        graph = kg.as_graph(nx.path_graph(names))
        with pytest.raises(InputError, match=message):
            Partition([0, 1], graph=graph).save(path)
    if suffix != ".gml":
        graph = kg.as_graph(nx.path_graph(["a\x00", "b"]))
        with pytest.raises(PartitionError, match=rf"a \{suffix} file cannot hold .* 'a\\x00'"):
            Partition([0, 1], graph=graph).save(path)
    assert list(tmp_path.iterdir()) == []


def test_graph_files_are_not_read_as_partitions(found, tmp_path):
    found.save(tmp_path / "g.graphml")
    message = r"must end in \.json, .*\.parquet; got .*\n  Graph files .* save it as \.json, too"
    with pytest.raises(InputError, match=message):
        Partition.load(tmp_path / "g.graphml")
