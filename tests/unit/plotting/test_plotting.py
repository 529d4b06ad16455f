"""Pictures: what is drawn where, in which colors, and what is refused."""

import builtins
import io
import random

import matplotlib as mpl
import networkx as nx
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

import kgroups
from kgroups import datasets
from kgroups.errors import InputError, MissingExtraError
from kgroups.graph import Graph
from kgroups.partition import Partition
from kgroups.plotting import community_colors, plot_partition, plot_spectrum
from kgroups.plotting.layout import force_layout


@pytest.fixture
def axes():
    figure = Figure()
    return figure.subplots()


@pytest.fixture
def square():
    """Four nodes in a ring with one loop, two communities."""
    graph = Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 0], nodes=list("abcd"))
    return graph, np.array([0, 0, 1, 1])


CORNERS = {"a": (0, 0), "b": (0, 1), "c": (1, 1), "d": (1, 0)}


def drawn(axes):
    (nodes,) = (c for c in axes.collections if isinstance(c, PathCollection))
    between, inside = (c for c in axes.collections if isinstance(c, LineCollection))
    return nodes, between, inside


def test_nodes_stand_where_the_layout_says_in_the_colors_of_their_communities(axes, square):
    graph, labels = square
    assert plot_partition(graph, labels, ax=axes, layout=CORNERS, title="ring") is axes
    nodes, between, inside = drawn(axes)
    offsets = {
        tuple(xy): tuple(rgba[:3])
        for xy, rgba in zip(nodes.get_offsets(), nodes.get_facecolors(), strict=True)
    }
    first, second = map(tuple, community_colors(2))
    assert offsets == {(0, 0): first, (0, 1): first, (1, 1): second, (1, 0): second}
    assert {frozenset(map(tuple, s)) for s in inside.get_segments()} == {
        frozenset({(0, 0), (0, 1)}),
        frozenset({(1, 1), (1, 0)}),
    }
    assert len(between.get_segments()) == 2
    assert between.get_alpha() < inside.get_alpha()
    assert axes.get_title(loc="left") == "ring"


def test_hubs_are_larger(axes):
    star = Graph.from_edges([0, 0, 0], [1, 2, 3])
    nodes, _, _ = drawn(plot_partition(star, np.zeros(4, int), ax=axes))
    assert nodes.get_sizes()[0] > nodes.get_sizes()[1]


def test_names_are_written_where_asked(axes, square):
    graph, labels = square
    plot_partition(graph, labels, ax=axes, layout=CORNERS, names=["a", "c"])
    assert {text.get_text(): tuple(text.xy) for text in axes.texts} == {"a": (0, 0), "c": (1, 1)}


def test_a_new_figure_is_made_where_no_axes_are_given(square):
    graph, labels = square
    axes = plot_partition(graph, labels)
    assert axes.figure.number in pyplot.get_fignums()
    pyplot.close(axes.figure)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_graphs(axes, n):
    graph = Graph.from_edges([], [], n=n)
    plot_partition(graph, np.arange(n), ax=axes)
    picture = io.BytesIO()
    axes.figure.savefig(picture, format="png")
    assert picture.getvalue().startswith(b"\x89PNG")


def test_partition_plots_itself(axes):
    karate = datasets.load("karate").graph
    partition = Partition(np.arange(34) % 2, graph=karate)
    assert partition.plot(axes, title="karate", names=[0]) is axes
    assert len(drawn(axes)[0].get_offsets()) == 34


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"a": (0, 0)}, r"every node; 'b' \(and 2 more\) has none"),
        (np.zeros((3, 2)), r"shape \(4, 2\), one row per node, got shape \(3, 2\)"),
        (np.full((4, 2), np.nan), "layout must be finite"),
    ],
)
def test_layouts_that_do_not_fit(axes, square, layout, message):
    with pytest.raises(InputError, match=message):
        plot_partition(*square, ax=axes, layout=layout)


def test_labels_and_names_that_do_not_fit(axes, square):
    graph, labels = square
    with pytest.raises(InputError, match=r"each of the 4 nodes, got shape \(3,\)"):
        plot_partition(graph, labels[:3], ax=axes)
    with pytest.raises(InputError, match="nodes of the graph, got 'z'"):
        plot_partition(graph, labels, ax=axes, layout=CORNERS, names=["z"])


def test_missing_matplotlib_names_the_extra(square, monkeypatch):
    real_import = builtins.__import__

    def without_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[plot\]"'):
        plot_partition(*square)


LAYOUT_CASES = {
    "springs": (nx.karate_club_graph(), 2),
    "in pieces": (
        nx.disjoint_union_all([nx.complete_graph(5), nx.path_graph(4), nx.empty_graph(3)]),
        5,
    ),
    "large": (nx.random_partition_graph([60] * 8, 0.3, 0.01, seed=1), 8),
    "no edges": (nx.empty_graph(30), 30),
    "more discs than can be pushed": (nx.empty_graph(700), 700),
}


@pytest.mark.parametrize("case", LAYOUT_CASES)
def test_layout_is_finite_spread_out_and_the_same_each_time(case):
    G, k = LAYOUT_CASES[case]
    graph = kgroups.as_graph(G)
    labels = np.arange(graph.n) * k // graph.n
    state = random.getstate()
    xy = force_layout(graph, labels)
    assert random.getstate() == state
    assert xy.shape == (graph.n, 2)
    assert np.isfinite(xy).all()
    assert len(np.unique(xy.round(6), axis=0)) == graph.n
    random.random()
    assert np.array_equal(force_layout(graph, labels), xy)


def test_discs_of_large_graphs_do_not_overlap():
    G, k = LAYOUT_CASES["large"]
    graph = kgroups.as_graph(G)
    labels = np.arange(graph.n) * k // graph.n
    xy = force_layout(graph, labels)
    centers = np.array([xy[labels == a].mean(axis=0) for a in range(k)])
    nearest = np.argmin(np.linalg.norm(xy[:, None] - centers[None], axis=2), axis=1)
    assert np.mean(nearest == labels) > 0.97


def test_colors_differ_and_repeat_only_after_twenty_four():
    colors = community_colors(30)
    assert colors.shape == (30, 3)
    assert colors.min() >= 0.0
    assert colors.max() <= 1.0
    assert len(np.unique(colors[:24].round(3), axis=0)) == 24
    assert np.array_equal(colors[24:], colors[:6])
    assert community_colors(0).shape == (0, 3)


def test_spectrum_plot_shows_every_eigenvalue_around_the_threshold(axes):
    spectrum = kgroups.estimate_k(datasets.load("karate").graph)
    assert plot_spectrum(spectrum, ax=axes) is axes
    shown = np.concatenate(
        [np.asarray(c.get_offsets()) for c in axes.collections if isinstance(c, PathCollection)]
    )
    assert shown[:, 1] == pytest.approx(np.sort(spectrum.eigenvalues)[::-1])
    assert np.count_nonzero(shown[:, 1] > 1.0) == spectrum.k
    assert shown[:, 0].tolist() == list(range(1, len(shown) + 1))
    assert [line.get_ydata()[0] for line in axes.lines] == [1.0]
    assert "k = 2" in axes.get_title(loc="left")


def test_spectrum_of_a_graph_without_signal_can_be_drawn(axes):
    plot_spectrum(kgroups.estimate_k(nx.path_graph(4)), ax=axes)
    picture = io.BytesIO()
    axes.figure.savefig(picture, format="png")
    assert picture.getvalue().startswith(b"\x89PNG")


def test_drawing_leaves_no_setting_changed(axes, square):
    before = dict(mpl.rcParams)
    plot_partition(*square, ax=axes)
    assert dict(mpl.rcParams) == before
