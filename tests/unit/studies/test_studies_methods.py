"""The named methods: the public call gives the same communities."""

import sys

import numpy as np
import pytest

import kgroups as kg
from kgroups.errors import InputError, MissingExtraError
from kgroups.generators import (
    degree_corrected_sbm,
    girvan_newman_benchmark,
    lfr_benchmark,
    planted_partition,
    stochastic_block_model,
)
from kgroups.studies import (
    METHODS,
    PAPER_GRAM,
    PAPER_UNIFORM,
    TrialContext,
    oracle_inference,
    sweep,
)
from kgroups.studies.methods import as_methods

RAW = kg.KMeansInit(rows="raw")
SEED = 11


def stream():
    return np.random.default_rng(SEED).spawn(2)[1]


def same_communities(first, second):
    return kg.metrics.accuracy(first, second) == 1.0


def context(graph, k):
    return TrialContext(graph, graph, k, SEED)


@pytest.mark.parametrize(
    ("k", "snr"), [(2, 1.3), (5, 1.2), (5, 1.6), (9, 1.4)], ids=lambda value: f"{value}"
)
@pytest.mark.parametrize(
    ("name", "options"), [("kgroups", {}), ("bethe-hessian", {"refine": None})]
)
def test_sparse_graph_with_many_components(k, snr, name, options):
    graph, _ = planted_partition(360, k, 3.0, snr, rng=k)
    public = kg.detect_communities(graph, k, rng=stream(), method=kg.Spectral("exact"), **options)
    assert public.report.n_components > 10
    assert same_communities(public, METHODS[name].find(context(graph, k)))


@pytest.mark.parametrize("snr", [1.1, 2.0])
@pytest.mark.parametrize(
    ("name", "refine"),
    [
        ("kgroups-paper", PAPER_GRAM),
        ("kgroups-paper-uniform", PAPER_UNIFORM),
        ("bethe-hessian-raw", None),
    ],
)
def test_settings_of_the_paper_on_a_connected_graph(name, refine, snr):
    graph, _ = girvan_newman_benchmark(snr, rng=3)
    public = kg.detect_communities(graph, 4, init=RAW, refine=refine, rng=stream())
    assert public.report.n_components == 1
    assert same_communities(public, METHODS[name].find(context(graph, 4)))


def test_settings_of_the_paper_by_lanczos():
    graph, _ = planted_partition(400, 4, 16.0, 2.0, rng=5)
    public = kg.detect_communities(graph, 4, init=RAW, refine=PAPER_GRAM, rng=stream())
    assert public.report.n_components == 1
    assert same_communities(public, METHODS["kgroups-paper"].find(context(graph, 4)))


@pytest.mark.parametrize(("degree", "k"), [(0.2, 2), (1.0, 15), (2.0, 15)])
def test_settings_of_the_paper_where_all_eigenvalues_are_positive(degree, k):
    graph, _ = planted_partition(320, k, degree, 0.2, rng=0)
    for name in ("bethe-hessian-raw", "kgroups-paper", "kgroups-paper-uniform"):
        assert np.unique(METHODS[name].find(context(graph, k))).size == k


def test_number_of_communities_found():
    graph, _ = girvan_newman_benchmark(2.5, rng=0)
    labels = METHODS["kgroups-auto"].find(context(graph, 4))
    assert same_communities(labels, kg.detect_communities(graph, rng=stream()))


def test_node_names_keep_their_places():
    graph, _ = girvan_newman_benchmark(2.0, rng=4)
    order = np.random.default_rng(0).permutation(graph.n)
    u, v, _ = graph.edges()
    place = np.argsort(order)
    names = [f"node {name:03}" for name in order]
    shuffled = kg.Graph.from_edges(place[u], place[v], n=graph.n, nodes=names)
    for name in ("kgroups", "kgroups-paper"):
        plain, named = (METHODS[name].find(context(each, 4)) for each in (graph, shuffled))
        assert same_communities(plain[order], named)


@pytest.mark.parametrize(
    "name", ["spectral-adjacency", "leiden", "leiden-converged", "louvain", "infomap"]
)
def test_peers_find_clear_groups_and_repeat(name):
    if name == "infomap":
        pytest.importorskip("infomap")
    graph, truth = planted_partition(400, 4, 16.0, 3.5, rng=1)
    first, second = (METHODS[name].find(context(graph, 4)) for _ in range(2))
    assert kg.metrics.overlap(truth, first) > 0.95
    assert np.array_equal(first, second)


@pytest.mark.parametrize("name", ["leiden", "leiden-converged", "louvain"])
def test_weights_reach_igraph(name):
    # Light edges join what heavy ones keep apart.
    heavy = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    light = [(i, j) for i in range(3) for j in range(3, 6)]
    u, v = np.array(heavy + light).T
    graph = kg.Graph.from_edges(u, v, np.array([5.0] * 6 + [0.1] * 9))
    assert same_communities(METHODS[name].find(context(graph, 2)), [0, 0, 0, 1, 1, 1])


def test_leiden_iterates_twice_or_until_it_converges():
    graph, _ = planted_partition(600, 6, 5.0, 1.3, rng=2)
    reached = [
        kg.scoring.modularity(graph, METHODS[name].find(context(graph, 6)))
        for name in ("leiden", "leiden-converged")
    ]
    # Both begin with the same two iterations.
    assert reached[0] < reached[1]
    assert [METHODS[name].label for name in ("leiden", "leiden-converged")] == [
        "Leiden, 2 iterations",
        "Leiden, converged",
    ]


def test_who_is_given_k():
    choosing = {name for name, method in METHODS.items() if not method.k_given}
    assert choosing == {"kgroups-auto", "leiden", "leiden-converged", "louvain", "infomap"}
    graph, _ = planted_partition(200, 4, 16.0, 3.5, rng=1)
    for name in METHODS.keys() - {"infomap", "bp-oracle"}:
        labels = [METHODS[name].find(context(graph, k)) for k in (2, 3)]
        numbers = [np.unique(each).size for each in labels]
        assert numbers == ([4, 4] if name in choosing else [2, 3]), name


@pytest.mark.compiled
def test_belief_propagation_is_the_posterior():
    graph, _ = planted_partition(300, 3, 5.0, 1.6, rng=2)
    public = kg.posterior(graph, 3, rng=stream())
    assert same_communities(public.partition, METHODS["bp"].find(context(graph, 3)))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: planted_partition(400, 4, 6.0, 1.8, rng=3),
        lambda: planted_partition(400, 4, 6.0, 1.8, sizes="multinomial", rng=3),
        lambda: planted_partition(400, 2, 4.0, 3.0, beyond="clip", rng=3),
        lambda: stochastic_block_model([300, 100], [[0.03, 0.005], [0.005, 0.06]], rng=3),
        lambda: degree_corrected_sbm([200, 200], [[0.04, 0.005], [0.005, 0.04]], rng=3),
    ],
)
@pytest.mark.compiled
def test_the_oracle_is_told_the_rates(draw):
    planted = draw()
    k = planted.labels.max() + 1
    told = TrialContext(planted.graph, planted.graph, k, SEED, planted)
    scores = {
        name: kg.metrics.overlap(planted.labels, METHODS[name].find(told))
        for name in ("bp-oracle", "bethe-hessian")
    }
    from_truth = np.argmax(oracle_inference(told, from_truth=True).marginals, axis=1)
    assert scores["bp-oracle"] >= scores["bethe-hessian"] - 0.03
    other = kg.metrics.overlap(planted.labels, from_truth)
    assert other == pytest.approx(scores["bp-oracle"], abs=0.06)


def test_the_oracle_of_a_graph_without_edges():
    planted = planted_partition(20, 2, 0.0, 0.0, rng=0)
    told = TrialContext(planted.graph, planted.graph, 2, SEED, planted)
    assert METHODS["bp-oracle"].find(told).tolist() == [0] * 20


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: lfr_benchmark(200, degree=10, mixing=0.2, rng=rng),
        lambda rng: stochastic_block_model(
            [50, 50, 50], [[0.2, 0.01, 0.02], [0.01, 0.2, 0.01], [0.02, 0.01, 0.2]], rng=rng
        ),
        lambda rng: tuple(planted_partition(100, 2, 8.0, 2.0, rng=rng)),
    ],
)
def test_the_oracle_needs_a_generator_with_rates(draw):
    with pytest.raises(InputError, match=r"'bp-oracle' must be told the true rates.*\n  Return"):
        sweep(draw, {}, ["bp-oracle"], trials=1, progress=False)


def test_shared_work_counts_for_each_method():
    graph, _ = planted_partition(500, 5, 3.0, 1.5, rng=0)
    shared = context(graph, 5)
    seconds = {}
    for name in ("kgroups-paper", "bethe-hessian-raw"):
        _, seconds[name] = shared.timed(METHODS[name].find)
    assert seconds["bethe-hessian-raw"] >= shared.shared_seconds > 0
    assert seconds["kgroups-paper"] >= shared.shared_seconds


def test_methods_are_named_by_themselves():
    def mine(graph, k, rng):
        return [0] * len(graph)

    chosen = as_methods(["kgroups", mine])
    assert [method.name for method in chosen] == ["kgroups", "mine"]
    assert as_methods("leiden")[0].name == "leiden"
    assert as_methods(mine)[0].name == "mine"
    assert as_methods({"first": lambda graph, k, rng: None})[0].name == "first"


def test_a_callable_without_k_chooses_it():
    def alone(graph, rng):
        return [rng.random() < 2.0] * graph.n

    def given(graph, k, rng=None):
        return [k] * graph.n

    graph = kg.Graph.from_edges([0, 1], [1, 2])
    first, second, third = as_methods([alone, given, "louvain"])
    assert [method.k_given for method in (first, second, third)] == [False, True, False]
    assert first.find(context(graph, 2)) == [True] * 3
    assert second.find(context(graph, 2)) == [2] * 3


def named_third(graph, rng, k):
    return (graph, k, rng)


@pytest.mark.parametrize(
    ("function", "k_given"),
    [
        (lambda graph, rng, resolution=1.0: (graph, None, rng), False),
        (lambda graph, rng=None, resolution=1.0: (graph, None, rng), False),
        (lambda graph, rng, *, resolution=1.0: (graph, None, rng), False),
        (lambda graph, rng, *more: (graph, None, rng), False),
        (lambda graph, k=2, rng=None: (graph, k, rng), True),
        (lambda graph, number, stream: (graph, number, stream), True),
        (lambda graph, number, stream, resolution=1.0: (graph, number, stream), True),
        (lambda *given: given, True),
        (lambda graph, *given: (graph, *given), True),
        (named_third, True),
        (lambda graph, rng, *, k: (graph, k, rng), True),
    ],
)
def test_names_and_defaults_of_the_parameters_tell_who_is_given_k(function, k_given):
    (method,) = as_methods({"mine": function})
    assert method.k_given == k_given
    graph = kg.Graph.from_edges([0, 1], [1, 2])
    found, k, rng = method.find(context(graph, 2))
    assert (found, k) == (graph, 2 if k_given else None)
    assert isinstance(rng, np.random.Generator)


def test_a_callable_without_a_signature_is_given_k():
    class Compiled:
        __signature__ = "unknown"

        def __call__(self, *given):
            return given

    (method,) = as_methods({"compiled": Compiled()})
    graph = kg.Graph.from_edges([0, 1], [1, 2])
    assert method.k_given
    assert method.find(context(graph, 2))[:2] == (graph, 2)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ([], "a study needs at least one method"),
        (["kgroup"], "got 'kgroup'. Did you mean 'kgroups'?"),
        (["leiden", "leiden"], "the names of methods must differ, got 'leiden' twice"),
        ({"leiden": "leiden-converged"}, "'leiden' is the name of a method of kgroups"),
        ({"kgroups": lambda graph, k, rng: None}, "'kgroups' is the name of a method of kgroups"),
        ([3], "or a callable, got 3"),
        ([lambda graph, k, rng: None], "a method without a name must be given one"),
    ],
)
def test_methods_that_cannot_be(methods, message):
    with pytest.raises(InputError, match=message):
        as_methods(methods)


def test_infomap_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "infomap", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[bench\]"'):
        as_methods(["infomap"])
