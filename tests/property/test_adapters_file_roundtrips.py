"""What is written to a file comes back from it; what is no graph file is an error, no crash."""

import gzip
import io

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from helpers import oracles_adapters as oracles
from helpers.strategies_adapters import EdgeList, edge_lists
from kgroups.adapters import FORMATS, as_graph, read_graph
from kgroups.errors import FileFormatError, GraphError

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
plain_text = st.text("abcdefgxyzåß_.-", min_size=1, max_size=4).filter(
    lambda s: s.strip("-.") != ""
)
file_names = st.one_of(
    st.lists(st.integers(-20, 10**12), unique=True, max_size=8).map(tuple),
    st.lists(plain_text, unique=True, max_size=8).map(tuple),
)
delimiters = st.sampled_from([",", ";", "\t", " ", ", ", "   "])
text_graphs = edge_lists(names=file_names)


def used(case):
    """Leave out the nodes without an edge, which edge lists cannot name."""
    ends = sorted({end for u, v, _ in case.edges for end in (u, v)})
    place = {old: new for new, old in enumerate(ends)}
    edges = tuple((place[u], place[v], w) for u, v, w in case.edges)
    return EdgeList(tuple(case.names[i] for i in ends), edges, case.parallel)


def assert_comes_back(path, expected):
    if expected.n:
        oracles.assert_same_graph(read_graph(path), expected)
        return
    with pytest.raises(FileFormatError, match=f"^{path.name}: .* at least one node, got none"):
        read_graph(path)


@same_folder
@given(
    text_graphs, st.sampled_from([",", ";", "\t", " ", ", ", "   "]), st.booleans(), st.booleans()
)
def test_edge_lists_come_back(tmp_path, case, delimiter, header, compressed):
    case = used(case)
    titles = ["source", "target", "weight"]
    rows = [titles] * header + [
        [str(case.names[u]), str(case.names[v]), repr(w)] for u, v, w in case.weighted_edges()
    ]
    lines = ["# edges", "% more", ""] + [delimiter.join(row) for row in rows]
    content = "\n".join(lines).encode()
    path = tmp_path / ("graph.txt.gz" if compressed else "graph.txt")
    path.write_bytes(gzip.compress(content) if compressed else content)
    assert_comes_back(path, as_graph(case.to_networkx()))


@same_folder
@given(text_graphs)
def test_gml_comes_back(tmp_path, case):
    G = nx.relabel_nodes(case.to_networkx(), str)
    path = tmp_path / "graph.gml"
    nx.write_gml(G, path)
    assert_comes_back(path, as_graph(case.to_networkx()))


@same_folder
@given(text_graphs)
def test_graphml_comes_back(tmp_path, case):
    path = tmp_path / "graph.graphml"
    nx.write_graphml(case.to_networkx(), path)
    assert_comes_back(path, as_graph(case.to_networkx()))


@same_folder
@given(text_graphs)
def test_pajek_comes_back(tmp_path, case):
    vertices = [f'{i} "{name}"' for i, name in enumerate(case.names, 1)]
    edges = [f"{u + 1} {v + 1} {w!r}" for u, v, w in case.weighted_edges()]
    path = tmp_path / "graph.net"
    lines = [f"*Vertices {case.n}", *vertices, "*Edges", *edges]
    path.write_text("\r\n".join(lines), encoding="utf-8", newline="")
    assert_comes_back(path, as_graph(case.to_networkx()))


@same_folder
@given(edge_lists(weights="all", parallel=False), st.sampled_from([".mtx", ".mtx.gz", ".npz"]))
def test_matrices_come_back(tmp_path, case, suffix):
    matrix = case.to_matrix().tocsr()
    path = tmp_path / f"graph{suffix}"
    if suffix == ".npz":
        sparse.save_npz(path, matrix)
    else:
        buffer = io.BytesIO()
        scipy_io.mmwrite(buffer, matrix, precision=17)
        content = buffer.getvalue()
        path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    assert_comes_back(path, as_graph(matrix))


@same_folder
@given(edge_lists(names=file_names))
def test_columns_come_back_from_npz_and_parquet(tmp_path, case):
    case = used(case)
    source, target, weight = case.to_arrays()
    expected = as_graph((source, target, weight))
    kind = np.int64 if not source or isinstance(source[0], int) else np.str_
    columns = {"source": np.array(source, kind), "target": np.array(target, kind), "weight": weight}
    np.savez(tmp_path / "graph.npz", **columns)
    pyarrow.parquet.write_table(
        pa.table({"source": source, "target": target, "weight": weight}), tmp_path / "graph.parquet"
    )
    assert_comes_back(tmp_path / "graph.npz", expected)
    assert_comes_back(tmp_path / "graph.parquet", expected)


GML = (
    b'graph [\n  node [ id 0 label "a" ]\n  node [ id 1 label "b" ]\n'
    b"  edge [ source 0 target 1 weight 2 ]\n]\n"
)
GRAPHML = (
    b'<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    b'<key id="d0" for="edge" attr.name="weight" attr.type="double"/>'
    b'<graph edgedefault="undirected"><node id="a"/><node id="b"/>'
    b'<edge source="a" target="b"><data key="d0">2.0</data></edge></graph></graphml>'
)
PAJEK = b'*Vertices 3\n1 "a"\n2 "b"\n*Edges\n1 2 1.5\n*Edgeslist\n1 2 3\n'
MTX = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.5\n3 2 2\n"
EDGES = b"source,target,weight\n1,2,0.5\n2,3,1\n# end\n"


def npz_bytes():
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.csr_array(np.array([[0, 1.0], [1, 0]])), compressed=False)
    return buffer.getvalue()


def parquet_bytes():
    buffer = io.BytesIO()
    table = pa.table({"source": [1, 2], "target": [2, 3], "weight": [0.5, 1.0]})
    pyarrow.parquet.write_table(table, buffer)
    return buffer.getvalue()


SAMPLES = {
    ".gml": GML,
    ".graphml": GRAPHML,
    ".net": PAJEK,
    ".mtx": MTX,
    ".csv": EDGES,
    ".npz": npz_bytes(),
    ".parquet": parquet_bytes(),
    ".txt.gz": gzip.compress(EDGES, mtime=0),
}


def assert_graph_or_error(path, content):
    path.write_bytes(content)
    try:
        graph = read_graph(path)
    except GraphError as error:
        assert path.name in str(error)  # noqa: PT017
    else:
        oracles.assert_well_formed(graph)


@pytest.mark.parametrize("suffix", SAMPLES)
def test_the_samples_are_graphs(tmp_path, suffix):
    path = tmp_path / f"sample{suffix}"
    path.write_bytes(SAMPLES[suffix])
    assert read_graph(path).m >= 1


@pytest.mark.parametrize("suffix", [*(one.suffixes.split()[0] for one in FORMATS), ".txt.gz"])
@same_folder
@given(content=st.binary(max_size=200))
@example(content=b"")
@example(content=b"\n\n")
@example(content=b"\x00")
def test_random_bytes_are_a_graph_or_an_error(tmp_path, suffix, content):
    assert_graph_or_error(tmp_path / f"fuzz{suffix}", content)


@pytest.mark.parametrize("suffix", SAMPLES)
@same_folder
@given(data=st.data())
def test_damaged_files_are_a_graph_or_an_error(tmp_path, suffix, data):
    content = bytearray(SAMPLES[suffix])
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        stop = data.draw(st.integers(start, min(len(content), start + 6)))
        content[start:stop] = data.draw(st.binary(max_size=6))
    assert_graph_or_error(tmp_path / f"damaged{suffix}", bytes(content))


@same_folder
@given(lines=st.lists(st.text('0123456789,; \t#%"ab.-+e_nif\r', max_size=12), max_size=6))
def test_lines_of_likely_characters_are_a_graph_or_an_error(tmp_path, lines):
    assert_graph_or_error(tmp_path / "lines.txt", "\n".join(lines).encode())
