"""The number of eigenvalues of N_r above 1 as a function of r."""

from typing import NamedTuple

from kgroups._blas import single_threaded
from kgroups._csr import connected_components
from kgroups._types import CSR
from kgroups.spectrum.bethe_hessian import BetheHessian
from kgroups.spectrum.count import Layout, count_on

# Ratio of one r to the next, and the number of values of r at most: r grows to 15 times its first
# value, which is beyond rho(B), where nothing is left, on all but graphs with enormous hubs.
_RATIO = 1.2
_MOST_STEPS = 16


class Step(NamedTuple):
    """A value of r, the number of eigenvalues of N_r above 1, and whether that is exact."""

    r: float
    k: int
    is_exact: bool


def staircase(adjacency: CSR, first: float, *, weighted: bool) -> tuple[Step, ...]:
    """Count the eigenvalues of N_r above 1 from r = ``first`` on, until at most one is left.

    The count falls with r. Where it stays the same over a wide range, the communities are clear.
    """
    _, labels = connected_components(adjacency)
    steps: list[Step] = []
    layout, near, r = None, None, first
    with single_threaded(labels.size):
        while len(steps) < _MOST_STEPS and (not steps or steps[-1].k > 1):
            bound = BetheHessian(r).bind(adjacency, weighted=weighted)
            layout = Layout(bound.coupling, labels) if layout is None else layout
            near = count_on(bound, layout, sign=1, near=near)
            steps.append(Step(r, near.total, near.is_exact))
            r *= _RATIO
    return tuple(steps)
