"""The methods that a study compares, by name or as callables."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

from kgroups._types import Ints
from kgroups.errors import InputError, MissingExtraError
from kgroups.refine import Hartigan
from kgroups.studies.bench import Workbench
from kgroups.studies.names import described
from kgroups.studies.peers import infomap_labels, leiden_labels, louvain_labels, spectral_labels

__all__ = ["METHODS", "PAPER_GRAM", "PAPER_UNIFORM", "Method", "as_methods"]

PAPER_UNIFORM = Hartigan(weights="uniform", candidates="all", margin=0.0, guard=None)
PAPER_GRAM = Hartigan(weights="gram", candidates="all", margin=0.0, guard=None)


@dataclass(frozen=True)
class Method:
    """A name, and what finds labels on the workbench."""

    name: str
    find: Callable[[Workbench], Any]


@dataclass(frozen=True)
class _Called:
    """A callable of the user: given the graph as it was drawn, k and a random stream."""

    function: Callable[..., Any]

    def __call__(self, work: Workbench) -> Any:
        return self.function(work.source, work.k, work.rng())

    def __repr__(self) -> str:
        return described(self.function)


def _given_k(work: Workbench, refine: Hartigan | None) -> Ints:
    return work.labels_given_k(refine)


def _as_published(work: Workbench, refine: Hartigan | None) -> Ints:
    return work.labels_of_paper(refine)


def _k_found(work: Workbench) -> Ints:
    from kgroups.detect import detect_communities

    return detect_communities(work.graph, rng=work.rng()).labels


METHODS: Mapping[str, Callable[[Workbench], Any]] = {
    "kgroups": partial(_given_k, refine=Hartigan()),
    "kgroups-auto": _k_found,
    "kgroups-paper": partial(_as_published, refine=PAPER_GRAM),
    "kgroups-paper-uniform": partial(_as_published, refine=PAPER_UNIFORM),
    "bethe-hessian": partial(_given_k, refine=None),
    "bethe-hessian-raw": partial(_as_published, refine=None),
    "spectral-adjacency": spectral_labels,
    "leiden": leiden_labels,
    "louvain": louvain_labels,
    "infomap": infomap_labels,
}
"""What each name stands for; see the page on studies."""


def as_methods(methods: Any) -> tuple[Method, ...]:
    """Return the methods that a name, a callable, several of them or a mapping stand for."""
    if isinstance(methods, str) or callable(methods):
        methods = (methods,)
    if isinstance(methods, Mapping):
        chosen = tuple(Method(str(name), _finder(given)) for name, given in methods.items())
    else:
        chosen = tuple(Method(find=_finder(given), name=_name_of(given)) for given in methods)
    _check(chosen)
    return chosen


def _check(chosen: Sequence[Method]) -> None:
    if not chosen:
        msg = f"a study needs at least one method.\n  Those with a name: {', '.join(METHODS)}."
        raise InputError(msg)
    names = [method.name for method in chosen]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = (
            f"the names of methods must differ, got {twice[0]!r} twice.\n"
            "  Pass a dict from names to callables."
        )
        raise InputError(msg)
    if any(method.find is infomap_labels for method in chosen) and find_spec("infomap") is None:
        msg = (
            'the method "infomap" needs the package infomap. '
            'Install it with: pip install "kgroups[bench]"'
        )
        raise MissingExtraError(msg)


def _finder(given: Any) -> Callable[[Workbench], Any]:
    if callable(given):
        return _Called(given)
    if isinstance(given, str) and given in METHODS:
        return METHODS[given]
    close = difflib.get_close_matches(str(given), METHODS, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    msg = (
        f"a method must be one of {', '.join(METHODS)} or a callable, got {given!r}.{guess}\n"
        "  A callable takes (graph, k, rng) and returns labels."
    )
    raise InputError(msg)


def _name_of(given: Any) -> str:
    if isinstance(given, str):
        return given
    name = getattr(given, "__name__", None)
    if name is None or name == "<lambda>":
        msg = (
            f"a method without a name must be given one, got {given!r}.\n"
            '  Pass a dict such as {"mine": function}.'
        )
        raise InputError(msg)
    return str(name)
