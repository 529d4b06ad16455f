"""Properties of pictures of random graphs: nothing overlaps, and orders do not matter."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure

from kgroups.graph import Graph
from kgroups.partition import Partition
from kgroups.plotting import plot_graph
from kgroups.plotting.layout import force_layout, separate
from kgroups.plotting.style import color_distances, colors_by_neighbors


@st.composite
def partitions(draw, most_nodes=100):
    n = draw(st.integers(1, most_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m = draw(st.integers(0, 3 * n))
    labels = rng.integers(0, draw(st.integers(1, n)), n)
    weights = rng.exponential(size=m) if draw(st.booleans()) else None
    graph = Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), weights, n=n)
    return Partition(labels, graph=graph)


@settings(max_examples=12)
@given(partitions())
def test_nodes_overlap_nowhere_and_lie_in_the_picture(partition):
    axes = Figure(figsize=(6.0, 4.5)).subplots()
    plot_graph(partition, ax=axes, names=partition.nodes[:5])
    (circles,) = (c for c in axes.collections if isinstance(c, EllipseCollection))
    # Before matplotlib 3.9 there is no public way to the halves of the widths.
    xy, radii = np.asarray(circles.get_offsets()), circles._widths
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2) - radii[:, None] - radii[None]
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 0
    for value, limits in zip(xy.T, (axes.get_xlim(), axes.get_ylim()), strict=True):
        assert limits[0] < (value - radii).min()
        assert (value + radii).max() < limits[1]


@settings(max_examples=12)
@given(partitions(), st.integers(0, 2**32))
def test_positions_follow_the_nodes(partition, seed):
    graph, n = partition.graph, partition.labels.size
    order = np.random.default_rng(seed).permutation(n)
    again = force_layout(graph.permuted(order), partition.labels[order])
    assert np.allclose(again, force_layout(graph, partition.labels)[order])


@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(0, 2**32))
def test_circles_are_pushed_apart(n, seed):
    rng = np.random.default_rng(seed)
    radii = rng.pareto(2.0, n) + 0.1
    xy = rng.normal(size=(n, 2)) * rng.uniform(0.0, 2.0 * np.sqrt(n))
    placed = separate(xy, radii)
    away = np.linalg.norm(placed[:, None] - placed[None], axis=2)
    np.fill_diagonal(away, np.inf)
    assert (away > 0.95 * (radii[:, None] + radii[None])).all()


@settings(max_examples=25)
@given(st.integers(1, 80), st.integers(0, 2**32))
def test_a_color_change_of_one_community_never_helps(k, seed):
    rng = np.random.default_rng(seed)
    palette = rng.random((5, 3))
    ends = np.unique(np.sort(rng.integers(0, k, (3 * k, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    chosen = colors_by_neighbors(palette, ends, np.ones(len(ends)), k)
    if k <= 5:
        assert chosen.tolist() == list(range(k))
        return
    apart = color_distances(palette)
    cost = np.where(apart < 20.0, 1.0 / np.maximum(apart, 1.0) ** 2, 0.0)
    for a in range(k):
        others = np.concatenate([ends[ends[:, 0] == a, 1], ends[ends[:, 1] == a, 0]])
        totals = cost[:, chosen[others]].sum(axis=1)
        assert totals[chosen[a]] <= totals.min() + 1e-9
