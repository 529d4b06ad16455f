"""The numbers behind the page: nodes, edges, and at each level communities and their links.

Arrays are stored as base64 of little-endian integers, which a browser decodes without parsing;
coordinates and probabilities are rounded to steps of the integers.
"""

import base64
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._validation import changed_options, name_text
from kgroups.graph import Graph
from kgroups.plotting.graphs import partition_colors
from kgroups.plotting.layout import positions
from kgroups.scoring import CommunityLinks, community_links, conductance

if TYPE_CHECKING:
    from kgroups.partition import Levels, Partition
    from kgroups.uncertainty.stability import Stability

# Steps of coordinates from 0 to 1 along the longer side, and of probabilities.
_COORDINATE_STEPS = 65_535
_PROBABILITY_STEPS = 10_000
# For a share that is not known.
_UNKNOWN = 65_535
_MEMBERS_NAMED = 6


@dataclass(frozen=True)
class PageLimits:
    """Sizes up to which a page holds or computes something.

    Attributes
    ----------
    computed : int
        Nodes up to which spectrum, confidence, P(k) and stability are computed unless the caller
        decides. On larger graphs each of them can take longer than the detection.
    levels : int
        Nodes up to which levels are computed unless the caller decides; they take about as long as
        the detection.
    nodes : int
        Nodes that the file holds one by one; beyond, only their communities.
    edges : int
        Edges that the file holds; of more, a random part.
    links : int
        Pairs of communities whose link is drawn, those with the most edges.
    """

    computed: int = 1_000
    levels: int = 50_000
    nodes: int = 100_000
    edges: int = 500_000
    links: int = 2_000

    __repr__ = changed_options


def graph_figures(
    partition: "Partition",
    graph: Graph,
    confidence: Floats | None,
    limits: PageLimits,
    levels: "Levels | None" = None,
    *,
    stability: bool = True,
) -> dict[str, Any]:
    """Return what the script of the page draws and lists, as values that JSON can hold."""
    rows, cols, _ = graph.edges()
    apart = rows != cols
    ends = np.column_stack([rows, cols])[apart].astype(np.int64)
    degree = np.bincount(ends.ravel(), minlength=graph.n)
    # Nodes stay where they are while the reader looks at other levels.
    drawn = _Drawn(graph, ends, degree, _unit_square(positions(graph, partition.labels, None)))
    holds_nodes = graph.n <= limits.nodes
    names = _texts(partition.nodes) if holds_nodes else []
    shown = [partition] if levels is None else list(levels)
    return {
        "n": graph.n,
        "weighted": graph.is_weighted,
        "nodes": _nodes(partition, drawn, names) if holds_nodes else None,
        "edges": _edges(ends, limits.edges) if holds_nodes else None,
        "returned": 0 if levels is None else levels.returned,
        "levels": [
            _level(
                level,
                drawn,
                names,
                confidence if level is partition else None,
                level.known_stability if stability else None,
                limits,
                is_laid_out=level is partition,
            )
            for level in shown
        ],
    }


class _Drawn(NamedTuple):
    """A graph as it is drawn: edges without self-loops, degrees and positions."""

    graph: Graph
    ends: Ints
    degree: Ints
    xy: Floats


def _level(
    partition: "Partition",
    drawn: _Drawn,
    names: list[str],
    confidence: Floats | None,
    stability: "Stability | None",
    limits: PageLimits,
    *,
    is_laid_out: bool,
) -> dict[str, Any]:
    """Return the communities of a level, their colors and links, and the labels of all nodes.

    Communities of one node, which have the highest numbers, are one group after all others.
    """
    z, k = partition.labels, partition.k
    several = int(np.count_nonzero(partition.sizes > 1))
    group, groups = np.minimum(z, several), min(k, several + 1)
    links = community_links(drawn.graph, z)
    communities = _communities(partition, drawn, several, links)
    holds_nodes = drawn.graph.n <= limits.nodes
    communities["members"] = [
        [names[i] for i in some] if holds_nodes else []
        for some in _best_linked(group, groups, drawn.degree)
    ]
    # The level that the picture was laid out for has the colors of the plots; others get those
    # that differ in this picture, without a layout of their own.
    centers = np.column_stack([communities["x"], communities["y"]])
    colored = partition_colors(partition, None, None if is_laid_out else centers)
    rgb = np.round(colored[:groups] * 255).astype(np.uint8)
    colors = ["#" + bytes(row).hex() for row in rgb]
    palette = list(dict.fromkeys(colors))
    number = {color: c for c, color in enumerate(palette)}
    found: dict[str, Any] = {
        "k": k,
        "several": several,
        "palette": palette,
        "colorOf": [number[color] for color in colors],
        "communities": communities,
        "links": _links(links.between(), several, limits.links),
        "community": _packed(z, "u4") if holds_nodes else None,
        "confidence": None,
        "runnerUp": None,
        "stability": None,
    }
    if confidence is not None:
        total = np.bincount(group, weights=confidence, minlength=groups)
        communities["confidence"] = np.round(total / communities["size"], 4).tolist()
        if holds_nodes:
            found["confidence"] = _packed(confidence * _PROBABILITY_STEPS, "u2")
            found["runnerUp"] = _packed(partition.runner_up() + 1, "u4")
    if stability is not None:
        communities["stability"] = [
            None if np.isnan(share) else round(share, 4)
            for share in stability.communities[:several].tolist()
        ] + [None] * (groups - several)
        if holds_nodes:
            steps = np.where(
                np.isnan(stability.nodes), _UNKNOWN, stability.nodes * _PROBABILITY_STEPS
            )
            found["stability"] = _packed(steps, "u2")
    return found


def _communities(
    partition: "Partition", drawn: _Drawn, several: int, links: CommunityLinks
) -> dict[str, Any]:
    """Return the numbers of the communities of several nodes, then those of all single nodes."""
    graph, _, degree, xy = drawn
    group, groups = np.minimum(partition.labels, several), min(partition.k, several + 1)
    sizes = np.bincount(group, minlength=groups)
    first, second = np.minimum(links.ends.T, several)
    own = links.ends[:, 0] == links.ends[:, 1]
    inside = np.bincount(first, links.adjacent * own, minlength=groups).astype(int)
    # Each edge that leaves a community counts for the communities at both of its ends.
    out = np.concatenate([first[~own], second[~own]])
    leaving = np.bincount(out, np.tile(links.adjacent[~own], 2), minlength=groups)
    center = np.column_stack(
        [np.bincount(group, weights=xy[:, axis], minlength=groups) / sizes for axis in (0, 1)]
    )
    # A disc that is filled evenly has half of its squared radius as mean squared distance.
    far = 2.0 * np.bincount(group, ((xy - center[group]) ** 2).sum(axis=1), minlength=groups)
    return {
        "size": sizes.tolist(),
        "inside": inside.tolist(),
        "leaving": leaving.astype(int).tolist(),
        "conductance": np.round(conductance(graph, partition)[:several], 4).tolist()
        + [None] * (groups - several),
        "degree": np.round(
            np.bincount(group, weights=degree, minlength=groups) / sizes, 2
        ).tolist(),
        "x": np.round(center[:, 0], 5).tolist(),
        "y": np.round(center[:, 1], 5).tolist(),
        "radius": np.round(np.sqrt(far / sizes), 5).tolist(),
    }


def _best_linked(z: Ints, k: int, degree: Ints) -> list[list[int]]:
    """Return the nodes of highest degree of each community."""
    order = np.lexsort((np.arange(z.size), -degree, z))
    starts = np.searchsorted(z[order], np.arange(k))
    ends = np.append(starts[1:], z.size)
    last = np.minimum(starts + _MEMBERS_NAMED, ends)
    return [order[start:end].tolist() for start, end in zip(starts, last, strict=True)]


def _links(between: CommunityLinks, several: int, most: int) -> dict[str, Any]:
    """Return the pairs of communities of several nodes with the most edges between them."""
    pairs = np.flatnonzero(between.ends[:, 1] < several)
    chosen = pairs[np.argsort(-between.adjacent[pairs], kind="stable")[:most]]
    a, b = between.ends[chosen].T
    return {
        "a": a.tolist(),
        "b": b.tolist(),
        "count": between.adjacent[chosen].tolist(),
        "total": pairs.size,
    }


def _nodes(partition: "Partition", drawn: _Drawn, names: list[str]) -> dict[str, Any]:
    graph, _, degree, xy = drawn
    plain = partition.nodes == range(graph.n)
    held: dict[str, Any] = {
        "names": None if plain else names,
        "x": _packed(xy[:, 0] * _COORDINATE_STEPS, "u2"),
        "y": _packed(xy[:, 1] * _COORDINATE_STEPS, "u2"),
        "degree": _packed(degree, "u4"),
        "strength": None,
    }
    if graph.is_weighted:
        held["strength"] = [float(f"{strength:.6g}") for strength in graph.degrees]
    return held


def _edges(ends: Ints, most: int) -> dict[str, Any]:
    total = len(ends)
    if total > most:
        chosen = np.random.default_rng(0).choice(total, most, replace=False, shuffle=False)
        ends = ends[np.sort(chosen)]
    source, target = ends.T if total else np.zeros((2, 0), np.int64)
    return {"source": _packed(source, "u4"), "target": _packed(target, "u4"), "total": total}


def _texts(nodes: Sequence[Hashable]) -> list[str]:
    """Return the names as text; with quotes if the text alone does not tell them apart."""
    texts = [name_text(node, "a report") for node in nodes]
    return texts if len(set(texts)) == len(texts) else [repr(node) for node in nodes]


def _unit_square(xy: Floats) -> Floats:
    """Move and scale positions so that the longer side of the picture is from 0 to 1."""
    if not len(xy):
        return xy
    low, high = xy.min(axis=0), xy.max(axis=0)
    scale = max(float((high - low).max()), 1e-12)
    # Centered along the shorter side.
    unit: Floats = np.clip((xy - (low + high) / 2.0) / scale + 0.5, 0.0, 1.0)
    return unit


def _packed(values: Any, kind: str) -> str:
    return base64.b64encode(np.round(values).astype(f"<{kind}").tobytes()).decode("ascii")
