"""Bayesian inference of communities: how likely each node is to belong to each of them."""

from kgroups.inference.propagation import (
    Inferred,
    parameter_cost,
)
from kgroups.inference.refiner import (
    BeliefPropagation,
    Degrees,
    ObservedGraph,
    better_fit,
    infer_at_rates,
    known_rates,
    model_in_words,
    observed_graph,
)

__all__ = [
    "BeliefPropagation",
    "Degrees",
    "Inferred",
    "ObservedGraph",
    "better_fit",
    "infer_at_rates",
    "known_rates",
    "model_in_words",
    "observed_graph",
    "parameter_cost",
]
