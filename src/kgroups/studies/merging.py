"""Put the shards of a study together."""

import os
from collections.abc import Iterable

from kgroups.errors import InputError
from kgroups.studies.differences import differences
from kgroups.studies.journal import read_journal
from kgroups.studies.plan import Task
from kgroups.studies.table import Study, study_of
from kgroups.studies.trial import Results

__all__ = ["merge"]


def merge(journals: Iterable[str | os.PathLike[str]]) -> Study:
    """Return the whole study from the journals of its shards.

    Parameters
    ----------
    journals : paths
        Journals of one study. A trial that several of them hold counts once.

    Returns
    -------
    Study
        With the rows that one run would have given.

    Raises
    ------
    InputError
        If the journals belong to different studies, or trials are missing.
    """
    paths = list(journals)
    if not paths:
        msg = "merging needs at least one journal.\n  Name the journals of the shards."
        raise InputError(msg)
    plan, finished = read_journal(paths[0])
    for path in paths[1:]:
        other, more = read_journal(path)
        unlike = [f"{name} ({one}, {two})" for name, one, two in differences(plan, other)]
        if unlike:
            msg = (
                f"the journals must be of one study: {paths[0]} and {path} differ in "
                f"{', '.join(unlike)}."
            )
            raise InputError(msg)
        finished = {**more, **finished}
    _check_complete(plan["cells"], plan["trials"], finished)
    return study_of(plan, finished)


def _check_complete(
    cells: list[dict[str, object]], trials: int, finished: dict[Task, Results]
) -> None:
    missing = [
        Task(cell, trial)
        for cell in range(len(cells))
        for trial in range(trials)
        if Task(cell, trial) not in finished
    ]
    if missing:
        first = missing[0]
        msg = (
            f"all {len(cells) * trials} trials must be there, {len(missing)} are missing; the "
            f"first is trial {first.trial} of {cells[first.cell]}.\n"
            "  Run the unfinished shards again with the same journals, and name all journals."
        )
        raise InputError(msg)
