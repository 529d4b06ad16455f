"""Compile what detection uses, so that no trial's time has it."""

import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from kgroups._kernel import Kernel, compiled_at_once, jit_mode
from kgroups.detect import detect_communities, refine_partition
from kgroups.errors import KGroupsWarning
from kgroups.generators import planted_partition
from kgroups.graph import Graph
from kgroups.hartigan import improve_rows, spread_labels
from kgroups.search import Auto, Spectral


def warm_detection() -> None:
    """Compile what the calls of :func:`kgroups.detect_communities` use, unless that is forbidden.

    A study calls it before its first trial, so that no trial's time has it.
    """
    if jit_mode() != "never":
        run_compiled(*CALLS_OF_DETECTION)


def run_compiled(
    *calls: Callable[[], object], tell: Callable[[Kernel[..., Any]], object] = lambda kernel: None
) -> None:
    """Make calls, and compile the kernels that they reach."""
    with compiled_at_once(tell), warnings.catch_warnings():
        # The graphs are too small for some of what is asked of them.
        warnings.simplefilter("ignore", KGroupsWarning)
        for call in calls:
            call()


def _detect() -> None:
    karate = nx.karate_club_graph()
    for weight in (None, "weight"):
        for k in (None, 2):
            found = detect_communities(karate, k, weight=weight)
    refine_partition(karate, found)


def _detect_on_vectors() -> None:
    # Too many nodes for dense solvers, with trees, and in an order that is not the canonical one.
    graph, _ = planted_partition(600, k=2, degree=5.0, snr=1.5, rng=0)
    for method in (Auto(), Spectral("filtered")):
        detect_communities(graph, method=method)
    # On larger graphs a sample of the rows is grouped, and the others follow.
    halves = np.arange(6) // 3
    improve_rows(np.eye(6), halves, k=2)
    path = Graph.from_edges(np.arange(5), np.arange(1, 6)).simple_adjacency()
    spread_labels(path, np.where(halves == 0, 0, -1))


CALLS_OF_DETECTION = (_detect, _detect_on_vectors)
"""Calls that use every kernel of detection."""
