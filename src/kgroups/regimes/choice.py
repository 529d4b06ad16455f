"""The regimes as value objects, and the rule that chooses one."""

from dataclasses import dataclass

from kgroups.errors import InputError

__all__ = ["Auto", "Exact", "Regime", "chosen_regime"]


@dataclass(frozen=True)
class Exact:
    """Use the eigenvectors of N_r themselves: exact count, exact embedding."""


@dataclass(frozen=True)
class Auto:
    """Let kgroups choose the regime; at present that is :class:`Exact` for every graph."""


Regime = Auto | Exact


def chosen_regime(regime: Regime) -> tuple[Exact, str]:
    """Return the regime to use, and why."""
    if isinstance(regime, Exact):
        return regime, "asked for"
    if isinstance(regime, Auto):
        return Exact(), "Auto uses it for every graph"
    msg = f"regime must be Auto() or Exact(), got {regime!r}."
    raise InputError(msg)
