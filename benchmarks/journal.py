"""A file with a line per graph and method that was measured, from which a run resumes."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure import Outcome, Run
from benchmarks.scores import Scores


class Lines:
    """A file of JSON, one object a line; without a path nothing is kept.

    What an interrupted run left of a line is removed.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def read(self) -> list[dict[str, Any]]:
        """Return all lines; none if there is no file."""
        if self.path is None or not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return [json.loads(line) for line in whole.splitlines()]

    def append(self, line: dict[str, Any]) -> None:
        """Write a line."""
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(line, default=float)}\n")


class Journal:
    """Outcomes by graph and method; a line counts only for the same runs from the same seed.

    The last line of a graph and method counts.
    """

    def __init__(self, path: Path | None, *, repeat: int, seed: int) -> None:
        self._lines = Lines(path)
        self._runs = {"repeat": repeat, "seed": seed}
        self._known = {
            (line["graph"], line["method"]): _outcome(line)
            for line in self._lines.read()
            if {name: line[name] for name in self._runs} == self._runs
        }

    def get(self, graph: str, method: str) -> Outcome | None:
        """Return what is known, or None."""
        return self._known.get((graph, method))

    def append(self, graph: str, outcome: Outcome) -> None:
        """Write a line."""
        self._lines.append(
            {"graph": graph, "method": outcome.peer, **self._runs, **asdict(outcome)}
        )


def _outcome(line: dict[str, Any]) -> Outcome:
    runs = [Run(**{**run, "scores": Scores(**run["scores"])}) for run in line["runs"]]
    return Outcome(line["method"], runs, line["trouble"])
