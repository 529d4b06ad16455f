"""The number of negative eigenvalues of H_r, component by component."""

from dataclasses import dataclass

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum.lanczos import top_eigenpairs

__all__ = ["ComponentCounts", "count_components"]

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class ComponentCounts:
    """Counts by component, and how each was found."""

    k: Ints
    method: tuple[str, ...]
    eigenvalues: Floats

    @property
    def total(self) -> int:
        """Sum over the components."""
        return int(self.k.sum())


def count_components(bound: BoundBetheHessian, component_labels: Ints) -> ComponentCounts:
    """Count the eigenvalues of N_r above 1 in each connected component."""
    n_components = int(component_labels.max()) + 1 if component_labels.size else 0
    k = np.zeros(n_components, dtype=np.int64)
    method = ["pruned"] * n_components
    found: list[Floats] = []
    if not bound.trivial:
        order = np.argsort(component_labels, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(component_labels))])
        for a in range(n_components):
            rows = order[bounds[a] : bounds[a + 1]]
            if len(rows) <= 2:
                continue
            part = bound.restrict(rows)
            asked = min(16, part.n)
            while True:
                lam, _ = top_eigenpairs(part, asked)
                if lam[-1] <= 1.0 or asked == part.n:
                    break
                asked = min(2 * asked, part.n)
            k[a] = np.count_nonzero(lam > 1.0 + _TOLERANCE)
            method[a] = "dense" if part.n <= 400 else "lanczos"
            found.append(lam)
    values = np.sort(np.concatenate(found))[::-1] if found else np.zeros(0)
    return ComponentCounts(k, tuple(method), values)
