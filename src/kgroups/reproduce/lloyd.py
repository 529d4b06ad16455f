"""``kmeans-on-bethe``: kernel k-means does not converge on the Bethe Hessian."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from kgroups import metrics
from kgroups._types import Floats, Ints
from kgroups.generators import planted_partition
from kgroups.operators import BetheHessian
from kgroups.reproduce.findings import Claim, Finding, counted, measured
from kgroups.reproduce.pace import told
from kgroups.spectrum.lanczos import largest_eigenpairs
from kgroups.studies.bench import Workbench
from kgroups.studies.methods import PAPER_UNIFORM

__all__ = ["KernelKMeans", "kernel_kmeans", "kmeans_on_bethe"]

_TRIALS = 10
_NODES = 500
_SWEEPS = 100
_CASES = ((2, 3.0, 1.5), (5, 3.0, 1.5), (5, 8.0, 2.0), (15, 8.0, 2.0))


class KernelKMeans(NamedTuple):
    """Labels after kernel k-means, the objective after each sweep, and who still moved."""

    z: Ints
    objectives: Floats
    moved_last: int

    @property
    def converged(self) -> bool:
        """Whether the last sweep moved no node."""
        return self.moved_last == 0

    @property
    def fell(self) -> bool:
        """Whether a sweep made the objective worse, which a Gram matrix does not allow."""
        tolerance = 1e-9 * float(np.abs(self.objectives).max(initial=1.0))
        return bool((np.diff(self.objectives) < -tolerance).any())


def kernel_kmeans(G: sparse.csr_array, z: Ints, *, k: int, max_sweeps: int) -> KernelKMeans:
    """Send each node in turn to the group of nearest mean, until no node moves.

    This is Algorithm 1 of the paper with weights 1, and with the exact update of the sums Q_a. A
    group that a node would leave empty keeps it.
    """
    z = z.copy()
    diagonal = G.diagonal()
    size = np.bincount(z, minlength=k).astype(float)
    inner = np.zeros(k)
    np.add.at(inner, z, _sums_with_own_group(G, z))
    objectives, moved = [float((inner / size).sum())], 0
    for _ in range(max_sweeps):
        moved = 0
        for i in range(z.size):
            slots = slice(G.indptr[i], G.indptr[i + 1])
            links = np.bincount(z[G.indices[slots]], weights=G.data[slots], minlength=k)
            a, b = z[i], int(np.argmin(inner / size**2 - 2.0 * links / size))
            if a == b or size[a] == 1.0:
                continue
            inner[a] -= 2.0 * links[a] - diagonal[i]
            inner[b] += 2.0 * links[b] + diagonal[i]
            size[a] -= 1.0
            size[b] += 1.0
            z[i] = b
            moved += 1
        objectives.append(float((inner / size).sum()))
        if moved == 0:
            break
    return KernelKMeans(z, np.array(objectives), moved)


def _sums_with_own_group(G: sparse.csr_array, z: Ints) -> Floats:
    rows = np.repeat(np.arange(z.size), np.diff(G.indptr))
    same = z[rows] == z[G.indices]
    sums: Floats = np.bincount(rows[same], weights=G.data[same], minlength=z.size).astype(float)
    return sums


def kmeans_on_bethe(trials: int | None, **running: Any) -> Finding:
    """Run kernel k-means and kernel k-groups on -H_r from the same labels."""
    trials = trials or _TRIALS
    lines, stuck, fell, control = [], 0, 0, 0
    for number, (k, degree, snr) in enumerate(told(_CASES, running)):
        results: dict[str, list[float]] = {}
        for trial in range(trials):
            for name, value in _compared(k, degree, snr, (number, trial)).items():
                results.setdefault(name, []).append(value)
        stuck += trials - int(sum(results["converged"]))
        fell += int(sum(results["fell"]))
        control += int(sum(results["control"]))
        lines.append(
            (
                k,
                degree,
                snr,
                measured(results["start"]),
                measured(results["k-means"]),
                measured(results["k-groups"]),
                f"{int(sum(results['converged']))} of {trials}",
                f"{int(sum(results['control']))} of {trials}",
                "diverges" if not any(results["converged"]) else "may converge",
            )
        )
    total = trials * len(_CASES)
    claims = (
        Claim("kernel k-means on -H_r does not converge", stuck == total,
              f"{stuck} of {total} runs moved nodes in all of {_SWEEPS} sweeps"),
        Claim("its sweeps make the objective worse", fell == total, f"in {fell} of {total} runs"),
        Claim("made positive semidefinite by a multiple of the identity it converges",
              control == total, f"{control} of {total} runs"),
    )  # fmt: skip
    return Finding(
        "kmeans-on-bethe",
        "kernel k-means on a matrix with negative eigenvalues",
        f"n = {_NODES}, {counted(trials, 'graph')} each, weights 1, both from labels of the Bethe "
        "Hessian. The control adds the multiple of the identity that makes -H_r semidefinite.",
        (
            "k", "degree", "λ", "overlap of the start", "after kernel k-means",
            "after kernel k-groups", "k-means converged", "control converged", "verdict",
        ),
        tuple(lines),
        claims,
    )  # fmt: skip


def _compared(k: int, degree: float, snr: float, place: tuple[int, int]) -> dict[str, float]:
    seed = int(np.random.SeedSequence(0, spawn_key=place).generate_state(1)[0])
    graph_rng = np.random.default_rng(seed).spawn(2)[0]
    graph, truth = planted_partition(_NODES, k, degree, snr, rng=graph_rng)
    work = Workbench(graph, graph, k, seed)
    start = work.labels_of_paper(None)
    G = sparse.csr_array(-BetheHessian().matrix(graph))
    run = kernel_kmeans(G, start, k=k, max_sweeps=_SWEEPS)
    lowest = -float(largest_eigenpairs(-G, 1, np.linspace(0.5, 1.5, graph.n))[0][0])
    shifted = sparse.csr_array(G + sparse.diags_array(np.full(graph.n, max(0.0, -lowest))))
    return {
        "start": metrics.overlap(truth, start),
        "k-means": metrics.overlap(truth, run.z),
        "k-groups": metrics.overlap(truth, work.labels_of_paper(PAPER_UNIFORM)),
        "converged": float(run.converged),
        "fell": float(run.fell),
        "control": float(kernel_kmeans(shifted, start, k=k, max_sweeps=_SWEEPS).converged),
    }
