"""A file with a line per graph and method that was measured, from which a run resumes."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure import Outcome, Run
from benchmarks.scores import Scores


class Journal:
    """Outcomes by graph and method; a line counts only for the same runs from the same seed.

    The last line of a graph and method counts. What an interrupted run left of a line is removed.
    Without a path nothing is kept.
    """

    def __init__(self, path: Path | None, *, repeat: int, seed: int) -> None:
        self.path = path
        self._runs = {"repeat": repeat, "seed": seed}
        self._known: dict[tuple[str, str], Outcome] = {}
        if path is None or not path.exists():
            return
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        for line in map(json.loads, whole.splitlines()):
            if {name: line[name] for name in self._runs} == self._runs:
                self._known[line["graph"], line["method"]] = _outcome(line)

    def get(self, graph: str, method: str) -> Outcome | None:
        """Return what is known, or None."""
        return self._known.get((graph, method))

    def append(self, graph: str, outcome: Outcome) -> None:
        """Write a line."""
        if self.path is None:
            return
        line = {"graph": graph, "method": outcome.peer, **self._runs, **asdict(outcome)}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(line, default=float)}\n")


def _outcome(line: dict[str, Any]) -> Outcome:
    runs = [Run(**{**run, "scores": Scores(**run["scores"])}) for run in line["runs"]]
    return Outcome(line["method"], runs, line["trouble"])
