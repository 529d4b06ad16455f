"""The number of communities that the spectrum of a stored graph shows, by moments."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kgroups._csr import connected_components
from kgroups._types import Bools, Indices
from kgroups.blocks import detection
from kgroups.blocks.arguments import check_arguments
from kgroups.blocks.engines import Engine, OutOfCore
from kgroups.blocks.journal import Journal
from kgroups.blocks.search import BlockSearch, connected_parts
from kgroups.blocks.store import StoredGraph
from kgroups.blocks.tasks import Work
from kgroups.blocks.weighing import Weighing
from kgroups.search import Search
from kgroups.spectrum import (
    BetheHessian,
    Spectrum,
    count_components,
    has_structure,
    spectrum_of_graph,
)

# Shares of an estimate between which the number lies. In 36 planted partitions and LFR graphs with
# 2 to 100 communities and signal-to-noise ratios from 1.3 to 3, it was .72 to 2.66 times the
# estimate; large where communities are many and faint.
_LEAST, _MOST = 0.5, 3.0


def estimated_spectrum(store: StoredGraph, given: Mapping[str, Any]) -> Spectrum:
    """Return what the spectrum of a stored graph shows; ``given`` are arguments to be refused.

    What fits in memory is counted there. Of larger components the number is estimated: it should
    lie between ``k_low`` and ``k_high``, there are no eigenvalues, and r is that of the component.
    """
    check_arguments(given)
    if detection.fits(store, store.entries):
        return spectrum_of_graph(store.to_graph())
    engine: Engine = OutOfCore()
    component = _components(store, engine)
    entries = detection.entries_of(store, component)
    large = [c for c, one in enumerate(entries.tolist()) if not detection.fits(store, one)]
    large.sort(key=lambda c: -entries[c])
    k = low = high = below = 0
    r, methods = 0.0, Counter[str]()
    for c in large:
        shown, here, disassortative = _by_moments(store, component == c, engine)
        r = r or here
        k, low, high = k + shown, low + _low(shown), high + _high(shown)
        below += disassortative
        methods["moments"] += 1
    rest = np.setdiff1d(np.arange(entries.size), large)
    for some in detection.batches(store, rest, entries):
        chosen = np.zeros(entries.size, dtype=np.bool_)
        chosen[some] = True
        graph, _ = detection.extracted(store, chosen[component])
        adjacency = graph.simple_adjacency()
        hessian = BetheHessian(r or "mean-degree").bind(adjacency, weighted=graph.is_weighted)
        r = r or float(hessian.r)
        counts = count_components(hessian, connected_components(adjacency)[1])
        k, low = k + counts.total, low + int(counts.k_low.sum())
        high += int(counts.k_high.sum())
        methods.update(counts.method)
    return Spectrum(
        k=k,
        k_low=low,
        k_high=high,
        r=r,
        r_choice="mean-degree",
        eigenvalues=(),
        gap=0.0,
        k_at={"mean-degree": k},
        r_at={"mean-degree": r},
        exact_at={"mean-degree": low == high},
        below_minus_one=below,
        methods=dict(methods),
    )


def _components(store: StoredGraph, engine: Engine) -> Indices:
    """Return the component of each node."""
    work = Work(store, Weighing(1.0), np.zeros(store.n, dtype=np.int32))
    engine.start(work)
    roots = connected_parts(work, engine)
    first = roots == np.arange(roots.size, dtype=np.int32)
    names = np.cumsum(first, dtype=np.int32) - np.int32(1)
    return np.asarray(names[roots])


def _by_moments(store: StoredGraph, mine: Bools, engine: Engine) -> tuple[int, float, bool]:
    """Return how many communities the moments of a component show, r, and if nodes avoid others."""
    work, _ = detection.work_on(store, mine, engine)
    with TemporaryDirectory() as folder:
        search = BlockSearch(work, engine, Search(), 0, Journal(Path(folder)))
        found = search.moments()
    k = max(2, round(found.k)) if has_structure(found) else 1
    return k, search.r, found.operator.lowest < -1.0


def _low(k: int) -> int:
    return max(1, int(_LEAST * k))


def _high(k: int) -> int:
    return int(_MOST * k)
