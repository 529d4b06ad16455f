"""Belief propagation: how likely each node is to belong to each community."""

from kgroups.posterior.bethe import BeliefPropagation, Posterior

__all__ = ["BeliefPropagation", "Posterior"]
