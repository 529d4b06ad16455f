"""Detection gives the same labels and the same bits of its scores, interpreted and compiled."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups._kernel import Kernel
from kgroups.generators import lfr_benchmark, planted_partition

# Of 16 graphs each.
TURNS = 13


def weighted(graph, rng):
    u, v, _ = kg.as_graph(graph).edges()
    weights = rng.random(u.size) + 0.1
    # Equal weights leave ties, and a heavy one saturates.
    weights[: u.size // 3] = 1.0
    weights[-1:] = 50.0
    return kg.Graph.from_edges(u, v, weights, n=kg.as_graph(graph).n)


def disconnected(rng):
    parts = [nx.gnp_random_graph(int(n), 0.3, seed=int(n)) for n in rng.integers(2, 25, size=5)]
    return nx.disjoint_union_all([*parts, nx.ring_of_cliques(3, 4), nx.path_graph(7)])


def looped(rng):
    G = nx.gnm_random_graph(40, 110, seed=int(rng.integers(1000)))
    G.add_edges_from((node, node) for node in range(0, 40, 3))
    return G


def kinds(rng):
    """Yield a graph of each kind."""
    n = int(rng.integers(30, 110))
    seed = int(rng.integers(1000))
    yield "random", nx.gnm_random_graph(n, 2 * n, seed=seed)
    yield "dense random", nx.gnp_random_graph(n // 2, 0.4, seed=seed)
    yield "faint", planted_partition(2 * (n // 2), k=2, degree=6.0, snr=1.5, rng=seed).graph
    yield "clear", planted_partition(4 * (n // 4), k=4, degree=9.0, snr=2.8, rng=seed).graph
    yield "lfr", lfr_benchmark(150, degree=8, mixing=0.25, max_degree=25, rng=seed).graph
    yield "disconnected", disconnected(rng)
    yield "star", nx.star_graph(n)
    yield "tree", nx.random_labeled_tree(n, seed=seed)
    yield "cliques", nx.ring_of_cliques(3 + n // 20, 5)
    yield "clique", nx.complete_graph(5 + n // 10)
    yield "grid", nx.grid_2d_graph(3 + n // 20, 8)
    yield "bipartite", nx.bipartite.random_graph(n // 3, n // 2, 0.2, seed=seed)
    yield "scale-free", nx.barabasi_albert_graph(n, 2, seed=seed)
    yield "small world", nx.watts_strogatz_graph(n, 4, 0.1, seed=seed)
    yield "loops", looped(rng)
    yield "lollipop", nx.lollipop_graph(8, n // 4)


METHODS = (kg.Auto(), kg.Auto(), kg.Search(), kg.Spectral("exact"), kg.Spectral("filtered"))
OPTIONS = (
    {},
    {"refine": kg.BeliefPropagation()},
    {"init": kg.QRInit()},
    {"self_loops": "keep"},
    {"operator": kg.BetheHessian(r="second-moment")},
)


def cases(turn):
    """Yield graphs of all kinds, with options that take turns."""
    rng = np.random.default_rng(turn)
    for number, (kind, graph) in enumerate(kinds(rng), start=16 * turn):
        options = {"method": METHODS[number % 5], **OPTIONS[number // 5 % 5]}
        if number % 4 == 0:
            options["k"] = 2 + number // 4 % 4
        yield kind, weighted(graph, rng) if number % 3 == 0 else graph, options


def interpreted(kernel, *arguments):
    return kernel._interpret(arguments)


def compiled(kernel, *arguments):
    return kernel.compiled()(*arguments)


def outcome(graph, options):
    """Return the labels, and what the report says of each component, as bits."""
    found = kg.detect_communities(graph, **options)
    scores = [(one.nats, one.evidence, one.k, one.winner) for one in found.report.components]
    return found.labels.tolist(), repr(scores), found.report.visits


@pytest.fixture(scope="module")
def numba_compiles():
    """Undo what would make numba's functions plain ones."""
    import numba

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "DISABLE_JIT", 0)
        yield


@pytest.mark.parametrize("turn", range(TURNS))
def test_interpreted_and_compiled_detections_agree_to_the_bit(monkeypatch, numba_compiles, turn):
    for kind, graph, options in cases(turn):
        seen = []
        for call in (interpreted, compiled):
            monkeypatch.setattr(Kernel, "__call__", call)
            seen.append(outcome(graph, options))
        assert seen[0] == seen[1], (kind, options)
