"""``kgroups detect --output graph.gml``: the graph with its communities, for Gephi."""

import datetime

import networkx as nx
import pyarrow
import pytest
from pyarrow import parquet

import kgroups as kg
from kgroups.cli import main


def read_gexf(path):
    """Return the graph without the numbers that GEXF gives edges."""
    graph = nx.read_gexf(path)
    for _, _, data in graph.edges(data=True):
        del data["id"]
    return graph


READERS = {".gml": nx.read_gml, ".graphml": nx.read_graphml, ".gexf": read_gexf}
# Those that kgroups reads.
READABLE = [".gml", ".graphml"]
NAMES = {
    "plain": ["ann", "bob", "cat", "dan", "eve", "fay"],
    "quotes": ['"ann"', "it's", 'say "no"', "''", "“curly”", "`tick`"],
    "spaces": [" ann", "bob ", "c a t", "two  blanks", "tab\there", "line\nbreak"],
    "unicode": ["Zoë", "Łukasz", "北京", "🐬", "ß", "e\u0301"],
    "markup": ["<b>ann</b>", "a & b", "&amp;", "&#65;", "]]>", "<!-- x -->"],
    "brackets": ["node [", "]", "graph [ ]", "#5", "a=b", "\\n"],
}
# Two triangles and an edge between them.
EDGES = [
    (0, 1, 2.0),
    (1, 2, 0.5),
    (0, 2, 1e-3),
    (3, 4, 1.0),
    (4, 5, 3.0),
    (3, 5, 7.25),
    (2, 3, 1.0),
]


def write_table(path, names, weights=True):
    columns = {
        "source": [names[u] for u, _, _ in EDGES],
        "target": [names[v] for _, v, _ in EDGES],
        **({"weight": [w for _, _, w in EDGES]} if weights else {}),
    }
    parquet.write_table(pyarrow.table(columns), path)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "edges.parquet"

    def table(names, **options):
        write_table(path, names, **options)
        return str(path)

    return table


def edges_of(graph):
    return {frozenset((u, v)): data for u, v, data in graph.edges(data=True)}


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_names_weights_and_communities_come_back(table, tmp_path, capsys, names, suffix):
    target = tmp_path / f"graph{suffix}"
    assert main(["detect", table(names), "-k", "2", "--output", str(target)]) == 0
    assert f"wrote {target}" in capsys.readouterr().out
    back = READERS[suffix](target)
    assert set(back) == set(names)
    expected = {frozenset((names[u], names[v])): {"weight": w} for u, v, w in EDGES}
    assert edges_of(back) == expected
    found = kg.detect_communities(kg.read_graph(table(names)), 2).membership
    assert {node: data["community"] for node, data in back.nodes(data=True)} == found
    assert all(type(data["community"]) is int for _, data in back.nodes(data=True))


@pytest.mark.parametrize("suffix", READABLE)
def test_the_file_is_a_graph_for_kgroups_too(table, tmp_path, suffix):
    target = tmp_path / f"graph{suffix}"
    source = table(NAMES["markup"])
    assert main(["detect", source, "--output", str(target)]) == 0
    again, before = kg.read_graph(target), kg.read_graph(source)
    assert again.nodes == before.nodes
    assert (again.to_scipy() != before.to_scipy()).nnz == 0


@pytest.mark.parametrize("suffix", READERS)
def test_numbers_and_nodes_without_edges_are_kept(tmp_path, suffix):
    target, source = tmp_path / f"graph{suffix}", tmp_path / "graph.net"
    source.write_text('*Vertices 4\n1 "10"\n2 "20"\n3 "30"\n4 "40"\n*Edges\n1 2\n2 3\n')
    assert main(["detect", str(source), "--output", str(target)]) == 0
    back = READERS[suffix](target)
    assert sorted(back) == ["10", "20", "30", "40"]
    assert edges_of(back) == {frozenset(("10", "20")): {}, frozenset(("20", "30")): {}}
    if suffix in READABLE:
        assert kg.read_graph(target).nodes == (10, 20, 30, 40)


def test_weights_that_were_not_read_are_not_written(table, tmp_path):
    target = tmp_path / "graph.gml"
    source = table(NAMES["plain"])
    assert main(["detect", source, "--no-weight", "--output", str(target)]) == 0
    assert all(data == {} for data in edges_of(nx.read_gml(target)).values())


def test_self_loops_are_written(tmp_path):
    target, source = tmp_path / "graph.graphml", tmp_path / "loops.csv"
    source.write_text("source,target,weight\nann,ann,2\nann,bob,3\n")
    assert main(["detect", str(source), "--output", str(target)]) == 0
    assert edges_of(nx.read_graphml(target)) == {
        frozenset(("ann",)): {"weight": 2.0},
        frozenset(("ann", "bob")): {"weight": 3.0},
    }


def never(*args, **options):
    raise AssertionError


@pytest.mark.parametrize(
    ("names", "suffix", "message"),
    [
        (["a\x00", "b", "c", "d", "e", "f"], ".graphml", "cannot hold the node name 'a\\x00'"),
        (["a\x1b[0m", "b", "c", "d", "e", "f"], ".graphml", "Write a .gml file"),
        ([datetime.date(2020, 1, day) for day in range(1, 7)], ".gml", "must be whole numbers or"),
    ],
)
def test_names_that_cannot_be_held_are_refused_before_the_work(
    table, tmp_path, capsys, monkeypatch, names, suffix, message
):
    monkeypatch.setattr("kgroups.detect.detect_communities", never)
    target = tmp_path / f"graph{suffix}"
    assert main(["detect", table(names), "--output", str(target)]) == 1
    assert message in capsys.readouterr().err
    assert not target.exists()


def test_names_that_are_one_text_are_refused():
    from kgroups.errors import PartitionError
    from kgroups.partition.files import check_names

    with pytest.raises(PartitionError, match="must differ as text, got 1 and '1'"):
        check_names("graph.gml", [1, "2", "1"])


def test_control_characters_are_kept_in_gml(table, tmp_path):
    names = ["a\x00", "b\x1b[0m", "c\x7f", "d\r", "e\u2028", "f\ufffe"]
    assert main(["detect", table(names), "--output", str(tmp_path / "graph.gml")]) == 0
    assert set(nx.read_gml(tmp_path / "graph.gml")) == set(names)


def test_a_failed_write_leaves_the_file_before(table, tmp_path, monkeypatch, capsys):
    target = tmp_path / "graph.gml"
    target.write_text("precious")
    source = table(NAMES["plain"])

    def full(self, other):
        raise OSError(28, "No space left on device", str(other))

    monkeypatch.setattr("pathlib.Path.replace", full)
    assert main(["detect", source, "--output", str(target)]) == 1
    assert "No space left" in capsys.readouterr().err
    assert target.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.parquet", "graph.gml"]


def test_the_graph_that_is_read_is_not_overwritten(tmp_path, capsys):
    path = tmp_path / "karate.gml"
    nx.write_gml(nx.karate_club_graph(), path)
    before = path.read_bytes()
    assert main(["detect", str(path), "--output", str(path)]) == 1
    assert "this file is read" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_other_endings_name_all_that_there_are(tmp_path, capsys):
    assert main(["detect", "karate", "--output", str(tmp_path / "graph.dot")]) == 1
    err = capsys.readouterr().err
    assert "must end in .json, .json.gz, .csv, .csv.gz, .parquet; got" in err
    assert "With .gml, .graphml or .gexf the graph is written, too." in err
