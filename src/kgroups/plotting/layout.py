"""Node positions: given by the caller, or computed so that communities are separate clouds."""

import random
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.adapters import igraph_draws_from
from kgroups.errors import InputError
from kgroups.graph import Graph, canonical_order
from kgroups.scoring import community_links

# Successive points of a spiral at this angle fill a disc evenly.
_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
# Lengths of edges within and between communities; longer ones let communities stand apart.
_WITHIN, _BETWEEN = 1.0, 2.0
# Springs alone untangle a picture of this many nodes; larger graphs get a disc per community.
_MAX_NODES_BY_SPRINGS = 80
# Pairs of nodes that the forces compare in all, which bounds the time to a few seconds.
_MAX_PAIRS = 2e8
# Area of the picture per node, in units of layout.
_AREA_PER_NODE = 4.0
# Distance kept between communities: a share of the radius and a constant.
_DISC_MARGIN = (0.15, 0.6)
# More discs than this stay on a spiral, the largest in the middle: moving them takes too long.
_MOST_PULLED = 1000
# Rounds in which overlapping circles are pushed apart, and the share of their distance by which
# circles may be closer.
_ROUNDS, _TOLERANCE = 300, 0.02


def positions(graph: Graph, labels: Ints, layout: Any) -> Floats:
    """Return one (x, y) row per node from what the caller gave, or from :func:`force_layout`."""
    if layout is None:
        return force_layout(graph, labels)
    layout = in_node_order(graph, layout, "layout", "a position")
    try:
        xy = np.asarray(layout, float)
    except (TypeError, ValueError, OverflowError) as error:
        raise _not_positions(graph, layout) from error
    if (graph.n and xy.shape != (graph.n, 2)) or not np.isfinite(xy).all():
        msg = (
            f"layout must be finite and of shape ({graph.n}, 2), one row per node, got shape "
            f"{xy.shape}.\n  Leave it out to have it computed, or pass a dict of node to (x, y)."
        )
        raise InputError(msg)
    return xy.reshape(graph.n, 2)


def in_node_order(graph: Graph, values: Any, name: str, what: str) -> Any:
    """Return the values of a mapping from nodes as a list in node order, and others unchanged."""
    if not isinstance(values, Mapping):
        return values
    missing = [node for node in graph.nodes if node not in values]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        msg = f"{name} must hold {what} for every node; {missing[0]!r}{more} has none."
        raise InputError(msg)
    return [values[node] for node in graph.nodes]


def _not_positions(graph: Graph, layout: Any) -> InputError:
    """Return the error for a layout that is no array of numbers, with the first node at fault."""
    rows = layout if isinstance(layout, (list, tuple)) else ()
    for node, place in zip(graph.nodes, rows, strict=False):
        if not _is_pair(place):
            msg = f"layout must hold two numbers (x, y) for every node; {node!r} has {place!r}."
            return InputError(msg)
    msg = (
        f"layout must hold two numbers (x, y) for each of the {graph.n} nodes, got "
        f"{reprlib.repr(layout)}.\n  Leave it out to have it computed, or pass a dict of node to "
        "(x, y)."
    )
    return InputError(msg)


def _is_pair(place: Any) -> bool:
    try:
        return np.asarray(place, float).shape == (2,)
    except (TypeError, ValueError, OverflowError):
        return False


def force_layout(graph: Graph, labels: Ints) -> Floats:
    """Return force-directed positions, the same at every call and for every order of the nodes.

    Graphs that are large or not connected get a disc for each community. There is an area of
    about four units per node.

    Parameters
    ----------
    graph : Graph
    labels : ndarray of shape (n,)
        Communities in the numbers of a Partition, on which positions depend.
    """
    if not graph.n:
        return np.zeros((0, 2))
    order, _ = canonical_order(graph)
    if order is not None:
        xy = np.empty((graph.n, 2))
        xy[order] = force_layout(graph.permuted(order, named=False), labels[order])
        return xy
    import igraph

    rows, cols, _ = graph.edges()
    edges = np.column_stack([rows, cols])[rows != cols].astype(np.int64)
    g = igraph.Graph(n=graph.n, edges=edges)
    if graph.n > _MAX_NODES_BY_SPRINGS or not g.is_connected():
        return _discs(edges, labels, community_centers(graph, labels))
    length = np.where(labels[edges[:, 0]] == labels[edges[:, 1]], _WITHIN, _BETWEEN)
    return _to_area(_upright(_springs(g, length, _spiral(labels))), graph.n)


def community_centers(graph: Graph, labels: Ints) -> Floats:
    """Return where :func:`force_layout` puts the discs of the communities of a large graph.

    The discs, of an area of pi per node, do not overlap.
    """
    links = community_links(graph, labels).between()
    return disc_layout(np.bincount(labels), links.ends, links.adjacent.astype(float))


def disc_layout(sizes: Ints, ends: Ints, weight: Floats) -> Floats:
    """Return centers of discs, near the discs they are linked to, that do not overlap.

    Parameters
    ----------
    sizes : ndarray of shape (k,)
        Areas of the discs, over pi.
    ends : ndarray of shape (m, 2)
        Pairs of different discs that are linked, each pair once.
    weight : ndarray of shape (m,)
        Number of links of the pairs.
    """
    share, constant = _DISC_MARGIN
    radii = np.sqrt(sizes) * (1.0 + share) + constant
    k = radii.size
    first, second = ends.T
    pull = weight / (radii[first] * radii[second])
    pull /= 1.0 + pull
    centers = _first_centers(radii, ends, pull)
    neighbors = np.maximum(np.bincount(first, minlength=k) + np.bincount(second, minlength=k), 1)
    moves = first.size > 0 and k <= _MOST_PULLED
    steps = int(np.clip(1e6 / (k + first.size), 40, 200)) if moves else 0
    for cooling in np.linspace(1.0, 0.0, steps):
        gap = centers[second] - centers[first]
        length = np.hypot(*gap.T)
        stretch = np.clip(length - (radii[first] + radii[second]), 0.0, None)
        force = gap * (pull * stretch / np.maximum(length, 1e-9))[:, None]
        move = _sums(second, -force, k) + _sums(first, force, k)
        centers += cooling * (0.5 * move / neighbors[:, None] - 0.02 * centers)
        _push_apart(centers, radii)
    return _upright(separate(centers, radii))


def _first_centers(radii: Floats, ends: Ints, pull: Floats) -> Floats:
    """Return centers by forces for the discs that are linked, and a spiral for the others."""
    import igraph

    k = radii.size
    linked = np.zeros(k, bool)
    linked[ends.ravel()] = True
    order = np.argsort(~linked, kind="stable")
    area = np.cumsum(radii[order] ** 2) - radii[order] ** 2 / 2.0
    angle = np.arange(k) * _GOLDEN_ANGLE
    spiral = np.sqrt(area)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) * 1.25
    centers = np.empty((k, 2))
    centers[order] = spiral
    if linked.sum() >= 3 and k <= _MOST_PULLED:
        number = np.cumsum(linked) - 1
        g = igraph.Graph(n=int(linked.sum()), edges=number[ends])
        placed = _forces(g, pull, _spiral(np.zeros(g.vcount(), np.int64)), steps=500)
        placed -= placed.mean(axis=0)
        centers[linked] = _to_area(placed, float(np.sum(radii[linked] ** 2)))
    return centers


def separate(xy: Floats, radii: Floats) -> Floats:
    """Return positions near the ones given at which circles overlap by 2 % at most."""
    xy = xy.copy()
    for _ in range(_ROUNDS):
        if not _push_apart(xy, radii):
            break
    return xy


def _push_apart(xy: Floats, radii: Floats) -> bool:
    """Move overlapping circles apart in place; return whether any overlapped."""
    i, j = _overlapping(xy, radii)
    if not i.size:
        return False
    gap = xy[i] - xy[j]
    length = np.hypot(*gap.T)
    # Circles with one center part in a direction that depends on their numbers.
    same = length < 1e-9
    angle = (i[same] + j[same]) * _GOLDEN_ANGLE
    gap[same] = 1e-9 * np.column_stack([np.cos(angle), np.sin(angle)])
    length[same] = 1e-9
    reach = radii[i] + radii[j]
    push = 0.7 * (reach - length) / (reach * length)
    xy += _sums(i, gap * (push * radii[j])[:, None], len(xy))
    xy -= _sums(j, gap * (push * radii[i])[:, None], len(xy))
    return True


def _overlapping(xy: Floats, radii: Floats) -> tuple[Ints, Ints]:
    """Return the pairs of circles that overlap, each once."""
    from scipy.spatial import cKDTree

    # Circles of about one radius are compared with those that are not larger, whose centers are
    # within twice that radius: a few large circles do not make all comparisons long.
    largest = float(radii.max(initial=0.0))
    level = np.floor(np.log2(np.maximum(radii, 1e-3 * largest + 1e-300)))
    rank = np.empty(len(xy), np.int64)
    rank[np.argsort(radii, kind="stable")] = np.arange(len(xy))
    pairs = [np.zeros((2, 0), np.int64)]
    for each in np.unique(level):
        here, smaller = np.flatnonzero(level == each), np.flatnonzero(level <= each)
        near = cKDTree(xy[here]).sparse_distance_matrix(
            cKDTree(xy[smaller]), 2.0 * float(radii[here].max()), output_type="ndarray"
        )
        i, j = here[near["i"]], smaller[near["j"]]
        close = near["v"] < (radii[i] + radii[j]) * (1.0 - _TOLERANCE)
        pairs.append(np.stack([i, j])[:, close & (rank[j] < rank[i])])
    first, second = np.concatenate(pairs, axis=1)
    return first, second


def _sums(index: Ints, values: Floats, n: int) -> Floats:
    """Return the sum of the rows of values that have each index."""
    return np.column_stack([np.bincount(index, weights=v, minlength=n) for v in values.T])


def _springs(g: Any, length: Floats, start: Floats) -> Floats:
    """Return positions whose distances are near to the shortest paths (Kamada and Kawai)."""
    if len(start) < 3:
        return start
    layout = g.layout_kamada_kawai(weights=length.tolist(), seed=start.tolist())
    return np.array(layout.coords, float)


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
    """Give igraph the same random numbers at each call."""
    with ExitStack() as stack:
        # A generator of the caller's own could not be restored: igraph goes on to draw from it.
        with suppress(InputError):
            stack.enter_context(igraph_draws_from(random.Random(0)))
        yield


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


def _to_area(xy: Floats, area_in_nodes: float) -> Floats:
    """Scale positions to a box with the area of a number of nodes."""
    width, height = np.ptp(xy, axis=0)
    # Nodes on a line have no area; they get one as long as it is wide.
    area = max(width * height, 0.05 * max(width, height) ** 2)
    return xy * np.sqrt(_AREA_PER_NODE * area_in_nodes / area) if area > 0.0 else xy


def _discs(edges: Ints, labels: Ints, centers: Floats) -> Floats:
    """Lay out each community in a disc around its center."""
    import igraph

    sizes = np.bincount(labels)
    k = sizes.size
    inside = labels[edges[:, 0]] == labels[edges[:, 1]]
    compared = max(float(np.sum(sizes.astype(float) ** 2)), 1.0)
    steps = int(np.clip(_MAX_PAIRS / compared, 20, 500))
    inner = edges[inside]
    owner = labels[inner[:, 0]]
    inner = inner[np.argsort(owner, kind="stable")]
    edges_of = np.split(inner, np.cumsum(np.bincount(owner, minlength=k))[:-1])
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    facing = _directions_out(edges[~inside], labels, centers)
    xy = np.empty((labels.size, 2))
    local = np.empty(labels.size, np.int64)
    for a, nodes in enumerate(members):
        local[nodes] = np.arange(nodes.size)
        g = igraph.Graph(n=nodes.size, edges=local[edges_of[a]])
        placed = _forces(g, np.ones(g.ecount()), _spiral(np.zeros_like(nodes)), steps)
        xy[nodes] = centers[a] + _facing(_into_disc(placed), facing[nodes])
    return xy


def _directions_out(between: Ints, labels: Ints, centers: Floats) -> Floats:
    """Return for each node the sum of the unit vectors to the communities of its neighbors."""
    total = np.zeros((labels.size, 2))
    for here, there in (between.T, between.T[::-1]):
        gap = centers[labels[there]] - centers[labels[here]]
        total += _sums(here, gap / np.hypot(*gap.T)[:, None], labels.size)
    return total


def _facing(xy: Floats, directions: Floats) -> Floats:
    """Turn a disc, mirrored if that is better, so that its nodes face their neighbors outside."""
    placed = xy[:, 0] + 1j * xy[:, 1]
    wanted = directions[:, 0] + 1j * directions[:, 1]
    best = max((placed, placed.conj()), key=lambda z: round(abs(np.sum(z.conj() * wanted)), 9))
    turn = np.sum(best.conj() * wanted)
    turned = best * (turn / abs(turn)) if abs(turn) > 1e-9 else best
    return np.column_stack([turned.real, turned.imag])


def _into_disc(xy: Floats) -> Floats:
    """Fill a disc evenly: keep the angles and the order of the distances from the middle."""
    n = len(xy)
    x, y = (xy - xy.mean(axis=0)).T
    rank = np.empty(n)
    rank[np.argsort(np.hypot(x, y), kind="stable")] = np.arange(n)
    angle = np.arctan2(y, x)
    radius = np.sqrt(rank + 0.5) if n > 1 else np.zeros(1)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
