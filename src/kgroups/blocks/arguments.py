"""Arguments that a stored graph cannot take: why, and what to do instead."""

from collections.abc import Mapping
from typing import Any

from kgroups._wording import argument, in_python
from kgroups.blocks.engines import Engine
from kgroups.errors import InputError
from kgroups.hartigan import Hartigan, KMeansInit
from kgroups.spectrum import BetheHessian

_AT_THE_START = "it is chosen when the store is made"
_NO_EIGENVECTORS = "eigenvectors are not computed, whose labels it is for"
# Of each argument its only value, and why it is the only one.
_ONLY: Mapping[str, tuple[object, str]] = {
    "weight": ("weight", _AT_THE_START),
    "source": (None, _AT_THE_START),
    "target": (None, _AT_THE_START),
    "symmetrize": (None, "the edges of a store are undirected"),
    "self_loops": ("drop", "self-loops are not in its blocks, and count in scores alone"),
    "operator": (BetheHessian(), "its blocks are multiplied by this one alone"),
    "init": (KMeansInit(), _NO_EIGENVECTORS),
    "refine": (Hartigan(), _NO_EIGENVECTORS),
}


def check_arguments(given: Mapping[str, Any]) -> None:
    """Raise unless arguments have the only values that they can have for a stored graph."""
    for name, value in given.items():
        only, why = _ONLY[name]
        if type(value) is type(only) and value == only:
            continue
        instead = in_python(" or pass graph.to_graph() if it fits in memory")
        advice = f"Leave {argument(name)} out,{instead or ' or read the graph into memory'}."
        if why is _AT_THE_START:
            again = in_python(
                f", or make another store: open_graph(edges, store=folder, {name}={value!r})"
            )
            advice = f"Leave {argument(name)} out{again}."
        must = f"{argument(name)} must be {only!r} for a stored graph"
        msg = f"{must}, got {value!r}: {why}.\n  {advice}"
        raise InputError(msg)


def check_engine(engine: object) -> None:
    """Raise unless this is an engine, or None for this process."""
    needed = [name for name in vars(Engine) if not name.startswith("_")]
    is_engine = all(callable(getattr(engine, name, None)) for name in needed)
    if engine is not None and (isinstance(engine, type) or not is_engine):
        msg = f"engine must be None, OutOfCore() or another Engine, got {engine!r}."
        raise InputError(msg)
