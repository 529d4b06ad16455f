"""Whether a connected graph has more communities than one."""

from dataclasses import dataclass

from kgroups.spectrum.moments import Moments

__all__ = ["Verdict", "has_structure"]


@dataclass(frozen=True)
class Verdict:
    """Whether there is structure, and what that rests on.

    Attributes
    ----------
    structured : bool
        False says that the graph looks like a random one with its degrees.
    statistic : float
        The signal of the moments, in units of their noise.
    threshold : float
        What it has to exceed.
    why : str
        A sentence for the report.
    """

    structured: bool
    statistic: float
    threshold: float
    why: str

    def __bool__(self) -> bool:
        return self.structured


def has_structure(found: Moments) -> Verdict:
    """Tell communities from the accidents of a random graph, from about 500 nodes on.

    The largest eigenvalue of N_r after the first strays beyond 1 on a few percent of random
    graphs, by about n^(-2/3). In the moments that is not enough to be seen.

    Parameters
    ----------
    found : Moments
        The moments of the graph.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> from kgroups.generators import planted_partition
    >>> from kgroups.operators import BetheHessian
    >>> from kgroups.spectrum import moments
    >>> for snr in (0.0, 1.5):
    ...     graph, _ = planted_partition(2_000, k=2, degree=8.0, snr=snr, rng=0)
    ...     bound = BetheHessian().bind(graph.simple_adjacency(), weighted=False)
    ...     print(has_structure(moments(bound)).structured)
    False
    True
    """
    structured = found.signal > found.threshold
    relation = "exceeds" if structured else "does not exceed"
    why = (
        f"after {found.q} steps the Chebyshev moments were {found.signal:.3g} times their noise, "
        f"which {relation} {found.threshold:.3g}"
    )
    return Verdict(structured, found.signal, found.threshold, why)
