"""Time methods on graphs: a process per method, runs that take turns, memory beside time."""

import multiprocessing
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from time import perf_counter, process_time
from typing import Any

from benchmarks.graphs import BenchmarkGraph
from benchmarks.memory import peak_above, start_watching
from benchmarks.peers import PEERS, Found
from benchmarks.scores import Scorer, Scores

_BUILD_SECONDS = 120


@dataclass(frozen=True)
class Timed:
    """What comes back from the process of a method."""

    found: Found
    seconds: float
    peak_bytes: int | None
    cpu_seconds: float


@dataclass(frozen=True)
class Run:
    """One counted run: what it cost and how good its labels are."""

    n: int
    m: int
    true_k: int | None
    seconds: float
    peak_bytes: int | None
    visits: int | None
    note: str
    scores: Scores
    cpu_seconds: float | None = None


@dataclass
class Outcome:
    """What one method did on the graphs; ``trouble`` is empty when every run ended well.

    A method that does not run on such graphs has neither runs nor trouble.
    """

    peer: str
    runs: list[Run] = field(default_factory=list)
    trouble: str = ""

    @property
    def took_part(self) -> bool:
        """Whether the method was run at all."""
        return bool(self.runs or self.trouble)

    @property
    def median_seconds(self) -> float | None:
        """Median time of the counted runs."""
        return statistics.median(run.seconds for run in self.runs) if self.runs else None

    @property
    def median_cpu_seconds(self) -> float | None:
        """Median seconds of the processor, of all threads together."""
        taken = [run.cpu_seconds for run in self.runs if run.cpu_seconds is not None]
        return statistics.median(taken) if taken else None

    @property
    def bytes_per_edge(self) -> float | None:
        """Largest peak of a run above its input, per edge."""
        peaks = [run.peak_bytes / run.m for run in self.runs if run.peak_bytes is not None]
        return max(peaks, default=None)

    @property
    def peak_bytes(self) -> int | None:
        """Largest peak of the counted runs."""
        peaks = [run.peak_bytes for run in self.runs if run.peak_bytes is not None]
        return max(peaks, default=None)

    def values(self, score: str) -> list[float]:
        """Return a score of all runs that have it."""
        values = (getattr(run.scores, score) for run in self.runs)
        return [value for value in values if value is not None]

    def time_ratio(self, reference: "Outcome", time: str = "seconds") -> float | None:
        """Return the median over the runs of the time over that of the reference beside it."""
        pairs = zip(self.runs, reference.runs, strict=False)
        ratios = [getattr(mine, time) / getattr(theirs, time) for mine, theirs in pairs]
        return statistics.median(ratios) if ratios else None


def _serve(pipe: Connection, peer_name: str, least_seconds: float) -> None:
    """Build each graph that comes and answer each seed with a run on it, until None comes."""
    peer = PEERS[peer_name]
    native = None
    try:
        peer.warm()
        pipe.send("ready")
        while (order := pipe.recv()) is not None:
            if isinstance(order, BenchmarkGraph):
                native = None
                native = peer.build(order)
                del order
                pipe.send("built")
                continue
            before = start_watching()
            busy, calls = process_time(), count()
            find = partial(_counting, partial(peer.find, native, order), calls)
            found, seconds = fastest(find, least_seconds)
            cpu_seconds = (process_time() - busy) / next(calls)
            if found.cpu_seconds is not None:
                cpu_seconds = found.cpu_seconds
            peak = peak_above(before) if found.peak_bytes is None else found.peak_bytes
            pipe.send(Timed(found, seconds, peak, cpu_seconds))
            del found
    except Exception as error:  # a peer may raise anything; the table says what
        pipe.send(error)


def _counting(find: Callable[[], Found], calls: Iterator[int]) -> Found:
    next(calls)
    return find()


def fastest(find: Callable[[], Found], least_seconds: float) -> tuple[Found, float]:
    """Call once, and again until some time has passed; return the time of the fastest call."""
    fastest, begin = float("inf"), perf_counter()
    while True:
        start = perf_counter()
        found = find()
        end = perf_counter()
        fastest = min(fastest, end - start if found.seconds is None else found.seconds)
        if end - begin >= least_seconds:
            return found, fastest


class _Worker:
    """One method in a process of its own, which can be ended when it takes too long."""

    def __init__(self, peer: str, max_seconds: float, least_seconds: float) -> None:
        self.peer = PEERS[peer]
        self.max_seconds = max_seconds
        self.trouble = ""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, peer, least_seconds), daemon=True
        )
        self._process.start()
        theirs.close()
        self._receive(_BUILD_SECONDS)

    def build(self, graph: BenchmarkGraph) -> None:
        """Have the method's own form of the graph made."""
        self._ask(graph, self.max_seconds + _BUILD_SECONDS)

    def run(self, seed: int) -> Timed | None:
        """Return a run, or None once the method has failed."""
        return self._ask(seed, self.max_seconds * self.peer.trials)

    def _ask(self, order: Any, patience: float) -> Any:
        if self.trouble:
            return None
        self._pipe.send(order)
        return self._receive(patience)

    def _receive(self, patience: float) -> Any:
        if not self._pipe.poll(patience):
            return self._give_up(f"more than {patience:g} s")
        try:
            answer = self._pipe.recv()
        except EOFError:
            return self._give_up("its process died")
        if isinstance(answer, Exception):
            return self._give_up(f"{type(answer).__name__}: {answer}".splitlines()[0])
        return answer

    def _give_up(self, reason: str) -> None:
        self.trouble = reason
        self._process.terminate()

    def close(self) -> None:
        """End the process."""
        if self._process.is_alive() and not self.trouble:
            self._pipe.send(None)
        self._process.join()


class Contest:
    """Some methods, each in a process that serves many graphs; a context manager.

    A run calls its method once, and again until ``least_seconds`` have passed: the fastest call
    counts. On small graphs the first one mostly measures how cold the caches are.
    """

    def __init__(
        self, peers: Sequence[str], *, max_seconds: float, least_seconds: float = 0.0
    ) -> None:
        self.peers = tuple(peers)
        self.max_seconds = max_seconds
        self.least_seconds = least_seconds
        self._workers: dict[str, _Worker] = {}

    def __enter__(self) -> "Contest":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.close()

    def measure(
        self,
        graphs: Iterable[BenchmarkGraph],
        *,
        repeat: int,
        seed: int,
        peers: Sequence[str] | None = None,
    ) -> list[Outcome]:
        """Run every method, or those named, ``repeat`` times on each graph, in turns.

        One more run on the first graph comes before them and is not counted, unless the method
        makes several at a time. A method that fails or takes too long on one graph is not run on
        those after it, and none is run on graphs that it is not for.
        """
        outcomes = {peer: Outcome(peer) for peer in (self.peers if peers is None else peers)}
        self._start_where_needed(outcomes)
        for number, graph in enumerate(graphs):
            chosen = (self._workers[peer] for peer in outcomes)
            workers = [worker for worker in chosen if worker.peer.runs_on(graph)]
            for worker in workers:
                worker.build(graph)
            if number == 0:
                for worker in workers:
                    if worker.peer.fills_caches:
                        worker.run(seed)
            scorer = Scorer(graph)
            for turn in range(number * repeat, (number + 1) * repeat):
                timed = [(worker.peer.name, worker.run(seed + turn)) for worker in workers]
                for peer, result in timed:
                    if result is not None:
                        outcomes[peer].runs.append(_scored(result, graph, scorer))
        for peer, outcome in outcomes.items():
            outcome.trouble = self._workers[peer].trouble
        return list(outcomes.values())

    def _start_where_needed(self, peers: Iterable[str]) -> None:
        for peer in peers:
            worker = self._workers.get(peer)
            if worker is not None and worker.trouble:
                worker.close()
            if worker is None or worker.trouble:
                self._workers[peer] = _Worker(peer, self.max_seconds, self.least_seconds)


def _spin() -> None:
    while True:
        pass


@contextmanager
def busy_processes(number: int) -> Iterator[None]:
    """Keep so many processes computing, each of which could fill a core."""
    context = multiprocessing.get_context("spawn")
    spinning = [context.Process(target=_spin, daemon=True) for _ in range(number)]
    try:
        for process in spinning:
            process.start()
        yield
    finally:
        for process in spinning:
            if process.pid is not None:
                process.terminate()
                process.join()


def _scored(timed: Timed, graph: BenchmarkGraph, scorer: Scorer) -> Run:
    found = timed.found
    return Run(
        n=graph.n,
        m=graph.m,
        true_k=graph.true_k,
        seconds=timed.seconds,
        peak_bytes=timed.peak_bytes,
        visits=found.visits,
        note=found.note,
        scores=scorer(found.labels),
        cpu_seconds=timed.cpu_seconds,
    )
