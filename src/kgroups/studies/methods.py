"""The methods that a study compares, by name or as callables."""

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

from kgroups._extras import install_hint
from kgroups._types import Ints
from kgroups._wording import in_python
from kgroups.errors import InputError, MissingExtraError
from kgroups.refine import Hartigan
from kgroups.studies.bench import Workbench
from kgroups.studies.names import described
from kgroups.studies.peers import infomap_labels, leiden_labels, louvain_labels, spectral_labels

__all__ = ["METHODS", "PAPER_GRAM", "PAPER_UNIFORM", "Method", "as_methods", "method_label"]

PAPER_UNIFORM = Hartigan(weights="uniform", candidates="all", margin=0.0, guard=None)
PAPER_GRAM = Hartigan(weights="gram", candidates="all", margin=0.0, guard=None)


@dataclass(frozen=True)
class Method:
    """A method that finds labels.

    Attributes
    ----------
    name : str
        As in the column ``method``.
    find : callable
        Returns the labels of the graph on a workbench.
    k_given : bool
        Whether it is given the planted number of groups; otherwise it chooses one itself.
    label : str
        Its name in legends, with the settings that matter; empty for ``name``.
    """

    name: str
    find: Callable[[Workbench], Any]
    k_given: bool = True
    label: str = ""


_TakesK: TypeAlias = Literal["second", "by name"] | None


@dataclass(frozen=True)
class _Called:
    """A callable of the user: given the graph as it was drawn, k if it takes it, and a stream."""

    function: Callable[..., Any]
    takes_k: _TakesK

    def __call__(self, work: Workbench) -> Any:
        if self.takes_k == "second":
            return self.function(work.source, work.k, work.rng())
        by_name = {} if self.takes_k is None else {"k": work.k}
        return self.function(work.source, work.rng(), **by_name)

    def __repr__(self) -> str:
        return described(self.function)


def _given_k(work: Workbench, refine: Hartigan | None) -> Ints:
    return work.labels_given_k(refine)


def _as_published(work: Workbench, refine: Hartigan | None) -> Ints:
    return work.labels_of_paper(refine)


def _k_found(work: Workbench) -> Ints:
    from kgroups.detect import detect_communities

    return detect_communities(work.graph, rng=work.rng()).labels


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("kgroups", partial(_given_k, refine=Hartigan())),
        Method("kgroups-auto", _k_found, k_given=False),
        Method("kgroups-paper", partial(_as_published, refine=PAPER_GRAM)),
        Method("kgroups-paper-uniform", partial(_as_published, refine=PAPER_UNIFORM)),
        Method("bethe-hessian", partial(_given_k, refine=None)),
        Method("bethe-hessian-raw", partial(_as_published, refine=None)),
        Method("spectral-adjacency", spectral_labels),
        Method(
            "leiden",
            partial(leiden_labels, converged=False),
            k_given=False,
            label="Leiden, 2 iterations",
        ),
        Method(
            "leiden-converged",
            partial(leiden_labels, converged=True),
            k_given=False,
            label="Leiden, converged",
        ),
        Method("louvain", louvain_labels, k_given=False, label="Louvain"),
        Method("infomap", infomap_labels, k_given=False, label="Infomap, 1 trial"),
    )
}
"""The methods that have a name; see the page on studies."""


def method_label(name: str) -> str:
    """Return the name of a method in legends."""
    return (METHODS[name].label if name in METHODS else "") or name


def as_methods(methods: Any) -> tuple[Method, ...]:
    """Return the methods that a name, a callable, several of them or a mapping stand for."""
    if isinstance(methods, str) or callable(methods):
        methods = (methods,)
    if isinstance(methods, Mapping):
        chosen = tuple(_method(given, str(name)) for name, given in methods.items())
    else:
        chosen = tuple(_method(given) for given in methods)
    _check(chosen)
    return chosen


def _check(chosen: Sequence[Method]) -> None:
    if not chosen:
        msg = f"a study needs at least one method.\n  Those with a name: {', '.join(METHODS)}."
        raise InputError(msg)
    names = [method.name for method in chosen]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = f"the names of methods must differ, got {twice[0]!r} twice." + in_python(
            "\n  Pass a dict from names to callables."
        )
        raise InputError(msg)
    if any(method.find is infomap_labels for method in chosen) and find_spec("infomap") is None:
        msg = f'the method "infomap" needs the package infomap. {install_hint("bench")}'
        raise MissingExtraError(msg)


def _method(given: Any, name: str | None = None) -> Method:
    if not callable(given) and (not isinstance(given, str) or given not in METHODS):
        raise _no_method(given)
    if name is None:
        name = _name_of(given)
    if name in METHODS and given != name:
        msg = (
            f"{name!r} is the name of a method of kgroups, so that no other one can have it.\n"
            '  Pass a dict such as {"mine": function}.'
        )
        raise InputError(msg)
    if not callable(given):
        return replace(METHODS[given], name=name)
    takes_k = _takes_k(given)
    return Method(name, _Called(given, takes_k), k_given=takes_k is not None)


def _no_method(given: Any) -> InputError:
    close = difflib.get_close_matches(str(given), METHODS, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return InputError(
        f"a method must be one of {', '.join(METHODS)}{in_python(' or a callable')}, got "
        f"{given!r}.{guess}"
        + in_python(
            "\n  A callable takes (graph, k, rng), or (graph, rng) if it chooses k itself, and "
            "returns labels."
        )
    )


def _takes_k(function: Callable[..., Any]) -> _TakesK:
    """Tell how a callable takes k: second of (graph, k, rng), by its name, or not at all.

    It takes k if a parameter is named k. Otherwise it takes k if three positional parameters or
    more have no default, or if fewer than two have none and ``*args`` takes the rest.
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return "second"  # compiled functions may have no signature
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [each for each in parameters.values() if each.kind in kinds]
    if "k" in parameters:
        return "second" if [each.name for each in positional[1:2]] == ["k"] else "by name"
    required = sum(each.default is each.empty for each in positional)
    takes_more = any(each.kind is each.VAR_POSITIONAL for each in parameters.values())
    return "second" if required > 2 or (required < 2 and takes_more) else None


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
