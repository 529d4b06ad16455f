"""How objects that hold options print."""

from dataclasses import MISSING, fields
from typing import Any


def changed_options(self: Any) -> str:
    """Return the repr of a dataclass with the fields that differ from their defaults.

    A class takes it by ``__repr__ = changed_options``. Evaluated, it gives an equal object.
    """
    shown = []
    for field in fields(self):
        value, default = getattr(self, field.name), field.default
        if default is MISSING and field.default_factory is not MISSING:
            default = field.default_factory()
        if default is MISSING or value != default:
            shown.append(f"{field.name}={value!r}")
    return f"{type(self).__qualname__}({', '.join(shown)})"
