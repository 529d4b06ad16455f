"""Sweeps: rows that do not depend on where and how the trials ran."""

import math
import sys
import threading

import joblib
import networkx as nx
import numpy as np
import pytest
import threadpoolctl

import kgroups as kg
from kgroups import metrics
from kgroups._parallel import count_workers
from kgroups.errors import InputError, MissingExtraError
from kgroups.generators import planted_partition
from kgroups.studies import Study, merge, phase_transition, sweep

SMALL = {"n": 60, "k": [2, 3], "degree": 6.0, "snr": [1.0, 2.0]}
METHODS = ("kgroups", "bethe-hessian", "louvain")


def small_study(**options):
    return phase_transition(**SMALL, methods=METHODS, trials=3, progress=False, **options)


def untimed(study):
    return [{name: row[name] for name in row if name != "seconds"} for row in study.rows]


def test_a_row_per_cell_trial_and_method():
    study = small_study()
    assert len(study) == 2 * 2 * 3 * 3
    assert study.columns == tuple(study.rows[0])
    assert study.columns[:4] == study.parameters == ("n", "k", "degree", "snr")
    assert study.metrics == ("overlap", "nmi", "ami")
    assert study.methods == METHODS
    assert all(row["seconds"] > 0 for row in study.rows)
    assert {row["k_hat"] for row in study.rows if row["method"] == "kgroups"} == {2, 3}


def test_overlap_is_reported_for_methods_that_are_given_k(tmp_path):
    study = small_study(journal=tmp_path / "journal")
    given = {row["method"]: row["k_given"] for row in study.rows}
    assert given == {"kgroups": True, "bethe-hessian": True, "louvain": False}
    assert study.methods_given_k == ("kgroups", "bethe-hessian")
    for row in study.rows:
        assert math.isnan(row["overlap"]) == (row["method"] == "louvain")
        assert 0.0 <= row["nmi"] <= 1.0
        assert row["ami"] <= 1.0
    assert untimed(merge([tmp_path / "journal"])) == untimed(study)
    assert "NaN" not in (tmp_path / "journal").read_text()


def test_methods_that_choose_k_need_another_metric_than_the_overlap():
    with pytest.raises(InputError, match=r"and louvain is not.\n  Add another metric"):
        phase_transition(**SMALL, methods=METHODS, metrics="overlap")
    with pytest.raises(InputError, match=r"and leiden, louvain are not.\n  Add another metric"):
        phase_transition(**SMALL, methods=["leiden", "louvain"], metrics="overlap")
    for score in (metrics.overlap, metrics.accuracy):
        with pytest.raises(InputError, match="accuracy are reported for methods that are given k"):
            phase_transition(**SMALL, methods="leiden", metrics={"mine": score})


def test_accuracy_is_reported_as_the_overlap_is():
    grid, scores = {"cliques": 3, "size": 4}, ("accuracy", "overlap", "ami")
    study = sweep(ring, grid, ["kgroups", "louvain"], scores, trials=1, progress=False)
    given, chosen = study.rows
    assert (given["accuracy"], given["overlap"]) == (1.0, 1.0)
    assert math.isnan(chosen["accuracy"])
    assert math.isnan(chosen["overlap"])
    assert chosen["ami"] == 1.0


def test_a_row_can_be_had_again_from_its_seed():
    row = small_study().rows[-3]
    graph_rng, method_rng = np.random.default_rng(row["seed"]).spawn(2)
    graph, truth = planted_partition(row["n"], row["k"], row["degree"], row["snr"], rng=graph_rng)
    method = kg.Spectral("exact")
    found = kg.detect_communities(graph, row["k"], method=method, rng=method_rng)
    assert row["method"] == "kgroups"
    assert row["overlap"] == metrics.overlap(truth, found)
    assert row["nmi"] == metrics.nmi(truth, found)


def test_processes_give_the_rows_of_one_process():
    assert untimed(small_study(n_jobs=2)) == untimed(small_study(n_jobs=1))


def test_threads_of_joblib_give_the_same_rows():
    with joblib.parallel_config("threading", n_jobs=2):
        inside = small_study()
    assert untimed(inside) == untimed(small_study(n_jobs=1))


def blas_threads():
    found = threadpoolctl.threadpool_info()
    return {one["filepath"]: one["num_threads"] for one in found if one["user_api"] == "blas"}


def test_a_study_on_threads_leaves_linear_algebra_as_it_was():
    """The first thread to begin is the first to end, while the other still works."""
    both_began, first_ended = threading.Barrier(2, timeout=60), threading.Event()
    inside = []

    def draw(cliques, size, rng):
        if both_began.wait() != 0:
            first_ended.wait(timeout=60)
        inside.append(blas_threads())
        return ring(cliques, size, rng)

    def tell(done, total):
        if done:
            first_ended.set()

    small_study(n_jobs=1)  # loads all libraries
    with threadpoolctl.threadpool_limits(limits=2):
        before = blas_threads()
        assert 2 in before.values()
        # From 3.8 on threadpoolctl obeys the thread alone that set a number last.
        for library in threadpoolctl.ThreadpoolController().lib_controllers:
            getattr(library, "clear_controlling_thread", lambda *, force: None)(force=True)
        with joblib.parallel_config("threading", n_jobs=2):
            sweep(draw, {"cliques": 3, "size": 4}, trials=2, progress=tell)
        assert blas_threads() == before
    assert inside == [dict.fromkeys(before, 1)] * 2


def test_a_resumed_study_gives_the_rows_of_one_run(tmp_path):
    path = tmp_path / "study.jsonl"
    whole = small_study(journal=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]) + lines[5][:20])
    calls = []
    again = small_study(journal=path, n_jobs=1)
    phase_transition(
        **SMALL,
        methods=METHODS,
        trials=3,
        journal=path,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert untimed(again) == untimed(whole)
    assert again.rows[:12] == whole.rows[:12]
    assert calls == [(12, 12)]


def test_a_journal_returns_no_rows_of_another_lambda(tmp_path):
    def run(function, **options):
        grid = {"cliques": 3, "size": 4}
        return sweep(ring, grid, {"mine": function}, trials=1, progress=False, **options)

    one, other = (lambda graph, k, rng: [0] * 12), (lambda graph, k, rng: list(range(12)))
    assert run(one).rows[0]["k_hat"] == 1
    assert run(other).rows[0]["k_hat"] == 12
    for function in (one, other):
        with pytest.raises(
            InputError, match=r"the method 'mine' is .*<lambda> at 0x.*\n  Define it"
        ):
            run(function, journal=tmp_path / "journal")
    assert not (tmp_path / "journal").exists()


def test_shards_merge_to_the_rows_of_one_run(tmp_path):
    paths = [tmp_path / f"{i}.jsonl" for i in (1, 2, 3)]
    parts = [small_study(journal=path, shard=(i, 3)) for i, path in enumerate(paths, start=1)]
    whole = small_study()
    assert untimed(merge(paths)) == untimed(whole)
    assert sum(map(len, parts)) == len(whole)
    assert untimed(merge([paths[0], *paths])) == untimed(whole)


def test_merge_misses_a_shard(tmp_path):
    small_study(journal=tmp_path / "1", shard=(1, 2))
    with pytest.raises(InputError, match=r"all 12 trials must be there, 6 are missing; the first"):
        merge([tmp_path / "1"])


def test_merge_of_different_studies(tmp_path):
    small_study(journal=tmp_path / "1")
    small_study(journal=tmp_path / "2", rng=1)
    with pytest.raises(InputError, match=r"must be of one study: .* differ in rng \(0, 1\)"):
        merge([tmp_path / "1", tmp_path / "2"])


def test_merge_of_nothing():
    with pytest.raises(InputError, match="merging needs at least one journal"):
        merge([])


def ring(cliques, size, rng):
    graph = nx.relabel_nodes(nx.ring_of_cliques(cliques, size), lambda node: f"n{node}")
    return graph, {f"n{node}": node // size for node in range(cliques * size)}


def by_networkx(graph, k, rng):
    assert isinstance(graph, nx.Graph)
    return nx.community.greedy_modularity_communities(graph, cutoff=k, best_n=k)


def test_any_generator_method_and_metric():
    study = sweep(
        ring,
        [{"cliques": 4, "size": 5}, {"cliques": 3, "size": 6}],
        ["kgroups", by_networkx],
        {"agreement": metrics.ari},
        trials=1,
        progress=False,
    )
    assert [row["agreement"] for row in study.rows] == [1.0] * 4
    assert [row["k_hat"] for row in study.rows] == [4, 4, 3, 3]
    assert study.metrics == ("agreement",)


def test_generator_that_returns_no_pair():
    with pytest.raises(InputError, match="must return a graph and its planted labels, got Graph"):
        sweep(lambda n, rng: nx.path_graph(n), {"n": 4}, trials=1, progress=False)


def test_a_failure_says_where():
    def failing(graph, k, rng):
        raise RuntimeError

    with pytest.raises(RuntimeError) as caught:
        sweep(ring, {"cliques": 3, "size": 4}, failing, trials=1, progress=False)
    assert "the method 'failing' failed in cell {'cliques': 3, 'size': 4}, trial 0, seed" in str(
        caught.value.__notes__
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, "trials must be a whole number >= 1, got 0"),
        ({"rng": -1}, "rng must be a whole number >= 0, got -1"),
        (
            {"rng": np.random.default_rng(0)},
            r"rng must be a whole number >= 0, got Generator\(PCG64\)",
        ),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, got 0"),
        ({"shard": (3, 2)}, r"a shard must be the i-th of N parts .* got shard=\(3, 2\)"),
        ({"shard": (1, 2), "rng": None}, "a shard needs rng to be a number, the same for all"),
        ({"shard": "1/2"}, r'a shard must be the i-th of N parts .* got shard="1/2"'),
        ({"metrics": "overlop"}, "a metric must be one of 'accuracy', .* got 'overlop'"),
        ({"metrics": {}}, "a study needs at least one metric"),
        ({"metrics": {"seed": max}}, "a metric cannot be called 'seed'"),
        ({"progress": "stars"}, "progress must be True, False or a callable"),
        ({"journal": "no/such/folder/j"}, "there is no folder 'no/such/folder' for the journal"),
    ],
)
def test_arguments_that_cannot_be(options, message):
    given = {"trials": 1, "progress": False, **options}
    with pytest.raises(InputError, match=message):
        sweep(ring, {"cliques": 3, "size": 4}, **given)


def test_generator_that_is_none():
    with pytest.raises(InputError, match="a generator must be callable, got 'ring'"):
        sweep("ring", {"n": 3})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"snr": [1.0, 2.5]}, r"degree 6 the largest snr is 2\.4494897.*, got 2\.5"),
        ({"k": [2, 61]}, "k must not exceed the number of nodes, got k=61 for n=60"),
        ({"degree": [6.0, 70.0]}, "degree must not exceed the number of nodes, got 70 for 60"),
        ({"n": 10.5}, "n must be a whole number >= 1, got 10.5"),
        ({"k": True}, "k must be a whole number >= 1, got True"),
        ({"snr": -1.0}, "snr must be a number >= 0, got -1.0"),
        ({"degree": float("nan")}, "degree must be a number >= 0, got nan"),
        ({"beyond": "cut"}, "beyond must be one of 'error', 'clip', got 'cut'"),
        ({"sizes": "odd"}, "sizes must be one of 'balanced', 'multinomial', got 'odd'"),
    ],
)
def test_phase_transition_that_cannot_be_is_refused_before_any_trial(change, message, tmp_path):
    with pytest.raises(InputError, match=message):
        phase_transition(**{**SMALL, **change}, journal=tmp_path / "journal")
    assert not (tmp_path / "journal").exists()


def test_ratios_beyond_the_model_are_clipped_when_asked():
    study = phase_transition(40, 2, 4.0, [2.0, 3.0], trials=2, beyond="clip", progress=False)
    assert isinstance(study, Study)
    assert {row["snr"] for row in study.rows} == {2.0, 3.0}


def test_fresh_entropy_is_kept_by_the_journal(tmp_path):
    grid, path = {"cliques": 3, "size": 4}, tmp_path / "fresh"
    first = sweep(ring, grid, trials=2, rng=None, journal=path, progress=False)
    second = sweep(ring, grid, trials=2, rng=None, journal=path, progress=False)
    other = sweep(ring, grid, trials=2, rng=None, progress=False)
    assert first.rows == second.rows
    assert other.rows[0]["seed"] != first.rows[0]["seed"]


def test_a_journal_that_lost_its_first_line_takes_fresh_entropy(tmp_path):
    path = tmp_path / "fresh"
    path.write_bytes(b'{"format": "kgro')
    study = sweep(ring, {"cliques": 3, "size": 4}, rng=None, trials=1, journal=path, progress=False)
    assert merge([path]).rows == study.rows


def test_joblib_is_needed_for_processes_only(monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert count_workers(1) is None
    with pytest.raises(MissingExtraError, match=r'n_jobs=2 needs joblib.*"\.\[study\]"'):
        count_workers(2)
