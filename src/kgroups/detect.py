"""From a graph to its communities: the whole pipeline on one page."""

from collections import Counter
from dataclasses import replace
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from kgroups._csr import row_lengths
from kgroups._progress import StageProgress, Stages, interrupts_restored, stage_progress
from kgroups._types import SelfLoops, Symmetrize
from kgroups._validation import RngLike, as_rng, check_choice, check_k, naming_what_is_meant
from kgroups._wording import argument, in_python, setting
from kgroups.adapters import SharedLabels, as_graph, as_labels, as_shared_labels, is_stored
from kgroups.datasets import is_known_network, named_graph
from kgroups.errors import ConvergenceWarning, InputError, warn_caller
from kgroups.graph import Graph
from kgroups.hartigan import Hartigan, Init, KMeansInit, Refiner, WarmStart, refine_whole
from kgroups.partition import Partition
from kgroups.report import Report, continuum_warning
from kgroups.search import (
    Auto,
    Detection,
    Method,
    Options,
    Prepared,
    check_method,
    decide,
    find_k_communities,
    prepare,
    propose,
    reported_counts,
)
from kgroups.spectrum import (
    BetheHessian,
    Operator,
    check_operator,
    spectrum_of_graph,
)

if TYPE_CHECKING:
    from kgroups.blocks import Engine, StoredGraph, StoredPartition

# What the arguments of other packages are called here.
_RNG = "The seed is the argument rng: a whole number or a numpy Generator."
_SCALE = (
    "There is no resolution. The argument k sets the number of communities, and levels() of the "
    "result has communities at finer and coarser scales."
)
_NUMBER = "The number of communities is the argument k."
_WEIGHT = "The argument weight names the edge attribute that holds the weights."
_INSTEAD = {
    **dict.fromkeys(("seed", "random_state"), _RNG),
    **dict.fromkeys(("resolution", "resolution_parameter", "gamma"), _SCALE),
    **dict.fromkeys(("n_communities", "n_clusters", "num_communities", "K"), _NUMBER),
    **dict.fromkeys(("weights", "edge_weight"), _WEIGHT),
    "directed": "The argument symmetrize makes a directed graph undirected.",
}


@overload
def detect_communities(
    graph: "StoredGraph",
    k: int | None = None,
    *,
    method: Method = ...,
    rng: RngLike = ...,
    progress: StageProgress = ...,
    engine: "Engine | None" = ...,
) -> "StoredPartition": ...


@overload
def detect_communities(
    graph: Any,
    k: int | None = None,
    *,
    weight: str | None = "weight",
    source: str | None = None,
    target: str | None = None,
    operator: Operator = ...,
    method: Method = ...,
    init: Init | WarmStart = ...,
    refine: Refiner | None = ...,
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops = "drop",
    rng: RngLike = None,
    progress: StageProgress = False,
    engine: None = None,
) -> Partition: ...


@naming_what_is_meant(_INSTEAD)
def detect_communities(
    graph: Any,
    k: int | None = None,
    *,
    weight: str | None = "weight",
    source: str | None = None,
    target: str | None = None,
    operator: Operator = BetheHessian(),
    method: Method = Auto(),
    init: Init | WarmStart = KMeansInit(),
    refine: Refiner | None = Hartigan(),
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops = "drop",
    rng: RngLike = None,
    progress: StageProgress = False,
    engine: "Engine | None" = None,
) -> "Partition | StoredPartition":
    """Find the communities of a graph, and how many there are.

    Parameters
    ----------
    graph : networkx, igraph or NetworKit graph, matrix, edges, table, path, name, or Graph
        Anything that :func:`kgroups.as_graph` takes, or the name of a known network such as
        ``"karate"`` (see :func:`kgroups.datasets.names`). Undirected; see ``symmetrize`` for
        directed ones. Weights are similarities. Parallel edges count with the sum of their
        weights. Or a :class:`kgroups.StoredGraph`, which need not fit in memory; it takes ``k`` up
        to 512, ``method`` (not :class:`Spectral`), ``rng``, ``progress`` and ``engine`` only.
    k : int, optional
        Number of communities. If not given, it is found with the communities, and these are
        connected. If given, exactly ``k`` non-empty communities are returned.
    weight : str or None
        Edge attribute or column that holds the weights; ``None`` ignores weights.
    source, target : str, optional
        Columns of a table, or of a file with a table, that hold the ends of the edges. Usual names
        such as ``source`` and ``target`` or ``from`` and ``to`` are recognized.
    operator : BetheHessian or another Operator
        The operator, by default the Bethe Hessian with the usual choice of r.
    method : Auto, Search or Spectral
        Where candidates come from: the search for the shortest description, eigenvectors (exact or
        filtered), or, with :class:`Auto`, both; then an arbiter decides.
    init : KMeansInit, QRInit or WarmStart
        How the eigenvectors become initial labels, or existing labels to start from instead.
    refine : Hartigan, another Refiner, or None
        How initial labels from eigenvectors are improved; ``None`` leaves them. Any object with the
        method of :class:`kgroups.hartigan.Refiner` will do. With ``k`` given, an ``init`` or
        ``refine`` other than the default asks for eigenvectors alone.
    symmetrize : {"sum", "union"}, optional
        How a directed graph becomes undirected: weights of both directions summed, or any edge as
        one edge of weight 1.
    self_loops : {"drop", "keep"}
        Whether self-loops take part.
    rng : int, Generator or None
        Source of randomness: random numbers, and a random order of the nodes instead of that of
        their names. ``None`` is a fixed stream and the order of the names, so that calls repeat.
    progress : bool or callable
        True shows the current stage and its share done on standard error if that is a terminal; a
        callable is called with the name of each stage as it begins, and about once a second in a
        long stage with its name and share, such as ``"searching, 40 %"``.
    engine : Engine, optional
        Who works on the blocks of a stored graph, by default this process. Communities do not
        depend on it.

    Returns
    -------
    Partition
        A sequence of sets of nodes, largest first, with labels, spectrum and report. Of a stored
        graph a :class:`kgroups.StoredPartition`, whose labels are in arrays.

    Raises
    ------
    InputError
        If the graph, a weight, k or an option is invalid.

    Warns
    -----
    KGroupsWarning
        If there is a reason to doubt the result; ``report.warnings`` holds the same warnings.

    Notes
    -----
    For the same node names, the same graph gives the same communities in any order of its nodes
    and edges: the work is done in the order of the sorted names. Renaming nodes can change the
    result, and so can another order of the rows of a matrix, whose nodes have no names. Several
    values of ``rng`` show by how much, and so does :meth:`Partition.stability`.

    Examples
    --------
    >>> import networkx as nx
    >>> import kgroups as kg
    >>> partition = kg.detect_communities(nx.ring_of_cliques(6, 5))
    >>> len(partition), [len(community) for community in partition]
    (6, [5, 5, 5, 5, 5, 5])
    """
    _check_options(operator, method, init, refine)
    check_choice("self_loops", self_loops, ("drop", "keep"))
    columns = {"weight": weight, "source": source, "target": target}
    if is_stored(graph):
        from kgroups.blocks import check_arguments, check_engine, detect_stored

        chosen = {"operator": operator, "init": init, "refine": refine}
        check_arguments({**columns, **chosen, "symmetrize": symmetrize, "self_loops": self_loops})
        check_engine(engine)
        return detect_stored(graph, k, method=method, engine=engine, rng=rng, progress=progress)
    if engine is not None:
        advice = in_python(
            "\n  Make a store of its edges: kgroups.open_graph(edges, store=folder)."
        )
        msg = (
            "engine must be left out for a graph in memory, which is searched in this process, got "
            f"{engine!r}.{advice}"
        )
        raise InputError(msg)
    stream = as_rng(rng)
    with (
        interrupts_restored(),
        stage_progress(progress=progress) as announce,
        Stages(announce) as stages,
    ):
        stages.begin("reading the graph")
        if isinstance(graph, str) and is_known_network(graph):
            given, _ = named_graph(graph, **columns, symmetrize=symmetrize)
        else:
            given = as_graph(graph, **columns, symmetrize=symmetrize)
        k = None if k is None else check_k(k, given.n)
        known = _start_labels(init, given, k)

        stages.begin("finding communities")
        # ``rng`` is to show all effects of chance; ties depend on the order of the nodes, too.
        shuffle = None if rng is None else stream.permutation(given.n)
        ready = prepare(given, operator, self_loops, shuffle=shuffle)
        first = KMeansInit() if isinstance(init, WarmStart) else init
        options = Options(method, first, refine, stages.begin)
        if k is None:
            start = None if known is None else ready.sorted(known.labels)
            found = decide(propose(ready.problem, options, stream, start=start), stream)
        else:
            found = find_k_communities(ready.problem, k, options, stream)
        found.counts = reported_counts(ready.problem, method, found)
    request = _Request(type(method).__name__, repr(init), k, operator, refine, self_loops, known)
    partition = _result(given, ready, found, request, stages)
    # The settings that find communities again in other graphs; labels to start from do not fit.
    vars(partition)["_found_with"] = {
        "k": k,
        "operator": operator,
        "method": method,
        "init": first,
        "refine": refine,
        "self_loops": self_loops,
    }
    return partition


@interrupts_restored()
def refine_partition(
    graph: Any,
    partition: Any,
    *,
    weight: str | None = "weight",
    operator: Operator = BetheHessian(),
    refine: Refiner = Hartigan(),
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops = "drop",
) -> Partition:
    """Improve any partition of a graph by a refinement method; the number of communities stays.

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
    _check_options(operator, Auto(), KMeansInit(), refine)
    if refine is None:
        msg = "refine must be Hartigan() or another Refiner to refine a partition, got None."
        raise InputError(msg)
    check_choice("self_loops", self_loops, ("drop", "keep"))
    stages = Stages(lambda stage: None)
    stages.begin("refining")
    given = as_graph(graph, weight=weight, symmetrize=symmetrize)
    labels = as_labels(partition, given)
    ready = prepare(given, operator, self_loops)
    z = ready.sorted(labels)
    found = Detection(z)
    if given.n:
        found.z = found.record(refine_whole(refine, ready.problem, z))
    k = np.unique(found.z).size
    request = _Request("given labels", "given labels", k, operator, refine, self_loops)
    return _result(given, ready, found, request, stages)


class _Request(NamedTuple):
    """What was asked for."""

    method: str
    init: str
    k: int | None
    operator: Operator
    refine: Refiner | None
    self_loops: SelfLoops
    start: SharedLabels | None = None


def _check_options(
    operator: Operator, method: Method, init: Init | WarmStart, refine: Refiner | None
) -> None:
    check_method(method)
    check_operator(operator)
    for name, value, kinds, listed in (
        ("init", init, (Init, WarmStart), "KMeansInit(), QRInit() or WarmStart(partition)"),
        # Hartigan comes first because checking a protocol takes long.
        ("refine", refine, (Hartigan, NoneType, Refiner), "Hartigan(), another Refiner, or None"),
    ):
        # A class with a method refine is no refiner, but its instances are.
        if not isinstance(value, kinds) or isinstance(value, type):
            msg = f"{name} must be {listed}, got {value!r}."
            raise InputError(msg)


def _start_labels(init: Init | WarmStart, graph: Graph, k: int | None) -> SharedLabels | None:
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
    return as_shared_labels(init.partition, graph)


def _result(
    graph: Graph, ready: Prepared, found: Detection, request: _Request, stages: Stages
) -> Partition:
    """Return the communities in the caller's names with their report, and issue its warnings."""
    problem, counts, start = ready.problem, found.counts, request.start
    refinement = found.refinements.report(request.refine)
    warnings = () if counts is None else counts.warnings()
    if not refinement.converged:
        msg = (
            f"the refinement of labels stopped before it converged: {refinement.method}.\n"
            "  Raise max_sweeps to refine on."
        )
        warnings = (*warnings, ConvergenceWarning(msg))
    sizes = np.bincount(found.z)
    borders, k_found = found.borders, int(np.count_nonzero(sizes))
    if borders is not None and borders.patches:
        warnings = (*warnings, continuum_warning(borders.patches, k_found))
    report = Report(
        method=request.method,
        n=graph.n,
        m=graph.m,
        n_components=problem.n_components,
        n_isolated=graph.n - int(np.count_nonzero(row_lengths(problem.A))),
        loops_dropped=graph.n_loops if request.self_loops == "drop" else 0,
        saturated_weights=problem.hessian.saturated,
        r=problem.hessian.r,
        r_choice=problem.hessian.r_choice,
        k_given=request.k,
        k_hat=None if counts is None else counts.total,
        k_hat_low=None if counts is None else int(counts.k_low.sum()),
        k_hat_high=None if counts is None else int(counts.k_high.sum()),
        k_found=k_found,
        counting={} if counts is None else dict(Counter(counts.method)),
        init=request.init,
        refinement=refinement,
        uninformed=len(found.uninformed),
        ordering=ready.ordering,
        warnings=warnings,
        seconds=stages.seconds(),
        components=tuple(
            each
            if ready.numbers is None
            else replace(each, component=int(ready.numbers[each.component]))
            for each in found.components
        ),
        visits=found.visits + refinement.visits,
        peak_bytes=stages.peak_bytes(),
        dispersion=found.dispersion,
        contiguity=None if borders is None else borders.contiguity,
        separation=None if borders is None else borders.separation,
        patches=0 if borders is None else borders.patches,
        n_single=int(np.count_nonzero(sizes == 1)),
        about_weights=graph.about_weights,
        nodes_new=0 if start is None else start.new,
        nodes_vanished=0 if start is None else start.vanished,
    )
    if report.warnings:
        warn_caller(report.warnings)
    order = ready.order
    uninformed = found.uninformed if order is None else np.sort(order[found.uninformed])
    return Partition(
        ready.restored(found.z),
        graph.nodes,
        graph=graph,
        spectrum=partial(
            spectrum_of_graph, operator=request.operator, self_loops=request.self_loops
        ),
        report=report,
        uninformed=tuple(graph.nodes[i] for i in uninformed),
    )
