"""Levels: what they hold, how communities nest, and their tables, files and trees."""

import copy
import csv
import gzip
import json
import pickle
import sys

import networkx as nx
import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage

import kgroups as kg
from helpers.scales import give_scales
from kgroups.errors import InputError, MissingExtraError, PartitionError
from kgroups.partition import Levels, Partition
from kgroups.search import nats_saved, prepare

FINE = np.arange(60) // 5
MIDDLE, COARSE = FINE // 3, FINE // 6


@pytest.fixture(scope="module")
def graph():
    return kg.as_graph(nx.ring_of_cliques(12, 5))


def levels_of(graph, *labels, **options):
    nats = [float(np.max(z) + 1) for z in labels]
    return Levels([Partition(z, graph=graph) for z in labels], nats, **options)


@pytest.fixture(scope="module")
def crossed(graph):
    """Return three levels of which the second cuts through communities of the first."""
    middle = MIDDLE.copy()
    # Two nodes of community 2 in another parent; one community whose five nodes go 2, 2, 1.
    middle[[10, 11]] = 1
    middle[[40, 41, 42, 43, 44]] = [0, 0, 1, 1, 2]
    return levels_of(graph, FINE, middle, COARSE, returned=1)


def test_a_partition_is_among_its_levels(graph, monkeypatch):
    calls = give_scales(monkeypatch, FINE, COARSE)
    partition = Partition(MIDDLE, graph=graph)
    levels = partition.levels()
    assert isinstance(levels, Levels)
    assert levels.k == (12, 4, 2)
    assert levels.names == ("k12", "k4", "k2")
    assert levels.nats == (120.0, 40.0, 20.0)
    assert levels.returned == 1
    assert levels[1] is partition
    assert levels[0].labels.tolist() == FINE.tolist()
    assert levels[1:] == (partition, levels[2])
    assert all(level.graph is graph for level in levels)
    # Kept, and the same for every level but for the mark.
    assert partition.levels() is partition.known_levels is levels
    assert list(levels[2].levels()) == list(levels)
    assert levels[2].levels().returned == 2
    assert len(calls) == 1


def test_levels_of_one_scale():
    partition = kg.detect_communities(nx.complete_graph(6))
    levels = partition.levels()
    assert list(levels) == [partition]
    assert (levels.k, levels.returned) == ((1,), 0)
    assert levels.nested()[0] is partition


@pytest.mark.parametrize("n", [0, 1, 3])
def test_levels_of_graphs_without_edges(n):
    partition = kg.detect_communities(nx.empty_graph(n))
    levels = partition.levels()
    assert (list(levels), levels.nats) == ([partition], (0.0,))
    assert f"1 level of {n} node" in repr(levels)


def test_levels_divide_by_the_dispersion_of_the_report(graph, monkeypatch):
    calls = give_scales(monkeypatch, COARSE)
    asked = []
    monkeypatch.setattr(
        "kgroups.search.Problem.dispersed",
        lambda self, dispersion: asked.append(dispersion) or self,
    )
    detected = kg.detect_communities(graph)
    vars(detected.report)["dispersion"] = 2.5
    del asked[:]
    assert detected.levels().dispersion == 2.5
    # Labels from elsewhere have no report.
    assert Partition(FINE, graph=graph).levels().dispersion == 1.0
    assert asked == [2.5, 1.0]
    assert [type(settings) for *_, settings in calls] == [kg.Search] * 2


def test_neither_numbers_nor_order_of_nodes_reach_the_search(graph, monkeypatch):
    calls = give_scales(monkeypatch, COARSE)
    # Communities of different sizes are numbered by size in the partition.
    uneven = np.where(np.arange(60) < 5, 0, 1 + (np.arange(60) > 15))
    Partition(uneven, graph=graph).levels()
    order = np.random.default_rng(0).permutation(60)
    shuffled = kg.as_graph(nx.ring_of_cliques(12, 5).subgraph(order.tolist()))
    named = np.array(shuffled.nodes)
    levels = Partition(uneven[named], graph=shuffled).levels()
    assert all(z.tolist() == uneven.tolist() for _, z, _ in calls)
    assert levels[1].labels.tolist() == Partition(COARSE[named]).labels.tolist()


def test_nodes_without_information_stay_with_their_community(monkeypatch):
    """Isolated nodes that joined the largest community join the one that holds most of it."""
    apart = nx.ring_of_cliques(12, 5)
    apart.add_nodes_from([60, 61])
    above = (FINE, COARSE, np.zeros(60, int))
    calls = give_scales(monkeypatch, *([*z.tolist(), 70, 71] for z in above))
    partition = kg.detect_communities(apart, 4)
    assert set(partition.uninformed) == {60, 61}
    levels = partition.levels()
    # No community spans components where the search sees it, and the partition is as it was.
    (problem, z, _) = calls[0]
    assert (z.max() + 1, problem.n_components) == (6, 3)
    assert levels.k == (12, 4, 2, 1)
    assert levels[1] is partition
    largest = np.flatnonzero(partition.labels[:60] == partition.labels[60])
    for level in levels:
        counts = np.bincount(level.labels[largest])
        assert counts[level.labels[60]] == counts[level.labels[61]] == counts.max()
    # Their components save nothing.
    ring = prepare(kg.as_graph(nx.ring_of_cliques(12, 5))).problem.level
    assert levels.nats[2:] == pytest.approx([nats_saved(ring, COARSE, np.array([2])).sum(), 0.0])


def test_levels_whose_number_does_not_fall_once_rejoined_are_left_out(monkeypatch):
    two = kg.as_graph(nx.disjoint_union(nx.ring_of_cliques(6, 5), nx.ring_of_cliques(6, 5)))
    give_scales(monkeypatch, FINE, COARSE)
    # Each of three communities has a part in both components, four cliques of the twelve.
    spanning = Partition(FINE % 3, graph=two)
    levels = spanning.levels()
    assert levels[levels.returned] is spanning
    # Both components are one community above: joined, a single one.
    assert levels.k == (9, 3, 1)


def test_levels_need_the_graph():
    with pytest.raises(PartitionError, match=r"levels\(\) needs the graph"):
        Partition([0, 0, 1]).levels()


def test_stages_are_announced(graph, monkeypatch):
    give_scales(monkeypatch, COARSE)
    stages = []
    Partition(FINE, graph=graph).levels(progress=stages.append)
    assert stages == ["finding levels", "looking above"]
    with pytest.raises(InputError, match="progress must be"):
        Partition(FINE, graph=graph).levels(progress="yes")


def test_printing_hints_at_levels_and_computes_none(graph, monkeypatch):
    calls = give_scales(monkeypatch, COARSE)
    partition = kg.detect_communities(graph)
    hint = "other scales: partition.levels(); how sure and stable: partition.summary(full=True)"
    assert str(partition).splitlines()[-1] == f"  {hint}"
    assert hint in partition._repr_html_()
    assert not calls
    assert partition.known_levels is None
    # Levels need a graph.
    assert hint not in repr(Partition([0, 0, 1]))


def test_saving_and_pickling_a_partition_drop_its_levels(graph, monkeypatch, tmp_path):
    give_scales(monkeypatch, COARSE)
    partition = Partition(FINE, graph=graph)
    plain = pickle.dumps(partition)
    partition.save(tmp_path / "plain.json")
    partition.levels()
    assert pickle.dumps(partition) == plain
    partition.save(tmp_path / "p.json")
    assert (tmp_path / "p.json").read_bytes() == (tmp_path / "plain.json").read_bytes()
    assert pickle.loads(plain).levels().k == (12, 2)


def test_levels_survive_pickling_and_copying(crossed):
    for again in (pickle.loads(pickle.dumps(crossed)), copy.deepcopy(crossed)):
        assert list(again) == list(crossed)
        assert (again.nats, again.returned) == (crossed.nats, crossed.returned)
        assert again[2].levels().returned == 2


def test_levels_are_frozen(crossed):
    with pytest.raises(AttributeError, match="cannot assign to field 'returned'"):
        crossed.returned = 0
    with pytest.raises(AttributeError, match="cannot delete field 'nats'"):
        del crossed.nats
    with pytest.raises(TypeError):
        crossed[0] = crossed[1]


def test_levels_that_cannot_be(graph):
    fine, coarse = Partition(FINE, graph=graph), Partition(COARSE, graph=graph)
    for partitions, nats, returned, message in (
        ([], [], 0, "at least one level"),
        ([coarse, fine], [1.0, 2.0], 0, r"fewer communities .* got \[2, 12\]"),
        ([fine, fine], [1.0, 2.0], 0, "fewer communities"),
        ([fine, Partition([0, 0])], [1.0, 2.0], 0, "same nodes"),
        ([fine, coarse], [1.0], 0, "each of 2 levels, got 1"),
        ([fine, coarse], [1.0, 2.0], 2, "one of 2 levels, got 2"),
    ):
        with pytest.raises(InputError, match=message):
            Levels(partitions, nats, returned=returned)


def test_parents_hold_most_nodes_of_their_communities(crossed):
    parents = crossed.parents(0)
    for a, (parent, share) in enumerate(zip(*parents, strict=True)):
        nodes = [len(crossed[0][a] & other) for other in crossed[1]]
        assert nodes[parent] == max(nodes) == pytest.approx(share * len(crossed[0][a]))
    # Two parents hold two nodes each of one community: the larger of them counts.
    tied = int(crossed[0].labels[40])
    assert sorted(crossed[1].labels[40:45].tolist())[:2] == [parents.parent[tied]] * 2
    assert parents.share[tied] == 0.4
    assert crossed.parents(-3).parent.tolist() == parents.parent.tolist()


def test_the_coarsest_level_has_no_parents(crossed):
    for level in (2, -1):
        with pytest.raises(InputError, match="below the coarsest, got level 2 of 3 levels"):
            crossed.parents(level)
    with pytest.raises(IndexError):
        crossed.parents(3)


def test_nested_levels_keep_the_finest_and_what_nests_already(graph, crossed):
    nested = crossed.nested()
    assert nested[0] is crossed[0]
    assert nested.returned == 1
    for level in range(len(nested) - 1):
        assert nested.parents(level).share.tolist() == [1.0] * nested[level].k
    # Their nats are those of their own labels.
    ready = prepare(graph)
    z = nested[1].labels
    saved = nats_saved(ready.problem.level, ready.sorted(z), np.array([nested[1].k]))
    assert nested.nats[1] == pytest.approx(saved.sum())
    strict = levels_of(graph, FINE, MIDDLE, COARSE, returned=2)
    assert all(one is two for one, two in zip(strict.nested(), strict, strict=True))
    assert strict.nested().nats == strict.nats
    assert strict.nested().returned == 2


def test_nats_of_nested_levels_are_summed_over_components():
    graph = kg.as_graph(nx.disjoint_union(nx.ring_of_cliques(4, 4), nx.ring_of_cliques(4, 4)))
    fine = np.arange(32) // 4
    above = fine // 2
    above[4] = 3
    levels = levels_of(graph, fine, above)
    ready = prepare(graph)
    z = np.tile(np.arange(16) // 8, 2)
    expected = nats_saved(ready.problem.level, ready.sorted(z), np.array([2, 2])).sum()
    assert levels.nested().nats[1] == pytest.approx(expected)


@pytest.mark.parametrize("returned", [0, 1, 2])
def test_a_nested_level_that_merges_nothing_is_left_out(graph, returned):
    # A third community of single nodes, of which no community has most.
    scattered = COARSE.copy()
    scattered[[0, 5, 10]] = 2
    nested = levels_of(graph, FINE, scattered, COARSE, returned=returned).nested()
    assert nested.k == (12, 2)
    assert nested[1] == Partition(COARSE, graph=graph)
    assert nested.returned == min(returned, 1)


def test_the_table_has_a_column_a_level(graph, crossed):
    frame = crossed.to_dataframe()
    assert list(frame.columns) == ["node", "k12", "k4", "k2"]
    assert frame["node"].tolist() == list(graph.nodes)
    for name, level in zip(crossed.names, crossed, strict=True):
        assert frame[name].tolist() == level.labels.tolist()
    named = kg.as_graph(nx.relabel_nodes(nx.path_graph(3), {0: ("a", 1)}))
    assert levels_of(named, [0, 1, 1]).to_dataframe()["node"][0] == ("a", 1)


def test_missing_pandas_names_the_extra(crossed, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r'pandas.*"\.\[study\]"'):
        crossed.to_dataframe()


def test_a_dendrogram_is_what_scipy_takes(crossed):
    Z = crossed.dendrogram()
    assert Z.shape == (11, 4)
    assert is_valid_linkage(Z, throw=True)
    assert sorted(dendrogram(Z, no_plot=True)["leaves"]) == list(range(12))
    # Cut between two heights, the tree has the communities of the nested level.
    nested = crossed.nested()
    for place, level in enumerate(nested):
        cut = fcluster(Z, place + 0.5, criterion="distance")
        assert Partition(cut[nested[0].labels]) == Partition(level.labels)
    assert set(Z[:, 2]) == {1.0, 2.0, 3.0}
    assert Z[-1, 3] == 12


def test_a_dendrogram_needs_two_communities(graph):
    with pytest.raises(PartitionError, match="two communities at the finest level, got 1"):
        levels_of(graph, np.zeros(60, int)).dendrogram()
    assert levels_of(graph, COARSE).dendrogram().tolist() == [[0.0, 1.0, 1.0, 2.0]]


def test_repr_has_a_line_a_level(graph):
    levels = levels_of(graph, FINE, MIDDLE, COARSE, returned=1)
    assert repr(levels).splitlines() == [
        "Levels(3 levels of 60 nodes, finest first; * was returned)",
        "    k12  sizes 5, 5, 5, 5, 5, 5, ...  saves 12.0 nats",
        "  * k4   sizes 15, 15, 15, 15         saves  4.0 nats",
        "    k2   sizes 30, 30                 saves  2.0 nats",
    ]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".json", ".json.gz", ".parquet"])
def test_files_have_the_levels_and_are_still_partitions(crossed, tmp_path, suffix):
    path = tmp_path / f"levels{suffix}"
    crossed.save(path)
    assert Partition.load(path) == Partition(crossed[1].labels)
    if suffix == ".parquet":
        from pyarrow import parquet

        held = parquet.read_table(path).to_pydict()
    else:
        content = path.read_bytes()
        text = (gzip.decompress(content) if suffix.endswith(".gz") else content).decode()
        if suffix.startswith(".json"):
            document = json.loads(text)
            assert [level["returned"] for level in document["levels"]] == [False, True, False]
            assert [level["nats"] for level in document["levels"]] == list(crossed.nats)
            held = {f"k{level['k']}": level["labels"] for level in document["levels"]}
        else:
            header, *rows = csv.reader(text.splitlines())
            columns = zip(*rows, strict=True)
            held = {name: list(map(int, c)) for name, c in zip(header, columns, strict=True)}
            assert header == ["node", "community", "k12", "k4", "k2"]
    for name, level in zip(crossed.names, crossed, strict=True):
        assert held[name] == level.labels.tolist()


def test_a_table_has_levels_after_the_confidence(graph, tmp_path):
    partition = Partition(FINE, graph=graph)
    partition.confidence()
    path = tmp_path / "levels.csv"
    Levels([partition, Partition(COARSE, graph=graph)], [2.0, 1.0]).save(path)
    assert path.read_text().splitlines()[0] == "node,community,confidence,runner_up,k12,k2"
    assert Partition.load(path) == partition


def test_a_table_with_levels_before_the_communities_is_refused(tmp_path):
    path = tmp_path / "levels.csv"
    path.write_text("node,k2,community\n0,0,0\n")
    with pytest.raises(InputError, match="line 1 must begin with node,community"):
        Partition.load(path)
