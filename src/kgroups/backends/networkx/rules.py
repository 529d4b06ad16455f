"""What calls a function must decline, because networkx's answer would be another one."""

from collections.abc import Mapping
from typing import Any

__all__ = ["Decision", "no_multigraph"]

Decision = bool | str
"""True, or the reason in words: networkx writes it to its log."""


def no_multigraph(arguments: Mapping[str, Any]) -> str | None:
    """Decline multigraphs, whose parallel edges networkx counts as one here."""
    if arguments["G"].is_multigraph():
        return "networkx counts parallel edges as one"
    return None
