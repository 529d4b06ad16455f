"""Find the communities of a stored graph: components, those that fit in memory, and the others."""

import json
import shutil
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import kgroups
from kgroups._progress import (
    StageProgress,
    Stages,
    begin_stage,
    interrupts_restored,
    stage_progress,
)
from kgroups._types import Bools, Indices, Ints
from kgroups._validation import RngLike, as_rng, check_k
from kgroups._wording import argument, in_python
from kgroups.blocks import tasks
from kgroups.blocks.engines import Engine, OutOfCore, one_pass
from kgroups.blocks.folder import full_disk_explained, locked
from kgroups.blocks.journal import Journal, JournalMismatchError, read_record, write_record
from kgroups.blocks.result import StoredPartition
from kgroups.blocks.search import BlockSearch, connected_parts, picked
from kgroups.blocks.store import StoredGraph
from kgroups.blocks.tasks import Work
from kgroups.blocks.weighing import CLASSES, Saturation, Weighing, weight_of
from kgroups.errors import InputError, KGroupsWarning, StoreError, warn_caller
from kgroups.graph import Graph
from kgroups.hartigan import Hartigan, KMeansInit
from kgroups.report import ComponentReport, Report, continuum_warning, how_clearly
from kgroups.search import (
    Auto,
    Method,
    Options,
    Search,
    decide,
    find_k_communities,
    prepare,
    propose,
)
from kgroups.search.arbiter import REPORTED
from kgroups.search.candidates import MAX_PROJECTED, RefinementTotals
from kgroups.search.objective import MOST_SEPARATION
from kgroups.spectrum import BetheHessian
from kgroups.spectrum.operators import saturate, saturation_at_mean_degree

BYTES_PER_EDGE = 250
"""Memory of a detection in memory for each edge; components that need more are left in blocks."""
_CHUNK = 1 << 18
_ROOM = "about 60 bytes per node while communities are found"


@dataclass(eq=False)
class _Communities:
    """Labels by position, -1 where there are none yet, and what is known about them."""

    z: Indices
    k: int
    components: list[ComponentReport] = field(default_factory=list)
    dispersion: float = 1.0
    contiguity: float | None = None
    separation: float | None = None
    patches: int = 0
    uninformed: int = 0
    saturated: int = 0
    r: float | None = None
    visits: int = 0

    def add(self, other: "_Communities") -> None:
        """Add the communities of other components; the largest tells of borders and dispersion."""
        theirs = other.z >= 0
        self.z[theirs] = other.z[theirs] + np.int32(self.k)
        if not self.k:
            for name in ("dispersion", "contiguity", "separation", "r"):
                setattr(self, name, getattr(other, name))
        self.k += other.k
        self.components += other.components
        self.patches += other.patches
        self.saturated += other.saturated
        self.visits += other.visits

    def plain(self) -> dict[str, Any]:
        """Return all but the labels as values that JSON can hold."""
        known = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "z"}
        return {**known, "components": [asdict(one) for one in self.components]}

    @classmethod
    def restored(cls, z: Indices, known: dict[str, Any]) -> "_Communities":
        """Return communities from their labels and such values."""
        components = [ComponentReport(**one) for one in known.pop("components")]
        return cls(z, components=components, **known)


@interrupts_restored()
def detect_stored(
    store: StoredGraph,
    k: int | None = None,
    *,
    method: Method = Auto(),
    engine: Engine | None = None,
    rng: RngLike = None,
    progress: StageProgress = False,
) -> StoredPartition:
    """Find the communities of a stored graph.

    Parameters
    ----------
    store : StoredGraph
        What :func:`kgroups.open_graph` returns.
    k : int, optional
        Number of communities, at most 512.
    method : Auto or Search
        Settings of the search.
    engine : Engine, optional
        Who does the work, by default this process.
    rng : int, Generator or None
        Source of randomness; ``None`` is a fixed stream.
    progress : bool or callable
        As for :func:`kgroups.detect_communities`.

    Returns
    -------
    StoredPartition

    Raises
    ------
    StoreError
        If the store is damaged, the disk is full, or another process makes the same call. After a
        full disk, Ctrl-C or a crash, the same call goes on after the last step that was done.
    InputError
        If ``k`` or ``method`` is not possible.
    """
    settings = method.search_settings
    if settings is None:
        msg = (
            f"{argument('method')} must be Auto() or Search() for a stored graph, got {method!r}: "
            "exact eigenvectors need the whole graph in memory.\n"
            f"  Leave it out{in_python(', or detect communities in store.to_graph()')}."
        )
        raise InputError(msg)
    k = None if k is None else check_k(k, store.n)
    if k is not None and k > MAX_PROJECTED:
        instead = in_python(", or detect communities in store.to_graph()")
        msg = (
            f"{argument('k')} must be at most {MAX_PROJECTED} for a stored graph, got {k}: more "
            "communities cannot be told apart by a projected spectrum.\n"
            f"  Leave {argument('k')} out{instead}."
        )
        raise InputError(msg)
    stream = as_rng(rng)
    # A graph that fits in memory is searched as by detect_communities.
    start = deepcopy(stream), rng is not None
    seed = int(stream.integers(2**63))
    engine = OutOfCore() if engine is None else engine
    folder = store.path / "runs" / _key(store, k, settings, seed)
    folder.parent.mkdir(exist_ok=True)
    with (
        full_disk_explained(store.path, _ROOM, "detect_communities"),
        locked(folder, f"search the store {str(store.path)!r} in this way", "pass another rng"),
        stage_progress(progress=progress) as announce,
        Stages(announce) as stages,
    ):
        stages.begin("opening the store")
        detection = _Detection(store, k, method, settings, engine, seed, folder, start)
        engine.begin(folder)
        try:
            found = detection.run()
        except InputError as error:
            if not isinstance(error, StoreError):
                # The same call would fail again.
                shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            engine.end()
        report = _report(store, k, method, found, detection, stages)
        partition = StoredPartition(store, found.z, report)
        shutil.rmtree(folder, ignore_errors=True)
    if report.warnings:
        warn_caller(report.warnings)
    return partition


def _key(store: StoredGraph, k: int | None, settings: Search, seed: int) -> str:
    """Return a name for a detection, the same whenever it would find the same."""
    record = [kgroups.__version__, k, repr(settings), str(seed), store.memory, BYTES_PER_EDGE]
    text = json.dumps(record)
    return blake2b(text.encode(), digest_size=8).hexdigest()


class _Detection:
    """A detection on a store; what is done is kept in a folder of the store."""

    def __init__(
        self,
        store: StoredGraph,
        k: int | None,
        method: Method,
        settings: Search,
        engine: Engine,
        seed: int,
        folder: Path,
        start: tuple[np.random.Generator, bool],
    ) -> None:
        self.store, self.k, self.method, self.settings = store, k, method, settings
        self.engine, self.seed, self.folder, self._start = engine, seed, folder, start
        folder.mkdir(exist_ok=True)
        self.n_components = self.n_isolated = 0

    def run(self) -> _Communities:
        """Return communities of all components."""
        store, everyone = self.store, np.ones(self.store.n, dtype=np.bool_)
        if fits(store, store.entries):
            return self._in_memory(everyone, self.k)
        begin_stage("connecting components")
        component = self._components()
        sizes, entries = np.bincount(component), entries_of(store, component)
        self.n_components, self.n_isolated = sizes.size, int(np.count_nonzero(entries == 0))
        large = np.flatnonzero(~fits(store, entries))
        if self.k is not None:
            return self._given(component, sizes, large, self.k)
        found = _Communities(np.full(store.n, -1, dtype=np.int32), 0)
        for c in large[np.argsort(-sizes[large], kind="stable")].tolist():
            found.add(self._in_blocks(component == c, c, None))
        rest = np.setdiff1d(np.arange(sizes.size), large)
        for some in batches(store, rest, entries):
            chosen = np.zeros(sizes.size, dtype=np.bool_)
            chosen[some] = True
            more = self._in_memory(picked(chosen, component), None)
            more.components = [
                replace(one, component=int(some[one.component])) for one in more.components
            ]
            found.add(more)
        found.components.sort(key=lambda one: (-one.n, one.component))
        return found

    def _given(self, component: Indices, sizes: Ints, large: Ints, k: int) -> _Communities:
        """Return ``k`` communities of the largest component; the others join the largest one."""
        if large.size > 1:
            msg = (
                f"{argument('k')} must be left out for a stored graph with {large.size} components "
                f"of more than {self.store.memory // BYTES_PER_EDGE} edges, got {k}.\n"
                f"  Leave {argument('k')} out, or raise {argument('memory')}."
            )
            raise InputError(msg)
        c = int(np.argmax(sizes))
        if k > sizes[c]:
            msg = (
                f"{argument('k')} must be at most {int(sizes[c])}, the nodes of the largest "
                f"component, for a stored graph, got {k}.\n  Pass a smaller {argument('k')}."
            )
            raise InputError(msg)
        mine = component == c
        found = self._in_blocks(mine, c, k) if c in large else self._in_memory(mine, k)
        found.uninformed = self.store.n - int(sizes[c])
        if found.uninformed:
            found.z[~mine] = int(np.argmax(np.bincount(found.z[mine])))
        return found

    def _components(self) -> Indices:
        """Return the component of each node, numbered in the order of the first names."""
        found = read_record(self.folder, "component.json")
        if found is None:
            work = Work(self.store, Weighing(1.0), np.zeros(self.store.n, dtype=np.int32))
            self.engine.start(work)
            roots = connected_parts(work, self.engine)
            first = roots == np.arange(roots.size, dtype=np.int32)
            names = np.cumsum(first, dtype=np.int32) - np.int32(1)
            component = picked(names, roots)
            del roots, names
            ranks = _first_ranks(self.store, component, int(np.count_nonzero(first)))
            names = np.empty(ranks.size, dtype=np.int32)
            names[np.argsort(ranks)] = np.arange(ranks.size, dtype=np.int32)
            found = None, {"component.npy": picked(names, component)}
            write_record(self.folder, "component.json", *found)
        return found[1]["component.npy"]

    def _in_memory(self, chosen: Bools, k: int | None) -> _Communities:
        """Return the communities of some components, found in memory."""
        begin_stage("reading what fits in memory")
        graph, nodes = extracted(self.store, chosen)
        begin_stage("finding communities in memory")
        rng, shuffle = np.random.default_rng(self.seed), None
        if chosen.all():
            rng, shuffled = self._start
            shuffle = rng.permutation(graph.n) if shuffled else None
        ready = prepare(graph, BetheHessian(), shuffle=shuffle)
        options = Options(self.method, KMeansInit(), Hartigan(), begin_stage)
        if k is None:
            one = decide(propose(ready.problem, options, rng), rng)
        else:
            one = find_k_communities(ready.problem, k, options, rng)
        z = np.full(self.store.n, -1, dtype=np.int32)
        labels = np.unique(ready.restored(one.z), return_inverse=True)[1]
        z[nodes] = labels
        if chosen.all():
            self.n_components = ready.problem.n_components
            self.n_isolated = int(np.count_nonzero(ready.problem.entries == 0))
        borders, hessian = one.borders, ready.problem.hessian
        return _Communities(
            z,
            int(labels.max(initial=-1)) + 1,
            list(one.components),
            dispersion=one.dispersion,
            contiguity=None if borders is None else borders.contiguity,
            separation=None if borders is None else borders.separation,
            patches=0 if borders is None else borders.patches,
            uninformed=len(one.uninformed),
            saturated=hessian.saturated,
            r=hessian.r,
            visits=one.visits,
        )

    def _in_blocks(self, mine: Bools, c: int, k: int | None) -> _Communities:
        """Return the communities of a component that does not fit in memory."""
        done, folder = self.folder / f"found-{c}", self.folder / f"component-{c}"
        known = read_record(done, "communities.json")
        if known is not None:
            return _Communities.restored(known[1]["z.npy"], known[0])
        try:
            found = self._searched(mine, c, k, Journal(folder))
        except JournalMismatchError:
            # Another version has written it.
            shutil.rmtree(folder)
            found = self._searched(mine, c, k, Journal(folder))
        write_record(done, "communities.json", found.plain(), {"z.npy": found.z})
        shutil.rmtree(folder, ignore_errors=True)
        return found

    def _searched(self, mine: Bools, c: int, k: int | None, journal: Journal) -> _Communities:
        engine, settings = self.engine, self.settings
        work, saturated = work_on(self.store, mine, engine)
        search = BlockSearch(work, engine, settings, self.seed, journal)
        search.run()
        dispersion, clear = search.dispersion(), search.is_clear
        if dispersion > 1.0 and search.k > 1:
            begin_stage("searching with the dispersion")
            work.weighing = work.weighing._replace(dispersion=dispersion)
            if self.store.weighted:
                _add_up(work, engine)
            engine.start(work)
            before, search = search, BlockSearch(work, engine, settings, self.seed + 1, journal)
            search.run_again(work.z, before.k)
        unasked = search.k
        if k is not None and k != search.k:
            search.give(k)
        borders = None if k is not None and k != unasked else search.borders()
        patches = 0
        if borders is not None and borders.separation is not None:
            patches = search.k if borders.separation < MOST_SEPARATION else 0
        report = ComponentReport(
            search.n,
            search.k,
            "search" if search.k > 1 else "one community",
            _reason(search, k, unasked),
            search.saved,
            undecided=search.undecided if search.k > 1 else None,
            component=c,
        )
        if k is not None and search.k != k:
            msg = f"k = {k} communities could not be told apart: {search.k} were found."
            raise InputError(msg)
        return _Communities(
            search.work.z,
            search.k,
            [report],
            dispersion=dispersion if clear else 1.0,
            contiguity=None if borders is None else borders.contiguity,
            separation=None if borders is None else borders.separation,
            patches=patches,
            saturated=saturated,
            r=search.r,
        )


def fits(store: StoredGraph, entries: Any) -> Any:
    """Return whether so many entries can be searched in memory."""
    return 0.5 * entries * BYTES_PER_EDGE <= store.memory


def batches(store: StoredGraph, which: Ints, entries: Ints) -> list[Ints]:
    """Return components in batches that fit in memory together."""
    if not which.size:
        return []
    ends, room, bounds = np.cumsum(entries[which]), 2 * store.memory / BYTES_PER_EDGE, [0]
    while bounds[-1] < which.size:
        before = ends[bounds[-1] - 1] if bounds[-1] else 0
        last = int(np.searchsorted(ends, before + room, side="right"))
        bounds.append(max(last, bounds[-1] + 1))
    return np.split(which, bounds[1:-1])


def work_on(store: StoredGraph, mine: Bools, engine: Engine) -> tuple[Work, int]:
    """Return the work on some nodes, in one group, and how many of their edges are saturated."""
    work = Work(store, Weighing(1.0), np.where(mine, 0, -1).astype(np.int32))
    saturated = 0
    if store.weighted:
        begin_stage("measuring weights")
        engine.start(work)
        saturated = _weigh(work, engine)
    else:
        work.weighing = Weighing(_total(store, mine))
    engine.start(work)
    return work, saturated


def _reason(search: BlockSearch, k: int | None, unasked: int) -> str:
    """Return why a component has the communities that were found in it."""
    nats = search.saved
    if k is not None:
        without = ", and found without" if k == unasked else ""
        return f"k = {k} was given{without}"
    if search.k == 1:
        return "nothing was found that divides it"
    if nats > 0.0:
        by = f"{nats:.1f} nats shorter"
        return f"they describe the graph {how_clearly(nats)} better than one community ({by})"
    return "the moments of the spectrum show them, too faint for a shorter description of the graph"


def _total(store: StoredGraph, mine: Bools) -> float:
    """Return the sum of the degrees of some nodes."""
    total = 0
    for first in range(0, store.n, _CHUNK):
        some = slice(first, first + _CHUNK)
        total += int(store.strength[some][mine[some]].sum())
    return float(total)


def _first_ranks(store: StoredGraph, component: Indices, count: int) -> Ints:
    """Return the first rank of each component."""
    ranks = np.full(count, store.n)
    for first in range(0, store.n, _CHUNK):
        mine, place = np.unique(
            component[store.position[first : first + _CHUNK]], return_index=True
        )
        ranks[mine] = np.minimum(ranks[mine], first + place)
    return ranks


def entries_of(store: StoredGraph, component: Indices) -> Ints:
    """Return the number of entries of each component."""
    entries = np.zeros(int(component.max(initial=-1)) + 1)
    for block in store.blocks:
        lengths = np.diff(store.read(block.number).indptr)
        entries += np.bincount(component[block.first : block.last], lengths, entries.size)
    return entries.astype(np.int64)


def _weigh(work: Work, engine: Engine) -> int:
    """Choose r, saturate the weights, and add them up; return how many edges are saturated.

    It takes two passes.
    """
    blocks = work.store.blocks
    histogram, entries, occupied = np.zeros(CLASSES, dtype=np.int64), 0, 0
    for part in one_pass(engine, tasks.measured_weights, len(blocks)):
        histogram += part.histogram
        entries, occupied = entries + part.entries, occupied + part.occupied
    classes = np.flatnonzero(histogram)
    counts, weights = histogram[classes].astype(float), weight_of(classes)
    c = entries / max(1, occupied)
    r, start = saturation_at_mean_degree(weights, c, counts)
    x = saturate(weights / r, start)
    scale = float(counts @ x) / float(counts @ np.square(x))
    work.weighing = Weighing(scale * float(counts @ x), Saturation(r, start, scale))
    _add_up(work, engine)
    return int(counts[weights > start * r].sum()) // 2


def _add_up(work: Work, engine: Engine) -> None:
    """Add up the weights at each node as the description counts them; it takes a pass."""
    engine.start(work)
    n, blocks = work.store.n, work.store.blocks
    strength, diagonal = np.empty(n), np.empty(n)
    sums = one_pass(engine, tasks.row_sums, len(blocks))
    for block, (own, terms) in zip(blocks, sums, strict=True):
        strength[block.first : block.last] = own
        diagonal[block.first : block.last] = 1.0 + terms
    work.strength, work.diagonal = strength, diagonal


def extracted(store: StoredGraph, chosen: Bools) -> tuple[Graph, Ints]:
    """Return the graph of some components in memory, nodes by rank, and their positions."""
    nodes = store.position[picked(chosen, store.position)].astype(np.int64)
    number = np.full(store.n, -1, dtype=np.int32)
    number[nodes] = np.arange(nodes.size, dtype=np.int32)
    none = np.zeros(0, dtype=np.int32)
    ends: list[Any] = [(none, none, np.zeros(0) if store.weighted else None)]
    for block in store.blocks:
        one = store.read(block.number)
        rows = np.repeat(np.arange(block.first, block.last), np.diff(one.indptr))
        kept = chosen[rows] & (number[rows] < number[one.indices])
        weights = None if one.weights is None else one.weights[kept] * store.unit
        ends.append((number[rows[kept]], number[one.indices[kept]], weights))
    source, target = (np.concatenate([part[i] for part in ends]) for i in (0, 1))
    weight = np.concatenate([part[2] for part in ends]) if store.weighted else None
    return Graph.from_edges(source, target, weight, n=nodes.size), nodes


def _report(
    store: StoredGraph, k: int | None, method: Method, found: _Communities, run: _Detection,
    stages: Stages,
) -> Report:  # fmt: skip
    warnings: tuple[KGroupsWarning, ...] = ()
    if found.patches:
        warnings = (continuum_warning(found.patches, found.k),)
    return Report(
        method=type(method).__name__,
        n=store.n,
        m=store.m,
        n_components=run.n_components,
        n_isolated=run.n_isolated,
        loops_dropped=store.n_loops,
        saturated_weights=found.saturated,
        r=found.r,
        r_choice="mean-degree",
        k_given=k,
        k_hat=None,
        k_found=found.k,
        counting={},
        init=repr(KMeansInit()),
        refinement=RefinementTotals().report(None),
        uninformed=found.uninformed,
        ordering="sorted names",
        warnings=warnings,
        seconds=stages.seconds(),
        components=tuple(found.components[:REPORTED]),
        visits=store.entries_read,
        peak_bytes=stages.peak_bytes(),
        dispersion=found.dispersion,
        contiguity=found.contiguity,
        separation=found.separation,
        patches=found.patches,
        n_single=int(np.count_nonzero(np.bincount(found.z) == 1)) if store.n else 0,
    )
