"""Where the nodes stand: positions given by the caller, or forces computed by igraph."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.errors import InputError
from kgroups.graph import Graph

__all__ = ["force_layout", "positions"]

_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
_WITHIN, _BETWEEN = 1.0, 0.35


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
    xy = (
        np.asarray(layout, dtype=float).reshape(-1, 2)
        if graph.n == 0
        else np.asarray(layout, float)
    )
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
    """
    import igraph

    rows, cols, _ = graph.edges()
    off = rows != cols
    rows, cols = rows[off], cols[off]
    g = igraph.Graph(n=graph.n, edges=np.column_stack([rows, cols]))
    springs = np.where(labels[rows] == labels[cols], _WITHIN, _BETWEEN)
    start = _sunflower(graph.n, labels)
    layout = g.layout_fruchterman_reingold(
        weights=springs.tolist(), seed=start.tolist(), niter=600, start_temp=np.sqrt(graph.n) / 6
    )
    return np.array(layout.coords, float).reshape(graph.n, 2)


def _sunflower(n: int, labels: Ints) -> Floats:
    """Spread the nodes over a disc so that communities begin as neighbours."""
    place = np.empty(n)
    place[np.argsort(labels, kind="stable")] = np.arange(n)
    radius, angle = np.sqrt(place + 0.5), place * _GOLDEN_ANGLE
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
