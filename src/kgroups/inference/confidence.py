"""How sure the community of each node is, given the model and the number of communities."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kgroups._progress import Progress, counted_progress
from kgroups._types import Bools, Floats, Ints
from kgroups.adapters import by_first_node
from kgroups.errors import PartitionError
from kgroups.inference.belief_propagation import BeliefPropagation, block_model, rates_of_labels
from kgroups.inference.gibbs import GibbsMasses, gibbs_masses

if TYPE_CHECKING:
    from kgroups.search import Level, Prepared

__all__ = ["Confidence", "confidence_of_labels"]

# Messages of belief propagation, of 8 bytes each: 400 MB. Beyond it a Gibbs chain is run.
_MOST_MESSAGES = 5e7
_GIBBS_SWEEPS = 60
_GIBBS_BURN_IN = 10


class Confidence(NamedTuple):
    """Probabilities of the communities of a partition.

    Attributes
    ----------
    own : ndarray of shape (n,)
        Probability of the community that each node is in.
    runner_up : ndarray of shape (n,)
        The most probable of the other communities, -1 if there is none.
    runner_up_probability : ndarray of shape (n,)
        Its probability.
    method : str
        "belief propagation", "Gibbs sampling", "one community" or "whole components".
    converged : bool
        Whether belief propagation has converged; True for the others.
    """

    own: Floats
    runner_up: Ints
    runner_up_probability: Floats
    method: str
    converged: bool

    def renumbered(self, before: Ints, after: Ints, nodes: Sequence[Hashable]) -> "Confidence":
        """Return the same for labels ``after`` of the communities ``before``, validated."""
        if any(values.shape != before.shape for values in self[:3]):
            msg = f"confidence must have one value for each of the {before.size} nodes."
            raise PartitionError(msg)
        if not before.size:
            return self
        names, first = np.unique(before, return_index=True)
        place = np.minimum(np.searchsorted(names, self.runner_up), names.size - 1)
        none = self.runner_up < 0
        another = (names[place] == self.runner_up) & (self.runner_up != before)
        for what, values, valid in (
            ("confidence must be from 0 to 1", self.own, _is_probability(self.own)),
            ("a runner-up must be another community, or -1", self.runner_up, none | another),
            (
                "the probability of a runner-up must be from 0 to 1",
                self.runner_up_probability,
                # Not all files hold it.
                np.isnan(self.runner_up_probability) | _is_probability(self.runner_up_probability),
            ),
        ):
            if not valid.all():
                i = int(np.argmin(valid))
                msg = f"{what}, got {values[i]} for node {nodes[i]!r}."
                raise PartitionError(msg)
        return _readonly(
            self._replace(
                own=self.own.copy(),
                runner_up=np.where(none, -1, after[first[place]]),
                runner_up_probability=self.runner_up_probability.copy(),
            )
        )


def _is_probability(values: Floats) -> Bools:
    return np.asarray((values >= 0.0) & (values <= 1.0))


def confidence_of_labels(
    ready: "Prepared",
    labels: Ints,
    *,
    progress: Progress = False,
    most_messages: float = _MOST_MESSAGES,
) -> Confidence:
    """Return how sure the community of each node is.

    Communities that are whole components are certain, and take no part in what is computed for the
    others.

    Parameters
    ----------
    ready : Prepared
        The graph, prepared for detection.
    labels : ndarray of shape (n,)
        Communities without gaps.
    progress : bool or callable
        Whether to draw a bar, or what to call with the sweeps done and their largest number.
    most_messages : float
        Number of matrix entries times communities up to which belief propagation is run, a rate
        for each community. Beyond it, labels are sampled at the rates of the labels given.
    """
    n, k = labels.size, int(labels.max(initial=-1)) + 1
    if k < 2:
        none = np.full(n, -1, dtype=np.int64)
        return _readonly(Confidence(np.ones(n), none, np.zeros(n), "one community", converged=True))
    # Numbered by first nodes, so that neither the numbers nor the order of nodes matter.
    names, z = by_first_node(ready.sorted(labels))
    component = ready.problem.component
    rest = np.flatnonzero(~_are_components(z, component)[z])
    others, y = np.unique(z[rest], return_inverse=True)
    own, probability, runner_up = np.ones(n), np.zeros(n), _largest_other(z)
    method, converged = "whole components", True
    if others.size > 1:
        level = ready.problem.level
        if rest.size < n:
            level = level.inside(component, rest)
        by_propagation = len(level.indices) * others.size <= most_messages
        found = (_by_propagation if by_propagation else _by_sampling)(
            level, y, others.size, progress
        )
        own[rest], probability[rest] = found.own, found.runner_up_probability
        runner_up[rest] = others[found.runner_up]
        method, converged = found.method, found.converged
    return _readonly(
        Confidence(
            ready.restored(own),
            ready.restored(names[runner_up]),
            ready.restored(probability),
            method,
            converged,
        )
    )


def _are_components(z: Ints, component: Ints) -> Bools:
    """Return which groups have exactly the nodes of one component."""
    of_group = component[np.unique(z, return_index=True)[1]]
    sizes = np.bincount(z)
    alike = np.bincount(z[of_group[z] == component], minlength=sizes.size) == sizes
    return np.asarray(alike & (np.bincount(component)[of_group] == sizes))


def _largest_other(z: Ints) -> Ints:
    """Return the largest group that each node is not in; there are two or more."""
    first, second = np.argsort(-np.bincount(z), kind="stable")[:2]
    return np.asarray(np.where(z == first, second, first))


def _readonly(found: Confidence) -> Confidence:
    for values in found[:3]:
        values.flags.writeable = False
    return found


def _by_propagation(level: "Level", z: Ints, k: int, progress: Progress) -> Confidence:
    method = BeliefPropagation(rates="own")
    with counted_progress(method.most_sweeps, "sweep", progress=progress) as tell:
        inferred = method.infer(level, z, k, progress=tell)
        tell(method.most_sweeps)
    nodes = np.arange(z.size)
    own = inferred.marginals[nodes, z].copy()
    inferred.marginals[nodes, z] = -1.0
    runner_up = np.argmax(inferred.marginals, axis=1)
    return Confidence(
        own,
        runner_up,
        inferred.marginals[nodes, runner_up],
        "belief propagation",
        inferred.converged,
    )


def _by_sampling(level: "Level", z: Ints, k: int, progress: Progress) -> Confidence:
    level = level.as_one().with_explicit_weights()
    model = block_model(level, degree_corrected=BeliefPropagation().corrects(level))
    with counted_progress(_GIBBS_SWEEPS, "sweep", progress=progress) as tell:
        masses = gibbs_masses(
            model,
            z,
            rates_of_labels(model, z, k),
            sweeps=_GIBBS_SWEEPS,
            burn_in=_GIBBS_BURN_IN,
            rng=np.random.default_rng(0),
            progress=tell,
        )
    return _two_largest(masses, z)


def _two_largest(masses: GibbsMasses, z: Ints) -> Confidence:
    """Return the mass of each node's own group and the largest other one."""
    slots, group, mass = masses
    node = np.repeat(np.arange(z.size), np.diff(slots))
    is_own = group == z[node]
    own = mass[is_own]
    mass = np.where(is_own, -1.0, mass)
    largest = np.maximum.reduceat(mass, slots[:-1])
    best = np.flatnonzero(mass == largest[node])
    best = best[np.unique(node[best], return_index=True)[1]]
    # A node whose neighbors are all in its own group: the largest other group comes next.
    runner_up = np.where(largest < 0.0, _largest_other(z), group[best]).astype(np.int64)
    return Confidence(
        np.minimum(own, 1.0), runner_up, np.maximum(largest, 0.0), "Gibbs sampling", converged=True
    )
