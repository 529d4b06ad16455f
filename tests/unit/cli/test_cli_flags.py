"""Errors on the command line advise flags, never arguments of Python."""

import argparse
import ast
import gzip
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import kgroups
from kgroups._wording import argument, function, in_python, setting, worded
from kgroups.cli import main
from kgroups.cli.parser import COMMAND_OF_FUNCTION, FLAGS_OF_ARGUMENT, Flags, build_parser

SOURCES = sorted(Path(kgroups.__file__).parent.rglob("*.py"))
# What no command runs.
IN_PYTHON_ONLY = (
    "backends/",
    "energy/",
    "generators/rewiring.py",
    "search/settings.py",
)
# Texts with k= that are counts, or errors of options that no command has.
NO_ADVICE = {"partition/partition.py": 1, "spectrum/count.py": 1}
STUDY = "study --n 60 --k 2 --degree 6 --snr 1 --trials 1"
# The command, what its message says, and what it must advise.
ERRORS = [
    ("detect friends.csv -k 0", "-k must be a whole number >= 1, got 0", "Leave -k out"),
    ("detect friends.csv -k 9", "-k must not exceed", "got -k 9 for 3 nodes"),
    ("detect friends.csv --rng -1", "--rng must be a whole number >= 0, got -1", "--rng 0"),
    ("detect friends.csv --weight cost", "--weight must name an edge column", "--no-weight"),
    ("detect friends.csv --source a", "got --source a and no --target", "--source from"),
    ("detect friends.csv --source a --target b", "--source must name one column", "'from', 'to'"),
    ("detect friends.csv --max-expansion 0", "--max-expansion must be", "--max-expansion inf"),
    ("detect bomb.csv.gz", "must not expand", "pass a larger --max-expansion.\n"),
    ("detect directed.gml", "must be undirected", "--symmetrize sum (the weights"),
    ("detect one-way.npz", "must be symmetric", "pass --symmetrize sum"),
    ("detect wide.npz", "must be square", "Use an n x n matrix"),
    ("detect grid.gml --source a --target b", "name the columns", "Leave --source and --target"),
    ("detect owed.csv", "must be finite and >= 0, got -1", "pass --no-weight to ignore"),
    ("detect graph.xyz", "the suffix must tell the format", "(perhaps with .gz).\n"),
    ("detect letters.txt", "may be column names or an edge", "pass --source u and --target v;"),
    ("detect above.csv", "look like column names", "their names as --source and --target"),
    ("detect many.csv", "two node names and perhaps a weight", "as --source and --target"),
    ("detect words.csv", "a weight must be a number", "as --source and --target"),
    ("detect pairs.npz", "must have one column 'source'", "with --source and --target, or call"),
    ("detect twice.npz", "one pair of columns", "Choose with --source and --target"),
    ("info friends.csv --weight cost", "--weight must name an edge column", "--no-weight"),
    ("score friends.csv broken.csv", "does not hold a partition", "`kgroups detect --output FILE`"),
    ("score friends.csv p.csv --resolution nan", "--resolution must be", "--resolution 1.0"),
    ("detect dolphins", "must have the sha256", "with `kgroups detect PATH`"),
    (f"{STUDY} --jobs 0", "--jobs must be a whole number other than 0", "--jobs -1 one per core"),
    (f"{STUDY} --rng -1", "--rng must be a whole number >= 0, got -1", ""),
    (f"{STUDY} --trials 0", "--trials must be a whole number >= 1, got 0", ""),
    (f"{STUDY} --methods leiden --metrics overlap", "leiden is not", "--metrics ami,overlap."),
    (f"{STUDY} --shard 3/2 --journal j", "got --shard 3/2", "--shard 1/4 runs the first"),
    (f"{STUDY} --methods kgroup", "a method must be one of", "Did you mean 'kgroups'?\n"),
    (f"{STUDY} --methods kgroups,kgroups", "got 'kgroups' twice.\n", ""),
    (f"{STUDY} --snr 1,1", "got --n 60 --k 2 --degree 6.0 --snr 1.0 twice", ""),
    (f"{STUDY} --snr inf", "must be finite, got --snr inf", ""),
    (f"{STUDY} --snr nan", "--snr must be a number >= 0, got nan", ""),
    (f"{STUDY} --n 0", "--n must be a whole number >= 1, got 0", ""),
    (f"{STUDY} --k 61", "--k must not exceed", "got --k 61 for --n 60"),
    (f"{STUDY} --degree 70 --beyond error", "--degree must not exceed", "got 70 for 60 nodes"),
    (f"{STUDY} --snr 9 --beyond error", "the largest --snr is 2.449", "pass --beyond clip"),
    ("generate sbm --sizes 5,-1 --inside 1 --between 0", "entry 1 of --sizes must be", ""),
    ("generate sbm --sizes 5,5 --inside 2 --between 0", "--inside must be", "from 0 to 1, got 2"),
    ("generate sbm --sizes 5,5 --matrix 1", "--matrix must have a row", "2 blocks of --sizes"),
    ("generate sbm --sizes 5 --matrix 2", "--matrix must hold probabilities", "got 2 for blocks"),
    ("generate sbm --sizes 5,5 --matrix 0,1;0,0", "--matrix must be symmetric", "for 1 and 0"),
    ("generate sbm --sizes 5,5 --matrix 0,1;0", "--matrix must be a 2 x 2 matrix", ""),
    ("generate dcsbm --sizes 5,5 --inside 1 --between 0", "--inside must be below 1", ""),
    ("generate dcsbm --sizes 5 --matrix 1", "--matrix must be below 1", ""),
    ("generate dcsbm --sizes 5 --matrix 0 --exponent 30", "--exponent must be a number", ""),
    ("generate dcsbm --sizes 5 --matrix 0 --ratio 0", "--ratio must be a number >= 1", ""),
    ("generate planted --n 9 --k 10 --degree 2 --snr 1", "got --k 10 for --n 9", ""),
    ("generate girvan-newman --snr 9", "the largest --snr is 4, got 9", "pass --beyond clip"),
    ("generate lfr --n 9 --degree 3 --mixing 2", "--mixing must be a number from 0 to 1", ""),
    ("generate lfr --n 99 --degree 3 --mixing 0 --max-degree 99", "--max-degree must be", ""),
    ("generate lfr --n 99 --degree 30 --mixing 0 --max-degree 9", "--max-degree 9 and", ""),
    (
        "generate lfr --n 99 --degree 3 --mixing 0 --min-community 30 --max-community 20",
        "--min-community <= --max-community <= --n, got",
        "",
    ),
    (
        "generate lfr --n 99 --degree 30 --mixing 0 --max-degree 60 --degree-exponent 1 "
        "--min-community 10 --max-community 12",
        "every node must fit",
        "Raise --max-community, --min-community or --mixing, or lower --max-degree.",
    ),
]
EDGE = "node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ]"
# An argument with its value, None, and calls of functions.
PYTHON = re.compile(r"\b[a-zA-Z_]\w*=|\bNone\b|\w\(|\.\w+\(\)|\bdict\b|\bcallable")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    import datetime

    import pyarrow
    from pyarrow import parquet

    monkeypatch.chdir(tmp_path)
    texts = {
        "friends.csv": "from,to\nann,bob\nbob,cat\ncat,ann\n",
        "p.csv": "node,community\nann,0\nbob,0\ncat,0\n",
        "broken.csv": "node,group\nann,0\n",
        "owed.csv": "source,target,weight\nann,bob,-1\n",
        "letters.txt": "u v\nv w\nw u\n",
        "above.csv": "who,whom\n1,2\n2,3\n",
        "many.csv": "ann,bob,1,red\nbob,cat,1,red\n",
        "words.csv": "ann,bob,close\nbob,cat,far\n",
        "graph.xyz": "",
        "grid.gml": f"graph [ {EDGE} ]",
        "directed.gml": f"graph [ directed 1 {EDGE} ]",
        "dolphins.edges.csv": "source,target\n0,1\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    Path("bomb.csv.gz").write_bytes(gzip.compress(b"#" * (1 << 20)) * 70)
    sparse.save_npz("one-way.npz", sparse.csr_array(np.array([[0, 1], [0, 0]])))
    sparse.save_npz("wide.npz", sparse.csr_array(np.array([[0, 1], [0, 0], [1, 0]])))
    np.savez("pairs.npz", p=[0, 1], q=[1, 2])
    np.savez("twice.npz", u=[0, 1], v=[1, 2], ego=[0, 1], alter=[1, 2])
    days = [datetime.date(2020, 1, day) for day in (1, 2, 3)]
    dated = pyarrow.table({"source": days, "target": [*days[1:], days[0]]})
    parquet.write_table(dated, "dates.parquet")
    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("words", "problem", "advice"), ERRORS, ids=[row[0] for row in ERRORS])
def test_errors_name_flags(folder, capsys, words, problem, advice):
    words = words.split() + (["--output", "g.csv"] if words.startswith("generate") else [])
    assert main(words) == 1
    err = capsys.readouterr().err
    assert problem in err
    assert advice in err
    assert PYTHON.findall(err) == []


def test_names_that_json_cannot_hold_are_not_to_be_pickled(folder, capsys):
    assert main(["detect", "dates.parquet", "--output", "p.json"]) == 1
    assert capsys.readouterr().err.endswith("\n  Rename the nodes first.\n")


def test_the_same_errors_name_arguments_in_python(folder):
    with pytest.raises(kgroups.errors.WeightError, match="or weight=None to ignore all weights"):
        kgroups.read_graph("friends.csv", weight="cost")
    assert main(["detect", "friends.csv", "--weight", "cost"]) == 1
    with pytest.raises(kgroups.errors.WeightError, match="or weight=None to ignore all weights"):
        kgroups.read_graph("friends.csv", weight="cost")


def parsers(parser=None):
    parser = parser or build_parser()
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers(command)


def arguments_of_the_command_line():
    dests = {action.dest for parser in parsers() for action in parser._actions}
    return dests | set(FLAGS_OF_ARGUMENT)


def messages(tree):
    """Yield the literal texts of a module but docstrings and what only Python is told."""
    if isinstance(tree, ast.Call) and getattr(tree.func, "id", None) == "in_python":
        return
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.value
    for child in ast.iter_child_nodes(tree):
        yield from messages(child)


def test_no_message_of_a_command_writes_an_argument_by_itself():
    names = "|".join(sorted(arguments_of_the_command_line()))
    assignment = re.compile(rf"(?<![\w.({{<-])(?:{names})=(?!=)")
    found = {}
    for path in SOURCES:
        place = path.relative_to(Path(kgroups.__file__).parent).as_posix()
        if place.startswith(IN_PYTHON_ONLY):
            continue
        texts = [text for text in messages(ast.parse(path.read_text())) if assignment.search(text)]
        if texts:
            found[place] = texts
    assert {place: len(texts) for place, texts in found.items()} == NO_ADVICE


def test_every_function_that_a_message_names_has_a_command():
    named = {
        ast.literal_eval(node.args[0])
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", None) == "function"
        and isinstance(node.args[0], ast.Constant)
    }
    assert named == set(COMMAND_OF_FUNCTION)


def flags(*words):
    return worded(Flags(build_parser().parse_args(words)))


def test_flags_follow_the_command():
    with flags("detect", "karate"):
        assert argument("k") == "-k"
        assert setting("weight", None) == "--no-weight"
        assert setting("source", "from here") == "--source 'from here'"
        assert argument("mixing") == "mixing"
        assert function("Study.save()") == "`kgroups study --output FILE`"
        assert function("kgroups.as_graph()") == "kgroups.as_graph()"
        assert in_python(", or in Python") == ""
    with flags("study", "--k", "2"):
        assert argument("k") == "--k"
        assert setting("n_jobs", -1) == "--jobs -1"
    with flags("generate", "sbm", "--sizes", "5", "--inside", "1", "--output", "g.csv"):
        assert argument("P") == "--inside"
    assert argument("k") == "k"


def test_values_of_settings_are_python_code():
    values = [math.nan, math.inf, -math.inf, -1.5, "a", 'a"b']
    written = [setting("x", value).removeprefix("x=") for value in values]
    assert str([eval(text) for text in written]) == str(values)


def test_words_of_python_come_back_after_an_error():
    with pytest.raises(KeyError), flags("detect", "karate"):
        raise KeyError
    assert setting("weight", None) == "weight=None"
