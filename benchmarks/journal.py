"""A file with a line per graph and method that was measured, from which a run resumes."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.suites import Row

Record = Mapping[str, Any]
"""What was measured on one graph; it can be written as JSON."""


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


class Kept:
    """Records by part, graph, seed and method; those of fresh methods are measured again."""

    def __init__(self, path: Path | None, fresh: Iterable[str] = ()) -> None:
        self._lines, fresh = Lines(path), set(fresh)
        self._known = {
            _key(**line): line["record"]
            for line in self._lines.read()
            if line["method"] not in fresh
        }

    def record(self, measure: Callable[[Row, int], Record], row: Row, **which: Any) -> Record:
        """Return what is known of a graph, or measure it."""
        which = {**which, "graph": row.name}
        known = self._known.get(_key(**which))
        if known is None:
            known = measure(row, which["seed"])
            self._lines.append({**which, "record": known})
        return known


def _key(*, part: str, graph: str, seed: int, method: str, **_: Any) -> tuple[str, str, int, str]:
    return part, graph, seed, method
