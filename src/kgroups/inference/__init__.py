"""Bayesian inference of communities: how likely each node is to belong to each of them."""

from kgroups.inference.belief_propagation import (
    BeliefPropagation,
    Degrees,
    Inference,
    Learning,
    Schedule,
    better_fit,
    block_model,
    infer_at_rates,
    known_rates,
    model_in_words,
    parameter_cost,
    propagate,
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
