"""Time methods on one graph: a process per method, repeats interleaved, medians."""

import multiprocessing
import statistics
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.graphs import BenchmarkGraph
from benchmarks.peers import PEERS, as_matrix


@dataclass
class Outcome:
    """What one method did on one graph; ``trouble`` is empty when every run ended well."""

    graph: BenchmarkGraph
    peer: str
    seconds: list[float] = field(default_factory=list)
    ks: list[int] = field(default_factory=list)
    nmis: list[float] = field(default_factory=list)
    amis: list[float] = field(default_factory=list)
    modularities: list[float] = field(default_factory=list)
    trouble: str = ""

    @property
    def median_seconds(self) -> float | None:
        """Median time of the counted runs."""
        return statistics.median(self.seconds) if self.seconds else None

    def add(self, seconds: float, labels: Any) -> None:
        """Count a run: its time, and the quality of its labels."""
        from kgroups import metrics, scoring

        graph = self.graph
        self.seconds.append(seconds)
        self.ks.append(np.unique(labels).size)
        self.modularities.append(scoring.modularity(as_matrix(graph), labels))
        if graph.truth is not None:
            self.nmis.append(metrics.nmi(graph.truth, labels))
            self.amis.append(metrics.ami(graph.truth, labels))


def _serve(pipe: Connection, peer_name: str, graph: BenchmarkGraph) -> None:
    """Build the native graph, then answer each seed with a time and labels until None comes."""
    peer = PEERS[peer_name]
    try:
        native = peer.build(graph)
        pipe.send("ready")
        while (seed := pipe.recv()) is not None:
            start = perf_counter()
            labels = peer.find(native, seed)
            pipe.send((perf_counter() - start, labels))
    except Exception as error:  # a peer may raise anything; the table says what
        pipe.send(error)


class _Worker:
    """One method in a process of its own, which can be ended when it takes too long."""

    def __init__(self, outcome: Outcome, max_seconds: float) -> None:
        self.outcome = outcome
        self.max_seconds = max_seconds
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, outcome.peer, outcome.graph), daemon=True
        )
        self.process.start()
        theirs.close()
        self._receive(max_seconds + 60)

    def run(self, seed: int) -> tuple[float, Any] | None:
        """Return time and labels of a run, or None once the method has failed."""
        if self.outcome.trouble:
            return None
        self.pipe.send(seed)
        return self._receive(self.max_seconds)

    def _receive(self, patience: float) -> Any:
        if not self.pipe.poll(patience):
            return self._give_up(f"more than {patience:g} s")
        try:
            answer = self.pipe.recv()
        except EOFError:
            return self._give_up("its process died")
        if isinstance(answer, Exception):
            return self._give_up(f"{type(answer).__name__}: {answer}".splitlines()[0])
        return answer

    def _give_up(self, reason: str) -> None:
        self.outcome.trouble = reason
        self.process.terminate()

    def close(self) -> None:
        """End the process."""
        if self.process.is_alive() and not self.outcome.trouble:
            self.pipe.send(None)
        self.process.join()


def measure(
    graph: BenchmarkGraph, peers: list[str], *, repeat: int, seed: int, max_seconds: float
) -> list[Outcome]:
    """Run every method ``repeat`` times after one run that is not counted."""
    outcomes = [Outcome(graph, name) for name in peers]
    workers = [_Worker(outcome, max_seconds) for outcome in outcomes]
    try:
        for worker in workers:
            worker.run(seed)
        for turn in range(repeat):
            for worker in workers:
                answer = worker.run(seed + turn)
                if answer is not None:
                    worker.outcome.add(*answer)
    finally:
        for worker in workers:
            worker.close()
    return outcomes
