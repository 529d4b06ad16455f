"""From a graph to its communities: the whole pipeline on one page."""

from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from kgroups._blas import single_threaded
from kgroups._doors import RngLike, as_rng, check_choice, check_k
from kgroups._types import Ints, SelfLoops, Symmetrize
from kgroups._wording import argument, setting
from kgroups.adapters import as_graph
from kgroups.adapters.labels import as_labels
from kgroups.adapters.warming import compile_kernels
from kgroups.embedding import KMeansSeed, Seed, WarmStart
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.operators import BetheHessian
from kgroups.partition import Partition
from kgroups.refine import Hartigan
from kgroups.report import RefinementReport, Report
from kgroups.search import (
    EXACT_NODES,
    Auto,
    Detection,
    Exact,
    FewGroups,
    ManyGroups,
    Prepared,
    Problem,
    Regime,
    check_regime,
    communities_found,
    communities_given_k,
    prepared,
)
from kgroups.spectrum import (
    DeferredSpectrum,
    count_components,
    spectrum_of,
    warnings_of,
)
from kgroups.spectrum.count import DENSE_NODES

__all__ = ["detect_communities", "refine_partition", "warm"]

# Large enough that the spectrum is not found by a dense solver.
_LARGE_RING = 600
_NOT_COUNTED: dict[str, Any] = {"k_hat": None, "methods": {}, "warnings": ()}


def detect_communities(
    graph: Any,
    k: int | None = None,
    *,
    weight: str | None = "weight",
    source: str | None = None,
    target: str | None = None,
    operator: BetheHessian = BetheHessian(),
    regime: Regime = Auto(),
    init: Seed | WarmStart = KMeansSeed(),
    refine: Hartigan | None = Hartigan(),
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops = "drop",
    rng: RngLike = None,
    progress: Callable[[str], None] | None = None,
) -> Partition:
    """Find the communities of a graph, and how many there are.

    Parameters
    ----------
    graph : networkx or igraph graph, sparse or dense matrix, arrays, table, path, or Graph
        Undirected; see ``symmetrize`` for directed ones. Weights are similarities. Parallel edges
        count with the sum of their weights.
    k : int, optional
        Number of communities. If not given, it is found with the communities, and these are
        connected. If given, exactly ``k`` non-empty communities are returned.
    weight : str or None
        Edge attribute or column that holds the weights; ``None`` ignores weights.
    source, target : str, optional
        Columns of a table, or of a file with a table, that hold the ends of the edges. Usual names
        such as ``source`` and ``target`` or ``from`` and ``to`` are found without.
    operator : BetheHessian
        The operator and its choice of r.
    regime : Auto, Exact, FewGroups or ManyGroups
        Who proposes communities: eigenvectors (exact or filtered), the search for the shortest
        description, or with :class:`Auto` all of them, and an arbiter decides.
    init : KMeansSeed, QRSeed or WarmStart
        How the eigenvectors become first labels, or labels to start from instead.
    refine : Hartigan or None
        How first labels from eigenvectors are improved; ``None`` leaves them. With ``k`` given,
        another ``init`` or ``refine`` than the default asks for eigenvectors alone.
    symmetrize : {"sum", "union"}, optional
        How a directed graph becomes undirected: weights of both directions summed, or any edge as
        one edge of weight 1.
    self_loops : {"drop", "keep"}
        Whether self-loops take part.
    rng : int, Generator or None
        Randomness of the first labels; ``None`` is a fixed stream, so that calls repeat.
    progress : callable, optional
        Called with the name of each stage as it begins.

    Returns
    -------
    Partition
        A sequence of sets of nodes, largest first, with labels, spectrum and report.

    Raises
    ------
    InputError
        If the graph, a weight, k or an option is not what it must be.

    Notes
    -----
    The same graph gives the same communities in any order of its nodes and edges: the work is
    done in the order of the sorted node names.

    Examples
    --------
    >>> import networkx as nx
    >>> import kgroups as kg
    >>> partition = kg.detect_communities(nx.ring_of_cliques(6, 5))
    >>> len(partition), [len(community) for community in partition]
    (6, [5, 5, 5, 5, 5, 5])
    """
    clock = _Clock(progress)
    _check_options(operator, regime, init, refine)
    check_choice("self_loops", self_loops, ("drop", "keep"))
    rng = as_rng(rng)

    clock.start("reading the graph")
    given = as_graph(graph, weight=weight, source=source, target=target, symmetrize=symmetrize)
    k = None if k is None else check_k(k, given.n)
    start = _start(init, given, k)
    # All regimes but Exact solve dense problems of small components only.
    with single_threaded(given.n if isinstance(regime, Exact) else min(given.n, EXACT_NODES)):
        ready = prepared(given, operator, self_loops)
        problem, order = ready.problem, ready.order

        # Which candidate wins in a component, and why, is decided by search.arbiter.decide.
        clock.start("finding communities")
        seeds = KMeansSeed() if isinstance(init, WarmStart) else init
        if k is None:
            if start is not None and order is not None:
                start = start[order]
            found = communities_found(
                problem, regime, seeds, refine, rng, start=start, tell=clock.start
            )
        else:
            found = communities_given_k(problem, k, regime, seeds, refine, rng, tell=clock.start)

        counted = _counted(problem, regime, found)

    seconds = clock.stop()
    report = Report(
        regime=type(regime).__name__,
        k_given=k,
        init=repr(init),
        refinement=_summary(found, refine),
        uninformed=len(found.uninformed),
        ordering=ready.ordering,
        components=tuple(found.components),
        visits=found.visits + sum(one.visits for one in found.refinements),
        seconds=seconds,
        **counted,
        **_facts(given, problem, found.z, self_loops),
    )
    return _partition(given, ready, found, DeferredSpectrum(operator, self_loops), report)


def refine_partition(
    graph: Any,
    partition: Any,
    *,
    weight: str | None = "weight",
    operator: BetheHessian = BetheHessian(),
    refine: Hartigan = Hartigan(),
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops = "drop",
) -> Partition:
    """Improve any partition of a graph by Hartigan moves; the number of communities stays.

    Parameters
    ----------
    graph : as for :func:`detect_communities`
    partition : Partition, sets of nodes, labels in node order, or dict from node to label
        Where to start from; it may come from any other method.
    weight, operator, refine, symmetrize, self_loops
        As for :func:`detect_communities`.

    Returns
    -------
    Partition
        The refined communities; ``report.refinement`` says what was done.

    Examples
    --------
    >>> import networkx as nx
    >>> import kgroups as kg
    >>> G = nx.barbell_graph(5, 0)
    >>> start = [{0, 1, 2}, {3, 4, 5, 6, 7, 8, 9}]
    >>> [sorted(community) for community in kg.refine_partition(G, start)]
    [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    """
    clock = _Clock(None)
    clock.start("refining")
    _check_options(operator, Auto(), KMeansSeed(), refine)
    if refine is None:
        msg = "refine must be Hartigan() to refine a partition, got None."
        raise InputError(msg)
    source = as_graph(graph, weight=weight, symmetrize=symmetrize)
    labels = as_labels(partition, source)
    check_choice("self_loops", self_loops, ("drop", "keep"))
    ready = prepared(source, operator, self_loops)
    problem, order = ready.problem, ready.order
    z = labels if order is None else labels[order]
    found = Detection(z)
    if source.n:
        k = int(z.max()) + 1
        refined = problem.whole.refined(z, k, refine)
        found = Detection(refined.z, refinements=[refined])
    report = Report(
        regime="None",
        k_given=len(set(found.z.tolist())),
        init="given labels",
        refinement=_summary(found, refine),
        uninformed=0,
        ordering=ready.ordering,
        seconds=clock.stop(),
        **_NOT_COUNTED,
        **_facts(source, problem, found.z, self_loops),
    )
    return _partition(source, ready, found, DeferredSpectrum(operator, self_loops), report)


def warm() -> None:
    """Compile every kernel, so that the next call starts at once.

    With ``NUMBA_DISABLE_JIT=1`` there is nothing to compile, and nothing is run.
    """
    import numba

    from kgroups.energy.warming import compile_dense_kernels

    if vars(numba.config)["DISABLE_JIT"]:
        return
    source = np.array([0, 0, 1, 2, 3, 3, 4])
    target = np.array([1, 2, 2, 3, 4, 5, 5])
    for weights in (None, np.linspace(1.0, 2.0, 7)):
        triangles = Graph.from_edges(source, target, weights)
        for k in (None, 2):
            refine_partition(triangles, detect_communities(triangles, k))
    ring = np.arange(_LARGE_RING)
    wide = Graph.from_edges(np.tile(ring, 2), np.concatenate([ring + 1, ring + 2]) % _LARGE_RING)
    spectrum_of(
        BetheHessian().bind(wide.simple_adjacency(), weighted=False), wide.csr, weighted=False
    )
    for regime in (FewGroups(), ManyGroups()):
        for k in (None, 3):
            detect_communities(wide, k, regime=regime)
    compile_kernels()
    compile_dense_kernels()


def _check_options(
    operator: BetheHessian, regime: Regime, init: Seed | WarmStart, refine: Hartigan | None
) -> None:
    check_regime(regime)
    for name, value, kinds, listed in (
        ("operator", operator, BetheHessian, "BetheHessian()"),
        ("init", init, Seed | WarmStart, "KMeansSeed(), QRSeed() or WarmStart(partition)"),
        ("refine", refine, Hartigan | None, "Hartigan() or None"),
    ):
        if not isinstance(value, kinds):
            msg = f"{name} must be {listed}, got {value!r}."
            raise InputError(msg)


def _start(init: Seed | WarmStart, source: Graph, k: int | None) -> Ints | None:
    """Return the labels to start from, in the caller's order."""
    if not isinstance(init, WarmStart):
        return None
    if k is not None:
        msg = (
            "init=WarmStart(...) finds the number of communities itself, got "
            f"{setting('k', k)}.\n"
            f"  Leave {argument('k')} out, or improve labels with "
            "refine_partition(graph, partition), which keeps their number."
        )
        raise InputError(msg)
    return as_labels(init.partition, source)


def _counted(problem: Problem, regime: Regime, found: Detection) -> dict[str, Any]:
    """Return what the report says of the eigenvalues above the threshold.

    They are counted where eigenvectors decide, and on small graphs where they had a say.
    """
    asked = any(component.k_hat is not None for component in found.components)
    if not (isinstance(regime, Exact) or (asked and problem.bound.n <= DENSE_NODES)):
        return _NOT_COUNTED
    counts = count_components(problem.bound, problem.component)
    return {
        "k_hat": counts.total,
        "k_hat_low": int(counts.k_low.sum()),
        "k_hat_high": int(counts.k_high.sum()),
        "methods": dict(Counter(counts.method)),
        "warnings": warnings_of(counts),
    }


def _partition(
    source: Graph,
    ready: Prepared,
    found: Detection,
    spectrum: DeferredSpectrum,
    report: Report,
) -> Partition:
    """Carry labels back to the caller's order and names."""
    uninformed = found.uninformed
    if ready.order is not None:
        uninformed = np.sort(ready.order[uninformed])
    return Partition(
        ready.restored(found.z),
        source.nodes,
        graph=source,
        spectrum=spectrum,
        report=report,
        uninformed=tuple(source.nodes[i] for i in uninformed),
    )


def _summary(found: Detection, refine: Hartigan | None) -> RefinementReport:
    done = found.refinements
    return RefinementReport(
        method="no refinement" if refine is None else repr(refine),
        components=len(done),
        kept=dict(Counter(one.kept for one in done)),
        sweeps=sum(one.sweeps for one in done),
        moves=sum(one.moves for one in done),
        visits=sum(one.visits for one in done),
        converged=all(one.converged for one in done),
    )


def _facts(source: Graph, problem: Problem, z: Ints, self_loops: SelfLoops) -> dict[str, Any]:
    """Return what the report says of the graph and its operator."""
    return {
        "n": source.n,
        "m": source.m,
        "n_components": problem.n_components,
        "n_isolated": int(np.count_nonzero(np.diff(problem.A.indptr) == 0)),
        "loops_dropped": source.n_loops if self_loops == "drop" else 0,
        "saturated_weights": problem.bound.saturated,
        "r": problem.bound.r,
        "r_choice": problem.bound.r_choice,
        "k_found": len(np.unique(z)),
    }


class _Clock:
    """Seconds of each stage, and the caller told when one begins."""

    def __init__(self, progress: Callable[[str], None] | None) -> None:
        self._progress = progress
        self._seconds: dict[str, float] = {}
        self._stage, self._since = "", perf_counter()

    def start(self, stage: str) -> None:
        self.stop()
        self._stage, self._since = stage, perf_counter()
        if self._progress is not None:
            self._progress(stage)

    def stop(self) -> dict[str, float]:
        if self._stage:
            self._seconds[self._stage] = perf_counter() - self._since
        self._stage = ""
        return self._seconds
