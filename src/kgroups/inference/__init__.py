"""Bayesian inference of communities: how likely each node is to belong to each of them."""

from kgroups.inference.propagation import (
    Inference,
    Learning,
    Schedule,
    block_model,
    parameter_cost,
    propagate,
)
from kgroups.inference.refiner import (
    BeliefPropagation,
    Degrees,
    better_fit,
    infer_at_rates,
    known_rates,
    model_in_words,
)

__all__ = [
    "BeliefPropagation",
    "Degrees",
    "Inference",
    "Learning",
    "Schedule",
    "better_fit",
    "block_model",
    "infer_at_rates",
    "known_rates",
    "model_in_words",
    "parameter_cost",
    "propagate",
]
