"""Node positions: given by the caller, or computed by igraph's force-directed layout."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.errors import InputError
from kgroups.graph import Graph

# Successive points of a spiral at this angle fill a disc evenly.
_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
# Strength of edges within and between communities; weaker ones let communities stand apart.
_WITHIN, _BETWEEN = 1.0, 0.35
# Forces alone untangle a picture of this many nodes; larger graphs get a disc per community.
_MAX_NODES_BY_FORCES = 300
# More discs than this stay on a spiral: moving them takes time quadratic in their number.
_MAX_MOVED_DISCS = 600
# Pairs of nodes that the forces compare in all, which bounds the time to a few seconds.
_MAX_PAIRS = 2e8


def positions(graph: Graph, labels: Ints, layout: Any) -> Floats:
    """Return one (x, y) row per node from what the caller gave, or from :func:`force_layout`."""
    if layout is None:
        return force_layout(graph, labels)
    if isinstance(layout, Mapping):
        missing = [node for node in graph.nodes if node not in layout]
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            msg = f"layout must hold a position for every node; {missing[0]!r}{more} has none."
            raise InputError(msg)
        layout = [layout[node] for node in graph.nodes]
    xy = np.asarray(layout, float)
    if (graph.n and xy.shape != (graph.n, 2)) or not np.isfinite(xy).all():
        msg = (
            f"layout must be finite and of shape ({graph.n}, 2), one row per node, got shape "
            f"{xy.shape}.\n  Leave it out to have it computed, or pass a dict of node to (x, y)."
        )
        raise InputError(msg)
    return xy.reshape(graph.n, 2)


def force_layout(graph: Graph, labels: Ints) -> Floats:
    """Return force-directed positions, the same at every call.

    Graphs that are large or not connected get a disc for each community.
    """
    import igraph

    rows, cols, _ = graph.edges()
    edges = np.column_stack([rows, cols])[rows != cols]
    inside = labels[edges[:, 0]] == labels[edges[:, 1]]
    g = igraph.Graph(n=graph.n, edges=edges)
    if graph.n > _MAX_NODES_BY_FORCES or (graph.n and not g.is_connected()):
        return _discs(edges, inside, labels)
    return _upright(_forces(g, np.where(inside, _WITHIN, _BETWEEN), _spiral(labels), steps=500))


def _forces(g: Any, strength: Floats, start: Floats, steps: int) -> Floats:
    if len(start) < 3:
        return start
    with _fixed_randomness():
        layout = g.layout_fruchterman_reingold(
            weights=strength.tolist(),
            seed=start.tolist(),
            niter=steps,
            start_temp=np.sqrt(len(start)) / 6,
        )
    return np.array(layout.coords, float)


@contextmanager
def _fixed_randomness() -> Iterator[None]:
    """Give igraph, which draws from the random module, the same numbers at each call."""
    state = random.getstate()
    random.seed(0)
    try:
        yield
    finally:
        random.setstate(state)


def _spiral(labels: Ints) -> Floats:
    """Spread the nodes over a disc so that communities start as neighbors."""
    place = np.empty(labels.size)
    place[np.argsort(labels, kind="stable")] = np.arange(labels.size)
    radius, angle = np.sqrt(place + 0.5), place * _GOLDEN_ANGLE
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _upright(xy: Floats) -> Floats:
    """Rotate the longest direction of the picture to the horizontal."""
    if len(xy) < 3:
        return xy
    centered = xy - xy.mean(axis=0)
    axes = np.linalg.eigh(centered.T @ centered)[1][:, ::-1]
    rotated = centered @ axes
    # Eigenvectors have no sign: the node farthest along each axis goes left and up.
    far = np.argmax(np.abs(rotated), axis=0)
    signs: Floats = np.where(rotated[far, [0, 1]] > 0, [-1.0, 1.0], [1.0, -1.0])
    return np.asarray(rotated * signs)


def _discs(edges: Any, inside: Any, labels: Ints) -> Floats:
    """Lay out each community in a disc of its own, and the discs by the edges between them."""
    import igraph

    sizes = np.bincount(labels)
    centers = _centers(labels[edges[~inside]], np.sqrt(sizes) * 1.15 + 0.35)
    pairs = max(float(np.sum(sizes.astype(float) ** 2)), 1.0)
    steps = int(np.clip(_MAX_PAIRS / pairs, 20, 500))
    inner = edges[inside]
    owner = labels[inner[:, 0]]
    inner = inner[np.argsort(owner, kind="stable")]
    edges_of = np.split(inner, np.cumsum(np.bincount(owner, minlength=sizes.size))[:-1])
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    xy = np.empty((labels.size, 2))
    local = np.empty(labels.size, np.int64)
    for a, nodes in enumerate(members[: sizes.size]):
        local[nodes] = np.arange(nodes.size)
        g = igraph.Graph(n=nodes.size, edges=local[edges_of[a]])
        placed = _forces(g, np.ones(g.ecount()), _spiral(np.zeros_like(nodes)), steps)
        xy[nodes] = centers[a] + _into_disc(placed)
    return xy


def _into_disc(xy: Floats) -> Floats:
    """Fill a disc evenly: keep the angles and the order of the distances from the middle."""
    n = len(xy)
    x, y = (xy - xy.mean(axis=0)).T
    rank = np.empty(n)
    rank[np.argsort(np.hypot(x, y), kind="stable")] = np.arange(n)
    angle = np.arctan2(y, x)
    radius = np.sqrt(n) * np.sqrt((rank + 0.5) / n) if n > 1 else np.zeros(1)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _centers(ends: Ints, radii: Floats) -> Floats:
    """Place the discs near the discs they have edges to, without overlap."""
    k = radii.size
    area = np.cumsum(radii**2) - radii**2 / 2.0
    angle = np.arange(k) * _GOLDEN_ANGLE
    centers = np.sqrt(area)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) * 1.25
    if k > _MAX_MOVED_DISCS:
        return np.asarray(centers)
    pairs, counts = np.unique(ends.min(axis=1) * k + ends.max(axis=1), return_counts=True)
    first, second = np.divmod(pairs, k)
    pull = counts / np.sqrt(radii[first] * radii[second]) ** 2
    neighbors = np.maximum(np.bincount(first, minlength=k) + np.bincount(second, minlength=k), 1)
    steps = int(np.clip(1e7 / k**2, 40, 200))
    for cooling in np.linspace(1.0, 0.0, steps):
        gap = centers[second] - centers[first]
        length = np.hypot(gap[:, 0], gap[:, 1])[:, None]
        stretch = np.clip(length - (radii[first] + radii[second])[:, None], 0.0, None)
        force = gap / np.maximum(length, 1e-9) * stretch * (pull / (1.0 + pull))[:, None]
        move = np.zeros_like(centers)
        np.add.at(move, first, force)
        np.add.at(move, second, -force)
        centers += cooling * (0.5 * move / neighbors[:, None] - 0.02 * centers)
        _push_apart(centers, radii)
    for _ in range(steps):
        if not _push_apart(centers, radii):
            break
    return _upright(centers)


def _push_apart(centers: Floats, radii: Floats) -> bool:
    """Move overlapping discs apart in place; return whether any overlapped."""
    norms = np.sum(centers**2, axis=1)
    squared = norms[:, None] + norms[None, :] - 2.0 * centers @ centers.T
    reach = radii[:, None] + radii[None, :] - 1e-3
    i, j = np.nonzero(np.triu(squared < reach**2, 1))
    if not i.size:
        return False
    gap = centers[i] - centers[j]
    length = np.maximum(np.hypot(gap[:, 0], gap[:, 1]), 1e-9)
    push = 0.7 * (radii[i] + radii[j] - length) / ((radii[i] + radii[j]) * length)
    np.add.at(centers, i, gap * (push * radii[j])[:, None])
    np.add.at(centers, j, -gap * (push * radii[i])[:, None])
    return True
