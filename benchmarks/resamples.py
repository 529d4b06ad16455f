"""How well communities are found again without some edges, on the same copies by each method."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from time import process_time

import numpy as np

import kgroups as kg
from benchmarks.graphs import BenchmarkGraph
from benchmarks.journal import Record
from benchmarks.peers import CONVERGED, PEERS
from kgroups.uncertainty.stability import mean_agreement, resampled

RESAMPLES, DROP = 6, 0.1


def measured_kgroups(graph: BenchmarkGraph, seed: int) -> Record:
    """Return the stability of what the default finds: mean AMI between the pairs of copies."""
    given = kg.Graph.from_edges(graph.source, graph.target, n=graph.n)
    partition = kg.detect_communities(given)
    start = process_time()
    found = partition.stability(RESAMPLES, DROP, rng=seed)
    return {"agreement": found.agreement, "seconds": process_time() - start}


def measured_peer(name: str, graph: BenchmarkGraph, seed: int) -> Record:
    """Return the mean agreement of a peer between the same copies."""
    peer, start = PEERS[name], process_time()
    labels, linked = [], []
    for place, copy in enumerate(copies(graph, seed)):
        labels.append(peer.find(peer.build(copy), seed + place).labels)
        ends = np.concatenate([copy.source, copy.target])
        linked.append(np.bincount(ends, minlength=graph.n) > 0)
    agreement = mean_agreement(np.stack(labels), np.stack(linked))
    return {"agreement": agreement, "seconds": process_time() - start}


def copies(graph: BenchmarkGraph, seed: int) -> Iterator[BenchmarkGraph]:
    """Yield the graphs on which ``Partition.stability`` finds communities."""
    given = kg.Graph.from_edges(graph.source, graph.target, n=graph.n)
    for of_copy in np.random.SeedSequence(seed).spawn(RESAMPLES):
        rng = np.random.default_rng(of_copy.spawn(2)[0])
        source, target, _ = resampled(given, DROP, rng).edges()
        yield replace(graph, source=source, target=target)


MEASURES: Mapping[str, Callable[[BenchmarkGraph, int], Record]] = {
    "kgroups": measured_kgroups,
    **{name: partial(measured_peer, name) for name in (CONVERGED, "infomap")},
}
