"""Progress of long work: a bar on a terminal, a function of the caller, or nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from kgroups.errors import InputError

Progress: TypeAlias = Callable[[int, int], None] | bool
"""``True`` for a bar, ``False`` for nothing, or a function of the units done and their total."""
StageProgress: TypeAlias = Callable[[str], None] | bool
"""The same for work in stages: a function takes the name of the stage that begins."""


@contextmanager
def counted_progress(
    total: int, unit: str, *, progress: Progress, before: int = 0
) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes how many of ``total`` units are done.

    A bar is drawn on stderr if that is a terminal. ``before`` units were done by an earlier run: a
    bar shows them at once and leaves them out of its rate.
    """
    check_progress(progress, "(done, total)")
    if callable(progress):
        yield lambda done: progress(min(done, total), total)
        return
    with _terminal_bar(show=progress, total=total, unit=unit, initial=before) as bar:
        yield lambda done: None if bar is None else bar.update(min(done, total) - bar.n)


@contextmanager
def stage_progress(*, progress: StageProgress = True) -> Iterator[Callable[[str], None]]:
    """Yield a function that takes the name of the stage that begins."""
    check_progress(progress, "the name of a stage")
    if callable(progress):
        yield progress
        return
    with _terminal_bar(show=progress, bar_format="{desc} [{elapsed}]") as bar:
        yield lambda stage: None if bar is None else bar.set_description_str(stage)


def is_terminal() -> bool:
    """Tell whether standard error is open and a terminal."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        # A process that was started without stderr has None there; a closed stream raises.
        return False


def check_progress(progress: object, takes: str) -> None:
    """Raise unless ``progress`` is a truth value or a callable; ``takes`` says of what."""
    if not (isinstance(progress, bool) or callable(progress)):
        msg = f"progress must be True, False or a callable of {takes}, got {progress!r}."
        raise InputError(msg)


@contextmanager
def _terminal_bar(*, show: bool, **options: Any) -> Iterator[Any]:
    """Yield a tqdm bar on stderr, or None if none is wanted or stderr is not an open terminal."""
    if not (show and is_terminal()):
        yield None
        return
    from tqdm import tqdm

    with tqdm(leave=False, file=sys.stderr, **options) as bar:
        yield bar
