"""What all estimators share: parameters within parameters, input and random numbers."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from kgroups.errors import InputError

try:
    from sklearn.utils.validation import validate_data
except ImportError:
    # Up to 1.5 it is a method of the estimator.
    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        """Check X as scikit-learn 1.6 does."""
        return estimator._validate_data(X, **options)


__all__ = ["Clusterer", "as_generator", "validate_data"]


class Clusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer with frozen dataclasses as parameters.

    Their fields are parameters too, such as ``metric__sigma``, and so are fields of these, such as
    ``regime__search__starts``. A frozen object has no ``set_params`` that scikit-learn could call,
    so setting a field puts a new object in its place: objects are never changed, and estimators
    may share them.
    """

    _named: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """For parameters that may be strings, what each string stands for."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Whether to return the fields of parameters that are value objects too, under names
            such as ``metric__sigma``.

        Returns
        -------
        dict
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name in self._get_param_names():
                params.update(_fields_within(name, self._object_of(name)))
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, or fields of parameters that are value objects.

        Parameters
        ----------
        **params : dict
            Values by name, ``metric__sigma=2.0`` for a field. Whole parameters are set before
            their fields, at every depth.

        Returns
        -------
        self
        """
        whole, nested = _by_depth(params)
        # The message about unknown names is that of scikit-learn.
        unknown = {name: nested[name] for name in nested if name not in self._get_param_names()}
        super().set_params(**{**whole, **unknown})
        for name, changes in nested.items():
            self._set_fields(name, changes)
        return self

    def _set_fields(self, name: str, changes: Mapping[str, Any]) -> None:
        value, shown = self._object_of(name), getattr(self, name)
        changed = _with_fields(value, changes, f"{name}={shown!r}", name)
        # A name stays if it stands for the same object as before.
        if shown is value or changed != value:
            setattr(self, name, changed)

    def _object_of(self, name: str) -> Any:
        """Return the object that a parameter is, or stands for."""
        value = getattr(self, name)
        return self._named.get(name, {}).get(value, value) if isinstance(value, str) else value


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator for what scikit-learn takes as ``random_state``.

    ``None`` draws from the global state of numpy, an instance of RandomState from itself, so
    that a second fit differs from the first, as everywhere in scikit-learn.
    """
    state = check_random_state(random_state)
    return np.random.default_rng(state.randint(np.iinfo(np.int32).max, size=4).tolist())


def _by_depth(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Tell changes of whole values from changes within them, which are returned for each value."""
    whole: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = defaultdict(dict)
    for key, value in changes.items():
        name, delimiter, field = key.partition("__")
        if delimiter:
            nested[name][field] = value
        else:
            whole[name] = value
    return whole, nested


def _with_fields(value: Any, changes: Mapping[str, Any], shown: str, path: str) -> Any:
    """Return an object with other fields, or fields of fields; ``shown`` is for messages."""
    known = _field_names(value)
    whole, nested = _by_depth(changes)
    for name in (*whole, *nested):
        if name not in known:
            msg = f"Invalid parameter {name!r} for {shown}. Valid parameters are: {known!r}."
            raise InputError(msg)
    for name, within in nested.items():
        old, inner = whole.get(name, getattr(value, name)), f"{path}__{name}"
        whole[name] = _with_fields(old, within, f"{inner}={old!r}", inner)
    return replace(value, **whole)


def _fields_within(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an object, and the fields of these, under their full names."""
    for name in _field_names(value):
        field = getattr(value, name)
        yield f"{path}__{name}", field
        yield from _fields_within(f"{path}__{name}", field)


def _field_names(value: Any) -> list[str]:
    """Return the fields that can be set; none if the value is not a dataclass object."""
    if not is_dataclass(value) or isinstance(value, type):
        return []
    return [field.name for field in fields(value) if field.init]
