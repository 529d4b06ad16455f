"""Names of nodes that cannot be written: huge numbers, deep tuples, text that is not Unicode."""

import io

import networkx as nx
import pandas
import pytest

import kgroups as kg
from kgroups.errors import InputError, PartitionError
from kgroups.partition import Partition


def nested(depth):
    name = ("a",)
    for _ in range(depth):
        name = (name,)
    return name


SURROGATE = "\ud800x"
# By name, because the ids of tests are written, too.
NAMES = {
    "huge": 10**5000,
    "low": -(10**5000),
    "longest": 10**4300 - 1,
    "deep": nested(600),
    # Deeper than any version of Python writes.
    "deeper": nested(20_000),
    "deepest": nested(99),
    "surrogate": SURROGATE,
}


@pytest.fixture
def name(request):
    return NAMES[request.param]


def partition_with(name):
    """Return the communities of two cliques, one of whose nodes has this name."""
    graph = nx.barbell_graph(5, 0)
    texts = isinstance(name, str)
    return kg.detect_communities(
        nx.relabel_nodes(graph, {node: str(node) if texts else node for node in graph} | {0: name})
    )


@pytest.mark.parametrize("name", ["huge", "deep", "deeper", "surrogate"], indirect=True)
def test_what_writes_no_names_works(name):
    partition = partition_with(name)
    assert partition.k == 2
    assert partition.membership[name] == partition.labels[list(partition.nodes).index(name)]
    for text in (repr(partition), partition._repr_html_(), str(partition.summary())):
        assert "2 communities" in text
    assert partition.summary()._repr_html_()
    assert list(partition.to_dataframe()["node"]) == list(partition.nodes)
    assert list(partition.levels().to_dataframe()["node"]) == list(partition.nodes)
    assert partition.stability(resamples=2).edges.source.max() < len(partition.nodes)
    assert partition.compare(partition).ami == 1.0
    assert partition.to_networkx().nodes[name]["community"] == partition.membership[name]
    partition.plot().figure.savefig(io.BytesIO())


# With pandas 3 it is the default.
@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated")
@pytest.mark.parametrize("infer", [True, False])
def test_text_that_is_not_unicode_stays_in_a_table(infer):
    """Types of pandas for text refuse it."""
    with pandas.option_context("future.infer_string", infer):
        table = Partition([0, 1], [SURROGATE, "b"]).to_dataframe()
    assert table["node"].tolist() == [SURROGATE, "b"]


def test_numbers_of_several_types_stay_what_they_are_in_a_table():
    names = Partition([0, 1, 1], [1, 2.5, 10**400]).to_dataframe()["node"].tolist()
    assert [type(name) for name in names] == [int, float, int]


@pytest.mark.parametrize(
    ("name", "suffix", "message"),
    [
        ("huge", ".json", "at most 4,300 digits, got a number of 16,610 bits"),
        ("low", ".json.gz", "at most 4,300 digits, got a number of 16,610 bits"),
        ("huge", ".csv", "at most 4,300 digits, got a number of 16,610 bits"),
        ("huge", ".parquet", "at most 4,300 digits, got a number of 16,610 bits"),
        ("deep", ".json", r"nested at most 100 deep, got \(\(\(.*\.\.\. in 100 tuples"),
        ("deeper", ".json", "nested at most 100 deep, got a tuple that is nested too deep in 100"),
        ("deeper", ".csv", "all int or all str, got a tuple that is nested too deep of type tuple"),
        ("surrogate", ".parquet", "cannot hold these node names: .* surrogates not allowed"),
    ],
    indirect=["name"],
)
def test_files_that_cannot_hold_a_name_say_so_and_are_not_written(tmp_path, name, suffix, message):
    partition = partition_with(name)
    with pytest.raises(PartitionError, match=message):
        partition.save(tmp_path / f"p{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["longest", "deepest", "surrogate"], indirect=True)
def test_the_longest_and_deepest_names_come_back(tmp_path, name):
    Partition([0, 1], [name, "b"]).save(tmp_path / "p.json")
    assert Partition.load(tmp_path / "p.json").nodes == (name, "b")


def test_text_that_is_not_unicode_comes_back_from_a_table(tmp_path):
    Partition([0, 1], [SURROGATE, "b"]).save(tmp_path / "p.csv")
    assert Partition.load(tmp_path / "p.csv").nodes == (SURROGATE, "b")


@pytest.mark.parametrize("name", ["huge", "deeper"], indirect=True)
def test_a_report_that_cannot_show_a_name_says_so_and_is_not_written(tmp_path, name):
    partition = partition_with(name)
    with pytest.raises(InputError, match=r"node names in a report must be .*\n  Rename this node"):
        partition.to_html(tmp_path / "p.html", levels=False, uncertainty=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["deep", "surrogate"], indirect=True)
def test_a_report_shows_other_names(tmp_path, name):
    partition_with(name).to_html(tmp_path / "p.html", levels=False, uncertainty=False)
    assert (tmp_path / "p.html").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("huge", r"in a figure must be numbers or text of ordinary length, got a number of 16,610"),
        ("deeper", r"in a figure must be .*, got a tuple that is nested too deep\."),
        ("surrogate", r"in a figure must be valid Unicode, got '\\ud800x'\.\n.* leave it out of n"),
    ],
    indirect=["name"],
)
def test_a_figure_that_cannot_show_a_name_says_so(name, message):
    with pytest.raises(InputError, match=message):
        partition_with(name).plot(names=[name])


@pytest.mark.parametrize("name", ["huge", "deeper"], indirect=True)
def test_errors_about_such_names_are_raised_all_the_same(name):
    with pytest.raises(PartitionError, match=r"each node must be named once, got a .* more than"):
        Partition([0, 1], [name, name])
    with pytest.raises(InputError, match="names must be nodes of the graph, got a "):
        partition_with(1).plot(names=[name])
    with pytest.raises(PartitionError, match="Only in the partition: a "):
        Partition([0], [name]).annotate(nx.path_graph(0))


HUGE = 10**5000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: kg.as_graph([(HUGE, 1), (1, 2, 3)]),
            r"got \(1, 2, 3\) at .* after a tuple with a",
        ),
        (
            lambda: kg.as_graph({HUGE: [1], 1: []}),
            "1 among the neighbors of a number of 16,610 bits",
        ),
        (lambda: kg.as_graph({HUGE: 1}), "got 1 for a number of 16,610 bits"),
        (
            lambda: kg.as_graph([(HUGE, 1, -1.0)]),
            r"got -1.0 on edge \(a number of 16,610 bits, 1\)",
        ),
        (lambda: kg.as_graph([(0, 1, HUGE)]), r"got a number of 16,610 bits on edge \(0, 1\)"),
        (
            lambda: kg.graph.Graph.from_edges([0], [1], nodes=[HUGE, HUGE]),
            "got a number of 16,610 bits more than once",
        ),
        (
            lambda: kg.detect_communities(nx.path_graph(3), init=kg.WarmStart({HUGE: 0, "b": 1})),
            "2 others, such as a number of 16,610 bits",
        ),
        (
            lambda: kg.metrics.nmi({HUGE: 0, 1: 0}, {1: 0, 2: 1}),
            "Use the names of its 2 nodes, such as a number of 16,610 bits",
        ),
    ],
)
def test_errors_of_input_show_such_names(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_table_of_classes_shows_such_names():
    table = kg.metrics.confusion([HUGE, 1, 1], ["b", "b", "c"])
    assert "a number of 16,610 bits" in str(table)
    assert "a number of 16,610 bits" in table._repr_html_()
    assert "a number of 16,610 bits" in kg.metrics.confusion([0, 1], [HUGE, 1])._repr_html_()
