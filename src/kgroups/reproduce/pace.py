"""Tell whoever watches how far an experiment is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from kgroups.studies.running import shown

__all__ = ["told"]

Item = TypeVar("Item")


def told(items: Sequence[Item], running: Mapping[str, Any]) -> Iterator[Item]:
    """Yield items and show how many are done, as ``running["progress"]`` says."""
    with shown(running.get("progress"), len(items)) as show:
        for done, item in enumerate(items):
            show(done)
            yield item
        show(len(items))
