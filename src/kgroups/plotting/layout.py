"""Where the nodes stand: positions given by the caller, or forces computed by igraph."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.errors import InputError
from kgroups.graph import Graph

__all__ = ["force_layout", "positions"]

_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
_WITHIN, _BETWEEN = 1.0, 0.35
# Springs alone untangle a picture of this many nodes; larger graphs need a disc per community.
_NODES_FOR_SPRINGS = 300
_DISCS_TO_PUSH = 600
# Pairs of nodes that the springs look at in all, which bounds the time to a few seconds.
_PAIRS = 2e8


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
    """Return the positions that springs along the edges give, the same at every call.

    Springs between communities are weaker than those inside, so that communities stand apart.
    Graphs that are large or in pieces get a disc for each community.
    """
    rows, cols, _ = graph.edges()
    off = rows != cols
    rows, cols = rows[off], cols[off]
    if graph.n > _NODES_FOR_SPRINGS or not _is_connected(graph.n, rows, cols):
        return _discs(graph.n, rows, cols, labels)
    stiffness = np.where(labels[rows] == labels[cols], _WITHIN, _BETWEEN)
    start = _sunflower(graph.n, labels)
    return _upright(_springs(graph.n, rows, cols, stiffness, start, steps=500))


def _is_connected(n: int, rows: Any, cols: Any) -> bool:
    import igraph

    return n == 0 or igraph.Graph(n=n, edges=np.column_stack([rows, cols])).is_connected()


def _springs(n: int, rows: Any, cols: Any, stiffness: Floats, start: Floats, steps: int) -> Floats:
    import igraph

    if n < 3:
        return start
    g = igraph.Graph(n=n, edges=np.column_stack([rows, cols]))
    with _fixed_randomness():
        layout = g.layout_fruchterman_reingold(
            weights=stiffness.tolist(), seed=start.tolist(), niter=steps, start_temp=np.sqrt(n) / 6
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


def _steps(sizes: Ints) -> int:
    return int(np.clip(_PAIRS / max(float(np.sum(sizes.astype(float) ** 2)), 1.0), 20, 500))


def _sunflower(n: int, labels: Ints) -> Floats:
    """Spread the nodes over a disc so that communities begin as neighbours."""
    place = np.empty(n)
    place[np.argsort(labels, kind="stable")] = np.arange(n)
    radius, angle = np.sqrt(place + 0.5), place * _GOLDEN_ANGLE
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _upright(xy: Floats) -> Floats:
    """Turn the longest direction of the picture to the horizontal."""
    if len(xy) < 3:
        return xy
    centred = xy - xy.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    turned = centred @ axes
    # An axis has no sign of its own: the first node far from the middle goes left and up.
    far = np.argmax(np.abs(turned), axis=0)
    signs: Floats = np.where(turned[far, [0, 1]] > 0, [-1.0, 1.0], [1.0, -1.0])
    return np.asarray(turned * signs)


def _discs(n: int, rows: Any, cols: Any, labels: Ints) -> Floats:
    """Lay out each community in a disc of its own, and the discs by the edges between them."""
    sizes = np.bincount(labels)
    radii = np.sqrt(sizes) * 1.15 + 0.35
    centres = _centres(rows, cols, labels, radii)
    xy = np.empty((n, 2))
    inside = labels[rows] == labels[cols]
    owner = labels[rows[inside]]
    edges = np.column_stack([rows[inside], cols[inside]])[np.argsort(owner, kind="stable")]
    own_edges = np.split(edges, np.cumsum(np.bincount(owner, minlength=sizes.size))[:-1])
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    local = np.empty(n, np.int64)
    steps = _steps(sizes)
    for a, nodes in enumerate(members[: sizes.size]):
        local[nodes] = np.arange(nodes.size)
        own = local[own_edges[a]]
        start = _sunflower(nodes.size, np.zeros(nodes.size, np.int64))
        placed = _springs(nodes.size, own[:, 0], own[:, 1], np.ones(len(own)), start, steps)
        xy[nodes] = centres[a] + _into_disc(placed, np.sqrt(nodes.size))
    return xy


def _into_disc(xy: Floats, radius: float) -> Floats:
    """Fill a disc evenly: keep the angles and the order of the distances from the middle."""
    centred = xy - xy.mean(axis=0)
    distance = np.hypot(centred[:, 0], centred[:, 1])
    rank = np.empty(len(xy))
    rank[np.argsort(distance, kind="stable")] = np.arange(len(xy))
    angle = np.arctan2(centred[:, 1], centred[:, 0])
    even = radius * np.sqrt((rank + 0.5) / len(xy)) if len(xy) > 1 else np.zeros(1)
    return np.column_stack([even * np.cos(angle), even * np.sin(angle)])


def _centres(rows: Any, cols: Any, labels: Ints, radii: Floats) -> Floats:
    """Place the discs near the discs they have edges to, without overlap."""
    k = radii.size
    area = np.cumsum(radii**2) - radii**2 / 2.0
    angle = np.arange(k) * _GOLDEN_ANGLE
    centres = np.sqrt(area)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) * 1.25
    if k > _DISCS_TO_PUSH:
        return np.asarray(centres)
    a, b = np.minimum(labels[rows], labels[cols]), np.maximum(labels[rows], labels[cols])
    pairs, counts = np.unique(a[a < b] * k + b[a < b], return_counts=True)
    first, second = np.divmod(pairs, k)
    pull = counts / np.sqrt(radii[first] * radii[second]) ** 2
    steps = int(np.clip(1e7 / k**2, 40, 200))
    for cooling in np.linspace(1.0, 0.0, steps):
        gap = centres[second] - centres[first]
        length = np.hypot(gap[:, 0], gap[:, 1])[:, None]
        stretch = np.clip(length - (radii[first] + radii[second])[:, None], 0.0, None)
        force = gap / np.maximum(length, 1e-9) * stretch * (pull / (1.0 + pull))[:, None]
        move = np.zeros_like(centres)
        np.add.at(move, first, force)
        np.add.at(move, second, -force)
        ties = np.maximum(np.bincount(first, minlength=k) + np.bincount(second, minlength=k), 1)
        centres += cooling * (0.5 * move / ties[:, None] - 0.02 * centres)
        _push_apart(centres, radii)
    for _ in range(steps):
        if not _push_apart(centres, radii):
            break
    return _upright(centres)


def _push_apart(centres: Floats, radii: Floats) -> bool:
    """Move overlapping discs half their overlap away from each other; say whether any were."""
    norms = np.sum(centres**2, axis=1)
    squared = norms[:, None] + norms[None, :] - 2.0 * centres @ centres.T
    reach = radii[:, None] + radii[None, :] - 1e-3
    i, j = np.nonzero(np.triu(squared < reach**2, 1))
    if not i.size:
        return False
    gap = centres[i] - centres[j]
    length = np.maximum(np.hypot(gap[:, 0], gap[:, 1]), 1e-9)
    push = 0.7 * (radii[i] + radii[j] - length) / ((radii[i] + radii[j]) * length)
    np.add.at(centres, i, gap * (push * radii[j])[:, None])
    np.add.at(centres, j, -gap * (push * radii[i])[:, None])
    return True
