"""The graph with its communities: what is drawn where, in which colors, and what is refused."""

import builtins
import io

import matplotlib as mpl
import networkx as nx
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure

import kgroups
from kgroups import datasets, plotting
from kgroups.errors import InputError, MissingExtraError, PartitionError
from kgroups.graph import Graph
from kgroups.partition import Partition
from kgroups.plotting import community_colors, plot_communities, plot_graph
from kgroups.plotting.style import FAINT

CORNERS = {"a": (0, 0), "b": (0, 1), "c": (1, 1), "d": (1, 0)}


@pytest.fixture
def axes():
    return Figure(figsize=(7.0, 5.4), layout="constrained").subplots()


@pytest.fixture
def square():
    """Four nodes in a ring with one loop, two communities."""
    graph = Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 0], nodes=list("abcd"))
    return Partition([0, 0, 1, 1], graph=graph)


def partition_of(G, labels):
    return Partition(labels, graph=kgroups.as_graph(G))


def drawn(axes):
    (circles,) = (c for c in axes.collections if isinstance(c, EllipseCollection))
    between, inside = (c for c in axes.collections if isinstance(c, LineCollection))
    return circles, between, inside


def circles_of(axes):
    (circles,) = (c for c in axes.collections if isinstance(c, EllipseCollection))
    # Before matplotlib 3.9 there is no public way to the halves of the widths.
    return np.asarray(circles.get_offsets()), circles._widths


def rendered(axes, **options):
    content = io.BytesIO()
    axes.figure.savefig(content, format="png", **options)
    assert content.getvalue().startswith(b"\x89PNG")


def test_nodes_stand_where_the_layout_says_in_the_colors_of_their_communities(axes, square):
    assert plot_graph(square, ax=axes, layout=CORNERS, title="ring") is axes
    nodes, between, inside = drawn(axes)
    colors = {
        tuple(xy): tuple(rgba[:3])
        for xy, rgba in zip(nodes.get_offsets(), nodes.get_facecolors(), strict=True)
    }
    first, second = map(tuple, community_colors(2))
    assert colors == {(0, 0): first, (0, 1): first, (1, 1): second, (1, 0): second}
    assert {frozenset(map(tuple, s)) for s in inside.get_segments()} == {
        frozenset({(0, 0), (0, 1)}),
        frozenset({(1, 1), (1, 0)}),
    }
    assert len(between.get_segments()) == 2
    assert between.get_alpha() < inside.get_alpha()
    assert axes.get_title(loc="left") == "ring"


def test_hubs_are_larger(axes):
    plot_graph(partition_of(nx.star_graph(3), [0, 0, 0, 0]), ax=axes)
    radii = circles_of(axes)[1]
    assert radii[0] > radii[1] == radii[2] == radii[3]


def test_sizes_given_by_node_replace_those_by_degree(axes, square):
    sizes = {"a": 1, "b": 4, "c": 1, "d": 0}
    plot_graph(square, ax=axes, layout=CORNERS, node_size=sizes)
    places, radii = circles_of(axes)
    of = {tuple(xy): r for xy, r in zip(places, radii, strict=True)}
    assert of[0, 1] == pytest.approx(2 * of[0, 0])
    assert of[1, 1] == pytest.approx(of[0, 0])
    assert of[1, 0] == 0


def test_a_factor_on_sizes_is_one_on_areas(square):
    radii = []
    for factor in (1.0, 0.25):
        axes = Figure().subplots()
        plot_graph(square, ax=axes, layout=CORNERS, node_size=factor)
        radii.append(circles_of(axes)[1])
    assert radii[0] == pytest.approx(2 * radii[1])


def test_heavy_edges_are_wider(axes):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 1.0, 4.0])
    plot_graph(Partition([0, 0, 0], graph=graph), ax=axes)
    widths = sorted(drawn(axes)[2].get_linewidths())
    assert widths[2] == pytest.approx(2 * widths[0])
    assert widths[1] == pytest.approx(widths[0])


@pytest.mark.parametrize("name", ["karate", "les_miserables", "drosophila_left"])
@pytest.mark.parametrize("node_size", [1.0, 4.0])
def test_nodes_do_not_overlap(axes, name, node_size):
    partition = kgroups.detect_communities(datasets.load(name).graph)
    plot_graph(partition, ax=axes, node_size=node_size)
    xy, radii = circles_of(axes)
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2) - radii[:, None] - radii[None]
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 0


def boxes_in_pixels(axes):
    """Return the boxes of the labels, and centers and radii of the circles, as they are drawn."""
    canvas = FigureCanvasAgg(axes.figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    xy, radii = circles_of(axes)
    scale = axes.transData.transform((1.0, 0.0))[0] - axes.transData.transform((0.0, 0.0))[0]
    return boxes, axes.transData.transform(xy), radii * scale


@pytest.mark.parametrize("size", [(3.2, 2.4), (7.0, 5.4), (12.0, 9.0)])
def test_labels_cover_neither_nodes_nor_each_other(size):
    karate = nx.relabel_nodes(nx.karate_club_graph(), lambda i: f"member number {i}")
    partition = kgroups.detect_communities(karate)
    axes = Figure(figsize=size, layout="constrained").subplots()
    plot_graph(partition, ax=axes, names=partition.nodes)
    boxes, xy, radii = boxes_in_pixels(axes)
    assert len(boxes) > 2
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        low, high = np.array(box)
        nearest = np.clip(xy, low, high)
        assert (np.hypot(*(xy - nearest).T) > radii - 1.0).all()


def test_more_room_means_more_names():
    karate = nx.relabel_nodes(nx.karate_club_graph(), lambda i: f"member number {i}")
    partition = kgroups.detect_communities(karate)
    counts = []
    for size in (3.2, 8.0):
        axes = Figure(figsize=(size, 0.8 * size)).subplots()
        plot_graph(partition, ax=axes, names=partition.nodes)
        counts.append(len(axes.texts))
    assert counts[0] < counts[1] == 34 + 2


def test_the_names_of_hubs_come_first(axes):
    """Of all 77 names, that of the node with most neighbors was missing."""
    partition = kgroups.detect_communities(nx.les_miserables_graph())
    plot_graph(partition, ax=axes, names=partition.nodes)
    written = [text.get_text() for text in axes.texts]
    degree = dict(zip(partition.nodes, partition.graph.degrees, strict=True))
    hubs = sorted(degree, key=degree.get, reverse=True)[:12]
    assert set(hubs) <= set(written)
    assert len(written) < 77


def test_small_graphs_show_all_names_unless_told_otherwise(axes):
    graph = nx.karate_club_graph()
    partition = kgroups.detect_communities(graph)
    numbers = {"community 0", "community 1"}
    plot_graph(partition, ax=axes)
    assert {text.get_text() for text in axes.texts} == numbers | {str(i) for i in range(34)}
    axes.clear()
    plot_graph(partition, ax=axes, names=())
    assert {text.get_text() for text in axes.texts} == numbers
    axes.clear()
    plot_graph(kgroups.detect_communities(nx.les_miserables_graph()), ax=axes)
    assert {text.get_text() for text in axes.texts} == numbers | {"community 2"}


def test_names_do_not_depend_on_the_order_of_the_nodes(axes):
    written = []
    for nodes in (range(24), reversed(range(24))):
        graph = nx.Graph()
        graph.add_nodes_from(f"node {i:02}" for i in nodes)
        graph.add_edges_from(
            (f"node {i:02}", f"node {j:02}") for i, j in nx.circular_ladder_graph(12).edges
        )
        axes.clear()
        plot_graph(kgroups.detect_communities(graph), ax=axes)
        written.append(
            {(text.get_text(), *np.round(text.get_position(), 6)) for text in axes.texts}
        )
    assert written[0] == written[1]


def test_names_without_room_stand_at_the_ends_of_lines():
    ball = nx.relabel_nodes(nx.complete_graph(100), lambda i: f"number {i}")
    names = [f"number {i}" for i in range(8)]
    axes = Figure(figsize=(6.0, 4.0)).subplots()
    plot_graph(partition_of(ball, [0] * 100), ax=axes, names=names)
    assert sorted(text.get_text() for text in axes.texts) == names
    assert axes.lines
    xy, radii = circles_of(axes)
    for line in axes.lines:
        start = line.get_xydata()[0]
        assert np.abs(np.linalg.norm(xy - start, axis=1) - radii).min() == pytest.approx(0)


def test_names_are_written_where_asked_and_as_they_are(axes):
    graph = Graph.from_edges([0, 1], [1, 2], nodes=["$a_", "x\ny", "z" * 60])
    plot_graph(Partition([0, 0, 0], graph=graph), ax=axes, names=["$a_", "x\ny", "z" * 60])
    assert {text.get_text() for text in axes.texts} == {"$a_", "x y", "z" * 27 + "…"}
    rendered(axes)


def test_a_name_inside_a_large_node_is_centered(axes):
    graph = Graph.from_edges([0, 0, 0], [1, 2, 3], nodes=["h", "b", "c", "d"])
    plot_graph(Partition([0] * 4, graph=graph), ax=axes, names=["h"])
    (text,) = axes.texts
    assert text.get_position() == pytest.approx(circles_of(axes)[0][0])


def test_communities_are_numbered(axes):
    partition = kgroups.detect_communities(datasets.load("les_miserables").graph)
    assert partition.k > 2
    plot_graph(partition, ax=axes)
    assert sorted(text.get_text() for text in axes.texts) == sorted(
        f"community {a}" for a in range(partition.k)
    )


def test_one_community_has_no_number(axes):
    plot_graph(partition_of(nx.complete_graph(5), [0] * 5), ax=axes, names=())
    assert not axes.texts


def test_single_nodes_are_gray_and_take_no_color(axes):
    G = nx.disjoint_union_all([nx.complete_graph(3)] * 12 + [nx.empty_graph(4)])
    partition = partition_of(G, [*np.repeat(range(12), 3), 12, 13, 14, 15])
    plot_communities(partition, ax=axes)
    colors = drawn_colors(axes)
    assert {tuple(row) for row in colors[12:]} == {mpl.colors.to_rgb(FAINT)}
    assert np.array_equal(colors[:12], community_colors(12))


def drawn_colors(axes):
    (circles,) = (c for c in axes.collections if isinstance(c, EllipseCollection))
    return circles.get_facecolors()[:, :3]


def test_palettes_go_to_the_communities_in_order(square):
    for palette in (["red", "#00ff00"], "Set1", "viridis"):
        axes = Figure().subplots()
        plot_communities(square, ax=axes, palette=palette)
        colors = drawn_colors(axes)
        if palette == ["red", "#00ff00"]:
            assert colors.tolist() == [[1, 0, 0], [0, 1, 0]]
        elif palette == "Set1":
            assert colors == pytest.approx(mpl.colormaps["Set1"]([0, 1])[:, :3])
        else:
            assert colors == pytest.approx(mpl.colormaps["viridis"]([0.0, 1.0])[:, :3])


@pytest.mark.parametrize(
    ("palette", "message"),
    [
        ("no such map", "name of a matplotlib colormap or several colors, got 'no such map'"),
        ([], r"at least one color, got \[\]"),
        (["red", "nocolor"], "colors that matplotlib knows, got 'nocolor'"),
        (3, "at least one color, got 3"),
    ],
)
def test_palettes_that_are_none(axes, square, palette, message):
    with pytest.raises(InputError, match=message):
        plot_graph(square, ax=axes, palette=palette)


@pytest.mark.parametrize(
    ("node_size", "message"),
    [
        (-1.0, "a positive number, or a number >= 0 for each of the 4 nodes, got -1.0"),
        ([1, 2], r"each of the 4 nodes, got \[1, 2\]"),
        ("large", "got 'large'"),
        ([1.0, np.nan, 1.0, 1.0], "got .*nan"),
        ({"a": 1.0}, "a number for every node; 'b' \\(and 2 more\\) has none"),
    ],
)
def test_sizes_that_do_not_fit(axes, square, node_size, message):
    with pytest.raises(InputError, match=message):
        plot_graph(square, ax=axes, node_size=node_size)


def test_graphs_of_more_than_5000_nodes_are_drawn_by_community(axes):
    n = 5001
    graph = kgroups.as_graph(nx.path_graph(n))
    labels = np.arange(n) // 1000
    partition = Partition(labels, graph=graph)
    partition.plot(axes, names=[0])
    assert len(circles_of(axes)[0]) == 6
    assert "5,001 nodes: 5 communities and 1 single node" in axes.texts[-1].get_text()
    # The node of community 5, the smallest, is drawn large enough to be seen.
    assert circles_of(axes)[1].min() > 0
    given = Figure().subplots()
    partition.plot(given, layout=np.random.default_rng(0).random((n, 2)))
    assert len(circles_of(given)[0]) == n


def test_circles_of_communities_have_their_sizes_and_lines_their_edges(axes):
    G = nx.complete_graph(8)
    G.add_edges_from((8 + i, 8 + i + 1) for i in range(3))
    G.add_edges_from([(0, 8), (1, 8), (0, 9), (1, 9), (12, 13), (13, 8)])
    partition = partition_of(G, [0] * 8 + [1] * 4 + [2] * 2)
    plot_communities(partition, ax=axes, names=[12])
    radii = circles_of(axes)[1]
    assert radii**2 / radii[0] ** 2 == pytest.approx([1.0, 0.5, 0.25])
    (lines,) = (c for c in axes.collections if isinstance(c, LineCollection))
    assert lines.get_linewidths() == pytest.approx([7.0 / 4.0, 7.0])
    assert {text.get_text() for text in axes.texts[:-1]} == {"0", "1", "12"}


def test_the_caption_of_one_node(axes):
    plot_communities(partition_of(nx.empty_graph(1), [0]), ax=axes)
    assert axes.texts[-1].get_text().startswith("1 node: 1 single node;")


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_graphs(n):
    for draw in (plot_graph, plot_communities):
        axes = Figure().subplots()
        draw(Partition(np.arange(n), graph=Graph.from_edges([], [], n=n)), ax=axes)
        rendered(axes)


def test_a_new_figure_is_made_where_no_axes_are_given(square):
    axes = plot_graph(square)
    assert axes.figure.number in pyplot.get_fignums()
    pyplot.close(axes.figure)


def test_partition_plots_itself(axes):
    karate = datasets.load("karate").graph
    partition = Partition(np.arange(34) % 2, graph=karate)
    options = {"title": "karate", "names": [0], "node_size": 0.5, "palette": ["red", "blue"]}
    assert partition.plot(axes, **options) is axes
    assert len(drawn(axes)[0].get_offsets()) == 34
    assert {tuple(row) for row in drawn_colors(axes)} == {(1, 0, 0), (0, 0, 1)}


def test_the_same_picture_for_every_order_of_the_nodes():
    karate = datasets.load("karate").graph
    partition = kgroups.detect_communities(karate)
    order = np.random.default_rng(3).permutation(34)
    shuffled = Partition(partition.labels[order], graph=karate.permuted(order))
    places = []
    for each in (partition, shuffled):
        axes = Figure().subplots()
        plot_graph(each, ax=axes)
        places.append(sorted(map(tuple, circles_of(axes)[0].round(6))))
    assert places[0] == places[1]


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"a": (0, 0)}, r"every node; 'b' \(and 2 more\) has none"),
        (np.zeros((3, 2)), r"shape \(4, 2\), one row per node, got shape \(3, 2\)"),
        (np.full((4, 2), np.nan), "layout must be finite"),
        ("spring", r"two numbers \(x, y\) for each of the 4 nodes, got 'spring'"),
        (nx.spring_layout, "for each of the 4 nodes, got <"),
        (
            {"a": (0, 0), "b": (1, 0, 2), "c": (0, 1), "d": (1, 1)},
            r"two numbers \(x, y\) for every node; 'b' has \(1, 0, 2\)",
        ),
        ([(0, 0), (1, 0), "c", (1, 1)], "for every node; 'c' has 'c'"),
    ],
)
def test_layouts_that_do_not_fit(axes, square, layout, message):
    with pytest.raises(InputError, match=message):
        plot_graph(square, ax=axes, layout=layout)


def test_nodes_in_one_place_can_be_drawn(axes, square):
    plot_graph(square, ax=axes, layout=np.zeros((4, 2)), names=["a"])
    rendered(axes)


def test_names_that_do_not_fit(axes, square):
    for draw in (plot_graph, plot_communities):
        with pytest.raises(InputError, match="nodes of the graph, got 'z'"):
            draw(square, ax=axes, names=["z"])
        with pytest.raises(InputError, match=r"nodes of the graph, got \['a'\]"):
            draw(square, ax=axes, names=[["a"]])
        for names in (3, "ab"):
            with pytest.raises(InputError, match=rf"a collection of nodes, .*, got {names!r}"):
                draw(square, ax=axes, names=names)


@pytest.mark.parametrize("names", [np.array([0, 2]), np.array([], int)])
def test_names_may_be_an_array(names):
    partition = partition_of(nx.path_graph(3), [0, 0, 0])
    for draw in (plot_graph, plot_communities):
        axes = Figure().subplots()
        draw(partition, ax=axes, names=names)
        drawn = ", ".join(text.get_text() for text in axes.texts).split(", ")
        # Nodes of one degree are named in the order of their places, which versions of igraph draw.
        assert sorted({"0", "1", "2"}.intersection(drawn)) == [str(name) for name in names]


def test_partitions_without_a_graph(axes):
    for draw in (plot_graph, plot_communities):
        with pytest.raises(
            PartitionError, match="a picture needs the graph, and this partition has none"
        ):
            draw(Partition([0, 1]), ax=axes)


def test_missing_matplotlib_names_the_extra(square, monkeypatch):
    real_import = builtins.__import__

    def without_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    for draw in (square.plot, square.plot_spectrum, kgroups.plotting.style):
        with pytest.raises(MissingExtraError, match=r'pip install "\.\[plot\]"'):
            draw()


def test_drawing_leaves_no_setting_changed(axes, square):
    before = dict(mpl.rcParams)
    plot_graph(square, ax=axes)
    pyplot.close(plot_graph(square).figure)
    assert dict(mpl.rcParams) == before


DECADES = {
    "all": lambda rng, m: 10.0 ** rng.uniform(-300.0, 300.0, m),
    "one heavy": lambda rng, m: np.where(np.arange(m) == 0, 1e300, 1e-300),
    "one light": lambda rng, m: np.where(np.arange(m) == 0, 1e-300, 1e300),
    "two sizes": lambda rng, m: rng.choice([1e-300, 1e300], m),
    "subnormal": lambda rng, m: rng.choice([5e-324, 1e-320], m),
    "with zeros": lambda rng, m: rng.choice([0.0, 1e-300, 1e300], m),
}


@pytest.mark.parametrize("name", DECADES)
def test_weights_over_600_decades_are_drawn_without_warnings(name):
    if name == "subnormal" and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("NumPy 1.26 reports overflow for finite quotients of nine subnormal numbers")
    u, v = np.array(nx.random_partition_graph([12] * 4, 0.5, 0.05, seed=1).edges).T
    weights = DECADES[name](np.random.default_rng(0), u.size)
    graph = Graph.from_edges(u, v, weights, n=48)
    partition = Partition(np.arange(48) // 12, graph=graph)
    for draw in (
        plot_graph,
        plot_communities,
        plotting.plot_adjacency,
        plotting.plot_sizes,
        plotting.plot_confidence,
        plotting.plot_levels,
        lambda partition, ax: partition.plot_spectrum(ax=ax),
    ):
        axes = Figure().subplots()
        with np.errstate(all="raise", under="ignore"):
            draw(partition.levels() if draw is plotting.plot_levels else partition, ax=axes)
        axes.figure.canvas.draw()
        for drawn in axes.collections:
            widths, array = np.asarray(drawn.get_linewidths(), float), drawn.get_array()
            assert np.isfinite(widths).all()
            assert np.isfinite(np.asarray(drawn.get_offsets(), float)).all()
            assert array is None or np.isfinite(np.asarray(array, float)).all()
        for image in axes.images:
            assert np.isfinite(np.asarray(image.get_array(), float)).all()
    assert partition._repr_html_()
