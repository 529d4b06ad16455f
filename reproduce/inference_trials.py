"""Single trials of the experiment ``optimal``: what is measured on one graph.

Each function takes a seed and returns plain values that a journal can hold.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from kgroups import datasets, metrics
from kgroups._csr import connected_components
from kgroups._types import Bools, Floats, Ints
from kgroups.adapters import as_graph
from kgroups.detect import detect_communities
from kgroups.generators import (
    Planted,
    PlantedAffinity,
    PowerLaw,
    configuration_model,
    degree_corrected_sbm,
    girvan_newman_benchmark,
    lfr_benchmark,
    planted_partition,
)
from kgroups.graph import Graph
from kgroups.inference import BeliefPropagation, block_model
from kgroups.inference.gibbs import gibbs_masses
from kgroups.search import Search, finest_level
from kgroups.spectrum import BetheHessian
from kgroups.studies import TrialContext, oracle_inference
from kgroups.uncertainty import k_distribution, posterior, significance, spectral_start

BINS = 10
"""Bins of confidence in which calibration is measured."""
# Power-law degrees raise rho(B) above the mean degree.
_DEGREE_UNEVEN = 5.0
# Sweeps of the long Gibbs chains, of which the first are not counted.
_CHAIN, _CHAIN_BURN_IN = 2_000, 200

Values = dict[str, Any]


class Cell(NamedTuple):
    """A kind of trial: its part of the experiment, its parameters, and what to measure."""

    part: str
    parameters: Mapping[str, Any]
    trials: int
    measure: Callable[[int], Values]


# Drawing graphs


def block_model_graph(k: int, snr: float, seed: int, *, n: int = 1_000) -> Planted:
    """Draw a block model of mean degree 3."""
    return planted_partition(n, k, 3.0, snr, rng=seed)


def uneven_graph(
    k: int, snr: float, seed: int, *, n: int = 1_000, relative: bool = False
) -> Planted:
    """Draw a block model with power-law degrees; ``relative`` takes the ratio relative to rho(B).

    rho(B) is larger than the mean degree, so that the same ratio relative to it is less signal.
    """
    rng = np.random.default_rng(seed)
    theta = PowerLaw().draw(n // k * k, rng)
    sizes = [n // k] * k
    if relative:
        alike = PlantedAffinity(_DEGREE_UNEVEN, 0.0)
        r = BetheHessian("nonbacktracking").radius(
            degree_corrected_sbm(sizes, alike, theta, rng=rng).graph
        )
        snr *= np.sqrt(_DEGREE_UNEVEN) / r
    return degree_corrected_sbm(sizes, PlantedAffinity(_DEGREE_UNEVEN, snr), theta, rng=rng)


def girvan_newman_graph(snr: float, seed: int) -> Planted:
    """Draw a graph of the Girvan-Newman benchmark."""
    return girvan_newman_benchmark(snr, rng=seed)


def random_graph(kind: str, seed: int) -> Graph:
    """Draw a random graph: Erdos-Renyi, with power-law degrees, or with those of a real one."""
    rng = np.random.default_rng(seed)
    n, choice = int(rng.choice([200, 350])), int(rng.integers(12))
    if kind == "Erdős-Rényi":
        return planted_partition(n, 2, (3.0, 6.0, 12.0)[choice % 3], 0.0, rng=rng).graph
    if kind == "power law":
        law = PowerLaw((2.2, 2.5, 3.0)[choice % 3], 30.0)
        start = degree_corrected_sbm([n], [[4.0 / n]], law, rng=rng).graph
        return configuration_model(start, rng=rng)
    names = [name for name in _SMALL_NETWORKS if name in present_networks()]
    return configuration_model(network(names[choice % len(names)]), rng=rng)


_SMALL_NETWORKS = ("karate", "les_miserables", "dolphins", "polbooks", "football")


def present_networks() -> set[str]:
    """Return the names of the networks whose files are present."""
    return {info.name for info in datasets.describe() if info.present or info.bundled}


def network(name: str) -> Graph:
    """Load a network without weights."""
    return as_graph(datasets.load(name).graph, weight=None)


# Recovery and calibration


def recovery(draw: Callable[[int], Planted], seed: int) -> Values:
    """Measure overlaps of eigenvectors, belief propagation and two oracles, and calibration."""
    planted = draw(seed)
    graph, truth = planted
    k = int(truth.max()) + 1
    context = TrialContext(graph, graph, k, seed, planted)
    found = posterior(graph, k, rng=context.rng())
    oracle, from_truth = (oracle_inference(context, from_truth=told) for told in (False, True))
    labels = {
        "seed": spectral_start(graph, k, context.rng()),
        "bp": found.labels,
        "oracle": np.argmax(oracle.marginals, axis=1),
        "oracle from truth": np.argmax(from_truth.marginals, axis=1),
    }
    overlaps = {name: metrics.overlap(truth, z) for name, z in labels.items()}
    bins = calibration_bins(found.confidence, right_labels(truth, found.labels))
    gain = from_truth.evidence - oracle.evidence
    return {**overlaps, "gain": gain, "accepted": found.accepted, "bins": bins}


def right_labels(truth: Ints, labels: Ints) -> Bools:
    """Tell for each node if its community is the one that matches its true one best."""
    from scipy import sparse
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    groups, classes = int(labels.max()) + 1, int(truth.max()) + 1
    table = sparse.coo_array((np.ones(truth.size), (labels, truth)), (groups, classes)).tocsr()
    table.sum_duplicates()
    match = np.full(groups, -1)
    # Every group can stay alone: a column of its own that matches none of the classes.
    alone = sparse.diags_array(np.full(groups, 1e-6))
    row, column = min_weight_full_bipartite_matching(
        sparse.hstack([table, alone]).tocsr(), maximize=True
    )
    match[row] = np.where(column < classes, column, -1)
    return np.asarray(match[labels] == truth)


def calibration_bins(sure: Floats, right: Bools) -> list[list[float]]:
    """Return nodes, sum of confidence and number of right labels in each bin of confidence."""
    which = np.minimum((sure * BINS).astype(int), BINS - 1)
    return [
        np.bincount(which, weights, BINS).astype(float).tolist()
        for weights in (np.ones(sure.size), sure, right.astype(float))
    ]


def calibration_error(bins: Sequence[Any]) -> float:
    """Return the distance of confidence and share of right labels, with graphs pooled by bin."""
    count, sure, right = np.sum(np.array(bins), axis=0)
    return float(np.abs(sure - right).sum() / count.sum())


def many_communities(n: int, mixing: float, seed: int) -> Values:
    """Measure the calibration of confidence on an LFR graph, and how many labels are right."""
    graph, truth = lfr_benchmark(n, degree=20, mixing=mixing, rng=seed)
    partition = detect_communities(graph)
    start = process_time()
    sure = partition.confidence()
    seconds = process_time() - start
    right = right_labels(truth, partition.labels)
    return {
        "k": partition.k,
        "sure": float(sure.mean()),
        "right": float(right.mean()),
        "seconds": seconds,
        "bins": calibration_bins(sure, right),
    }


def chain_agreement(name: str, seed: int) -> Values:
    """Compare the confidence of a network's communities with a long Gibbs chain at its rates."""
    from scipy.stats import spearmanr

    graph = network(name)
    labels = detect_communities(graph).labels
    k = int(labels.max()) + 1
    level, method = finest_level(graph.simple_adjacency(), weighted=False), BeliefPropagation("own")
    found = method.infer(level, labels, k)
    sure = found.marginals[np.arange(graph.n), labels]
    masses = gibbs_masses(
        block_model(level, degree_corrected=method.corrects(level)),
        labels,
        found.rates,
        sweeps=_CHAIN,
        burn_in=_CHAIN_BURN_IN,
        few_groups=k,
        rng=np.random.default_rng(seed),
    )
    node = np.repeat(np.arange(graph.n), np.diff(masses.slots))
    sampled = masses.mass[masses.group == labels[node]]
    return {
        "n": graph.n,
        "k": k,
        "rank correlation": float(spearmanr(sure, sampled).statistic),
        "difference": float(np.abs(sure - sampled).mean()),
        "converged": found.converged,
    }


# Verdicts


def claimed(draw: Callable[[int], Any], nulls: int, seed: int) -> Values:
    """Return whether structure is claimed on a graph."""
    drawn = draw(seed)
    graph = drawn.graph if isinstance(drawn, Planted) else drawn
    verdict = significance(graph, nulls=nulls, rng=seed)
    return {"claimed": verdict.significant}


# Number of communities


def numbers(draw: Callable[[int], tuple[Graph, int]], seed: int) -> Values:
    """Return the true number of communities and those found by evidence, spectrum and search."""
    drawn, truth = draw(seed)
    graph = _largest_component(drawn)
    found = k_distribution(graph)
    return {
        "truth": truth,
        "P(k)": found.k,
        **{f"at {choice}": k for choice, k in found.spectrum.k_at.items()},
        "description": len(detect_communities(graph, method=Search())),
        "default": found.k_found,
    }


def _largest_component(graph: Graph) -> Graph:
    """Return the largest component; communities of others are found trivially."""
    _, component = connected_components(graph.simple_adjacency())
    members = component == np.argmax(np.bincount(component))
    number = np.cumsum(members) - 1
    i, j, weights = graph.edges()
    inside = members[i]
    kept = weights[inside] if graph.is_weighted else None
    return Graph.from_edges(number[i[inside]], number[j[inside]], kept, n=int(members.sum()))


def with_k(draw: Callable[[int], Planted], seed: int) -> tuple[Graph, int]:
    """Draw a graph; return it with its planted number of communities."""
    graph, truth = draw(seed)
    return graph, int(np.unique(truth).size)


def structureless(degree: float, seed: int) -> tuple[Graph, int]:
    """Draw an Erdos-Renyi graph, which is one community."""
    return planted_partition(1_000, 2, degree, 0.0, rng=seed).graph, 1


def small_lfr(mixing: float, seed: int) -> Planted:
    """Draw an LFR graph of 1000 nodes."""
    return lfr_benchmark(1_000, degree=20, mixing=mixing, rng=seed)


def known_network(name: str, k: int, seed: int) -> tuple[Graph, int]:
    """Load a network with its known number of groups; the seed does not matter."""
    return network(name), k


# Time and memory


def large(n: int, rounds: int, seed: int) -> Values:
    """Measure time and memory on a graph of 10 n edges and 10 communities, in a new process."""
    program = (
        f"from reproduce.inference_trials import print_large; print_large({n}, {rounds}, {seed})"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    values: Values = json.loads(ran.stdout)
    return values


def print_large(n: int, rounds: int, seed: int) -> None:
    """Print what :func:`large` returns: CPU seconds, those of Leiden, and the peak of memory."""
    # Kernels are compiled before the clock starts.
    posterior(planted_partition(3_000, 3, 8.0, 1.5, rng=0).graph, 3)
    graph, truth = planted_partition(n, 10, 20.0, 1.5, rng=seed)
    seconds, leiden = [], []
    for _ in range(rounds):
        start = process_time()
        found = posterior(graph, 10)
        seconds.append(process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    other = graph.to_igraph()
    for _ in range(rounds):
        start = process_time()
        other.community_leiden("modularity", n_iterations=2)
        leiden.append(process_time() - start)
    values = {
        "seconds": float(np.median(seconds)),
        "leiden": float(np.median(leiden)),
        "peak": peak,
        "overlap": metrics.overlap(truth, found.labels),
        "sweeps": found.sweeps,
    }
    sys.stdout.write(json.dumps(values))


RELATIVE = "DCSBM, λ relative to rho(B)"
_CHAINED = ("karate", "dolphins", "polbooks", "football", "email-Eu-core", "cora", "citeseer")
_KNOWN_K = {"karate": 2, "dolphins": 2, "polbooks": 3, "football": 12, "email-Eu-core": 42}


def cells(trials: int) -> list[Cell]:
    """Return all cells of the experiment; ``trials`` is the number of graphs in most of them."""
    n_large, present = 1_000 * trials, present_networks()
    found = [*_recovery_cells(trials), *_verdict_cells(trials)]
    found += _number_cells(max(trials // 20, 1), present)
    found += [
        Cell("chain", {"network": name}, 1, partial(chain_agreement, name))
        for name in _CHAINED
        if name in present
    ]
    found += [
        Cell("lfr", {"n": n_large, "mixing": mixing}, 1, partial(many_communities, n_large, mixing))
        for mixing in (0.5, 0.6, 0.75)
    ]
    return [*found, Cell("large", {"n": n_large}, 1, partial(large, n_large, 3))]


def _recovery_cells(trials: int) -> list[Cell]:
    draws: list[tuple[str, int, float, Callable[[int], Planted]]] = []
    for k in (2, 5, 15):
        for snr in (1.1, 1.2, 1.3, 1.4, 1.6):
            draws.append(("SBM", k, snr, partial(block_model_graph, k, snr)))
    for relative in (False, True):
        for k in (3, 10):
            for snr in (1.2, 1.4, 1.6, 2.0):
                draw = partial(uneven_graph, k, snr, relative=relative)
                draws.append((RELATIVE if relative else "DCSBM", k, snr, draw))
    for snr in (1.1, 1.3, 1.5, 1.8):
        draws.append(("Girvan-Newman", 4, snr, partial(girvan_newman_graph, snr)))
    return [
        Cell("recovery", {"model": model, "k": k, "λ": snr}, trials, partial(recovery, draw))
        for model, k, snr, draw in draws
    ]


def _verdict_cells(trials: int) -> list[Cell]:
    # A third each of ten times as many random graphs.
    third = 10 * trials // 3
    kinds = {
        "Erdős-Rényi": 10 * trials - 2 * third,
        "power law": third,
        "degrees of real networks": third,
    }
    found = [
        Cell("size", {"graphs": kind}, count, partial(claimed, partial(random_graph, kind), 19))
        for kind, count in kinds.items()
    ]
    draws: list[tuple[str, int, int, float, Callable[[int], Planted]]] = []
    for n in (1_000, 6_000):
        for k in (2, 5):
            for snr in (1.2, 1.3):
                draws.append(("SBM", n, k, snr, partial(block_model_graph, k, snr, n=n)))
        for k in (3, 10):
            for model, snr in (("DCSBM", 1.7), (RELATIVE, 1.4), (RELATIVE, 1.7)):
                uneven = partial(uneven_graph, k, snr, n=n, relative=model == RELATIVE)
                draws.append((model, n, k, snr, uneven))
    for model, n, k, snr, draw in draws:
        # Larger graphs are tested by the moments of the spectrum, and only where there is a bar.
        by_moments = n > 5_000
        if by_moments and snr in (1.2, 1.4):
            continue
        test, count = ("moments", -(-trials // 2)) if by_moments else ("19 nulls", trials)
        where = {"model": model, "n": n, "k": k, "λ": snr, "test": test}
        found.append(Cell("power", where, count, partial(claimed, draw, 0 if by_moments else 19)))
    return found


def _number_cells(trials: int, present: set[str]) -> list[Cell]:
    draws: list[tuple[Values, Callable[[int], tuple[Graph, int]]]] = []
    for k in (2, 5, 15):
        for snr in (1.2, 1.3, 1.4, 1.5, 1.6):
            draw = partial(with_k, partial(block_model_graph, k, snr))
            draws.append(({"family": "SBM", "n": 1_000, "k": k, "λ": snr}, draw))
    for relative in (False, True):
        for k in (3, 5, 10):
            for snr in (1.4, 1.6, 2.0):
                draw = partial(with_k, partial(uneven_graph, k, snr, relative=relative))
                family = RELATIVE if relative else "DCSBM"
                draws.append(({"family": family, "n": 1_000, "k": k, "λ": snr}, draw))
    for degree in (3.0, 5.0, 8.0):
        alike = partial(structureless, degree)
        draws.append(({"family": "Erdős-Rényi", "n": 1_000, "degree": degree}, alike))
    for mixing in (0.3, 0.5):
        draw = partial(with_k, partial(small_lfr, mixing))
        draws.append(({"family": "LFR", "n": 1_000, "mixing": mixing}, draw))
    found = [Cell("number", where, trials, partial(numbers, draw)) for where, draw in draws]
    found += [
        Cell("number", {"family": "real", "network": name}, 1,
             partial(numbers, partial(known_network, name, k)))
        for name, k in _KNOWN_K.items() if name in present
    ]  # fmt: skip
    return found
