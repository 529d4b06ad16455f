"""Compile every kernel in advance, so that no later call waits for the compiler."""

import warnings
from collections.abc import Callable
from importlib import import_module
from pkgutil import walk_packages
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np

import kgroups
from kgroups._csr import rows_of_edges
from kgroups._kernel import KERNELS, Kernel, compiled_at_once, jit_mode
from kgroups._parallel import Threads
from kgroups._progress import Progress, check_progress, counted_progress
from kgroups.adapters import as_graph
from kgroups.blocks import Block, _scores_nb, _store_nb, _sweeps_nb, tasks
from kgroups.blocks.weighing import Weighing
from kgroups.detect import detect_communities, refine_partition
from kgroups.energy import kernel_kgroups
from kgroups.errors import KGroupsWarning
from kgroups.generators import planted_partition
from kgroups.graph import Graph
from kgroups.hartigan import improve_rows, spread_labels
from kgroups.inference.confidence import confidence_of_labels
from kgroups.search import Auto, Search, Spectral, finest_level, prepare
from kgroups.search.climbing import MoveRules
from kgroups.search.objective import Groups, Objective, closed_share, contiguity, pearson
from kgroups.search.scales import GroupGraph, find_supergroups


def warm(*, progress: Progress = True) -> int:
    """Compile every kernel for this machine, or load it where that was done before.

    Without it, calls interpret kernels until compiling them pays, and a call that does much work
    compiles what it uses. What is compiled is kept in numba's cache for other processes. Call it
    after an installation, for example when a container is built or a cluster is set up, or before
    calls are timed.

    Parameters
    ----------
    progress : bool or callable
        True draws a bar on standard error if that is a terminal; a callable is called with the
        number of kernels that are ready and their total.

    Returns
    -------
    int
        The number of kernels that are ready: all, or none where the environment variable
        ``KGROUPS_JIT`` is ``never`` or ``NUMBA_DISABLE_JIT`` is set.

    Examples
    --------
    >>> import kgroups as kg
    >>> kg.warm() > 20
    True
    """
    check_progress(progress, "(done, total)")
    if jit_mode() == "never":
        return 0
    for module in walk_packages(kgroups.__path__, "kgroups."):
        if module.name.endswith("_nb"):
            import_module(module.name)
    with counted_progress(len(KERNELS), "kernel", progress=progress) as show:
        show(_number_ready())
        _run_compiled(
            *_CALLS_OF_DETECTION,
            _find_scales,
            _infer,
            _build_large_graphs,
            _cluster_points,
            _make_blocks,
            _search_blocks,
            tell=lambda kernel: show(_number_ready()),
        )
    return _number_ready()


def warm_detection() -> None:
    """Compile what the calls of :func:`kgroups.detect_communities` use, unless that is forbidden.

    A study calls it before its first trial, so that no trial's time has it.
    """
    if jit_mode() != "never":
        _run_compiled(*_CALLS_OF_DETECTION)


def _run_compiled(
    *calls: Callable[[], object], tell: Callable[[Kernel[..., Any]], object] = lambda kernel: None
) -> None:
    """Make calls, and compile the kernels that they reach."""
    with compiled_at_once(tell), warnings.catch_warnings():
        # The graphs are too small for some of what is asked of them.
        warnings.simplefilter("ignore", KGroupsWarning)
        for call in calls:
            call()


def _number_ready() -> int:
    return sum(kernel.is_compiled() for kernel in KERNELS)


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


_CALLS_OF_DETECTION = (_detect, _detect_on_vectors)


def _find_scales() -> None:
    # Four groups in a ring, the fewest that can have super-groups.
    ring = Graph.from_edges(np.arange(4), np.arange(1, 5) % 4)
    level = finest_level(ring.simple_adjacency(), weighted=False)
    find_supergroups(GroupGraph.of(level))
    one = np.zeros(1, dtype=np.int64)
    groups = Groups.of(level, np.zeros(4, dtype=np.int32), one + 1, one)
    pearson(groups)
    closed_share(groups)
    contiguity(level, np.zeros(4, dtype=np.int64), one + 1, one)


def _infer() -> None:
    ready = prepare(as_graph(nx.karate_club_graph()))
    for most_messages in (0.0, 1e6):
        confidence_of_labels(ready, np.arange(ready.problem.n) % 2, most_messages=most_messages)


def _build_large_graphs() -> None:
    source, target = np.array([0, 1, 2, 0, 3]), np.array([1, 2, 0, 1, 3])
    for weight in (None, np.linspace(1.0, 2.0, source.size)):
        rows_of_edges(source, target, weight, 4, few_edges=0)


def _cluster_points() -> None:
    points = np.linspace(0.0, 1.0, 8)
    kernel_kgroups(points, 2, n_init=1)


def _make_blocks() -> None:
    # Stores are made in folders, and those of text need pyarrow.
    zero, one, none = np.zeros(1, np.int64), np.ones(1, np.int64), np.empty(0, np.int64)
    bounds, text = np.array([0, 1]), np.array([49], np.int8)
    numbers = np.zeros(2, np.int64)
    _store_nb.hash_texts(bounds, text, 3, 5, zero.copy())
    _store_nb.parse_integers(bounds, text, zero.copy())
    _store_nb.merge_sorted(zero, one, numbers)
    _store_nb.find_keys(zero, zero, bounds, 0, 0, one.copy())
    blocks, keys = np.zeros(2, np.int32), np.zeros(2, np.int64)
    _store_nb.deal_edges(zero, one, none, blocks, zero, zero.copy(), 1, keys, none)
    columns = np.zeros(2, np.int32)
    _store_nb.merge_entries(keys, none, 1, np.zeros(2, np.int64), columns, none)
    _scores_nb.add_cuts(columns, columns[:0], none, 0, 0, 1, columns, zero.copy())


def _search_blocks() -> None:
    # A triangle stands for a store.
    ends, columns = np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1], np.int32)
    block = Block(0, 3, ends, columns, None)
    store: Any = SimpleNamespace(read=lambda number: block, strength=np.full(3, 2), n=3)
    work = tasks.Work(store, Weighing(6.0), np.zeros(3, dtype=np.int32), Threads(1))
    K, N = tasks.group_totals(work, 1)
    totals = tasks.Totals(np.full(1, 3.0), K, N)
    objective = Objective.of_sizes(np.array([3]), np.full(1, 3.0))
    rules = MoveRules.of(Search(), np.random.default_rng(0))
    for penalty in (0.0, 0.1):
        given = None if penalty else objective
        tasks.choose(work, 0, totals, tasks.Sweep(3.0, given, rules, penalty))
    links = tasks.tree_links(work, 0)
    _sweeps_nb.join(links, len(links), np.arange(3, dtype=np.int32))
    tasks.group_links(work, 0, 1)
    tasks.multiplied(
        work, 0, np.ones((3, 1), np.float32), np.ones(3, np.float32), None, 1.0, 0.0, 0.0
    )
