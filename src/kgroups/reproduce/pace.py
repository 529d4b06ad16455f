"""Progress of an experiment."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from kgroups._progress import counted_progress

__all__ = ["told"]

Item = TypeVar("Item")


def told(items: Sequence[Item], running: Mapping[str, Any]) -> Iterator[Item]:
    """Yield items and show how many are done, as ``running["progress"]`` says."""
    with counted_progress(running.get("progress"), len(items), "trial") as show:
        for done, item in enumerate(items):
            show(done)
            yield item
        show(len(items))
