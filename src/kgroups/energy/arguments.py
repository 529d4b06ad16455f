"""What callers may pass as a metric: semimetrics, their names, functions, and kinds of matrices."""

from typing import Any, Literal, TypeAlias

from kgroups.energy.functions import FunctionOfPair
from kgroups.energy.semimetrics import Exponential, Gaussian, PairFunction, Power, Semimetric
from kgroups.errors import InputError

__all__ = ["NAMED_METRICS", "MetricLike", "SemimetricLike", "as_semimetric", "is_matrix"]

MetricName: TypeAlias = Literal["euclidean", "sqeuclidean", "exponential", "gaussian"]
SemimetricLike: TypeAlias = Semimetric | FunctionOfPair | MetricName
MetricLike: TypeAlias = SemimetricLike | Literal["precomputed", "gram"]

NAMED_METRICS: dict[str, Semimetric] = {
    "euclidean": Power(1.0),
    "sqeuclidean": Power(2.0),
    "exponential": Exponential("median"),
    "gaussian": Gaussian("median"),
}
"""What each name stands for. A name has no number for sigma, so that the points must set it."""


def is_matrix(metric: object) -> bool:
    """Whether a metric says that X is a matrix of all pairs."""
    return isinstance(metric, str) and metric in ("precomputed", "gram")


def as_semimetric(metric: Any) -> Semimetric:
    """Return the semimetric that a name or a function of two points stands for.

    Parameters
    ----------
    metric : Semimetric, str or callable
        A semimetric, which is returned as it is; ``"euclidean"`` for ``Power(1)``,
        ``"sqeuclidean"`` for ``Power(2)``, ``"exponential"`` and ``"gaussian"`` for
        ``Exponential("median")`` and ``Gaussian("median")``; or a function, which becomes a
        :class:`PairFunction`.

    Returns
    -------
    Semimetric

    Raises
    ------
    InputError
        If ``metric`` is none of these.

    Examples
    --------
    >>> as_semimetric(Power(0.5))
    Power(alpha=0.5)
    >>> as_semimetric("gaussian")
    Gaussian(sigma='median')
    """
    if isinstance(metric, Semimetric):
        return metric
    if isinstance(metric, str) and metric in NAMED_METRICS:
        return NAMED_METRICS[metric]
    if callable(metric) and not isinstance(metric, type):
        return PairFunction(metric)
    hint = "Pass for instance Power(1.0), Exponential(sigma=2.0), or a function f(x, y)."
    if isinstance(metric, type) and issubclass(metric, Semimetric):
        hint = f"Pass an instance: {metric.__name__}(...)."
    elif isinstance(metric, str):
        hint += (
            "\n  Where X may be a matrix of all pairs, the metric says so with 'precomputed' "
            "(distances) or 'gram' (a kernel)."
        )
    names = ", ".join(repr(name) for name in NAMED_METRICS)
    msg = (
        f"metric must be a semimetric, one of the names {names}, or a function of two points, "
        f"got {metric!r}.\n  {hint}"
    )
    raise InputError(msg)
