"""The planted model by mean degree and signal-to-noise ratio."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from kgroups._doors import check_choice
from kgroups._types import Floats
from kgroups._wording import argument, setting
from kgroups.errors import InputError
from kgroups.generators.arguments import real_number

__all__ = ["Beyond", "PlantedAffinity"]

Beyond: TypeAlias = Literal["error", "clip"]


@dataclass(frozen=True)
class PlantedAffinity:
    r"""Edge probabilities of the planted model from a mean degree and a signal-to-noise ratio.

    With :math:`d` the mean degree and :math:`\lambda` the ratio, two nodes of one group of
    ``k`` are joined with probability :math:`a / n`, two others with :math:`b / n`, where

    .. math:: a = d + \lambda (k - 1) \sqrt d, \quad b = d - \lambda \sqrt d.

    Parameters
    ----------
    degree : float
        Mean degree :math:`d` when the groups are equal.
    snr : float
        The ratio :math:`\lambda = (a - b) / (k \sqrt d)`. Groups can be detected above 1.
        Negative values make nodes avoid their own group.
    beyond : {"error", "clip"}
        What to do where :math:`a` or :math:`b` is no probability times ``n``. For
        :math:`\lambda > \sqrt d` that is a negative :math:`b`. ``"clip"`` moves it to the nearest
        bound, which changes the mean degree.

    Examples
    --------
    >>> PlantedAffinity(degree=16, snr=2).probabilities(128, 4)
    (0.3125, 0.0625)
    """

    degree: float
    snr: float
    beyond: Beyond = "error"

    def __post_init__(self) -> None:
        real_number("degree", self.degree, low=0.0)
        real_number("snr", self.snr)
        check_choice("beyond", self.beyond, ("error", "clip"))

    def probabilities(self, n: int, k: int) -> tuple[float, float]:
        """Return the edge probability inside a group and between groups.

        Parameters
        ----------
        n, k : int
            Number of nodes and of groups.

        Returns
        -------
        inside, between : float
            Probabilities.

        Raises
        ------
        InputError
            If one of them is none and ``beyond`` is ``"error"``.
        """
        root = math.sqrt(self.degree)
        a = self.degree + self.snr * (k - 1) * root
        b = self.degree - self.snr * root
        low, high = self._snr_range(n, k)
        # The bounds are named to the caller, so a value equal to a rounded bound must pass.
        slack = 1e-12 * max(1.0, abs(self.snr))
        if self.beyond == "error" and not low - slack <= self.snr <= high + slack:
            raise InputError(self._out_of_range_message(n, k, low, high))
        return min(max(a / n, 0.0), 1.0), min(max(b / n, 0.0), 1.0)

    def matrix(self, n: int, k: int) -> Floats:
        """Return the matrix of edge probabilities between ``k`` groups of ``n`` nodes."""
        inside, between = self.probabilities(n, k)
        P = np.full((k, k), between)
        np.fill_diagonal(P, inside)
        return P

    def _snr_range(self, n: int, k: int) -> tuple[float, float]:
        """Return the ratios for which a and b lie between 0 and n."""
        root = math.sqrt(self.degree)
        if self.degree > n:
            return math.inf, -math.inf
        if k == 1 or root == 0:
            return -math.inf, math.inf
        room = (n - self.degree) / root
        return max(-root / (k - 1), -room), min(root, room / (k - 1))

    def _out_of_range_message(self, n: int, k: int, low: float, high: float) -> str:
        if low > high:
            return (
                f"{argument('degree')} must not exceed the number of nodes, got {self.degree:g} "
                f"for {n} nodes.\n  Use more nodes, or a smaller degree."
            )
        bound = (
            f"the largest {argument('snr')} is {high:.15g}"
            if self.snr > high
            else f"the smallest {argument('snr')} is {low:.15g}"
        )
        return (
            f"edge probabilities must lie between 0 and 1; for {n} nodes, {k} groups and mean "
            f"degree {self.degree:g} {bound}, got {self.snr:.15g}.\n"
            f"  Choose an {argument('snr')} within the bound, or pass "
            f"{setting('beyond', 'clip')}, which changes the mean degree."
        )
