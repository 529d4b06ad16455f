"""Belief propagation of one component, and the arrays that its kernel was called with."""

import inspect
from unittest import mock

import numpy as np

from kgroups.inference import _beliefs_nb as kernels
from kgroups.inference.belief_propagation import propagate


def propagated(model, z, rates, learning, schedule, **options):
    """Return where belief propagation of a whole graph ended that started from labels and rates."""
    k, whole = np.array([rates.inside.size]), np.zeros(1, dtype=np.int64)
    (found,) = propagate(model, z, k, whole, learning, schedule, rates=rates, **options)
    return found


def with_arguments(*arguments, **options):
    """Return the same, and the last arguments of the kernel by name, its arrays as they ended."""
    with mock.patch.object(kernels, "propagate", wraps=kernels.propagate) as kernel:
        found = propagated(*arguments, **options)
    names = inspect.signature(kernels.propagate.function).parameters
    return found, dict(zip(names, kernel.call_args.args, strict=True))
