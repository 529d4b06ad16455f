"""Block models through the networkx backend: the graph that networkx draws, in every order."""

import random
from contextlib import contextmanager

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.backend_parity import assert_declined, assert_equal_graphs
from kgroups.backends.networkx import generators
from kgroups.backends.networkx.interface import NETWORKX_VERSION, SERVED, known_stream

known_versions = pytest.mark.skipif(
    not (3, 4) <= NETWORKX_VERSION < (3, 7), reason="another stream in this networkx"
)
PROBABILITIES = st.sampled_from([0, 1, 0.5, 0.03, 0.97, 1e-9, 1 / 3])


@contextmanager
def settings(**values):
    """Not monkeypatch, which Hypothesis wants to undo after each example."""
    before = {name: getattr(generators.Settings, name) for name in values}
    for name, value in values.items():
        setattr(generators.Settings, name, value)
    yield
    for name, value in before.items():
        setattr(generators.Settings, name, value)


@pytest.fixture(autouse=True)
def _small_models_too():
    with settings(min_nodes=0):
        yield


def both(function, *args, seed, **kwargs):
    """Return the graphs of both sides and what their generators give next."""
    drawn = []
    for backend in ("kgroups", "networkx"):
        source = random.Random(seed)
        graph = function(*args, seed=source, backend=backend, **kwargs)
        drawn.append((graph, source.getstate()))
    return drawn


def assert_same_draw(function, *args, seed, **kwargs):
    (ours, our_state), (native, native_state) = both(function, *args, seed=seed, **kwargs)
    assert_equal_graphs(ours, native)
    assert our_state == native_state


@st.composite
def models(draw):
    k = draw(st.integers(0, 4))
    sizes = draw(st.lists(st.integers(0, 12), min_size=k, max_size=k))
    directed = draw(st.booleans())
    p = [[draw(PROBABILITIES) for _ in range(k)] for _ in range(k)]
    if not directed:
        p = [[p[min(i, j)][max(i, j)] for j in range(k)] for i in range(k)]
    names = draw(st.sampled_from([None, "text", "shuffled"]))
    nodelist = None
    if names is not None:
        numbers = draw(st.permutations(range(sum(sizes))))
        nodelist = [f"n{i}" if names == "text" else 31 * i for i in numbers]
    options = {
        "directed": directed,
        "selfloops": draw(st.booleans()),
        "sparse": draw(st.booleans()),
        "nodelist": nodelist,
    }
    return sizes, p, options


@known_versions
@given(models(), st.integers(0, 10**6))
def test_stochastic_block_model(model, seed):
    sizes, p, options = model
    assert_same_draw(nx.stochastic_block_model, sizes, p, seed=seed, **options)


@known_versions
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("chunk", [1_000, 3_000])
def test_stochastic_block_model_of_many_draws(directed, seed, chunk):
    p = [[0.1, 0.01, 0.3], [0.01, 0.2, 0.002], [0.3, 0.002, 0.05]]
    sizes = [150, 200, 120]
    with settings(chunk=chunk):
        assert_same_draw(
            nx.stochastic_block_model, sizes, np.array(p), seed=seed, directed=directed
        )


@known_versions
@given(
    st.lists(st.integers(0, 9), max_size=5),
    st.sampled_from([0.0, 0.4, 1.0, 1.2, -0.1]),
    st.sampled_from([0.1, 0.9, 2.0]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_random_partition_graph(sizes, p_in, p_out, directed, seed):
    if p_in in (1.2, -0.1) or p_out == 2.0:
        for backend in ("kgroups", "networkx"):
            with pytest.raises(nx.NetworkXError, match=r"must be in \[0,1\]"):
                nx.random_partition_graph(sizes, p_in, p_out, backend=backend)
        return
    assert_same_draw(nx.random_partition_graph, sizes, p_in, p_out, seed=seed, directed=directed)


@known_versions
@given(st.integers(0, 5), st.integers(0, 8), st.booleans(), st.integers(0, 10**6))
def test_planted_partition_graph(l, k, directed, seed):  # noqa: E741
    assert_same_draw(nx.planted_partition_graph, l, k, 0.6, 0.1, seed=seed, directed=directed)


@known_versions
@given(
    st.integers(1, 60), st.floats(0.5, 1), st.floats(0.5, 20), st.booleans(), st.integers(0, 10**6)
)
def test_gaussian_random_partition_graph(n, share, v, directed, seed):
    s = max(1.0, n * share / 4)
    assert_same_draw(
        nx.gaussian_random_partition_graph, n, s, v, 0.5, 0.05, seed=seed, directed=directed
    )


@known_versions
def test_a_whole_number_as_seed_and_the_global_generator():
    args = ([30, 20], [[0.3, 0.1], [0.1, 0.4]])
    ours, native = (
        nx.stochastic_block_model(*args, seed=5, backend=backend)
        for backend in ("kgroups", "networkx")
    )
    assert_equal_graphs(ours, native)
    following = []
    for backend in ("kgroups", "networkx"):
        random.seed(3)
        nx.stochastic_block_model(*args, backend=backend)
        following.append(random.random())
    assert following[0] == following[1]


@known_versions
@pytest.mark.parametrize(
    ("sizes", "p", "options", "message"),
    [
        ([2], [[0.5, 0.5]], {}, "square matrix"),
        ([2, 2], [[0.5]], {}, "do not match"),
        ([2, 2], [[0.5, 0.1], [0.2, 0.5]], {}, "symmetric"),
        ([2], [[1.5]], {}, r"not in \[0,1\]"),
        ([2], [[0.5]], {"nodelist": [1]}, "do not match"),
        ([2], [[0.5]], {"nodelist": [1, 1]}, "duplicate"),
    ],
)
def test_bad_models_are_networkx_errors(sizes, p, options, message):
    for backend in ("kgroups", "networkx"):
        with pytest.raises(nx.NetworkXException, match=message):
            nx.stochastic_block_model(sizes, p, backend=backend, **options)


@known_versions
@pytest.mark.parametrize(
    "seed", [np.random.RandomState(1), np.random.default_rng(1), random.SystemRandom()]
)
def test_other_generators_are_left_to_networkx(seed):
    assert_declined(nx.stochastic_block_model, [3], [[0.5]], seed=seed)


@known_versions
def test_a_declined_gaussian_model_draws_nothing():
    source = random.Random(1)
    before = source.getstate()
    assert_declined(nx.gaussian_random_partition_graph, 30.5, 5, 2, 0.1, 0.1, seed=source)
    assert source.getstate() == before


@known_versions
def test_what_networkx_cannot_draw_is_left_to_it():
    assert_declined(nx.stochastic_block_model, [2, 2], [[0.5, 1e-20], [1e-20, 0.5]], seed=1)
    assert_declined(nx.stochastic_block_model, [2.0], [[0.5]], seed=1)
    assert_declined(nx.stochastic_block_model, [2], [[0.5]], nodelist={1: 2, 2: 3}, seed=1)


@known_versions
def test_small_models_are_drawn_by_networkx_itself(monkeypatch):
    monkeypatch.setattr(generators, "_build_graph", None)
    args = ([30, 20], [[0.3, 0.1], [0.1, 0.4]])
    with settings(min_nodes=120):
        assert_same_draw(nx.stochastic_block_model, *args, seed=1)


@pytest.mark.parametrize("version", [(3, 3), (3, 7)])
def test_versions_with_other_draws_are_declined(version):
    assert "may draw another graph" in known_stream({}, version)
    for name in SERVED:
        declines = SERVED[name].declines is known_stream
        assert declines == hasattr(generators, name)


def test_new_graphs_are_networkx_graphs_whatever_makes_new_graphs():
    G = generators.stochastic_block_model([3], [[1]], seed=random.Random(1))
    assert type(G) is nx.Graph
    G.add_edge(0, "new")
    assert G.number_of_edges() == 4


@given(
    st.integers(0, 10**9),
    st.integers(0, 700),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12),
)
def test_the_stream_is_the_one_of_python(seed, used, steps):
    source, twin = random.Random(seed), random.Random(seed)
    for generator in (source, twin):
        for _ in range(used):
            generator.random()
        generator.gauss(0, 1)
    with settings(chunk=16):
        stream = generators.Stream(source)
        for ahead, taken in steps:
            seen = stream.ahead(ahead).tolist()
            drawn = [twin.random() for _ in range(taken)]
            assert seen[:taken] == drawn[: len(seen)]
            assert stream.take(taken).tolist() == drawn
            ready = stream.take_ready(taken + 1).tolist()
            assert 1 <= len(ready) <= taken + 1
            assert ready == [twin.random() for _ in ready]
        stream.close()
    assert source.getstate() == twin.getstate()


def test_skips_close_to_whole_numbers_are_those_of_python():
    import math

    per_skip = math.log(1 - 0.3)
    exact = np.array([math.exp(t * per_skip) for t in range(1, 60)])
    draws = np.concatenate([exact, np.nextafter(exact, 0), np.nextafter(exact, 1)])
    draws = draws[draws < 1]
    expected = [math.floor(math.log(u) / per_skip) for u in draws.tolist()]
    assert generators._skips(draws, per_skip, 10**9).tolist() == expected
