"""Belief propagation from labels: marginals, and what communities save by the Bethe free energy."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats, Indices, Ints
from kgroups.multilevel import Level

__all__ = ["BeliefPropagation", "Posterior"]


class Posterior(NamedTuple):
    """What belief propagation ended with.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Group with the largest marginal, without gaps.
    k : int
        Number of groups of ``z``.
    evidence : float
        Nats saved against one community before parameters are paid for.
    score : float
        The same less the cost of rates and group sizes: ln m / 2 and (k - 1) ln n / 2, but ln k!
        for the names of the groups.
    marginals : ndarray of shape (n, groups)
    converged : bool
    """

    z: Ints
    k: int
    evidence: float
    score: float
    marginals: Floats
    converged: bool


@dataclass(frozen=True)
class BeliefPropagation:
    """Belief propagation for communities of one shared density, on top of degrees.

    Parameters
    ----------
    max_sweeps : int
        Sweeps over all nodes before giving up on convergence.
    tolerance : float
        Mean change of a marginal at which it has converged.
    softness : float
        Share of each first message that is spread over all groups.
    """

    max_sweeps: int = 50
    tolerance: float = 1e-3
    softness: float = 0.1

    def from_labels(self, level: Level, z: Indices, k: int) -> Posterior:
        """Propagate beliefs from labels of a connected graph on.

        Groups that end with less than a node in sum do not count.
        """
        from kgroups.posterior._bethe_nb import propagate, reversed_entries

        stop = np.zeros(3, dtype=np.int64)
        evidence, marginals, change, _ = propagate(
            level.A,
            level.strength,
            reversed_entries(level.A),
            z.astype(np.int32),
            k,
            self.softness,
            self.tolerance,
            self.max_sweeps,
            stop,
        )
        names, labels = np.unique(np.argmax(marginals, axis=1), return_inverse=True)
        used = int(np.count_nonzero(marginals.sum(axis=0) > 1.0))
        n, m = level.strength.size, 0.5 * float(level.strength.sum())
        cost = 0.5 * math.log(m) + 0.5 * (used - 1) * math.log(n) - math.lgamma(used + 1.0)
        evidence = float(evidence) if math.isfinite(evidence) else -math.inf
        return Posterior(
            labels.astype(np.int64),
            int(names.size),
            evidence,
            evidence - cost,
            marginals,
            change <= self.tolerance,
        )
