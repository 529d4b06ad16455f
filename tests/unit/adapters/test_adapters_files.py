"""Graph files of the other formats: what they may say, and what they may never do."""

import builtins
import gzip
import io
import pickle
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from types import ModuleType

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import sparse

import kgroups
from kgroups.adapters import files, read_graph
from kgroups.adapters.edges import ReadOptions
from kgroups.adapters.files import read_file
from kgroups.errors import (
    DirectedGraphError,
    FileFormatError,
    GraphError,
    InputError,
    MissingExtraError,
    WeightError,
)


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        path = tmp_path / name
        raw = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write_file


def dense(graph):
    return graph.to_scipy().toarray().tolist()


class TestReadGraph:
    def test_unknown_suffixes_are_refused(self, write):
        with pytest.raises(FileFormatError, match=r"must tell the format, got '\.dat'(.|\n)*\.gml"):
            read_graph(write("a.dat", "1 2"))
        with pytest.raises(FileFormatError, match="must tell the format, got ''"):
            read_graph(write("edges", "1 2"))

    def test_format_overrules_the_suffix(self, write):
        assert read_graph(write("a.dat", "1 2"), format="edgelist").m == 1
        with pytest.raises(InputError, match="format must be one of None, 'edgelist', 'gml'"):
            read_graph(write("a.dat", "1 2"), format="excel")

    def test_every_format_has_a_reader_and_suffixes_of_its_own(self, tmp_path):
        suffixes = [suffix for one in files.FORMATS for suffix in one.suffixes.split()]
        assert len(set(suffixes)) == len(suffixes)
        for suffix in suffixes:
            path = tmp_path / f"a{suffix}"
            path.write_bytes(b"")
            with pytest.raises(FileFormatError, match=rf"^a\{suffix}"):
                read_graph(path)

    def test_a_format_is_one_function_and_one_line(self, write, monkeypatch):
        """Show that a reader needs nothing but its own module and its registration."""
        reader = ModuleType("kgroups.adapters.one_edge_per_word")
        reader.read = lambda file: kgroups.as_graph(
            tuple(
                zip(
                    *(word.split("-") for _, line in file.lines() for word in line.split()),
                    strict=True,
                )
            )
        )
        monkeypatch.setitem(sys.modules, reader.__name__, reader)
        registered = files.Format("words", "words", ".words", "one_edge_per_word:read")
        monkeypatch.setattr(files, "FORMATS", (*files.FORMATS, registered))
        assert read_graph(write("a.words", "ann-bob bob-cy\n")).nodes == ("ann", "bob", "cy")
        assert read_graph(write("b.words.gz", "ann-bob\ncy-ann")).m == 2

    def test_weight_must_be_a_name(self, write):
        with pytest.raises(InputError, match="weight must be the name of an edge attribute"):
            read_graph(write("a.csv", "1,2"), weight=3)

    def test_missing_files_and_folders(self, tmp_path):
        with pytest.raises(FileFormatError, match=r"^karate: there is no such file"):
            read_graph("karate")
        with pytest.raises(FileFormatError, match=r"none\.gml: there is no such file"):
            read_graph(tmp_path / "none.gml")
        (tmp_path / "folder.csv").mkdir()
        with pytest.raises(
            FileFormatError, match=r"folder\.csv must be a regular file, got a folder"
        ):
            read_graph(tmp_path / "folder.csv")

    @pytest.mark.parametrize(
        "content", [b"1 2\n", gzip.compress(b"1 2\n" * 500)[:-20]], ids=["text", "cut"]
    )
    def test_broken_compression(self, tmp_path, content):
        path = tmp_path / "a.txt.gz"
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"a\.txt\.gz: the file could not be read"):
            read_graph(path)


LONG = "9" * (sys.get_int_max_str_digits() + 1)
XML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
XML_WEIGHT = '<key id="w" for="edge" attr.name="weight" attr.type="{}">{}</key>'
XML_GRAPH = (
    '<graph edgedefault="undirected">\n<node id="{0}"/><node id="2"/>\n'
    '<edge source="{0}" target="2"><data key="w">\n{1}</data></edge></graph></graphml>'
)


class TestNumbers:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("a.csv", f"1,2\n{LONG},3\n"),
            ("a.csv", f"1 2 1.5\n3 -{LONG} 1\n"),
            ("a.gml", f'graph [ node [ id 0 ]\n node [ id 1 label "{LONG}" ] ]'),
            ("a.gml", f"graph [ node [ id 0 ]\n node [ id {LONG} ] ]"),
            ("a.net", f'*Vertices 2\n1 "{LONG}"\n'),
            ("a.graphml", XML + XML_WEIGHT.format("int", "") + XML_GRAPH.format(LONG, 1)),
            ("a.graphml.gz", XML + XML_WEIGHT.format("int", "") + XML_GRAPH.format(LONG, 1)),
        ],
    )
    def test_a_name_of_more_digits_than_python_reads_is_an_error(self, write, name, text):
        text = text.replace("id 0 ]", 'id 0 label "7" ]') if "label" in text else text
        with pytest.raises(
            FileFormatError,
            match=rf"^{name}: .*4300 digits.* 4301",
        ):
            read_graph(write(name, text))

    @pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
    def test_a_long_number_beside_other_text_is_text(self, write, name):
        assert read_graph(write(name, f"ann,{LONG}\n")).nodes == ("ann", LONG)

    @pytest.mark.parametrize(("kind", "number"), [("double", "ten"), ("int", "1.5"), ("int", "")])
    def test_a_weight_of_graphml_that_is_no_number_is_shown(self, write, kind, number):
        text = XML + XML_WEIGHT.format(kind, "") + XML_GRAPH.format("1", number)
        with pytest.raises(FileFormatError, match=rf"^a.graphml: .* valid GraphML, .*{number}"):
            read_graph(write("a.graphml", text))

    @pytest.mark.parametrize("number", ["1_0", "1_000.5", "1e1_0", "\uff11\uff10"])
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("a.csv", "ann,bob,1\nbob,cat,{}\n"),
            ("a.csv", "1,2,1\n2,3,{}\n"),
            ("a.tsv", "target\tweight\tsource\na\t{}\tb\n"),
            ("a.net", "*Vertices 2\n*Edges 1 2 3\n1 2 {}\n"),
            ("a.net", "*Vertices 2\n*Matrix\n0 {}\n1 0\n"),
            ("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 {}\n"),
            ("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n{}\n"),
            (
                "a.gml",
                "graph [ node [ id 0 ] node [ id 1 ]\n\nedge [ source 0 target 1 weight {} ] ]",
            ),
        ],
    )
    def test_underscores_and_digits_of_other_scripts_make_no_weight(
        self, write, name, text, number
    ):
        line = 3 if name[2:] in ("net", "mtx", "gml") else 2
        with pytest.raises(FileFormatError, match=rf"^{name}, line {line}: "):
            read_graph(write(name, text.replace("{}", number)))

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("a.csv", "1_0,2\n"),
            ("a.csv", "1_0,2,1.5\n"),
            ("a.net", '*Vertices 2\n1 "1_0"\n2 "2"\n*Edges\n1 2\n'),
            (
                "a.gml",
                'graph [ node [ id 0 label "1_0" ] node [ id 1 label "2" ]\n'
                "edge [ source 0 target 1 ] ]",
            ),
            ("a.graphml", XML + XML_GRAPH.replace('<data key="w">\n{1}</data>', "").format("1_0")),
        ],
    )
    def test_underscores_stay_in_names(self, write, name, text):
        assert read_graph(write(name, text)).nodes == ("1_0", "2")

    def test_a_graphml_weight_may_be_true(self, write):
        graph = XML_GRAPH.replace("\n{1}", "true").format(1)
        assert read_graph(write("a.graphml", XML + XML_WEIGHT.format("boolean", "") + graph)).m == 1

    def test_underscores_in_other_attributes_do_no_harm(self, write):
        key = '<key id="w" for="edge" attr.name="note" attr.type="string"/>'
        assert read_graph(write("a.graphml", XML + key + XML_GRAPH.format(1, "1_0"))).m == 1


class TestWithoutNodes:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("a.csv", ""),
            ("a.csv", "source,target,weight\n"),
            ("a.txt", "# nothing\n\n% at all\n"),
            ("a.tsv.gz", "# nothing\n"),
            ("a.gml", "graph [ ]"),
            ("a.graphml", XML + '<graph edgedefault="undirected"></graph></graphml>'),
            ("a.net", "*Vertices 0\n"),
            ("a.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n"),
        ],
    )
    def test_a_file_without_a_node_is_refused(self, write, name, text):
        message = rf"^{name}: the file must hold at least one node, got none\.\n  Check"
        with pytest.raises(FileFormatError, match=message):
            read_graph(write(name, text))

    def test_matrices_without_rows_are_refused(self, tmp_path):
        sparse.save_npz(tmp_path / "a.npz", sparse.csr_array((0, 0)))
        np.savez(tmp_path / "b.npz", row=np.zeros(0, int), col=np.zeros(0, int))
        for name in ("a.npz", "b.npz"):
            with pytest.raises(FileFormatError, match=rf"^{name}: .* at least one node"):
                read_graph(tmp_path / name)

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("a.gml", "graph [ node [ id 1 ] node [ id 2 ] ]"),
            (
                "a.graphml",
                XML
                + '<graph edgedefault="undirected"><node id="a"/><node id="b"/></graph></graphml>',
            ),
            ("a.net", "*Vertices 2\n"),
            ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 0\n"),
        ],
    )
    def test_nodes_without_edges_are_a_graph(self, write, name, text):
        graph = read_graph(write(name, text))
        assert (graph.n, graph.m) == (2, 0)


class TestColumnNames:
    @pytest.mark.parametrize(
        "suffixes", [one.suffixes for one in files.FORMATS if not one.has_columns]
    )
    def test_formats_without_columns_refuse_column_names(self, write, suffixes):
        for suffix in suffixes.split():
            with pytest.raises(InputError, match="name the columns of a table of edges, got a fil"):
                read_graph(write(f"a{suffix}", ""), source="a", target="b")


class TestGML:
    def test_labels_name_the_nodes_and_attributes_weigh_the_edges(self, write):
        text = (
            'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] node [ id 2 label "c" ]\n'
            "edge [ source 0 target 1 value 3 ] ]"
        )
        graph = read_graph(write("a.gml", text), weight="value")
        assert graph.nodes == ("a", "b", "c")
        assert dense(graph)[0] == [0, 3, 0]
        assert read_graph(write("a.gml.gz", text)).weights is None

    @pytest.mark.parametrize(
        ("labels", "nodes"),
        [
            (('label "x"', 'label "x"'), (4, 7)),
            (("", ""), (4, 7)),
            (('label "10"', 'label "3"'), (10, 3)),
            (("label 10", 'label "b"'), ("10", "b")),
        ],
    )
    def test_names_of_nodes(self, write, labels, nodes):
        text = (
            f"graph [ node [ id 4 {labels[0]} ] node [ id 7 {labels[1]} ] "
            "edge [ source 4 target 7 ] ]"
        )
        assert read_graph(write("a.gml", text)).nodes == nodes

    def test_parallel_edges_need_no_flag(self, write):
        text = (
            "graph [\n node [ id 1 ]\n node [ id 2 ]\n"
            " edge [ source 1 target 2 ]\n edge [ source 2 target 1 ] ]"
        )
        assert read_graph(write("a.gml", text)).multiplicity.tolist() == [2, 2]

    def test_directed_files_name_the_ways_on(self, write):
        text = "graph [ directed 1 node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
        with pytest.raises(DirectedGraphError, match=r'^a\.gml: .*directed(.|\n)*"union"'):
            read_graph(write("a.gml", text))
        assert read_graph(write("a.gml", text), symmetrize="union").m == 1

    def test_a_malformed_line_is_named(self, write):
        with pytest.raises(FileFormatError, match=r"a\.gml, line 3: the file must be valid GML"):
            read_graph(write("a.gml", "graph [\n node [ id 1 ]\n node { id 2 }\n]"))

    def test_deep_nesting_is_an_error(self, write):
        with pytest.raises(FileFormatError, match="GML file has parts that are nested too deep"):
            read_graph(write("a.gml", "graph " + "[ a " * 100_000))


class TestGraphML:
    HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'

    def test_a_default_weight_is_used(self, write):
        text = (
            self.HEAD + '<key id="w" for="edge" attr.name="weight" attr.type="double">'
            '<default>2.5</default></key><graph edgedefault="undirected"><node id="a"/>'
            '<node id="b"/><node id="c"/><edge source="a" target="b"/>'
            '<edge source="b" target="c"><data key="w">4</data></edge></graph></graphml>'
        )
        graph = read_graph(write("a.graphml", text))
        assert graph.nodes == ("a", "b", "c")
        assert graph.weights.tolist() == [2.5, 2.5, 4, 4]

    def test_directed_files_name_the_ways_on(self, tmp_path):
        nx.write_graphml(nx.DiGraph([(1, 2)]), tmp_path / "a.graphml")
        with pytest.raises(DirectedGraphError, match=r"a\.graphml: (.|\n)*symmetrize"):
            read_graph(tmp_path / "a.graphml")
        assert read_graph(tmp_path / "a.graphml", symmetrize="sum").nodes == (1, 2)

    @pytest.mark.parametrize(
        "declaration",
        [
            '<!DOCTYPE x [<!ENTITY a "b">]>',
            '<!DOCTYPE x SYSTEM "file:///etc/hostname">',
            '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>',
        ],
    )
    def test_entities_and_document_types_are_refused(self, write, declaration, monkeypatch):
        monkeypatch.setattr(nx, "read_graphml", lambda *_: pytest.fail("parsed"))
        text = f'<?xml version="1.0"?>\n{declaration}{self.HEAD}</graphml>'
        message = r"line 2: a GraphML file must not declare a document type or entities"
        with pytest.raises(FileFormatError, match=r"^a\.graphml, " + message):
            read_graph(write("a.graphml", text))
        with pytest.raises(FileFormatError, match=r"^a\.graphml\.gz, " + message):
            read_graph(write("a.graphml.gz", text))

    def test_a_malformed_line_is_named(self, write):
        with pytest.raises(FileFormatError, match=r"a\.graphml, line 2: .* valid XML"):
            read_graph(write("a.graphml", f"{self.HEAD}\n<graph></graphml>"))


class TestPajek:
    def test_all_sections_of_edges(self, write):
        text = (
            '*Network trial\n% comment\n*Vertices 4\n1 ann 0.1 0.2\n2 "bob lee" ic Red\n'
            '3 "cy"\n*Edges :1 "knows"\n1 2 0.5 c Blue\n2 3\n*Edgeslist\n1 3 4\n*Arcs\n'
        )
        graph = read_graph(write("a.net", text))
        assert graph.nodes == ("ann", "bob lee", "cy", "4")
        assert dense(graph) == [[0, 0.5, 1, 1], [0.5, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
        assert read_graph(write("a.net", text), weight=None).weights is None

    def test_arcs_are_directed_and_edges_beside_them_go_both_ways(self, write):
        path = write("a.paj", "*Vertices 3\n*Edges\n1 2 3\n*Arcs\n2 3 5\n*Arcslist\n3 1\n")
        with pytest.raises(DirectedGraphError, match=r"got a\.paj with \*Arcs"):
            read_graph(path)
        summed = read_graph(path, symmetrize="sum")
        assert summed.nodes == (1, 2, 3)
        assert dense(summed) == [[0, 6, 1], [6, 0, 5], [1, 5, 0]]
        assert dense(read_graph(path, symmetrize="union")) == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]

    def test_matrices(self, write):
        graph = read_graph(write("a.net", '*Vertices 2\n1 "a"\n2 "b"\n*Matrix\n0 2\n2 1\n'))
        assert (graph.nodes, dense(graph)) == (("a", "b"), [[0, 2], [2, 1]])
        with pytest.raises(GraphError, match=r"^a\.net: .*must be symmetric, got 2\.0 from 1 to 2"):
            read_graph(write("a.net", "*Vertices 2\n*Matrix\n0 2\n1 1\n"))

    def test_equal_labels_give_numbers(self, write):
        text = '*Vertices 2\n1 "x"\n2 "x"\n*Edges\n1 2\n'
        assert read_graph(write("a.net", text)).nodes == (1, 2)

    def test_what_follows_the_network_is_left_alone(self, write):
        text = "*Vertices 2\n*Edges\n1 2\n*Partition p\n*Vertices 2\n1\n2\n"
        assert read_graph(write("a.paj", text)).m == 1

    def test_weights_are_checked(self, write):
        path = write("a.net", '*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2 -1\n')
        with pytest.raises(WeightError, match=r"^a\.net: .* got -1\.0 on edge \('a', 'b'\)"):
            read_graph(path)
        with pytest.raises(WeightError, match="got 'cost'; it has 'weight'"):
            read_graph(path, weight="cost")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("1 2\n", "line 1: a section such as"),
            ("*Edges\n1 2\n", r"line 1: \*Vertices must come before \*Edges"),
            ("*Vertices\n", "line 1: a whole number is needed, got ''"),
            ("*Vertices 2\n*Edges\n1 3\n", "line 3: vertices are numbered from 1 to 2, got 3"),
            ("*Vertices 2\n*Edges\n1\n", "line 3: an edge needs two vertices, got one"),
            ("*Vertices 2\n*Edges\n1 2 x\n", "line 3: a number is needed, got 'x'"),
            ("*Vertices 2\n*Edges\n1 b\n", "line 3: a whole number is needed, got 'b'"),
            ("*Vertices 2\n1 a\n1 b\n", "line 3: vertex 1 is named twice"),
            ("*Vertices 2\n*Vertices 2\n", r"line 2: a file must hold one network"),
            ("*Vertices 2\n*Nonsense\n", r"line 2: \*Nonsense is not a section"),
            ("*Vertices 2\n*Matrix\n1 2 3\n", r"line 3: \*Matrix needs 2 rows of 2 numbers"),
            ("*Vertices 2\n*Matrix\n1 2\n", r"\*Matrix needs 2 rows, and no other edges"),
            ("*Vertices 999999999\n", "claims 999999999 nodes but has 0 entries"),
            ("", r"must have a \*Vertices section"),
        ],
    )
    def test_a_malformed_line_is_named(self, write, text, message):
        with pytest.raises(FileFormatError, match=r"^a\.net(, |: ).*" + message):
            read_graph(write("a.net", text))


class TestMatrixMarket:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (
                "coordinate real symmetric\n% c\n3 3 2\n2 1 1.5\n3 3 2\n",
                [[0, 1.5, 0], [1.5, 0, 0], [0, 0, 2]],
            ),
            ("coordinate pattern symmetric\n2 2 1\n2 1\n", [[0, 1], [1, 0]]),
            ("COORDINATE Integer General\n2 2 2\n1 2 3\n% late\n2 1 3\n", [[0, 3], [3, 0]]),
            ("array real general\n2 2\n0\n3\n3\n1\n", [[0, 3], [3, 1]]),
            ("array real symmetric\n2 2\n0\n3\n1\n", [[0, 3], [3, 1]]),
            ("coordinate real general\n2 2 0\n", [[0, 0], [0, 0]]),
        ],
    )
    def test_matrices(self, write, text, expected):
        for name in ("a.mtx", "a.mtx.gz"):
            assert dense(read_graph(write(name, "%%MatrixMarket matrix " + text))) == expected

    @pytest.mark.parametrize("symmetry", ["general", "symmetric"])
    @pytest.mark.parametrize("kind", [sparse.csr_array, np.array])
    def test_scipy_writes_what_is_read(self, tmp_path, symmetry, kind):
        from scipy import io as scipy_io

        rng = np.random.default_rng(0)
        half = np.triu(rng.random((6, 6)) * (rng.random((6, 6)) < 0.5))
        matrix = half + half.T
        scipy_io.mmwrite(tmp_path / "a.mtx", kind(matrix), symmetry=symmetry, precision=17)
        assert dense(read_graph(tmp_path / "a.mtx")) == matrix.tolist()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("hello\n", "line 1: the first line must announce a real Matrix Market matrix"),
            ("%%MatrixMarket matrix coordinate complex general\n", "line 1: the first line must"),
            ("%%MatrixMarket matrix coordinate real general\n", "the line of sizes is missing"),
            (
                "%%MatrixMarket matrix coordinate real general\n% c\n2 2\n",
                "line 3: the line of sizes must hold 3 whole numbers, got '2 2'",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 x 1\n",
                "line 4: an entry must be 3 numbers, got '2 x 1'",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n",
                "the sizes ask for 2 entries, got 1",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n",
                "entry 1: columns are numbered from 1 to 2, got 3",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n99999999999 99999999999 0\n",
                "the file claims 99999999999 nodes but has 0 entries",
            ),
            (b"%%MatrixMarket \xff\n", "line 1: text must be UTF-8"),
        ],
    )
    def test_what_is_malformed_is_named(self, write, text, message):
        with pytest.raises(FileFormatError, match=r"^a\.mtx(, |: )" + message):
            read_graph(write("a.mtx", text))

    def test_matrices_that_are_no_graphs(self, write):
        head = "%%MatrixMarket matrix coordinate real "
        with pytest.raises(GraphError, match=r"^a\.mtx: an adjacency matrix must be square"):
            read_graph(write("a.mtx", head + "general\n2 3 0\n"))
        with pytest.raises(GraphError, match=r"^a\.mtx: an adjacency matrix must be symmetric"):
            read_graph(write("a.mtx", head + "general\n2 2 1\n1 2 1\n"))
        with pytest.raises(
            WeightError, match=r"^a\.mtx: edge weights must be finite and >= 0, got -1"
        ):
            read_graph(write("a.mtx", head + "skew-symmetric\n2 2 1\n2 1 1\n"))


class TestNpz:
    def save(self, path, **arrays):
        np.savez(path, **arrays)
        return path

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
    def test_what_scipy_saves(self, tmp_path, kind):
        matrix = sparse.coo_array([[0, 2.0], [2.0, 1.0]]).asformat(kind)
        sparse.save_npz(tmp_path / "a.npz", matrix)
        assert dense(read_graph(tmp_path / "a.npz")) == [[0, 2], [2, 1]]

    def test_arrays_of_edges(self, tmp_path):
        path = self.save(
            tmp_path / "a.npz", source=[5, 6], target=[6, 9], weight=[1, 2.5], cost=[4, 4]
        )
        assert read_graph(path).nodes == (5, 6, 9)
        assert read_graph(path).weights.tolist() == [1, 1, 2.5, 2.5]
        assert read_graph(path, weight="cost").weights.tolist() == [4] * 4

    def test_arrays_of_matrix_entries(self, tmp_path):
        path = self.save(tmp_path / "a.npz", row=[0, 1], col=[1, 0], data=[3.0, 3.0])
        assert dense(read_graph(path)) == [[0, 3], [3, 0]]
        path = self.save(tmp_path / "b.npz", row=[0, 1], col=[1, 0], shape=[3, 3])
        assert read_graph(path).n == 3
        path = self.save(tmp_path / "c.npz", row=[0], col=[1])
        with pytest.raises(GraphError, match=r"^c\.npz: an adjacency matrix must be symmetric"):
            read_graph(path)

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({"row": [0.4, 1.9], "col": [1.9, 0.4]}, "got 0.4 in entry 0 of the array 'row'"),
            ({"row": [0, 1], "col": [1.0, 0.0]}, "got 1.0 in entry 0 of the array 'col'"),
            ({"row": [0, 1, 1], "col": [1, 0, 0.5]}, "got 0.5 in entry 2 of the array 'col'"),
            ({"row": ["0", "1"], "col": [1, 0]}, "got '0' in entry 0 of the array 'row'"),
            ({"row": [False, True], "col": [1, 0]}, "got False in entry 0 of the array 'row'"),
            (
                {"row": [0, 1], "col": [1, 0], "shape": [2, 2.5]},
                "got 2.5 in entry 1 of the array 'shape'",
            ),
        ],
    )
    def test_row_and_column_numbers_that_are_not_whole_are_refused(self, tmp_path, arrays, message):
        path = self.save(tmp_path / "a.npz", **arrays)
        with pytest.raises(
            FileFormatError, match=rf"^a\.npz: row and column .* whole numbers, {message}"
        ):
            read_graph(path)

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
    def test_fractional_indices_in_what_scipy_saves_are_refused(self, tmp_path, kind):
        path = tmp_path / "a.npz"
        sparse.save_npz(path, sparse.coo_array([[0, 2.0], [2.0, 1.0]]).asformat(kind))
        with np.load(path) as archive:
            arrays = dict(archive)
        key = {"coo": "row", "dia": "offsets"}.get(kind, "indices")
        arrays[key] = arrays[key] + 0.25
        np.savez(path, **arrays)
        with pytest.raises(FileFormatError, match=rf"entry 0 of the array '{key}'"):
            read_graph(path)

    def test_other_arrays_are_refused(self, tmp_path):
        with pytest.raises(
            GraphError, match=r"^a\.npz: .* one column 'source' .* got the columns 'x'"
        ):
            read_graph(self.save(tmp_path / "a.npz", x=[1]))

    def test_pickles_are_never_loaded(self, tmp_path, monkeypatch):
        names = np.array(["a", ("b",)], dtype=object)
        path = tmp_path / "a.npz"
        np.savez(path, source=names, target=names, allow_pickle=True)
        monkeypatch.setattr(pickle, "load", lambda *_, **__: pytest.fail("unpickled"))
        with pytest.raises(FileFormatError, match=r"^a\.npz: .*allow_pickle=False"):
            read_graph(path)
        (tmp_path / "b.npz").write_bytes(pickle.dumps({"source": [1]}))
        with pytest.raises(FileFormatError, match=r"^b\.npz: "):
            read_graph(tmp_path / "b.npz")

    def test_indices_that_point_outside_are_refused(self, tmp_path):
        parts = {"indices": [0, 9], "indptr": [0, 1, 2], "data": [1.0, 1.0], "shape": [2, 2]}
        path = self.save(tmp_path / "a.npz", format=np.array(b"csr"), **parts)
        with pytest.raises(GraphError, match=r"^a\.npz: .*"):
            read_graph(path)

    def test_a_small_file_that_claims_many_nodes_is_refused(self, tmp_path):
        path = self.save(tmp_path / "a.npz", row=[0], col=[0], shape=[10**10, 10**10])
        with pytest.raises(FileFormatError, match="claims 10000000000 nodes but has 1 entries"):
            read_graph(path)


class TestParquet:
    def test_columns_by_name(self, tmp_path):
        table = pa.table(
            {"source": ["a", "b"], "other": [1, 2], "target": ["b", "c"], "cost": [2, 3]}
        )
        pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
        assert read_graph(tmp_path / "a.parquet").nodes == ("a", "b", "c")
        graph = read_graph(tmp_path / "a.parquet", weight="cost")
        assert graph.weights.tolist() == [2, 2, 3, 3]
        with pytest.raises(WeightError, match=r"^a\.parquet: .*got 'x'; it has 'cost', 'other'"):
            read_graph(tmp_path / "a.parquet", weight="x")

    def test_without_pyarrow_the_extra_is_named(self, write, monkeypatch):
        real_import = builtins.__import__

        def no_pyarrow(name, *rest, **options):
            if name.partition(".")[0] == "pyarrow":
                raise ImportError(name)
            return real_import(name, *rest, **options)

        monkeypatch.setattr(builtins, "__import__", no_pyarrow)
        with pytest.raises(MissingExtraError, match=r'pip install "\.\[parquet\]"'):
            read_graph(write("a.parquet", b"PAR1"))

    def test_what_is_no_parquet_is_refused(self, write):
        with pytest.raises(FileFormatError, match=r"^a\.parquet: the file must be valid Parquet"):
            read_graph(write("a.parquet", b"hello"))


class TestExpansion:
    """Files that expand a hundredfold, with a limit that is small enough to reach at once."""

    MESSAGE = (
        r": a compressed file must not expand to more than 100 times its size and more than 64 MiB,"
        r" got \d+ bytes that expand to at least \d+\.\n  If you trust .* max_expansion"
    )

    SMALL = ReadOptions(always_allowed=1 << 16)

    @pytest.mark.parametrize(
        ("name", "start", "repeated"),
        [
            ("a.csv.gz", "", "1,2\n"),
            ("a.csv.gz", "", "ann,bob\n"),
            ("a.txt.gz", "ann bob\n#", "a"),
            ("a.gml.gz", "graph [ ", "node [ id 1 ] "),
            ("a.graphml.gz", "<graphml>", "<node/>"),
            ("a.net.gz", "*Vertices 2\n*Edges\n", "1 2\n"),
            ("a.mtx.gz", "%%MatrixMarket matrix coordinate real general\n2 2 9\n", "1 2 1\n"),
        ],
    )
    def test_compressed_text_that_expands_too_far_is_refused(self, write, name, start, repeated):
        path = write(name, start + repeated * 200_000)
        with pytest.raises(FileFormatError, match=rf"^{name}{self.MESSAGE}"):
            read_file(path, self.SMALL)

    def test_more_than_the_limit_is_never_held_in_memory(self, write):
        path = write("a.csv.gz", "x" * 50_000_000)
        tracemalloc.start()
        try:
            with pytest.raises(FileFormatError, match=self.MESSAGE):
                read_file(path, self.SMALL)
            assert tracemalloc.get_traced_memory()[1] < 20_000_000
        finally:
            tracemalloc.stop()

    def test_the_limit_as_it_is_by_default(self, tmp_path):
        path = tmp_path / "a.csv.gz"
        path.write_bytes(gzip.compress(b"#" * (1 << 20)) * 100)
        with pytest.raises(FileFormatError, match=r"expand to at least 6[78]\d{6}\."):
            read_graph(path)
        path.write_bytes(gzip.compress(b"#" * (1 << 20)) * 8 + gzip.compress(b"\n1,2\n"))
        assert read_graph(path).m == 1

    def test_arrays_that_expand_too_far_are_refused(self, tmp_path):
        zeros = np.zeros(10**6, np.int64)
        columns = tmp_path / "columns.npz"
        np.savez_compressed(columns, source=zeros, target=zeros, weight=zeros)
        entries = tmp_path / "entries.npz"
        np.savez_compressed(entries, row=zeros, col=zeros)
        matrix = tmp_path / "matrix.npz"
        sparse.save_npz(matrix, sparse.csr_array((zeros, (zeros, zeros)), shape=(10**6, 10**6)))
        for path in (columns, entries, matrix):
            with pytest.raises(FileFormatError, match=rf"^{path.name}{self.MESSAGE}"):
                read_file(path, self.SMALL)

    def test_arrays_that_are_not_read_may_be_of_any_size(self, tmp_path):
        features = np.zeros(10**6)
        np.savez_compressed(tmp_path / "a.npz", source=[1, 2], target=[2, 3], features=features)
        assert read_file(tmp_path / "a.npz", self.SMALL).m == 2

    def test_parquet_columns_that_expand_too_far_are_refused(self, tmp_path):
        zeros = np.zeros(10**6, np.int64)
        table = pa.table({"source": zeros, "target": zeros})
        pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
        with pytest.raises(FileFormatError, match=rf"^a\.parquet{self.MESSAGE}"):
            read_file(tmp_path / "a.parquet", self.SMALL)

    def test_the_limit_can_be_raised(self, write):
        path = write("a.csv.gz", "1,2\n" * 100_000)
        for limit in (2000, float("inf")):
            assert read_file(path, replace(self.SMALL, max_expansion=limit)).m == 100_000
        with pytest.raises(FileFormatError, match="more than 5 times its size"):
            read_file(path, replace(self.SMALL, max_expansion=5))

    @pytest.mark.parametrize("value", [0.5, float("nan"), "100", None, True])
    def test_the_limit_must_be_a_number_of_at_least_one(self, write, value):
        with pytest.raises(InputError, match=r"max_expansion must be a number >= 1, got"):
            read_graph(write("a.csv", "1,2\n"), max_expansion=value)

    def test_ordinary_files_stay_far_below_the_limit(self, write, tmp_path):
        graph = kgroups.generators.planted_partition(5000, k=5, degree=10, snr=2, rng=0).graph
        u, v, _ = graph.edges()
        lines = "".join(f"{i},{j}\n" for i, j in zip(u, v, strict=True))
        paths = [write("a.csv.gz", lines), tmp_path / "a.npz", tmp_path / "b.npz"]
        sparse.save_npz(paths[1], graph.to_scipy())
        np.savez_compressed(paths[2], source=u, target=v, weight=np.ones(len(u)))
        paths.append(tmp_path / "a.parquet")
        table = pa.table({"source": u, "target": v, "weight": np.ones(len(u))})
        pyarrow.parquet.write_table(table, paths[3], compression="zstd")
        for path in paths:
            assert read_file(path, ReadOptions(always_allowed=0, max_expansion=25)).m == graph.m


class TestNesting:
    @pytest.mark.parametrize("weight", ["weight", None])
    def test_deep_markup_is_refused_before_it_takes_memory(self, write, weight):
        path = write("a.graphml.gz", "<a>" * 10_000_000)
        tracemalloc.start()
        try:
            message = r"a\.graphml\.gz, line 1: elements must be nested at most 100 deep, got <a> d"
            with pytest.raises(FileFormatError, match=message):
                read_graph(path, weight=weight)
            assert tracemalloc.get_traced_memory()[1] < 20_000_000
        finally:
            tracemalloc.stop()

    def test_groups_of_groups_are_read(self, write):
        inner = '<node id="a"/><node id="b"/><edge source="a" target="b"/>'
        for level in range(10):
            inner = f'<node id="g{level}"><data key="d"><x><y/></x></data></node>{inner}'
        start = '<graphml><key id="d" for="node" attr.name="d" attr.type="string"/>'
        content = f'{start}<graph edgedefault="undirected">{inner}</graph></graphml>'
        assert read_graph(write("a.graphml", content)).n == 12


READ_INPUT = """
import sys
import kgroups as kg
graph = kg.read_graph("-", format=sys.argv[1] if sys.argv[1:] else None)
print(graph, graph.nodes)
"""


class TestStandardInput:
    def read(self, content, *words):
        return subprocess.run(
            [sys.executable, "-c", READ_INPUT, *words],
            input=content,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def test_it_is_an_edge_list_by_default(self):
        done = self.read("source,target,weight\nann,bob,2\n")
        assert done.stdout == "Graph(2 nodes, 1 edges, weighted) ('ann', 'bob')\n"

    def test_it_is_what_the_format_says(self):
        done = self.read("*Vertices 2\n*Edges\n1 2\n", "pajek")
        assert done.stdout == "Graph(2 nodes, 1 edges) (1, 2)\n"

    def test_errors_name_it_and_the_line(self):
        assert "FileFormatError: standard input, line 1: " in self.read("one\n").stderr


def starved(*_, **__):
    raise MemoryError


def test_memory_that_does_not_suffice_is_an_error_of_the_file(write, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(np, "load", starved)
        with pytest.raises(FileFormatError, match=r"^a\.npz: the npz file does not fit in memory"):
            read_graph(write("a.npz", b"PK"))
    monkeypatch.setattr("kgroups.adapters.edges.rows_of_edges", starved)
    with pytest.raises(FileFormatError, match=r"^a\.csv: the graph does not fit in memory"):
        read_graph(write("a.csv", "1,2\n"))


@pytest.mark.parametrize("text", ["", "a b\nb c\n" * 200, "x" * 1000, "a\0b"])
def test_text_that_is_no_path_is_a_file_that_is_not_there(text):
    with pytest.raises(FileFormatError, match="there is no such file") as caught:
        kgroups.as_graph(text)
    assert "\n" not in str(caught.value).partition(": there is")[0]


def test_only_a_bare_dash_is_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ann bob\n")))
    (tmp_path / "-").write_text("cy dan\n")
    assert read_graph("./-", format="edgelist").nodes == ("cy", "dan")
    assert read_graph("-").nodes == ("ann", "bob")


@pytest.mark.parametrize("stdin", [None, io.StringIO("ann bob\n")])
def test_standard_input_without_bytes_is_refused(monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(InputError, match=f"got a sys.stdin .* of type {type(stdin).__name__}"):
        read_graph("-")
