"""Communities when k is not given: the same policy with every method, and what is said of it."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.kernels_levels import nats_of
from helpers.strategies_levels import graph_of
from kgroups.generators import lfr_benchmark, planted_partition
from kgroups.metrics import nmi

METHODS = (kg.Auto(), kg.Spectral("exact"), kg.Spectral("filtered"), kg.Search())


def with_weights(G, weight_of):
    G = nx.Graph(G)
    for t, edge in enumerate(G.edges):
        G.edges[edge]["weight"] = weight_of(t)
    return G


def with_loops(G):
    G = nx.Graph(G)
    G.add_edges_from((node, node) for node in list(G)[::2])
    return G


SMALL = {
    "nothing": nx.empty_graph(0),
    "one node": nx.empty_graph(1),
    "a loop": nx.Graph([(0, 0)]),
    "two nodes": nx.empty_graph(2),
    "an edge": nx.path_graph(2),
    "no edges": nx.empty_graph(7),
    "only loops": nx.Graph([(i, i) for i in range(9)]),
    "path": nx.path_graph(30),
    "star": nx.star_graph(40),
    "tree": nx.balanced_tree(2, 5),
    "complete": nx.complete_graph(20),
    "cycle": nx.cycle_graph(40),
    "octahedron": nx.octahedral_graph(),
    "random regular": nx.random_regular_graph(3, 40, seed=1),
}


@pytest.mark.parametrize("self_loops", ["drop", "keep"])
@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", SMALL)
def test_without_communities_every_component_is_one(name, method, self_loops):
    G = SMALL[name]
    found = kg.detect_communities(G, method=method, self_loops=self_loops)
    assert set(found) == set(map(frozenset, nx.connected_components(G)))


CLIQUES = {
    "plain": nx.ring_of_cliques(8, 6),
    "loops": with_loops(nx.ring_of_cliques(8, 6)),
    "parallel": nx.MultiGraph(list(nx.ring_of_cliques(8, 6).edges) * 2),
    "equal weights": with_weights(nx.ring_of_cliques(8, 6), lambda t: 1e-300),
    "one faint weight": with_weights(nx.ring_of_cliques(8, 6), lambda t: 1e-12 if t == 3 else 1),
    "a tail": nx.compose(nx.ring_of_cliques(8, 6), nx.path_graph(range(47, 60))),
    "beside": nx.disjoint_union(nx.ring_of_cliques(8, 6), nx.ring_of_cliques(5, 6)),
    "isolated": nx.disjoint_union(nx.ring_of_cliques(8, 6), nx.empty_graph(3)),
}


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", CLIQUES)
def test_cliques_are_found_with_every_method(name, method):
    G = CLIQUES[name]
    found = kg.detect_communities(G, method=method)
    for a in range(8):
        clique = range(6 * a, 6 * a + 6)
        assert len({found.membership[node] for node in clique}) == 1
    assert len({found.membership[6 * a] for a in range(8)}) == 8
    assert all(nx.is_connected(G.subgraph(community)) for community in found)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_equal_weights_say_no_more_than_none(method):
    G = nx.planted_partition_graph(4, 40, 0.4, 0.02, seed=3)
    plain = kg.detect_communities(G, method=method)
    for unit in (1e-12, 3.7, 1e12):
        assert kg.detect_communities(with_weights(G, lambda t, u=unit: u), method=method) == plain


SCRIPT = """
import json, networkx as nx, kgroups as kg
G = nx.planted_partition_graph(12, 100, 0.12, 0.004, seed=1)
G = nx.relabel_nodes(G, {i: f"node {(7919 * i) % 1200}" for i in G})
for method in (kg.Auto(), kg.Spectral("exact"), kg.Spectral("filtered"), kg.Search()):
    for k in (None, 12):
        found = kg.detect_communities(G, k, method=method)
        print(json.dumps([sorted(community) for community in found]))
"""


@pytest.mark.compiled
def test_hash_seed_and_threads_do_not_matter_with_any_method():
    answers = set()
    for hash_seed, threads in [("0", "1"), ("12345", "2")]:
        environment = dict(os.environ, PYTHONHASHSEED=hash_seed)
        for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
            environment[f"{library}_NUM_THREADS"] = threads
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = run.stdout.splitlines()
        assert [len(json.loads(line)) for line in lines] == [12] * 8
        answers.add(tuple(lines))
    assert len(answers) == 1


@pytest.fixture(scope="module")
def planted():
    return planted_partition(1_200, k=12, degree=12.0, snr=2.5, rng=0)


@pytest.mark.compiled
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_one_stream_gives_one_answer(planted, method):
    answers = [kg.detect_communities(planted.graph, method=method, rng=5) for _ in range(2)]
    assert answers[0] == answers[1]
    generators = [np.random.default_rng(5) for _ in range(2)]
    drawn = [kg.detect_communities(planted.graph, method=method, rng=rng) for rng in generators]
    assert drawn[0] == drawn[1] == answers[0]


STAGES = {
    kg.Spectral("exact"): [],
    kg.Spectral("filtered"): ["moments of the spectrum", "filtering a subspace"],
    kg.Search(): ["searching"],
    kg.Auto(): ["searching"],
}


@pytest.mark.compiled
@pytest.mark.parametrize("method", STAGES, ids=repr)
def test_stages_are_told_in_order(planted, method):
    told = []
    found = kg.detect_communities(planted.graph, method=method, progress=told.append)
    assert told == ["reading the graph", "finding communities", *STAGES[method]]
    assert all(first != second for first, second in pairwise(told))
    assert set(found.report.seconds) == set(told)
    assert all(seconds >= 0.0 for seconds in found.report.seconds.values())


SAID = {
    kg.Spectral("exact"): ("eigenvectors", "eigenvectors were asked for"),
    kg.Spectral("filtered"): ("eigenvectors", "eigenvectors were asked for"),
    kg.Search(): ("search", "they describe the graph clearly better than one community ("),
    kg.Auto(): ("search", "they describe the graph clearly better than one community ("),
}


@pytest.mark.compiled
@pytest.mark.parametrize("method", SAID, ids=repr)
def test_the_report_says_who_won_and_why(planted, method, tmp_path):
    found = kg.detect_communities(planted.graph, method=method)
    report, component = found.report, found.report.components[0]
    winner, why = SAID[method]
    assert (report.method, report.k_found) == (type(method).__name__, 12)
    assert (component.n, component.k, component.winner) == (1_200, 12, winner)
    assert report.why == component.why
    assert component.why.startswith(why)
    assert component.nats == pytest.approx(nats_of(planted.graph, found.labels)[0])
    assert (component.undecided is not None) == (winner == "search")
    if method != kg.Spectral("exact"):
        assert report.visits > 2 * report.m
    assert report.lines()[0].startswith(f"12 communities: {why}")
    found.save(tmp_path / "found.json")
    assert kg.Partition.load(tmp_path / "found.json") == found
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()


@pytest.mark.compiled
def test_a_large_community_is_not_cut():
    """A community of 393 of the 900 nodes is cut by k-means, and whole in the search."""
    graph, truth = lfr_benchmark(900, degree=15, mixing=0.3, rng=5)
    exact = kg.detect_communities(graph, method=kg.Spectral("exact"))
    found = kg.detect_communities(graph)
    assert found.report.components[0].winner == "search"
    assert nmi(truth, found.labels) > 0.99 > 0.9 > nmi(truth, exact.labels)


def test_faint_communities_are_decided_by_belief_propagation():
    graph, truth = planted_partition(400, k=2, degree=8.0, snr=1.6, rng=3)
    found = kg.detect_communities(graph)
    component = found.report.components[0]
    assert (component.k, component.winner) == (2, "eigenvectors")
    assert component.evidence > np.log(10.0)
    assert component.k_hat >= 2
    assert "belief propagation" in component.why
    assert nmi(truth, found.labels) > 0.2


@pytest.mark.compiled
def test_beliefs_do_not_touch_clear_communities_of_a_graph_that_is_locally_a_tree():
    graph, _ = planted_partition(1_000, k=15, degree=3.0, snr=1.7, rng=5)
    found = kg.detect_communities(graph)
    component = found.report.components[0]
    assert component.nats > component.n
    assert (component.winner, component.evidence) == ("search", None)
    assert found == kg.detect_communities(graph, method=kg.Search())


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(6))
def test_the_default_never_saves_less_than_its_search_where_that_is_clear(seed):
    """Eigenvectors once replaced what the search had found."""
    graphs = [
        lfr_benchmark(1_500, degree=15, mixing=0.5, rng=seed).graph,
        planted_partition(2_000, k=3, degree=12.0, snr=2.5, rng=seed).graph,
        planted_partition(1_000, k=15, degree=3.0, snr=1.7, rng=seed).graph,
    ]
    for graph in graphs:
        searched, default = (
            nats_of(graph, kg.detect_communities(graph, method=method).labels)
            for method in (kg.Search(), kg.Auto())
        )
        clear = searched >= np.bincount(kg.detect_communities(graph, k=1).labels)
        assert np.all(default[clear] >= searched[clear] - 1e-6)


@pytest.mark.compiled
def test_unequal_densities_are_the_model_of_the_search():
    """One density for all fits the faint cliques of different sizes worse than their own ones."""
    G = nx.les_miserables_graph()
    found = kg.detect_communities(G, weight=None)
    component = found.report.components[0]
    assert 0.0 < component.nats < component.n
    assert (component.winner, component.evidence) == ("search", None)
    assert found == kg.detect_communities(G, weight=None, method=kg.Search())


def in_order(found):
    """Return the labels of a graph with the nodes 0, 1, ... in this order."""
    return np.array([found.membership[node] for node in range(len(found.membership))])


TEXTBOOK = {
    "barbell": (nx.barbell_graph(8, 1), None),
    "windmill": (nx.windmill_graph(6, 5), None),
    "ring": (nx.ring_of_cliques(8, 6), 8),
    "triangles": (nx.ring_of_cliques(2, 3), None),
    "karate": (nx.karate_club_graph(), None),
    "parts": (nx.disjoint_union(nx.barbell_graph(7, 0), nx.windmill_graph(4, 5)), 5),
}


@pytest.mark.parametrize("name", TEXTBOOK)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_nats_are_those_of_the_communities_that_are_returned(name, method):
    """They were those of the candidate before it was split, or 0 with k given."""
    G, k = TEXTBOOK[name]
    found = kg.detect_communities(G, k, weight=None, method=method)
    nats = nats_of(graph_of(G), in_order(found))
    for component in found.report.components:
        assert component.nats == pytest.approx(nats[component.component], rel=1e-6, abs=1e-9)
        if "nats shorter" in component.why:
            assert component.why.endswith(f"({component.nats:.1f} nats shorter)")


@pytest.mark.compiled
def test_nats_of_faint_graphs_are_those_of_the_communities_that_are_returned():
    for seed in range(80):
        G = nx.planted_partition_graph(2 + seed % 3, 14, 0.45, 0.12, seed=seed)
        found = kg.detect_communities(G)
        nats = nats_of(graph_of(G), in_order(found))
        for component in found.report.components:
            assert component.nats == pytest.approx(nats[component.component], abs=1e-6)


def test_the_report_says_where_pairs_have_split_the_communities_of_eigenvectors():
    """Groups of up to nine nodes are tried once more, whoever has proposed them."""
    reports = [
        component
        for seed in range(120)
        for component in kg.detect_communities(
            nx.planted_partition_graph(2, 9, 0.5, 0.08, seed=seed)
        ).report.components
        if component.winner == "pairs of nodes"
    ]
    assert reports
    assert all("described better in pieces" in component.why for component in reports)


def faint_graph(rng, *, weighted):
    """Draw a small connected graph whose communities, if any, are faint."""
    seed, kind = int(rng.integers(10**6)), rng.integers(4)
    if kind == 0:
        G = nx.gnm_random_graph(int(rng.integers(10, 40)), int(rng.integers(20, 90)), seed=seed)
    elif kind == 1:
        shape = int(rng.integers(2, 4)), int(rng.integers(8, 20))
        G = nx.planted_partition_graph(*shape, 0.4, 0.08, seed=seed)
    elif kind == 2:
        G = nx.connected_caveman_graph(int(rng.integers(2, 6)), int(rng.integers(4, 7)))
    else:
        G = nx.watts_strogatz_graph(int(rng.integers(12, 40)), 4, 0.2, seed=seed)
    G = G.subgraph(max(nx.connected_components(G), key=len))
    G = nx.convert_node_labels_to_integers(G)
    return with_weights(G, lambda _: rng.lognormal(sigma=0.7)) if weighted else G


@pytest.mark.compiled
@pytest.mark.parametrize(("weighted", "r"), [(False, 2.0), (True, 4.0)])
def test_with_r_given_a_union_has_the_communities_of_its_parts(weighted, r):
    rng, operator = np.random.default_rng(5), kg.BetheHessian(r)
    for _ in range(150):
        one, other = (faint_graph(rng, weighted=weighted) for _ in range(2))
        parts = [
            {frozenset(c) for c in kg.detect_communities(G, operator=operator)}
            for G in (one, other)
        ]
        shifted = {frozenset(node + len(one) for node in c) for c in parts[1]}
        union = nx.union(one, nx.relabel_nodes(other, {i: i + len(one) for i in other}))
        found = kg.detect_communities(union, operator=operator)
        assert set(map(frozenset, found)) == parts[0] | shifted


def test_beliefs_do_not_touch_clear_communities_with_short_cycles():
    graph, _ = lfr_benchmark(600, degree=12, mixing=0.3, rng=2)
    component = kg.detect_communities(graph).report.components[0]
    assert component.nats > component.n
    assert component.evidence is None


class Delegate:
    """The default refinement, as a method of the caller."""

    def __init__(self):
        self.calls = 0

    def refine(self, problem, labels):
        self.calls += 1
        return kg.Hartigan().refine(problem, labels)


FAINT = {
    "karate": nx.karate_club_graph(),
    "loops": with_loops(nx.karate_club_graph()),
    "planted": nx.planted_partition_graph(3, 40, 0.25, 0.06, seed=4),
    "parts": nx.disjoint_union_all(
        [nx.planted_partition_graph(2, 25 + 5 * seed, 0.3, 0.08, seed=seed) for seed in range(4)]
    ),
}


@pytest.mark.compiled
@pytest.mark.parametrize("method", [kg.Auto(), kg.Spectral("exact")], ids=repr)
def test_communities_by_eigenvectors_are_connected(method):
    for seed in range(40):
        G = nx.gnm_random_graph(60, 90, seed=seed)
        found = kg.detect_communities(G, method=method)
        assert all(nx.is_connected(G.subgraph(community)) for community in found)


@pytest.mark.compiled
@pytest.mark.parametrize("self_loops", ["drop", "keep"])
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("name", FAINT)
def test_all_components_at_once_are_what_they_are_one_by_one(name, weight, self_loops):
    """A refinement of the caller is called for each component; the default runs in one kernel."""
    options, refine = {"weight": weight, "self_loops": self_loops}, Delegate()
    together = kg.detect_communities(FAINT[name], **options)
    one_by_one = kg.detect_communities(FAINT[name], refine=refine, **options)
    assert refine.calls > 1
    assert together == one_by_one


def test_only_the_largest_components_are_described():
    sizes = (5, 7, 6, 9, 8)
    G = nx.disjoint_union_all([nx.ring_of_cliques(6, size) for size in sizes])
    report = kg.detect_communities(G).report
    assert [component.n for component in report.components] == [54, 48, 42]
    assert [component.component for component in report.components] == [3, 4, 1]
    assert all(component.k == 6 for component in report.components)


@pytest.mark.compiled
def test_the_order_of_the_nodes_does_not_matter_in_faint_and_clear_graphs():
    for n, k, degree, snr in ((600, 3, 8.0, 1.6), (1_500, 15, 14.0, 2.5), (1_500, 2, 8.0, 1.5)):
        graph, _ = planted_partition(n, k=k, degree=degree, snr=snr, rng=2)
        u, v, _ = graph.edges()
        place = np.random.default_rng(0).permutation(n)
        names = np.argsort(place).tolist()
        turned = kg.Graph.from_edges(place[v][::-1], place[u][::-1], nodes=names)
        assert set(kg.detect_communities(turned)) == set(kg.detect_communities(graph))


INTERRUPTED = """
import sys, numpy as np, kgroups as kg
from kgroups.generators import planted_partition
kg.warm(progress=False)
graph, _ = planted_partition(600_000, k=200, degree=20.0, snr=2.0, rng=0)
if sys.argv[1] == "file":
    u, v, _ = graph.edges()
    graph = sys.argv[2]
    np.savez(graph, source=u, target=v)
try:
    kg.detect_communities(graph, progress=lambda stage: print(stage, flush=True))
except KeyboardInterrupt:
    sys.exit(77)
"""


AT_ANY_MOMENT = """
import os, signal, time
import networkx as nx, numpy as np, kgroups as kg
parts = [nx.planted_partition_graph(2, 60, 0.12, 0.06, seed=seed) for seed in range(12)]
graph = kg.as_graph(nx.disjoint_union_all(parts))
signal.signal(signal.SIGALRM, signal.default_int_handler)
kg.detect_communities(graph)
start = time.perf_counter()
kg.detect_communities(graph)
whole = time.perf_counter() - start
for share in np.linspace(0.05, 0.95, 30):
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, share * whole)
        try:
            kg.detect_communities(graph)
        except KeyboardInterrupt:
            os._exit(77)
        except BaseException:
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_an_interrupt_at_any_moment_is_raised_as_one():
    """Kernels that returned named tuples crashed, and several arrays became an error."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AT_ANY_MOMENT],
        # Compiled by the first call, so that the second one takes as long as those after it.
        env={**os.environ, "KGROUPS_JIT": "always"},
        capture_output=True,
        text=True,
        check=True,
    )
    codes = [int(line) for line in run.stdout.split()]
    assert len(codes) == 30
    # A child that ended before its interrupt, because the machine had more time for it, says 0.
    assert set(codes) <= {0, 77}
    assert codes.count(77) > 15


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("given", "stage", "seconds"),
    [
        ("file", "reading", 0.1),
        ("file", "building", 0.2),
        ("graph", "finding", 0.05),
        ("graph", "finding", 0.3),
        ("graph", "searching", 0.2),
        ("graph", "searching", 1.0),
        ("graph", "moments", 0.2),
        ("graph", "moments", 1.0),
        ("graph", "grouping", 0.1),
    ],
)
def test_an_interrupt_ends_a_long_run_within_a_second(tmp_path, given, stage, seconds):
    """Seconds of the processor on one thread, so that other processes do not count."""
    environment = dict(os.environ, NUMBA_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    command = [sys.executable, "-c", INTERRUPTED, given, str(tmp_path / "graph.npz")]
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        # Under a shell that runs the suite in the background, children would ignore interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as run:
        while not run.stdout.readline().startswith(stage):
            assert run.poll() is None
        time.sleep(seconds)
        before = cpu_seconds(run.pid)
        run.send_signal(signal.SIGINT)
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    assert run.returncode == 77
    assert used.ru_utime + used.ru_stime - before <= 1.0
