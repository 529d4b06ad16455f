"""Spectrum, sorted matrix, sizes, confidence, alluvial view and levels: what they show."""

import io
import os
import subprocess
import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from matplotlib.collections import PatchCollection, PathCollection
from matplotlib.figure import Figure

import kgroups
from kgroups import datasets
from kgroups.errors import InputError, PartitionError
from kgroups.partition import Levels, Partition
from kgroups.plotting import (
    community_colors,
    plot_adjacency,
    plot_alluvial,
    plot_confidence,
    plot_levels,
    plot_sizes,
    plot_spectrum,
    plot_stability,
    style,
)
from kgroups.plotting.graphs import partition_colors
from kgroups.plotting.style import INK
from kgroups.spectrum import Spectrum


@pytest.fixture
def axes():
    return Figure(layout="constrained").subplots()


@pytest.fixture(scope="module")
def eleven():
    """Return eleven communities, with nodes that are hardly more at home than elsewhere."""
    drawn = kgroups.generators.planted_partition(120, 11, 11.0, 1.6, rng=0)
    return Partition(drawn.labels, graph=drawn.graph)


def rendered(axes):
    content = io.BytesIO()
    axes.figure.savefig(content, format="png")
    assert content.getvalue().startswith(b"\x89PNG")


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
    rendered(axes)


def test_a_partition_computes_and_plots_its_spectrum(axes):
    partition = Partition([0] * 34, graph=datasets.load("karate").graph)
    assert partition.plot_spectrum(axes) is axes
    assert partition.known_spectrum.k == 2


def test_estimates_of_k_are_shown_with_their_range(axes):
    rules = ("mean-degree", "second-moment", "nonbacktracking")
    spectrum = Spectrum(
        k=498,
        r=3.4,
        r_choice="mean-degree",
        eigenvalues=(),
        gap=0.0,
        k_at=dict(zip(rules, (498, 501, 490), strict=True)),
        r_at=dict.fromkeys(rules, 3.4),
        below_minus_one=0,
        methods={},
        k_low=474,
        k_high=522,
        exact_at=dict(zip(rules, (False, False, True), strict=True)),
    )
    # Ticks that the axes had do not matter.
    axes.set_xticks([0, 1], ["no", "yes"])
    plot_spectrum(spectrum, ax=axes)
    axes.figure.draw_without_rendering()
    assert {label.get_text().isdigit() for label in axes.get_xticklabels()} == {True}
    (interval,) = axes.lines
    assert interval.get_xdata().tolist() == [474, 522]
    assert [text.get_text() for text in axes.texts] == ["about 498", "about 501", "490"]
    assert axes.get_title(loc="left") == "k about 498 (474 to 522)"


def test_the_matrix_is_sorted_by_community(axes):
    G = nx.Graph([("a", "c"), ("b", "d"), ("a", "b")])
    partition = Partition([0, 0, 1, 1], nodes=list("acbd"), graph=kgroups.as_graph(G))
    assert plot_adjacency(partition, ax=axes, title="matrix") is axes
    image = np.asarray(axes.images[0].get_array())
    filled = image[:, :, 3] > 0
    # By degree within: a, c, b, d.
    expected = np.zeros((4, 4), bool)
    for i, j in ((0, 1), (2, 3), (0, 2)):
        expected[i, j] = expected[j, i] = True
    assert np.array_equal(filled, expected)
    assert image[0, 1, :3] == pytest.approx(community_colors(2)[0])
    assert image[3, 2, :3] == pytest.approx(community_colors(2)[1])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1"]


def test_large_matrices_are_shown_by_density(axes):
    graph = kgroups.as_graph(nx.gnm_random_graph(1000, 3000, seed=1))
    plot_adjacency(Partition(np.arange(1000) // 500, graph=graph), ax=axes)
    image = np.asarray(axes.images[0].get_array())
    assert image.shape == (400, 400, 4)
    assert 0.0 < (image[:, :, 3] > 0).mean() < 0.1
    assert np.array_equal(image[:, :, 3], image[:, :, 3].T)
    rendered(axes)


def test_bars_have_the_sizes_and_colors_of_the_communities(axes, eleven):
    plot_sizes(eleven, ax=axes, title="sizes")
    assert [bar.get_height() for bar in axes.patches] == eleven.sizes.tolist()
    colors = [bar.get_facecolor()[:3] for bar in axes.patches]
    assert colors == [tuple(row) for row in community_colors(eleven.k)]
    assert [text.get_text() for text in axes.texts] == [str(size) for size in eleven.sizes]


@pytest.mark.parametrize(("k", "tick"), [(3, "2"), (30, "25")])
def test_pictures_are_drawn_again_on_axes_with_ticks(axes, k, tick):
    partition = Partition(np.arange(2 * k) % k)
    spectrum = kgroups.estimate_k(datasets.load("karate").graph)
    axes.set_xticks([0, 1], ["no", "yes"])
    for _ in range(2):
        plot_sizes(partition, ax=axes)
        rendered(axes)
        shown = [label.get_text() for label in axes.get_xticklabels()]
        assert {"0", tick} <= set(shown)
        assert not {"no", "yes"} & set(shown)
    plot_spectrum(spectrum, ax=axes)
    rendered(axes)


def test_many_sizes_are_points_by_rank(axes):
    partition = Partition(np.repeat(np.arange(50), np.arange(1, 51)))
    plot_sizes(partition, ax=axes)
    (points,) = axes.collections
    assert np.asarray(points.get_offsets()).tolist() == [[i, 51 - i] for i in range(1, 51)]
    assert axes.get_xscale() == axes.get_yscale() == "log"
    rendered(axes)


def test_bars_of_confidence_count_the_nodes(axes, eleven):
    plot_confidence(eleven, ax=axes, title="confidence")
    sure = eleven.confidence()
    widths = np.array([bar.get_width() for bar in axes.patches]).reshape(4, eleven.k)
    assert widths.sum(axis=0) == pytest.approx(np.ones(eleven.k))
    for a in range(eleven.k):
        own = sure[eleven.labels == a]
        assert widths[0, a] == pytest.approx(np.mean(own >= 0.99))
        assert widths[3, a] == pytest.approx(np.mean(own < 0.5))
        unsure = np.count_nonzero(own < 0.9)
        assert axes.texts[a].get_text() == f"{unsure} of {own.size} below 0.9"


def test_bars_of_stability_leave_out_nodes_that_do_not_count(axes):
    graph = nx.disjoint_union(nx.ring_of_cliques(2, 6), nx.empty_graph(1))
    partition = Partition([0] * 6 + [1] * 7, graph=kgroups.as_graph(graph))
    plot_stability(partition, ax=axes, title="stability")
    nodes = partition.known_stability.nodes
    assert np.isnan(nodes).tolist() == [False] * 12 + [True]
    texts = [text.get_text() for text in axes.texts]
    # The larger community is the first.
    assert texts[0].endswith("of 6 below 0.9")
    assert texts[1].endswith("of 6 below 0.9")
    rendered(axes)


def test_small_communities_share_a_bar_of_confidence(axes):
    graph = kgroups.as_graph(nx.disjoint_union_all([nx.complete_graph(4)] * 30))
    plot_confidence(Partition(np.arange(120) // 4, graph=graph), ax=axes)
    assert [label.get_text() for label in axes.get_yticklabels()][-2:] == ["19", "10 more"]
    assert axes.texts[-1].get_text().endswith("of 40 below 0.9")
    rendered(axes)


def ribbons(axes):
    (collection,) = (c for c in axes.collections if isinstance(c, PatchCollection))
    return [path.vertices for path in collection.get_paths()]


def test_ribbons_are_as_thick_as_the_nodes_they_carry(axes):
    before = Partition([0, 0, 0, 0, 1, 1], nodes=list("abcdef"))
    after = Partition([0, 0, 1, 1, 1, 1], nodes=list("fedcba"))
    plot_alluvial(before, after, ax=axes, names=("one", "two"), title="flow")
    thick = sorted(float(v[0, 1] - v[7, 1]) for v in ribbons(axes))
    # All four of community 0 go to 0 and both of community 1 to 1; there is one gap.
    assert thick == pytest.approx([2 / 6 * 0.97, 4 / 6 * 0.97])
    assert [text.get_text() for text in axes.texts] == ["0", "1", "0", "1", "one", "two"]


def test_ribbons_and_blocks_fill_each_other(axes):
    rng = np.random.default_rng(0)
    before, after = Partition(rng.integers(0, 6, 300)), Partition(rng.integers(0, 5, 300))
    plot_alluvial(before, after, ax=axes)
    for x, vertex in ((0.0, (0, 7)), (0.96, (3, 4))):
        blocks = [b for b in axes.patches if b.get_x() == pytest.approx(x)]
        spans = sorted((float(v[vertex[1], 1]), float(v[vertex[0], 1])) for v in ribbons(axes))
        for block in blocks:
            low, high = block.get_y(), block.get_y() + block.get_height()
            own = [(a, b) for a, b in spans if a > low - 1e-9 and b < high + 1e-9]
            assert own[0][0] == pytest.approx(low)
            assert own[-1][1] == pytest.approx(high)
            assert all(one[1] == pytest.approx(two[0]) for one, two in pairwise(own))


def test_more_than_sixteen_communities_share_a_block(axes):
    before = Partition(np.arange(120) // 3)
    plot_alluvial(before, Partition(np.zeros(120, int)), ax=axes)
    assert "24 more" in [text.get_text() for text in axes.texts]
    assert len(axes.patches) == 17 + 1
    rendered(axes)


def test_seventeen_communities_need_no_block_of_one():
    axes = Figure().subplots()
    plot_alluvial(Partition(np.arange(34) // 2), Partition(np.zeros(34, int)), ax=axes)
    assert len(axes.patches) == 17 + 1


def test_alluvial_views_that_cannot_be_drawn(axes):
    partition = Partition([0, 1], nodes=["a", "b"])
    with pytest.raises(PartitionError, match="'a'"):
        plot_alluvial(partition, Partition([0, 1], nodes=["b", "c"]), ax=axes)
    for names, shown in ((("x",), r"\('x',\)"), (3, "3"), ("xy", "'xy'"), (("x", 1), "")):
        with pytest.raises(InputError, match=f"two strings, .*, got {shown}"):
            plot_alluvial(partition, partition, ax=axes, names=names)


def test_names_of_sides_may_be_an_array(axes):
    partition = Partition([0, 1])
    plot_alluvial(partition, partition, ax=axes, names=np.array(["before", "after"]))
    assert [text.get_text() for text in axes.texts][-2:] == ["before", "after"]


def test_an_empty_partition_can_be_drawn():
    nothing = Partition([], graph=kgroups.as_graph(nx.empty_graph(0)))
    for draw in (plot_adjacency, plot_sizes, plot_confidence, plot_stability):
        rendered(draw(nothing, ax=Figure().subplots()))
    rendered(plot_alluvial(nothing, nothing, ax=Figure().subplots()))
    rendered(plot_levels(Levels([nothing], [0.0]), ax=Figure().subplots()))


def test_bands_between_levels_are_as_thick_as_their_nodes_and_as_strong_as_their_share(axes):
    labels = ([0, 0, 0, 0, 1, 2], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0])
    Levels([Partition(z) for z in labels], [3, 2, 1]).plot(axes, title="tree")
    # The coarsest level is at the left; there are two gaps of 0.03 in the height.
    left, right = (c for c in axes.collections if isinstance(c, PatchCollection))
    thick = [
        [float(path.vertices[0, 1] - path.vertices[7, 1]) for path in bands.get_paths()]
        for bands in (left, right)
    ]
    assert thick[0] == pytest.approx([3 / 6 * 0.94] * 2)
    assert sorted(thick[1]) == pytest.approx([n / 6 * 0.94 for n in (1, 1, 1, 3)])
    assert left.get_facecolor()[:, 3] == pytest.approx([0.6, 0.6])
    shares = np.array([1 / 4, 3 / 4, 1.0, 1.0])
    assert np.sort(right.get_facecolor()[:, 3]) == pytest.approx(0.12 + 0.48 * shares)
    assert axes.get_title(loc="left") == "tree"
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["0", "0", "1", "0, 75 %", "1", "2", "1", "2", "3"]
    rendered(axes)


def test_the_level_returned_is_bold_and_gives_the_colors(axes, eleven):
    halves, one = Partition(eleven.labels // 6), Partition(np.zeros(120, int))
    levels = Levels(
        [Partition(z.labels, graph=eleven.graph) for z in (eleven, halves, one)], [3, 2, 1]
    )
    levels.plot(axes)
    head = {text.get_text(): text.get_fontweight() for text in axes.texts[-3:]}
    assert head == {"1": "normal", "2": "normal", "11": "bold"}
    finest = [block for block in axes.patches if block.get_x() == pytest.approx(0.96)]
    shown = {tuple(np.round(block.get_facecolor()[:3], 6)) for block in finest}
    colors = {tuple(np.round(row, 6)) for row in partition_colors(eleven)}
    assert shown == colors
    # A coarser community has the color of its largest part.
    whole = [block for block in axes.patches if block.get_x() == 0.0]
    assert tuple(np.round(whole[0].get_facecolor()[:3], 6)) in colors


def test_communities_beyond_the_48_largest_of_a_level_share_a_block(axes):
    fine, coarse = Partition(np.arange(120) // 2), Partition(np.arange(120) // 60)
    plot_levels(Levels([fine, coarse], [2, 1], returned=1), ax=axes)
    assert len(axes.patches) == 48 + 1 + 2
    assert "12 more" in [text.get_text() for text in axes.texts]
    rendered(axes)


def test_a_single_level_can_be_drawn(axes):
    plot_levels(Levels([Partition([0, 0, 1])], [1.0]), ax=axes)
    assert [text.get_text() for text in axes.texts] == ["0", "1", "2"]
    rendered(axes)


def test_the_style_is_one_of_matplotlib_and_ends():
    with style():
        axes = Figure().subplots()
        axes.set_title("title")
        (line,) = axes.plot([0, 1])
    assert not axes.spines["right"].get_visible()
    assert axes.xaxis.label.get_color() == INK
    assert line.get_color() == "#0072b2"
    assert Figure().subplots().spines["right"].get_visible()


BACKEND = """
import matplotlib
from matplotlib.backends.backend_agg import FigureCanvas

# As the backend of notebooks does when it is loaded.
matplotlib.interactive(True)
"""
PICTURES = """
import matplotlib
import networkx as nx

import kgroups as kg

kg.detect_communities(nx.ring_of_cliques(3, 5)).plot()
print(matplotlib.get_backend(), matplotlib.is_interactive())
"""


def test_the_first_picture_leaves_the_backend_as_it_is(tmp_path):
    """That of notebooks shows figures only while it is interactive."""
    (tmp_path / "as_in_notebooks.py").write_text(BACKEND)
    environment = {
        **os.environ,
        "MPLBACKEND": "module://as_in_notebooks",
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
    }
    ran = subprocess.run(
        [sys.executable, "-c", PICTURES],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert ran.stdout.split() == ["module://as_in_notebooks", "True"]
