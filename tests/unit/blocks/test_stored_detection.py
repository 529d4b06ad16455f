"""Detection on a store: the same labels for any blocks, close to those found in memory."""

import errno
import signal
import subprocess
import sys

import numpy as np
import pytest

import kgroups as kg
from helpers.stores import checksum, in_blocks, stored
from kgroups._parallel import Threads
from kgroups.blocks import OutOfCore, detect_stored, detection, journal, tasks
from kgroups.errors import InputError, StoreError
from kgroups.generators import lfr_benchmark, planted_partition
from kgroups.graph import Graph
from kgroups.metrics import nmi

pytestmark = pytest.mark.compiled


@pytest.fixture(autouse=True)
def nothing_fits(monkeypatch):
    in_blocks(monkeypatch)


class FewThreads(OutOfCore):
    """This process, with some threads."""

    def __init__(self, count):
        self.count = count

    def start(self, work):
        work.threads = Threads(self.count)
        super().start(work)


def joined(*graphs):
    """Return the disjoint union of graphs."""
    firsts = np.cumsum([0] + [graph.n for graph in graphs])
    ends = [graph.edges() for graph in graphs]
    shifted = [(u + first, v + first) for (u, v, _), first in zip(ends, firsts, strict=False)]
    u, v = (np.concatenate(column) for column in zip(*shifted, strict=True))
    weighted = any(graph.is_weighted for graph in graphs)
    weights = np.concatenate([w for _, _, w in ends]) if weighted else None
    return Graph.from_edges(u, v, weights, n=int(firsts[-1]))


def weighted(graph, seed=0, sigma=1.0):
    u, v, _ = graph.edges()
    return Graph.from_edges(
        u, v, np.random.default_rng(seed).lognormal(0, sigma, u.size), n=graph.n
    )


def sbm(n=10_000, k=20, degree=10, snr=3.0, rng=0):
    return planted_partition(n, k, degree, snr, rng=rng)


def lfr(n=10_000, degree=12, mixing=0.4, rng=0):
    return lfr_benchmark(n, degree=degree, mixing=mixing, rng=rng)


def small_world(n=6_000):
    """Return a ring with some shortcuts: a continuum, whose patches show a dispersion."""
    i, rng = np.arange(n), np.random.default_rng(0)
    u = np.concatenate([i, i, i, rng.integers(0, n, n // 20)])
    v = np.concatenate([(i + 1) % n, (i + 2) % n, (i + 3) % n, rng.integers(0, n, n // 20)])
    return Graph.from_edges(u[u != v], v[u != v], n=n)


def in_memory(graph, found, **options):
    """Return the labels that are found in memory, of the nodes of a stored partition."""
    return kg.detect_communities(graph, **options).labels[np.asarray(found.graph.names)]


GRAPHS = {
    "planted": lambda: sbm()[0],
    "faint": lambda: sbm(12_000, snr=1.5)[0],
    "lfr": lambda: lfr()[0],
    "weighted": lambda: weighted(lfr(6_000)[0]),
    "components": lambda: joined(sbm(5_000)[0], lfr(3_000)[0], sbm(3_000, k=1, snr=0.0)[0]),
    "small world": small_world,
    "weighted small world": lambda: weighted(small_world(3_000), sigma=0.5),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.filterwarnings("ignore::kgroups.errors.KGroupsWarning")
def test_labels_do_not_depend_on_blocks_threads_or_the_order_of_edges(tmp_path, name):
    graph, sums = GRAPHS[name](), set()
    entries = 2 * graph.m
    for number, (divisor, threads, files) in enumerate([(1, 2, 1), (30, 1, 3), (9, 2, 1)]):
        seed = number or None
        store = stored(
            graph, tmp_path / str(number), block_entries=entries // divisor, files=files, seed=seed
        )
        found = detect_stored(store, engine=FewThreads(threads))
        sums.add((len(set(found.labels.tolist())), found.report.dispersion, checksum(found)))
        assert len(store.blocks) >= (8 if divisor < 9 else divisor - 8)
        assert found.report.r is not None
    assert len(sums) == 1
    assert (found.report.dispersion > 1.0) == ("world" in name)


# Quality.


@pytest.mark.parametrize(
    ("draw", "spread"),
    [
        (lambda: sbm(20_000), 0.002),
        (lambda: sbm(20_000, snr=1.5), 0.01),
        (lambda: sbm(20_000, k=100, degree=12, snr=2.0), 0.004),
        (lambda: lfr(12_000, degree=18), 0.002),
    ],
)
def test_communities_agree_with_the_truth_as_those_found_in_memory(tmp_path, draw, spread):
    graph, truth = draw()
    found = detect_stored(stored(graph, tmp_path, block_entries=graph.m // 5))
    names = np.asarray(found.graph.names)
    in_blocks, whole = (
        nmi(truth[names], labels) for labels in (found.labels, in_memory(graph, found))
    )
    assert in_blocks >= whole - spread
    assert found.k == np.unique(truth).size


@pytest.mark.parametrize(
    "draw",
    [
        lambda: sbm(20_000, k=1, snr=0.0)[0],
        lambda: sbm(12_000, k=1, degree=30, snr=0.0, rng=1)[0],
        lambda: kg.generators.configuration_model(lfr(12_000)[0], rng=0),
    ],
)
def test_random_graphs_are_one_community(tmp_path, draw):
    graph = draw()
    found = detect_stored(stored(graph, tmp_path, block_entries=graph.m // 5))
    assert found.k == found.report.n_components
    assert found.report.components[0].nats == 0.0
    assert not found.report.warnings


# A given number.


@pytest.mark.parametrize("k", [1, 2, 7, 20, 31, 200])
def test_a_given_number_of_communities_is_found(tmp_path, k):
    graph, truth = sbm(12_000)
    found = detect_stored(stored(graph, tmp_path, block_entries=graph.m // 5), k)
    assert found.k == k == found.report.k_found == found.report.k_given
    assert found.sizes.min() > 0
    names = np.asarray(found.graph.names)
    if k == 20:
        assert nmi(truth[names], found.labels) > 0.98
    if k == 7:
        # Whole communities are merged: their labels follow from the truth.
        assert nmi(truth[names], found.labels) > 0.7


def test_two_communities_of_a_faint_graph(tmp_path, monkeypatch):
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", 1e7)
    graph, truth = sbm(30_000, k=2, degree=6, snr=1.6)
    found = detect_stored(stored(graph, tmp_path, block_entries=graph.m // 5), 2)
    names = np.asarray(found.graph.names)
    assert found.k == 2
    # In memory belief propagation refines them.
    whole = nmi(truth[names], in_memory(graph, found, k=2))
    assert nmi(truth[names], found.labels) >= whole - 0.03


@pytest.mark.parametrize(
    ("k", "match"),
    [
        (513, "k must be at most 512 for a stored graph, got 513"),
        (41, "k must not exceed the number of nodes, got k=41 for 40"),
        (0, "k must be"),
        (31, "k must be at most 30, the nodes of the largest component"),
    ],
)
def test_impossible_numbers_are_refused_by_name(tmp_path, monkeypatch, k, match):
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", 2e9 / 50)
    parts = [sbm(n, k=1, degree=8, snr=0.0)[0] for n in (30, 10)]
    graph = joined(*parts) if k < 500 else sbm(600)[0]
    store = stored(graph, tmp_path)
    with pytest.raises(InputError, match=match):
        detect_stored(store, k)
    assert left(store) == []


def test_two_large_components_are_refused_with_a_number(tmp_path):
    store = stored(joined(sbm(300)[0], sbm(300)[0]), tmp_path)
    with pytest.raises(InputError, match="k must be left out for a stored graph with 2 components"):
        detect_stored(store, 3)
    assert left(store) == []


# Weights.


def test_communities_that_show_in_the_weights_only_are_found(tmp_path):
    graph, _ = sbm(6_000, k=1, degree=40, snr=0.0)
    u, v, _ = graph.edges()
    truth = np.random.default_rng(1).integers(0, 4, graph.n)
    weights = np.where(truth[u] == truth[v], 12.0, 1.0)
    weights *= np.random.default_rng(2).lognormal(0.0, 0.2, u.size)
    graph = Graph.from_edges(u, v, weights, n=graph.n)
    found = detect_stored(stored(graph, tmp_path, block_entries=graph.m // 5))
    names = np.asarray(found.graph.names)
    whole = nmi(truth[names], in_memory(graph, found))
    assert nmi(truth[names], found.labels) >= whole - 0.01


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.5])
def test_r_and_saturated_weights_are_those_in_memory(tmp_path, sigma):
    graph = weighted(lfr(2_000)[0], sigma=sigma)
    found = detect_stored(stored(graph, tmp_path, block_entries=graph.m // 5))
    report = kg.detect_communities(graph).report
    assert found.report.r == pytest.approx(report.r, rel=1e-3)
    assert found.report.saturated_weights == pytest.approx(report.saturated_weights, rel=0.02)


# What fits in memory.


@pytest.mark.parametrize("name", ["faint", "weighted", "components", "small world"])
@pytest.mark.parametrize("options", [{}, {"rng": 3}, {"k": 4}], ids=str)
@pytest.mark.filterwarnings("ignore::kgroups.errors.KGroupsWarning")
def test_what_fits_in_memory_is_found_as_in_memory(tmp_path, monkeypatch, name, options):
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", 250)
    store = stored(GRAPHS[name](), tmp_path)
    found, whole = (
        detect_stored(store, **options),
        kg.detect_communities(store.to_graph(), **options),
    )
    assert np.array_equal(found.labels, whole.labels)
    assert left(store) == []
    for field in ("k_found", "n_components", "n_isolated", "r", "dispersion", "components"):
        if field == "components" and "rng" in options:
            # Components of a shuffled graph have other numbers in memory.
            continue
        assert getattr(found.report, field) == getattr(whole.report, field), field


def test_reports_name_components_as_in_memory(tmp_path, monkeypatch):
    sizes = (300, 2_000, 500, 400)
    store = stored(joined(*(sbm(n, k=4, degree=12)[0] for n in sizes)), tmp_path)
    expected = [
        (one.n, one.component) for one in kg.detect_communities(store.to_graph()).report.components
    ]
    for edges in (0, 4_000, 6_500):
        monkeypatch.setattr(detection, "BYTES_PER_EDGE", store.memory / edges if edges else 1e12)
        found = detect_stored(store).report
        assert [(one.n, one.component) for one in found.components] == expected


def test_parallel_edges_and_loops_count_as_in_memory(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    u, v, _ = sbm(1_000)[0].edges()
    more = rng.integers(0, u.size, 3_000)
    loops = rng.integers(0, 1_000, 50)
    ends = np.concatenate([u, u[more], loops]), np.concatenate([v, v[more], loops])
    np.savez(tmp_path / "e.npz", source=ends[0], target=ends[1])
    store = kg.open_graph(tmp_path / "e.npz", store=tmp_path / "store", block_entries=2_000)
    assert store.counted
    searched = detect_stored(store)
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", 250)
    found, whole = detect_stored(store), kg.detect_communities(store.to_graph())
    assert np.array_equal(found.labels, whole.labels)
    assert searched.report.r == pytest.approx(whole.report.r, rel=1e-3)


def test_small_components_are_searched_in_memory(tmp_path, monkeypatch):
    graph = joined(*(sbm(size, k=4, degree=12)[0] for size in (2_000, 600, 500, 400)))
    store = stored(graph, tmp_path, block_entries=5_000)
    alone = detect_stored(store)
    # Room for 4,000 edges: the largest component is left in blocks, the others take two batches.
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", store.memory / 6_500)
    found = detect_stored(store)
    assert found.k == alone.k
    assert nmi(alone.labels, found.labels) > 0.95
    assert [one.n for one in found.report.components] == sorted(
        (one.n for one in found.report.components), reverse=True
    )


# Interruptions.


def left(store):
    """Return what detections have left in a store."""
    return sorted(entry.name for entry in (store.path / "runs").glob("**/*"))


RESUMED = {
    "planted": lambda: sbm(1_500, k=3, degree=6, snr=2.0)[0],
    "joined": lambda: lfr(800, degree=8, mixing=0.5)[0],
    "dispersed": lambda: weighted(small_world(800), sigma=0.5),
    "null": lambda: sbm(600, k=1, snr=0.0)[0],
}


# The spectrum takes part in the small graph, too.
METHOD = kg.Search(spectral_nodes=1_000)


class FailingStep:
    """Lets a detection stop before or after one of its steps, and counts them."""

    def __init__(self, monkeypatch, error=KeyboardInterrupt):
        self.save, self.error, self.count, self.at, self.after = (
            journal.Journal._save, error, 0, None, False,
        )  # fmt: skip
        monkeypatch.setattr(journal.Journal, "_save", lambda *call: self(*call))

    def __call__(self, owner, name, value, state):
        self.count += 1
        if self.count == self.at and not self.after:
            raise self.error
        self.save(owner, name, value, state)
        if self.count == self.at and self.after:
            raise self.error


@pytest.mark.parametrize(
    "every", [17, pytest.param(1, marks=pytest.mark.slow)], ids=["some steps", "each step"]
)
@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("name", RESUMED)
@pytest.mark.filterwarnings("ignore::kgroups.errors.KGroupsWarning")
def test_an_interruption_after_any_step_is_resumed(tmp_path, monkeypatch, name, k, every):
    monkeypatch.setattr("kgroups.blocks.search._DENSE_GROUPS", 30)
    store = stored(RESUMED[name](), tmp_path, block_entries=10_000)
    steps, expected = FailingStep(monkeypatch), checksum(detect_stored(store, k, method=METHOD))
    last, read = steps.count, store.entries_read
    assert last > 10
    for at in sorted({*range(1, last + 1, every), last}):
        before = store.entries_read
        steps.count, steps.at, steps.after = 0, at, bool(at % 2)
        with pytest.raises(KeyboardInterrupt):
            detect_stored(store, k, method=METHOD)
        steps.count, steps.at = 0, None
        assert checksum(detect_stored(store, k, method=METHOD)) == expected
        # Only the step that was interrupted is repeated, and what is outside of steps.
        assert steps.count == last - at + (at % 2 == 0)
        if at % 2:
            assert store.entries_read - before <= read + 4 * store.entries
        assert left(store) == []


SCRIPT = """
import os, signal, sys
from kgroups.blocks import detect_stored, detection, open_graph, tasks
detection.BYTES_PER_EDGE = 1e12
at, written = int(sys.argv[2]), tasks._written
def killing(path):
    global at
    at -= 1
    if at == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return written(path)
tasks._written = killing
detect_stored(open_graph(store=sys.argv[1]))
"""


class CountedWrites:
    """Counts the files that a detection writes; one of them may find the disk full."""

    def __init__(self, monkeypatch):
        self.count, self.at, self.written = 0, None, tasks._written
        monkeypatch.setattr(tasks, "_written", self)

    def __call__(self, path):
        self.count += 1
        if self.count == self.at:
            # Half of it is there.
            path.with_name(f"{path.name}.0.half").write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.written(path)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_a_process_that_is_killed_is_resumed(tmp_path, monkeypatch, share):
    store = stored(RESUMED["joined"](), tmp_path, block_entries=2_000)
    writes = CountedWrites(monkeypatch)
    expected = checksum(detect_stored(store))
    at = 1 + int(share * writes.count)
    command = [sys.executable, "-c", SCRIPT, str(store.path), str(at)]
    done = subprocess.run(command, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert left(store)
    writes.count = 0
    assert checksum(detect_stored(store)) == expected
    assert left(store) == []


@pytest.mark.parametrize("name", ["joined", pytest.param("dispersed", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::kgroups.errors.KGroupsWarning")
def test_a_full_disk_is_explained_and_resumed(tmp_path, monkeypatch, name):
    monkeypatch.setattr("kgroups.blocks.search._DENSE_GROUPS", 30)
    store = stored(RESUMED[name](), tmp_path, block_entries=2_000)
    steps, writes = FailingStep(monkeypatch), CountedWrites(monkeypatch)
    expected = checksum(detect_stored(store))
    last, all_steps = writes.count, steps.count
    match = (
        r"a store must have room on the disk, about 60 bytes per node .* bytes are free in .*\n"
        "  Make room and call detect_communities again: it goes on where it stopped"
    )
    for at in range(1, last + 1, 25):
        writes.count, writes.at, steps.count = 0, at, 0
        with pytest.raises(StoreError, match=match):
            detect_stored(store)
        done, writes.at, steps.count = steps.count - 1, None, 0
        assert checksum(detect_stored(store)) == expected
        assert steps.count >= all_steps - max(done, 0) - 1
        assert left(store) == []


def test_other_errors_of_the_system_are_not_explained_away(tmp_path, monkeypatch):
    store = stored(RESUMED["joined"](), tmp_path, block_entries=2_000)

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(tasks, "_written", refuse)
    with pytest.raises(PermissionError):
        detect_stored(store)


def stopped(store, at):
    """Leave a detection in a store that was interrupted after some steps; return its files."""
    with pytest.MonkeyPatch.context() as patch:
        steps = FailingStep(patch)
        steps.at, steps.after = at, True
        with pytest.raises(KeyboardInterrupt):
            detect_stored(store)
    return sorted(entry for entry in (store.path / "runs").glob("**/*") if entry.is_file())


def test_a_damaged_journal_starts_anew(tmp_path, monkeypatch):
    store, rng = (
        stored(RESUMED["joined"](), tmp_path, block_entries=10_000),
        np.random.default_rng(0),
    )
    expected, changed = checksum(detect_stored(store)), set()
    for turn in range(16):
        files = [file for file in stopped(store, (16, 30)[turn % 2]) if file.suffix != ".lock"]
        file = files[turn // 2 % len(files)]
        content = bytearray(file.read_bytes())
        place = int(rng.integers(len(content)))
        if turn % 3 == 0:
            del content[place:]
        elif turn % 3 == 1:
            content[place] ^= 1 << int(rng.integers(8))
        else:
            content = b""
        file.write_bytes(content)
        changed.add(file.name.split(".")[0].split("-")[0])
        assert checksum(detect_stored(store)) == expected
        assert left(store) == []
    assert changed >= {"journal", "component", "z", "E", "kept"}


def test_a_journal_of_another_version_is_not_used(tmp_path, monkeypatch):
    store = stored(RESUMED["joined"](), tmp_path, block_entries=10_000)
    expected = checksum(detect_stored(store))
    stopped(store, 9)
    monkeypatch.setattr(journal, "_VERSION", 0)
    steps = FailingStep(monkeypatch)
    assert checksum(detect_stored(store)) == expected
    assert steps.count > 12


def test_a_journal_of_other_steps_is_not_used(tmp_path, monkeypatch):
    store = stored(RESUMED["joined"](), tmp_path, block_entries=10_000)
    expected = checksum(detect_stored(store))
    file = next(file for file in stopped(store, 9) if file.name == "journal.json")
    known, arrays = journal.read_record(file.parent, "journal.json")
    known["steps"][4][0] = "another step"
    journal.write_record(file.parent, "journal.json", known, arrays)
    assert checksum(detect_stored(store)) == expected
    assert left(store) == []


def test_links_of_a_process_that_was_killed_are_removed(tmp_path, monkeypatch):
    store = stored(RESUMED["joined"](), tmp_path, block_entries=10_000)
    folder = next(file for file in stopped(store, 3) if file.name == "journal.json").parent
    (folder / "links1234").mkdir()
    (folder / "links1234" / "links-0-0.npy").touch()
    journal.Journal(folder)
    assert not (folder / "links1234").exists()


def test_only_one_process_makes_the_same_search(tmp_path, monkeypatch):
    store = stored(RESUMED["joined"](), tmp_path, block_entries=10_000)
    before = detection.BlockSearch.run
    calls = []

    def run(search):
        if not calls:
            calls.append(1)
            with pytest.raises(
                StoreError, match=r"only one process may search the store .* in this"
            ):
                detect_stored(store)
            detect_stored(store, rng=5)
        before(search)

    monkeypatch.setattr(detection.BlockSearch, "run", run)
    detect_stored(store)
    assert calls


# Small and strange graphs.


def of_edges(*edges):
    return Graph.from_edges(*np.array(edges).T)


def star(n):
    return of_edges(*((0, i) for i in range(1, n)))


def path(n):
    return of_edges(*((i, i + 1) for i in range(n - 1)))


def clique(n):
    return of_edges(*((i, j) for i in range(n) for j in range(i)))


@pytest.mark.parametrize(
    ("graph", "k"),
    [
        (path(2), 1),
        (path(3), 1),
        (clique(3), 1),
        (star(70), 1),
        (star(3_000), 1),
        (path(60), 1),
        (path(2_000), 1),
        (clique(40), 1),
        (joined(*[clique(8)] * 12), 12),
        (joined(*[path(2)] * 30), 30),
    ],
    ids=lambda one: str(one),
)
def test_small_and_strange_graphs(tmp_path, graph, k):
    found = detect_stored(stored(graph, tmp_path, block_entries=64))
    assert found.k == k == found.report.n_components
    assert found.labels.min() == 0


@pytest.mark.parametrize("fits", [False, True])
def test_graphs_without_links(tmp_path, monkeypatch, fits):
    if fits:
        monkeypatch.setattr(detection, "BYTES_PER_EDGE", 250)
    for name, edges in (("none", []), ("one", [[7, 7]]), ("loops", [[i, i] for i in range(5)])):
        np.save(tmp_path / f"{name}.npy", np.array(edges, dtype=np.int64).reshape(-1, 2))
        store = kg.open_graph(tmp_path / f"{name}.npy", store=tmp_path / name)
        found = detect_stored(store)
        assert found.k == store.n == len(edges) == found.report.n_isolated
        whole = kg.detect_communities(store.to_graph())
        assert np.array_equal(whole.labels, found.labels)


def test_hubs_that_are_linked_to_all_nodes(tmp_path):
    graph, truth = sbm(3_000, k=10, degree=14)
    u, v, _ = graph.edges()
    hubs = np.repeat([3_000, 3_001], 3_000)
    graph = Graph.from_edges(np.append(u, hubs), np.append(v, np.tile(np.arange(3_000), 2)))
    found = detect_stored(stored(graph, tmp_path, block_entries=graph.m // 5))
    assert nmi(np.append(truth, [0, 0]), found.labels) > 0.95
