"""What all estimators share: parameters within parameters, input and random numbers."""

from collections import defaultdict
from collections.abc import Mapping
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

    Their fields are parameters too, such as ``metric__sigma``. A frozen object has no
    ``set_params`` that scikit-learn could call, so setting a field puts a new object in its place:
    objects are never changed, and estimators may share them.
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
                value = self._object_of(name)
                if _has_fields(value):
                    for field in fields(value):
                        params[f"{name}__{field.name}"] = getattr(value, field.name)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, or fields of parameters that are value objects.

        Parameters
        ----------
        **params : dict
            Values by name, ``metric__sigma=2.0`` for a field. Whole parameters are set before
            their fields.

        Returns
        -------
        self
        """
        whole: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = defaultdict(dict)
        for key, value in params.items():
            name, delimiter, field = key.partition("__")
            if delimiter and name in self._get_param_names():
                nested[name][field] = value
            else:
                whole[key] = value
        super().set_params(**whole)
        for name, changes in nested.items():
            self._set_fields(name, changes)
        return self

    def _set_fields(self, name: str, changes: dict[str, Any]) -> None:
        value = self._object_of(name)
        known = [field.name for field in fields(value)] if _has_fields(value) else []
        for field in changes:
            if field not in known:
                msg = (
                    f"Invalid parameter {field!r} for {name}={getattr(self, name)!r}. "
                    f"Valid parameters are: {known!r}."
                )
                raise InputError(msg)
        changed = replace(value, **changes)
        # A name stays if it stands for the same object as before.
        if getattr(self, name) is value or changed != value:
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


def _has_fields(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)
