"""The search of all components in one call, exactly k communities, and Ctrl-C."""

import signal
import threading
import time
from contextlib import contextmanager
from typing import NamedTuple

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers import oracles_levels as oracles
from helpers.kernels_levels import given_number, nats_of, searched_from
from helpers.strategies_levels import ONE, graph_of, largest_part, level_of, problem_of
from kgroups import _progress
from kgroups._csr import connected_components
from kgroups._progress import STOP, new_control, run_interruptibly
from kgroups.generators import lfr_benchmark, planted_partition
from kgroups.metrics import nmi
from kgroups.search import State
from kgroups.search.candidates import projected_labels, search
from kgroups.search.climbing import Searching
from kgroups.spectrum import moments

ONE_START = kg.Search(starts=1)


class Searched(NamedTuple):
    """What the search finds in a graph, its nodes sorted by component, and the work done."""

    z: np.ndarray
    k: np.ndarray
    saved: np.ndarray
    undecided: np.ndarray
    visits: int
    moments: dict


def searched(graph, *, settings=None, seed=0):
    rng = np.random.default_rng(seed)
    found, visits, measured = search(problem_of(graph), settings or kg.Search(), rng)
    return Searched(found.z, found.k, found.nats, found.undecided, visits, measured)


def hub_graph():
    """Return cliques in a ring, and a hub that knows every node."""
    G = nx.ring_of_cliques(6, 6)
    G.add_edges_from((36, i) for i in range(36))
    return G


SHAPES = {
    "star": nx.star_graph(12),
    "path": nx.path_graph(13),
    "clique": nx.complete_graph(9),
    "bipartite": nx.complete_bipartite_graph(5, 6),
    "ring of cliques": nx.ring_of_cliques(6, 6),
    "hub": hub_graph(),
    "pair": nx.path_graph(2),
    "one node": nx.empty_graph(1),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 7)),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_communities_of_small_graphs_are_connected(name, weighted):
    G = SHAPES[name]
    weights = np.random.default_rng(1).lognormal(size=G.number_of_edges()) if weighted else None
    graph = graph_of(G, weights=weights)
    found = searched(graph)
    k = int(found.k[0])
    assert np.unique(found.z).tolist() == list(range(k))
    assert connected_components(graph.simple_adjacency(), found.z)[0] == k
    assert (k == 1) == (found.saved[0] == 0.0)


def test_cliques_are_found_and_save_what_the_formula_says():
    G = nx.ring_of_cliques(12, 8)
    found, cliques = searched(graph_of(G)), np.repeat(np.arange(12), 8)
    assert found.k.tolist() == [12]
    assert nmi(cliques, found.z) == 1.0
    assert found.saved[0] == pytest.approx(oracles.nats_saved(level_of(G), cliques), rel=1e-9)
    assert found.undecided[0] == 0.0
    assert found.visits > 2 * G.number_of_edges()


def test_nothing_is_searched_in_trees_and_cycles():
    G = nx.disjoint_union_all([nx.balanced_tree(2, 5), nx.cycle_graph(30), nx.star_graph(20)])
    found = searched(graph_of(G))
    assert found.k.tolist() == [1, 1, 1]
    assert found.visits == 0


def test_many_small_components_are_searched_at_once():
    """500 pairs of cliques, each of them found as it is alone."""
    alone = searched(graph_of(nx.barbell_graph(8, 0)))
    found = searched(graph_of(nx.disjoint_union_all([nx.barbell_graph(8, 0)] * 500)))
    assert alone.k.tolist() == [2]
    assert found.k.tolist() == [2] * 500
    assert found.z.tolist() == alone.z.tolist() * 500
    assert found.saved == pytest.approx(np.full(500, alone.saved[0]), rel=1e-9)


def test_components_do_not_depend_on_one_another():
    parts = [
        nx.ring_of_cliques(5, 7),
        nx.gnm_random_graph(80, 240, seed=3),
        nx.ring_of_cliques(4, 9),
    ]
    parts = [G.subgraph(max(nx.connected_components(G), key=len)) for G in parts]
    parts = [nx.convert_node_labels_to_integers(G) for G in parts]
    found = searched(graph_of(nx.disjoint_union_all(parts)))
    first = 0
    for c, G in enumerate(parts):
        alone = searched(graph_of(G))
        assert found.z[first : first + len(G)].tolist() == alone.z.tolist()
        assert found.saved[c] == pytest.approx(alone.saved[0])
        first += len(G)


@pytest.mark.parametrize("heavy", [1e3, 1e9])
def test_one_enormous_weight_does_not_hide_the_rest(heavy):
    G = nx.ring_of_cliques(8, 6)
    weights = np.ones(G.number_of_edges())
    weights[0] = heavy
    found = kg.detect_communities(graph_of(G, weights=weights), method=kg.Search())
    assert len(found) == 8


@pytest.mark.parametrize("unit", [1e-7, 1e5])
def test_the_scale_of_weights_does_not_change_the_communities(unit):
    G = nx.ring_of_cliques(8, 6)
    weights = np.random.default_rng(2).integers(1, 9, G.number_of_edges()).astype(float)
    one, other = (searched(graph_of(G, weights=factor * weights)) for factor in (1.0, unit))
    assert other.z.tolist() == one.z.tolist()
    assert other.saved == pytest.approx(one.saved, rel=1e-4)


@pytest.fixture(scope="module")
def planted():
    return planted_partition(2_000, k=20, degree=12.0, snr=1.8, rng=5)


@pytest.mark.compiled
def test_the_same_stream_gives_the_same_labels(planted):
    first, again = (searched(planted.graph, seed=3) for _ in range(2))
    assert again.z.tolist() == first.z.tolist()
    assert (again.visits, again.saved.tolist()) == (first.visits, first.saved.tolist())


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["truth", "one", "pairs", "random"])
def test_the_search_saves_no_less_than_what_it_starts_from(planted, kind):
    """Before communities are made connected, which may cost a little."""
    graph, truth = planted
    part, rows = largest_part(graph)
    level = part.level
    start = {
        "truth": truth[rows],
        "one": np.zeros(rows.size, dtype=np.int64),
        "pairs": np.arange(rows.size) // 2,
        "random": np.random.default_rng(0).integers(0, 20, rows.size),
    }[kind]
    state, joined = searched_from(level, start)
    assert state.saved[0] >= oracles.nats_saved(level, start) - 1e-6
    assert state.saved[0] == pytest.approx(oracles.nats_saved(level, state.z), rel=1e-6)
    assert connected_components(part.A, joined.z)[0] == joined.k[0]
    assert np.bincount(joined.z).min() > 1


def test_a_rival_with_the_same_communities_decides_no_node_anew():
    """Rounding may put the rival first, of whose nodes nothing is known."""
    level = level_of(nx.ring_of_cliques(4, 5))
    z, four, nats = np.repeat(np.arange(4), 5).astype(np.int32), np.array([4]), np.array([30.0])
    best = State(z, four, nats, np.zeros(20, np.bool_), np.zeros(1))
    rival = State(z.copy(), four, nats + 1e-12, np.ones(20, np.bool_), np.ones(1))
    searching = Searching(level, kg.Search(), np.random.default_rng(0))
    joined = searching._joined(best, rival, ONE)
    assert (joined.saved.tolist(), joined.share.tolist()) == ([30.0], [0.0])
    assert not joined.undecided.any()


@pytest.mark.compiled
def test_more_starts_never_save_less(planted):
    """Each start is joined to the best one before, from which moves only gain."""
    saved = [
        searched(planted.graph, settings=kg.Search(starts=starts, least_gain=0.0)).saved.sum()
        for starts in (1, 2, 4, 8)
    ]
    assert saved[0] > 0.0
    assert saved[-1] >= saved[0] * (1.0 - 1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("n", [1000, 4000])
def test_communities_that_look_sure_after_one_start_are_tried_again(n):
    """Stretches of a ring are twice as long as they should be, and no node is undecided."""
    G = nx.watts_strogatz_graph(n, 8, 0.1, seed=900)
    graph = graph_of(G)
    once = searched(graph, settings=ONE_START)
    again = searched(graph)
    assert once.undecided[0] < 0.1
    assert again.saved[0] > 1.1 * once.saved[0]
    z = np.empty(n, dtype=np.int64)
    for label, members in enumerate(nx.community.louvain_communities(G, seed=0)):
        z[list(members)] = label
    assert again.saved[0] > nats_of(graph, z)[0]


def test_one_start_is_enough_where_nothing_is_at_stake():
    graph = graph_of(nx.ring_of_cliques(1500, 6))
    once, default = (searched(graph, settings=settings) for settings in (ONE_START, kg.Search()))
    assert (once.undecided[0], once.k[0]) == (0.0, 1500)
    assert default.visits == once.visits


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs_are_one_community(seed):
    graphs = [nx.gnm_random_graph(300, 450 * (1 + seed), seed=seed)]
    degrees = lfr_benchmark(1_000, degree=10, mixing=0.3, rng=seed).graph.to_networkx()
    rewired = nx.Graph(degrees)
    nx.double_edge_swap(rewired, 10 * rewired.number_of_edges(), max_tries=10**6, seed=seed)
    graphs.append(rewired)
    for G in graphs:
        found = searched(graph_of(nx.convert_node_labels_to_integers(G)))
        assert (found.k == 1).all()
        assert not found.saved.any()


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "one node"])
def test_a_given_number_is_met_on_every_shape(name):
    level = level_of(SHAPES[name])
    n = level.nodes.size
    for k in sorted({1, 2, min(3, n), n // 2, n - 1, n}):
        z, _ = given_number(level, k)
        assert np.unique(z).tolist() == list(range(k))


@pytest.mark.compiled
@pytest.mark.parametrize("k", [1, 7, 20, 300, 1_900])
def test_a_given_number_is_met_on_a_planted_graph(planted, k):
    graph, truth = planted
    part, rows = largest_part(graph)
    z, visits = given_number(part.level, k)
    assert np.unique(z).tolist() == list(range(k))
    assert visits > 0
    if k == 20:
        # The seeds 100 to 119: .9617 (sd .0078).
        assert nmi(truth[rows], z) > 0.9617 - 5 * 0.0078


def test_heavy_tailed_weights_do_not_end_in_one_community():
    """Weights over 16 orders of magnitude: sums kept while nodes move round below 0."""
    rng = np.random.default_rng(70)
    k, degree = int(rng.integers(5, 60)), float(rng.uniform(6, 25))
    planted, labels = planted_partition(1_100, k, degree, 2.3, beyond="clip", rng=70)
    u, v, _ = planted.edges()
    spread, boost = rng.uniform(3, 9), 10 ** rng.uniform(0, 6)
    weights = np.where(labels[u] == labels[v], boost, 1.0) * rng.lognormal(0.0, spread, len(u))
    found = searched(kg.Graph.from_edges(u, v, weights, n=1_100))
    assert found.k.max() > 1
    assert np.isfinite(found.saved).all()


@contextmanager
def interrupt_after(seconds):
    """Interrupt the main thread, also where a test runner in the background ignores that."""
    before, sent = signal.signal(signal.SIGINT, signal.default_int_handler), []

    def interrupt():
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    threading.Timer(seconds, interrupt).start()
    try:
        yield sent
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.compiled
def test_an_interrupt_stops_the_search_within_a_second():
    graph, _ = planted_partition(100_000, k=100, degree=20.0, snr=1.8, rng=0)
    problem = problem_of(graph)
    settings = kg.Search(starts=50, least_gain=0.0)
    searching = Searching(problem.level, settings, np.random.default_rng(0))
    # Compiled before the interrupt.
    searching.cells(searching.cyclic)
    with interrupt_after(0.5) as sent, pytest.raises(KeyboardInterrupt):
        searching.search(searching.cyclic)
    assert time.perf_counter() - sent[0] < 1.0
    assert searching.control[STOP] == 1


def test_an_interrupt_sets_the_flag_and_is_raised_again():
    """A kernel that runs until the flag in its control is set ends, and then the call does."""
    ended = []

    def kernel(control):
        while not control[STOP]:
            time.sleep(0.001)
        ended.append(True)

    with interrupt_after(0.2), pytest.raises(KeyboardInterrupt):
        run_interruptibly(kernel, new_control())
    assert ended == [True]


@pytest.mark.parametrize("error", [ValueError, TimeoutError])
def test_errors_of_a_kernel_in_the_background_come_through(error):
    def kernel(control):
        raise error

    with pytest.raises(error):
        run_interruptibly(kernel, new_control())


def test_kernels_in_the_background_find_the_same(monkeypatch):
    graph, used = graph_of(nx.ring_of_cliques(20, 6)), []
    here, run = searched(graph), _progress.run_interruptibly
    monkeypatch.setattr(_progress, "run_interruptibly", lambda *a: used.append(a[0]) or run(*a))
    monkeypatch.setattr(_progress, "_BACKGROUND_ENTRIES", 0)
    background = searched(graph)
    assert background.z.tolist() == here.z.tolist()
    assert background.visits == here.visits
    assert {kernel.__name__ for kernel in used} >= {"climb", "coarsen", "describe"}


LARGE = planted_partition(12_000, k=5, degree=10.0, snr=2.5, rng=4)
FAINT = planted_partition(12_000, k=3, degree=6.0, snr=1.3, rng=4).graph


def test_large_communities_that_are_locally_trees_are_searched_from_the_spectrum():
    found = searched(LARGE.graph)
    assert list(found.moments) == [0]
    assert found.moments[0].block.shape[1] == 16
    without = searched(LARGE.graph, settings=kg.Search(spectral_nodes=12_000))
    assert without.moments == {}
    assert found.k[0] == without.k[0] == 5
    assert found.saved[0] == pytest.approx(without.saved[0], rel=1e-3)
    assert found.visits < 0.7 * without.visits


def test_communities_of_the_spectrum_below_a_nat_per_node_are_searched_no_further():
    found = searched(FAINT)
    assert 0 in found.moments
    assert found.saved[0] < FAINT.n
    # Cells, moments and one climb: less than a quarter of what further starts read.
    assert found.visits < 150 * FAINT.m


@pytest.mark.parametrize(
    ("k", "snr"), [(2, 2.5), (3, 2.0), (40, 2.0)], ids=["fewer than columns", "few", "many"]
)
def test_projected_rows_group_the_nodes_of_a_community(k, snr):
    graph, truth = planted_partition(24_000, k=k, degree=20.0, snr=snr, rng=1)
    problem = problem_of(graph)
    measured = moments(problem.hessian, columns=16)
    labels = projected_labels(measured, np.random.default_rng(0))
    assert k <= labels.max() + 1 <= 2 * k + 2
    assert set(np.unique(labels)) == set(range(labels.max() + 1))
    # More groups than communities: they are pure more than they are whole.
    assert nmi(truth, labels) > 0.25
    found = searched(graph)
    assert found.k[0] == k


def test_no_rows_are_projected_without_structure_or_with_small_communities():
    random_graph = planted_partition(12_000, k=2, degree=6.0, snr=0.0, rng=2).graph
    small = planted_partition(12_000, k=60, degree=10.0, snr=2.5, rng=2).graph
    for graph in (random_graph, small):
        measured = moments(problem_of(graph).hessian, columns=16)
        assert projected_labels(measured, np.random.default_rng(0)) is None


def test_the_cells_of_large_graphs_with_short_cycles_are_used():
    graph = lfr_benchmark(11_000, degree=12, mixing=0.3, rng=1).graph
    found = searched(graph)
    without = searched(graph, settings=kg.Search(spectral_nodes=11_000))
    assert found.moments == {}
    assert np.array_equal(found.z, without.z)
    assert found.visits == without.visits


def test_an_uncertain_projection_is_compared_with_the_usual_first_start():
    clear = searched(LARGE.graph)
    found = searched(LARGE.graph, settings=kg.Search(clear_communities=0.0, clear_signal=99.0))
    assert found.saved[0] == pytest.approx(clear.saved[0], rel=1e-3)
    assert found.k[0] == 5
    assert found.visits > 1.2 * clear.visits


@pytest.mark.slow
@pytest.mark.compiled
def test_many_faint_communities_are_found_from_the_spectrum():
    """Without it 44 communities were found, with an agreement of .71; on seed 902: 80 and .97."""
    graph, truth = planted_partition(60_000, k=80, degree=20.0, snr=1.4, rng=901)
    found = searched(graph)
    assert found.k[0] >= 70
    assert nmi(truth, found.z) > 0.9
