"""Edge lists: what a line may look like, and the line that an error names."""

import gzip

import networkx as nx
import numpy as np
import pytest

import kgroups
from kgroups.adapters import edge_lists, read_graph
from kgroups.adapters.edges import ReadOptions
from kgroups.adapters.files import read_file
from kgroups.errors import DirectedGraphError, FileFormatError, WeightError


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="graph.txt"):
        path = tmp_path / name
        raw = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write_file


@pytest.mark.parametrize(
    ("content", "nodes", "m"),
    [
        ("1 2\n2 3\n", (1, 2, 3), 2),
        ("0\t1\n1\t2", range(3), 2),
        ("0,1\r\n1,2\r\n", range(3), 2),
        ("0 1\r1 2\r", range(3), 2),
        ("0;1\n1;2\n", range(3), 2),
        ("  0   1  \n\n 1 2\n", range(3), 2),
        ("# a\n% b\n0 1 # first\n1 2\n", range(3), 2),
        ("\ufeff0,1\n1,2\n", range(3), 2),
        ("\ufeffsource,target\n0,1\n", range(2), 1),
        ("a b\nb c\n", ("a", "b", "c"), 2),
        ("a, b\nb , c\n", ("a", "b", "c"), 2),
        ("007 7\n", ("007", "7"), 1),
        ("+1 1\n", ("+1", "1"), 1),
        ("-0 0\n", ("-0", "0"), 1),
        ("-1 1\n", (-1, 1), 1),
        ("1 2\n3 x\n4 y\n", ("1", "2", "3", "x", "4", "y"), 3),
        ("1.5 2\n", ("1.5", "2"), 1),
        ("99999999999999999999 1\n", (99999999999999999999, 1), 1),
        ('"ann lee",bob\nbob,"o, hara"\n', ("ann lee", "bob", "o, hara"), 2),
        ('"ann lee" bob\n', ("ann lee", "bob"), 1),
        ("C#  D\n", ("C#", "D"), 1),
        ("source target\nann bob\n", ("ann", "bob"), 1),
        ("Target,Source,Id\nbob,ann,1\n", ("ann", "bob"), 1),
        ("3 3\n", (3,), 1),
    ],
)
def test_lines_are_edges(write, content, nodes, m):
    graph = read_graph(write(content))
    assert (tuple(graph.nodes), graph.m) == (tuple(nodes), m)
    assert graph.weights is None


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.TXT", "a.edges", "a.edgelist", "a.txt.gz"])
def test_suffixes_of_edge_lists(write, name):
    graph = read_graph(write("1 2 0.5\n2 3 1e-3\n", name))
    assert graph.weights.tolist() == [0.5, 0.5, 1e-3, 1e-3]


def test_tabs_separate_names_with_commas(write):
    assert read_graph(write("lee, a\tray, b\n", "a.tsv")).nodes == ("lee, a", "ray, b")


@pytest.mark.parametrize("words", ["1 2 0.5\n2 1 2\n", "a b 0.5\nb a 2\n"])
def test_a_pair_listed_twice_is_a_parallel_edge(write, words):
    graph = read_graph(write(words))
    assert graph.weights.tolist() == [2.5, 2.5]
    assert graph.multiplicity.tolist() == [2, 2]
    assert read_graph(write(words), weight=None).weights.tolist() == [2, 2]
    assert read_graph(write(words), symmetrize="union").weights is None


def test_a_header_chooses_the_columns(write):
    path = write("id,Target,Source,cost,Weight\n0,1,2,5.5,7\n1,2,3,2.5,1\n", "a.csv")
    assert read_graph(path).weights.tolist() == [7, 7, 1, 1]
    assert read_graph(path, weight="cost").weights.tolist() == [5.5, 5.5, 2.5, 2.5]
    assert read_graph(path, weight=None).weights is None
    with pytest.raises(WeightError, match=r"a\.csv: .* got 'price'; it has 'Weight', 'cost', 'id'"):
        read_graph(path, weight="price")


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("from,to", "ann,bob"),
        ("From,To", "1,2"),
        ("Source;Target", "ann;bob"),
        ("src\tdst", "ann\tbob"),
        ("node_1,node_2", "ann,bob"),
        ("Node 1,Node 2", "ann,bob"),
        ("FromNodeId ToNodeId", "17 18"),
        ("u v", "ann bob"),
        ("ego,alter", "ann,bob"),
        ('"id1","id2"', "ann,bob"),
        ("from,to,weight", "ann,bob,1"),
        ("weight,to,from", "1,ann,bob"),
        ("since,FROM,type,TO", "2020,ann,friend,bob"),
    ],
)
def test_a_header_of_usual_names_is_no_edge(write, header, line):
    graph = read_graph(write(f"# calls\n{header}\n{line}\n"))
    assert (graph.n, graph.m) == (2, 1)
    assert set(graph.nodes) in ({"ann", "bob"}, {1, 2}, {17, 18})


def test_the_header_of_usual_names_chooses_the_weights(write):
    path = write("to,from,Weight,cost\nb,a,2.5,7\n")
    assert read_graph(path).nodes == ("a", "b")
    assert read_graph(path).weights.tolist() == [2.5, 2.5]
    assert read_graph(path, weight="cost").weights.tolist() == [7, 7]


@pytest.mark.parametrize(
    ("content", "node"),
    [
        ("u v\nv w\nw u\n", "u"),
        ("u,v\na,b\n", "a"),
        ("node1 node2\nnode3 node4\n", "node3"),
        ("from,to\nfrom,by\nat,by\n", "from"),
    ],
)
def test_a_header_that_may_be_an_edge_is_refused_until_the_caller_says(write, content, node):
    words = content.splitlines()[0].replace(",", " ").split()
    message = (
        rf"^graph\.txt, line 1: '{words[0]}' and '{words[1]}' may be column names or an edge, "
        rf"because there is a node '{node}'\.\n  If they are column names, pass "
        rf'source="{words[0]}" and target="{words[1]}"'
    )
    path = write(content)
    with pytest.raises(FileFormatError, match=message):
        read_graph(path)
    edges = content.count("\n")
    assert read_graph(path, source=words[0], target=words[1]).m == edges - 1
    assert read_graph(write(f"source target\n{content}".replace(",", " "))).m == edges


def test_a_line_with_a_number_beside_usual_names_is_an_edge(write):
    graph = read_graph(write("u v 1.5\nv w 2\n"))
    assert (graph.nodes, graph.m) == (("u", "v", "w"), 2)


def test_columns_can_be_named(write):
    path = write("who;whom;how often;since\nann;bob;3;2020\nbob;cat;1;2021\n")
    graph = read_graph(path, source="who", target="WHOM", weight="how often")
    assert (graph.nodes, graph.weights.tolist()) == (("ann", "bob", "cat"), [3, 3, 1, 1])
    partition = kgroups.detect_communities(path, source="who", target="whom")
    assert partition.nodes == ("ann", "bob", "cat")
    message = r"^graph\.txt, line 1: source must name one column .* 'x'; .* 'who', 'whom', 'how"
    with pytest.raises(FileFormatError, match=message):
        read_graph(path, source="x", target="whom")
    with pytest.raises(FileFormatError, match="line 1: one pair of columns must hold the ends"):
        read_graph(write("u,v,from,to\na,b,c,d\n"))


def test_the_third_column_without_a_header_is_the_weight_whatever_its_name(write):
    assert read_graph(write("1 2 3\n"), weight="cost").weights.tolist() == [3, 3]
    with pytest.raises(WeightError, match="got 'cost'; it has none"):
        read_graph(write("1 2\n"), weight="cost")


def test_a_type_column_can_say_directed(write):
    path = write("Source,Target,Type\n1,2,Undirected\n2,3,Directed\n", "gephi.csv")
    with pytest.raises(DirectedGraphError, match=r"gephi\.csv, where line 3 says Directed"):
        read_graph(path)
    assert read_graph(path, symmetrize="sum").m == 2
    assert read_graph(write("source,target,type\n1,2,undirected\n")).m == 1


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ("1 2\n3\n", 2, "every line must have 2 fields as the first one has, got 1"),
        ("# c\n1 2\n\n1 2 3\n", 4, "every line must have 2 fields as the first one has, got 3"),
        ("1 2 3 4\n", 1, "two node names and perhaps a weight, got 4 fields"),
        ("5\n", 1, "two node names and perhaps a weight, got 1 fields"),
        ("1 2 0.5\n2 3 heavy\n", 2, "a weight must be a number, got 'heavy'"),
        ("a,b,\n", 1, "a weight must be a number, got ''"),
        ("a,b\n,c\n", 2, "a node name is empty"),
        ('a,b\n"c,d\n', 2, "unexpected end of data"),
        (b"a b\n\xff\xfe c\n", 2, "text must be UTF-8"),
        ("here,there\n1,2\n2,3\n", 1, "'here' and 'there' look like column names"),
        ("here,there,w\n1,2,1\n", 1, "a weight must be a number, got 'w'"),
    ],
)
def test_a_malformed_line_is_named(write, content, line, problem):
    with pytest.raises(FileFormatError, match=rf"^graph\.txt, line {line}: .*{problem}"):
        read_graph(write(content))


@pytest.mark.parametrize("value", ["-1.5", "nan", "inf", "-inf"])
@pytest.mark.parametrize("names", [(5, 6), ("ann", "bob")])
def test_bad_weights_name_file_and_edge(write, value, names):
    content = f"{names[0]} {names[1]} {value}\n"
    pattern = rf"^graph\.txt: edge weights .* got {value} on edge \({names[0]!r}, {names[1]!r}\)"
    with pytest.raises(WeightError, match=pattern):
        read_graph(write(content))
    assert read_graph(write(content), weight=None).m == 1


def test_ignored_weights_may_be_anything(write):
    assert read_graph(write("1 2 x\n2 3 y\n"), weight=None).nodes == (1, 2, 3)


def test_integers_are_read_without_a_look_at_each_line(write, monkeypatch):
    monkeypatch.setattr(edge_lists, "_line_by_line", lambda *_: pytest.fail("line by line"))
    assert read_graph(write("source,target,weight\n10,20,0.5\n20,30,1\n# end\n")).m == 2


@pytest.mark.parametrize("size", [1, 7, 64])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_blocks_end_where_lines_end(write, size, end):
    rng = np.random.default_rng(size)
    pairs = rng.integers(0, 10**6, (40, 2)).tolist()
    lines = ["# made up", "source target", *(f"{u} {v}" for u, v in pairs)]
    path = write((end or "\n").join(lines) + end)
    graph = read_file(path, ReadOptions(block_bytes=size))
    assert graph.m == 40
    assert list(graph.nodes) == sorted({end for pair in pairs for end in pair})


@pytest.mark.parametrize("weight", ["weight", None])
@pytest.mark.parametrize("attributes", [{}, {"weight": 4}, {"weight": 4, "year": 2020}])
@pytest.mark.parametrize("delimiter", [" ", ",", "\t"])
def test_attributes_that_networkx_writes_are_refused(tmp_path, weight, attributes, delimiter):
    path = tmp_path / "edges.txt"
    nx.write_edgelist(nx.Graph([(0, 1, attributes)]), path, delimiter=delimiter)
    with pytest.raises(FileFormatError, match=r"dict of attributes(.|\n)*data=False"):
        read_graph(path, weight=weight)


def test_names_with_braces_are_names(write):
    assert read_graph(write("{x},{y}\n{y},{z}\n", "e.csv")).nodes == ("{x}", "{y}", "{z}")
