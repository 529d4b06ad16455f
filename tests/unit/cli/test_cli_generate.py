"""``kgroups generate``: what is drawn is what the library draws, written whole or not at all."""

import json
import re

import numpy as np
import pytest

import kgroups.cli.generate as generate_module
from kgroups._output import encode_table
from kgroups.adapters import read_graph
from kgroups.cli import main
from kgroups.generators import (
    PlantedAffinity,
    PowerLaw,
    degree_corrected_sbm,
    girvan_newman_benchmark,
    lfr_benchmark,
    planted_partition,
    stochastic_block_model,
)
from kgroups.partition import Partition


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run the command in an empty folder; return its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run_command(words):
        code = main(["generate", *words.split()])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_command


MODELS = [
    (
        "planted --n 90 --k 3 --degree 6 --snr 2 --sizes multinomial",
        lambda: planted_partition(90, 3, 6, 2, sizes="multinomial", rng=5),
    ),
    (
        "planted --n 90 --k 3 --degree 3 --snr 2 --beyond clip",
        lambda: planted_partition(90, 3, 3, 2, beyond="clip", rng=5),
    ),
    ("girvan-newman --snr 2", lambda: girvan_newman_benchmark(2, rng=5)),
    (
        "girvan-newman --snr 4.5 --beyond clip",
        lambda: girvan_newman_benchmark(4.5, beyond="clip", rng=5),
    ),
    (
        "sbm --sizes 20,30 --matrix 0.5,0.1;0.1,0.4",
        lambda: stochastic_block_model([20, 30], [[0.5, 0.1], [0.1, 0.4]], rng=5),
    ),
    (
        "sbm --sizes 20,30 --inside 0.5 --between 0.1",
        lambda: stochastic_block_model([20, 30], [[0.5, 0.1], [0.1, 0.5]], rng=5),
    ),
    (
        "dcsbm --sizes 40,40 --degree 6 --snr 2 --exponent 3 --ratio 9",
        lambda: degree_corrected_sbm([40, 40], PlantedAffinity(6, 2), PowerLaw(3, 9), rng=5),
    ),
    (
        "lfr --n 300 --degree 8 --mixing 0.2 --max-degree 20 --degree-exponent 2 "
        "--community-exponent 1.2 --min-community 25 --max-community 60 --internal binomial",
        lambda: lfr_benchmark(
            300,
            degree=8,
            mixing=0.2,
            max_degree=20,
            degree_exponent=2,
            community_exponent=1.2,
            min_community=25,
            max_community=60,
            internal="binomial",
            rng=5,
        ),
    ),
]


@pytest.mark.parametrize(("words", "draw"), MODELS)
def test_each_model_is_that_of_the_library(run, tmp_path, words, draw):
    code, out, err = run(f"{words} --rng 5 --output g.npz --labels truth.csv")
    graph, labels = draw()
    written = read_graph(tmp_path / "g.npz")
    assert (code, err) == (0, "")
    assert (written.to_scipy() != graph.to_scipy()).nnz == 0
    assert f"{graph.n} nodes, {graph.m} edges" in out
    assert "--rng 5 draws this graph again\nwrote g.npz\nwrote truth.csv\n" in out
    truth = np.loadtxt(tmp_path / "truth.csv", delimiter=",", skiprows=1, dtype=int)
    assert truth.tolist() == list(map(list, enumerate(labels.tolist())))
    assert len(Partition.load(tmp_path / "truth.csv")) == np.unique(labels).size


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet", ".gml"])
def test_files_hold_the_graph(run, tmp_path, suffix):
    words = "planted --n 50 --k 2 --degree 3 --snr 1 --rng 1"
    code, out, _ = run(f"{words} --output g{suffix} --json")
    graph, _ = planted_partition(50, 2, 3, 1, rng=1)
    lonely = int(np.count_nonzero(graph.degrees == 0))
    written = read_graph(tmp_path / f"g{suffix}")
    document = json.loads(out)
    lost = lonely if suffix in (".csv", ".parquet") else 0
    assert code == 0
    assert lonely > 0
    assert (written.m, written.n) == (graph.m, graph.n - lost)
    assert sorted(map(int, written.nodes)) == [
        node for node in range(50) if not lost or graph.degrees[node]
    ]
    assert document == {
        "model": "planted",
        "nodes": 50,
        "edges": graph.m,
        "groups": 2,
        "unplaced_edges": 0,
        "rng": 1,
        "output": f"g{suffix}",
        "labels": None,
        "nodes_not_in_output": lost,
    }


def test_nodes_that_a_file_cannot_hold_are_told(run):
    _, out, _ = run("planted --n 50 --k 2 --degree 3 --snr 1 --rng 1 --output g.csv")
    assert re.search(r"\d nodes? without an edge (is|are) not in g\.csv; \.npz and \.gml keep", out)


def test_unplaced_edges_are_told(run):
    tight = "--max-degree 19 --degree-exponent 1 --min-community 20 --max-community 20"
    _, out, _ = run(f"lfr --n 500 --degree 10 --mixing 0 {tight} --rng 0 --output g.npz")
    assert re.search(r"\n\d+ edges could not be placed\n", out)


def test_a_fresh_seed_is_printed_and_repeats_the_graph(run, tmp_path):
    _, out, _ = run("girvan-newman --snr 2 --output first.csv")
    seed = re.search(r"--rng (\d+) draws this graph again", out)[1]
    run(f"girvan-newman --snr 2 --rng {seed} --output second.csv")
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "second.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("girvan-newman --snr 2 --output g.csv --labels g.csv", "got 'g.csv' twice"),
        ("girvan-newman --snr 9 --output g.csv", "the largest --snr is 4, got 9"),
        (
            "girvan-newman --snr 1 --output g.txt",
            r"must end in \.csv, \.npz, \.parquet, \.gml; got",
        ),
        (
            "girvan-newman --snr 1 --output g.csv --labels l.json",
            r"must end in \.csv; got 'l\.json'",
        ),
        ("girvan-newman --snr 1 --output no/g.csv", "there is no folder 'no' to write 'no/g.csv'"),
        (
            "girvan-newman --snr 1 --output g.csv --rng -1",
            "--rng must be a whole number >= 0, got -1",
        ),
        ("sbm --sizes 5;5 --inside 1 --between 0 --output g.csv", "--sizes must be whole numbers"),
        ("sbm --sizes 5,5 --inside 1 --output g.csv", "must be given by --matrix, or by --inside"),
        ("sbm --sizes 5,5 --matrix 1 --inside 1 --between 0 --output g.csv", "one way only"),
        ("sbm --sizes 5,5 --output g.csv", "one way only"),
        ("sbm --sizes 5 --matrix x --output g.csv", "--matrix must be numbers .* got 'x'"),
        ("lfr --n 100 --degree 200 --mixing 0.1 --output g.csv", "degree must lie between"),
    ],
)
def test_errors_leave_nothing_behind(run, tmp_path, words, message):
    code, out, err = run(words)
    assert (code, out) == (1, "")
    assert err.startswith("kgroups: error: ")
    assert re.search(message, err)
    assert list(tmp_path.iterdir()) == []


def test_missing_pyarrow_is_told(run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    code, _, err = run("girvan-newman --snr 1 --rng 0 --output g.parquet")
    assert code == 1
    assert 'python -m pip install ".[parquet]"' in err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_until_everything_is_ready(run, tmp_path, monkeypatch):
    def interrupted(columns, path):
        if path == "l.csv":
            raise KeyboardInterrupt
        return encode_table(columns, path)

    monkeypatch.setattr(generate_module, "encode_table", interrupted)
    assert run("girvan-newman --snr 1 --rng 0 --output g.csv --labels l.csv")[0] == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ["", "ring", "planted --n 5", "girvan-newman --snr 1"])
def test_wrong_usage_exits_with_2(run, words):
    with pytest.raises(SystemExit) as caught:
        run(words)
    assert caught.value.code == 2
