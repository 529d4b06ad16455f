"""Compile the kernels for vector data, at a time of the caller's choosing."""

import numpy as np

from kgroups.energy.clustering import kernel_kgroups
from kgroups.energy.line import segment_line

__all__ = ["compile_dense_kernels"]


def compile_dense_kernels() -> None:
    """Group a few points in each way for which there are kernels."""
    points = np.linspace(0.0, 1.0, 8)
    kernel_kgroups(points, 2, n_init=1)
    segment_line(points, 2)
