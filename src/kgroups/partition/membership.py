"""The community of each node by its name, as a dict that cannot be changed."""

from collections.abc import Hashable
from typing import Any, NoReturn


class Membership(dict[Hashable, int]):
    """A read-only ``dict``; ``dict(membership)`` and ``copy()`` return one that can be changed.

    Unlike ``types.MappingProxyType`` it can be pickled, and written as JSON.

    Examples
    --------
    >>> membership = Membership({"ann": 0, "bob": 1})
    >>> membership["bob"], dict(membership) == membership
    (1, True)
    >>> membership["ann"] = 1
    Traceback (most recent call last):
    ...
    TypeError: the membership of a partition cannot be changed; dict(membership) copies it.
    """

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        msg = "the membership of a partition cannot be changed; dict(membership) copies it."
        raise TypeError(msg)

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Membership, (dict(self),)
