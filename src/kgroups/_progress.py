"""Progress of long work: a bar on a terminal, a function of the caller, or nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from kgroups.errors import InputError

__all__ = ["Progress", "counted_progress", "is_terminal", "stage_progress"]

Progress: TypeAlias = Callable[[int, int], None] | Literal["bar"] | None


@contextmanager
def counted_progress(
    progress: Progress, total: int, unit: str, *, before: int = 0
) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes how many of ``total`` units are done.

    ``"bar"`` draws a bar on stderr where that is a terminal, and nothing elsewhere. ``before``
    units were done by an earlier run: a bar shows them at once and leaves them out of its rate.
    """
    if progress is None:
        yield lambda done: None
    elif callable(progress):
        yield lambda done: progress(min(done, total), total)
    elif progress == "bar":
        with _terminal_bar(total=total, unit=unit, initial=before) as bar:
            yield lambda done: None if bar is None else bar.update(min(done, total) - bar.n)
    else:
        msg = f'progress must be "bar", None or a callable of (done, total), got {progress!r}.'
        raise InputError(msg)


@contextmanager
def stage_progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that takes the name of the stage that begins, to show it on a terminal."""
    with _terminal_bar(bar_format="{desc} [{elapsed}]") as bar:
        yield lambda stage: None if bar is None else bar.set_description_str(stage)


def is_terminal() -> bool:
    """Tell whether standard error is open and a terminal."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        # A process that was started without stderr has None there; a closed stream raises.
        return False


@contextmanager
def _terminal_bar(**options: Any) -> Iterator[Any]:
    """Yield a bar of tqdm on stderr, or None where stderr is closed or not a terminal."""
    if not is_terminal():
        yield None
        return
    from tqdm import tqdm

    with tqdm(leave=False, file=sys.stderr, **options) as bar:
        yield bar
