"""Colors can be told apart, by readers with protanopia and deuteranopia as well."""

import networkx as nx
import numpy as np
import pytest

import kgroups
from kgroups.partition import Partition
from kgroups.plotting import community_colors
from kgroups.plotting.graphs import partition_colors
from kgroups.plotting.layout import community_centers
from kgroups.plotting.style import color_distances, colors_by_neighbors, luminance, rgb_of
from kgroups.scoring import community_links


def distances_as_seen(colors, vision):
    """Return CIELAB distances, color blindness simulated as by Vienot, Brettel and Mollon (1999).

    The package uses another simulation, so that this is a check on its colors.
    """
    to_lms = np.array(
        [[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]]
    )
    lost = {
        "normal": np.eye(3),
        "protanopia": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
        "deuteranopia": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]]),
    }[vision]
    linear = np.where(colors > 0.04045, ((colors + 0.055) / 1.055) ** 2.4, colors / 12.92)
    seen = np.clip(linear @ (np.linalg.inv(to_lms) @ lost @ to_lms).T, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    t = seen @ to_xyz.T / [0.9505, 1.0, 1.089]
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    lab = np.column_stack([116 * f[:, 1], 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])
    return np.linalg.norm(lab[:, None] - lab[None], axis=2)


VISIONS = ("normal", "protanopia", "deuteranopia")


@pytest.mark.parametrize(
    ("vision", "least"), [("normal", 33), ("protanopia", 19), ("deuteranopia", 23)]
)
def test_any_two_colors_differ_clearly(vision, least):
    """Measured: 33.7, 19.7 and 23.3; a distance of 2.3 is just noticeable."""
    apart = distances_as_seen(community_colors(12), vision)
    assert apart[np.triu_indices(12, 1)].min() > least


def test_colors_stand_out_on_white():
    assert luminance(community_colors(12)).max() < 0.7


def test_distances_agree_with_known_ones():
    black, white, gray = 0.0, 100.0, 53.585
    rows = rgb_of("000000", "#ffffff", "808080")
    assert color_distances(rows)[0] == pytest.approx([black, white, gray], abs=0.05)


def test_colors_repeat_after_twelve():
    colors = community_colors(30)
    assert np.array_equal(colors[12:24], colors[:12])
    assert community_colors(0).shape == (0, 3)


def test_equal_colors_do_not_meet_on_a_ring():
    k = 41
    ends = np.column_stack([np.arange(k), (np.arange(k) + 1) % k])
    chosen = colors_by_neighbors(community_colors(12), ends, np.ones(k), k)
    assert (chosen[ends[:, 0]] != chosen[ends[:, 1]]).all()
    assert set(chosen) == set(range(12))


def test_few_colors_color_a_grid():
    G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 9))
    ends = np.array(G.edges)
    chosen = colors_by_neighbors(rgb_of("ff0000", "00aa00", "0000ff"), ends, np.ones(len(ends)), 72)
    assert (chosen[ends[:, 0]] != chosen[ends[:, 1]]).all()


def planted(k, seed):
    return kgroups.generators.planted_partition(20 * k, k=k, degree=10.0, snr=3.0, rng=seed)


MANY = {
    "ring of cliques": lambda: (nx.ring_of_cliques(50, 6), np.arange(300) // 6),
    "grid": lambda: (
        nx.convert_node_labels_to_integers(nx.grid_2d_graph(24, 24)),
        (np.arange(576) // 24 // 4) * 6 + np.arange(576) % 24 // 4,
    ),
    "all linked": lambda: (planted(40, 5).graph, planted(40, 5).labels),
    "cliques": lambda: (nx.disjoint_union_all([nx.complete_graph(3)] * 100), np.arange(300) // 3),
}


@pytest.mark.parametrize("case", MANY)
def test_neighbors_among_many_communities_differ_clearly(case):
    """Neighbors: the nearest three in the picture, and the two with most edges to each."""
    G, labels = MANY[case]()
    partition = Partition(labels, graph=kgroups.as_graph(G))
    colors, k = partition_colors(partition), partition.k
    centers = community_centers(partition.graph, partition.labels)
    away = np.linalg.norm(centers[:, None] - centers[None], axis=2) + np.diag(np.full(k, np.inf))
    links = np.zeros((k, k))
    ends, weight, *_ = community_links(partition.graph, partition.labels).between()
    links[ends[:, 0], ends[:, 1]] = links[ends[:, 1], ends[:, 0]] = weight
    for vision in VISIONS:
        apart = distances_as_seen(colors, vision)
        for a in range(k):
            linked = [b for b in np.argsort(-links[a], kind="stable")[:2] if links[a, b]]
            for b in [*np.argsort(away[a])[:3], *linked]:
                assert apart[a, b] > 19, (case, vision, a, b)


def test_a_community_has_one_color_in_all_pictures():
    drawn = kgroups.generators.planted_partition(120, 11, 11.0, 2.2, rng=0)
    partition = Partition(drawn.labels, graph=drawn.graph)
    assert np.array_equal(partition_colors(partition), community_colors(partition.k))
    bare = Partition(np.arange(100) // 2)
    assert np.array_equal(partition_colors(bare), partition_colors(bare))
    apart = color_distances(partition_colors(bare))
    assert min(apart[a, a + 1] for a in range(49)) > 19
