"""Which column is the weight, and the sentence that says so in reports and in the terminal."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgroups as kg
from kgroups.cli import main

COLUMNS = {"name1": ["ann", "bob"], "name2": ["bob", "cy"]}


def as_text(columns, folder):
    path = folder / "edges.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def as_npz(columns, folder):
    path = folder / "edges.npz"
    np.savez(path, **columns)
    return path


def as_parquet(columns, folder):
    path = folder / "edges.parquet"
    pq.write_table(pa.table(columns), path)
    return path


FORMS = {
    "text": as_text,
    "npz": as_npz,
    "parquet": as_parquet,
    "pandas": lambda columns, folder: pd.DataFrame(columns),
    "pyarrow": lambda columns, folder: pa.table(columns),
}


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def make(request, tmp_path):
    return lambda **more: request.param(COLUMNS | more, tmp_path)


@pytest.mark.parametrize(
    "name", ["weight", "Weights", "w", "strength", "value", "Count", "edge_weight"]
)
def test_a_column_with_a_usual_name_is_the_weight(make, name):
    graph = kg.as_graph(make(**{name: [3, 7], "year": [1999, 2001]}))
    assert graph.edges()[2].tolist() == [3, 7]
    assert graph.about_weights == (
        f"Weights: column {name!r}, 3 to 7; not used: 'year'. "
        'weight="year" uses it, weight=None uses none.'
    )


def test_a_column_called_weight_comes_first(make):
    graph = kg.as_graph(make(count=[3, 7], weight=[5, 5]))
    assert graph.edges()[2].tolist() == [5, 5]
    assert graph.about_weights.startswith("Weights: column 'weight', all 5; not used: 'count'.")


def test_a_column_with_another_name_is_not_used_and_named(make):
    graph = kg.as_graph(make(zip=[3, 7]))
    assert graph.weights is None
    assert graph.about_weights == (
        "Weights: none, each listed edge counts 1; not used: 'zip'. weight=\"zip\" uses it."
    )


def test_two_columns_with_usual_names_are_not_chosen_from(make):
    graph = kg.as_graph(make(value=[3, 7], count=[1, 2]))
    assert graph.weights is None
    assert graph.about_weights == (
        "Weights: none, each listed edge counts 1; not used: 'value', 'count'. "
        'weight="NAME" uses one.'
    )


@pytest.mark.parametrize(
    ("options", "because"),
    [({"weight": None}, "weight=None"), ({"symmetrize": "union"}, 'symmetrize="union"')],
)
def test_weights_that_were_not_wanted_are_said_to_be_unused(make, options, because):
    graph = kg.as_graph(make(strength=[3, 7]), **options)
    assert graph.weights is None
    assert graph.about_weights.startswith(f"Weights: none, each listed edge counts 1, by {because}")
    assert "; not used: 'strength'." in graph.about_weights


def test_at_most_ten_unused_columns_are_listed(make):
    graph = kg.as_graph(make(**{f"x{i}": [i, i] for i in range(12)}))
    assert "'x9' and 2 more." in graph.about_weights
    assert "x10" not in graph.about_weights


def test_columns_that_go_through_python_objects_are_described(tmp_path):
    path = as_parquet({"source": [True, False], "target": [False, True], "w": [1.0, 2.0]}, tmp_path)
    graph = kg.read_graph(path)
    assert graph.about_weights == (
        "Weights: column 'w', all 3 once parallel edges are summed. weight=None uses none."
    )


def test_files_of_columns_are_described(tmp_path):
    many = {"source": np.arange(100), "target": np.arange(1, 101), "w": np.arange(100)}
    for form in (as_npz, as_parquet):
        graph = kg.read_graph(form(many, tmp_path))
        assert graph.about_weights.startswith("Weights: column 'w', 0 to 99.")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1 2 1082040961\n2 3 5\n", "the third column (no header), 5 to 1082040961."),
        ("1 2 4\n2 1 3\n2 3 1\n", "the third column (no header), 1 to 7 once parallel edges are "),
        ("1 2\n2 3\n", "none, each listed edge counts 1."),
        ("x,y,1\ny,z,1\n", "the third column (no header), all 1."),
        ("source,target,type,w\nx,y,Undirected,2\n", "column 'w', all 2."),
    ],
)
def test_the_third_column_without_a_header_is_the_weight_and_named(tmp_path, content, sentence):
    path = tmp_path / "edges.txt"
    path.write_text(content)
    assert kg.read_graph(path).about_weights.startswith(f"Weights: {sentence}")


def test_columns_a_b_w_are_edges_with_weights(make, tmp_path):
    columns = {"a": ["x", "y"], "b": ["y", "z"], "w": [2.0, 3.0]}
    graph = kg.as_graph(as_text(columns, tmp_path))
    assert (graph.nodes, graph.edges()[2].tolist()) == (("x", "y", "z"), [2, 3])
    assert kg.as_graph(pd.DataFrame(columns)).edges()[2].tolist() == [2, 3]


@pytest.mark.parametrize("content", ["a b\nb c\nc a\n", "a,b,\nb,c,\n"])
def test_a_first_line_a_b_alone_is_no_header(tmp_path, content):
    path = tmp_path / "edges.txt"
    path.write_text(content)
    if content.count(","):
        with pytest.raises(kg.errors.FileFormatError, match="a weight must be a number, got ''"):
            kg.read_graph(path)
    else:
        assert kg.read_graph(path).nodes == ("a", "b", "c")


def test_text_in_a_column_with_a_usual_name_is_an_error_with_a_way_on(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target,value\nann,bob,high\n")
    with pytest.raises(kg.errors.FileFormatError, match=r"got 'high'(.|\n)*pass weight=None"):
        kg.read_graph(path)
    assert kg.read_graph(path, weight=None).m == 1


def test_arrays_without_names_are_described():
    assert kg.as_graph(([0, 1], [1, 2], [3, 7])).about_weights == (
        "Weights: the third array, 3 to 7. weight=None uses none."
    )
    assert kg.as_graph(([0, 1], [1, 2])).about_weights == ""


def test_the_sentence_reaches_the_report_and_copies_of_the_graph(make):
    graph = kg.as_graph(make(strength=[3, 7]))
    report = kg.detect_communities(graph).report
    assert graph.about_weights in report.lines()
    assert report.about_weights == pickle.loads(pickle.dumps(graph)).about_weights


@pytest.mark.parametrize("command", ["detect", "info", "verdict"])
def test_the_command_line_prints_the_sentence_once_in_its_flags(tmp_path, capsys, command):
    path = as_text(COLUMNS | {"strength": [3, 7], "year": [1, 2]}, tmp_path)
    assert main([command, str(path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    sentence = (
        "Weights: column 'strength', 3 to 7; not used: 'year'. "
        "--weight year uses it, --no-weight uses none."
    )
    assert text.count(sentence) == text.count("Weights:") == 1


def test_a_column_without_a_name_is_not_said_to_be_unused(tmp_path):
    path = tmp_path / "edges.csv"
    pd.DataFrame({"source": ["ann"], "target": ["bob"], "year": [1]}).to_csv(path)
    assert kg.read_graph(path).about_weights == (
        "Weights: none, each listed edge counts 1; not used: 'year'. weight=\"year\" uses it."
    )
