"""Run the code blocks of a Markdown page and compare what they print with what the page shows.

A ``python`` block runs in the namespace that the page's blocks share; a ``text`` block right after
it is its output. In a ``console`` block each line after ``$ `` is run and the rest is its output.
Run as a program, it takes the pages as arguments and needs kgroups alone; with ``--update`` before
them it writes what was printed into the pages.
"""

import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """Code of a page, the line on which it stands, and where the page shows its output."""

    language: str
    code: str
    line: int
    output: slice | None


class PageMismatchError(AssertionError):
    """A block printed something else than its page shows."""


def blocks_of(page: str) -> Iterator[Block]:
    """Yield the code that can be run, in the order of the page."""
    fences = list(FENCE.finditer(page))
    for fence, following in zip(fences, [*fences[1:], None], strict=True):
        language, text = fence.groups()
        start = fence.start(2)
        if language == "python":
            adjacent = following is not None and not page[fence.end() : following.start()].strip()
            shown = slice(*following.span(2)) if adjacent and following[1] == "text" else None
            yield Block(language, text, _line_of(page, start), shown)
        elif language == "console":
            for command in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                first, last = (start + position for position in command.span(2))
                line = _line_of(page, start + command.start())
                yield Block(language, command[1], line, slice(first, last))


def _line_of(page: str, position: int) -> int:
    return page.count("\n", 0, position) + 1


def printed_by_page(path: Path, page: str) -> list[tuple[Block, str]]:
    """Run the blocks of a page in an empty folder; return each with what it printed."""
    namespace: dict[str, object] = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return [
            (block, _printed_by(block, namespace, f"{path.name}, line {block.line}"))
            for block in blocks_of(page)
        ]


def check_page(path: Path) -> int:
    """Raise unless the blocks print what the page shows; return how many there are."""
    page = path.read_text(encoding="utf-8")
    ran = printed_by_page(path, page)
    for block, printed in ran:
        if block.output is not None:
            _compare(page[block.output], printed, f"{path.name}, line {block.line}")
    return len(ran)


def update_page(path: Path) -> int:
    """Write into the page what its blocks print; return how many there are."""
    path = path.resolve()
    page = path.read_text(encoding="utf-8")
    ran = printed_by_page(path, page)
    for block, printed in reversed(ran):
        if block.output is not None:
            lines = "".join(f"{line}\n" for line in _trimmed(printed))
            page = page[: block.output.start] + lines + page[block.output.stop :]
    path.write_text(page, encoding="utf-8")
    return len(ran)


def _printed_by(block: Block, namespace: dict[str, object], place: str) -> str:
    if block.language == "console":
        # The command must be the one of this interpreter's environment.
        # Without a terminal, as on a page; test runners may set its width.
        environment = {name: os.environ[name] for name in os.environ.keys() - {"COLUMNS"}}
        found = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        ran = subprocess.run(
            block.code,
            shell=True,
            check=False,
            env={**environment, "PATH": found},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return ran.stdout
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.code, place, "exec"), namespace)
    return printed.getvalue()


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").split("\n")] if text.strip() else []


def _compare(shown: str, printed: str, place: str) -> None:
    expected, got = _trimmed(shown), _trimmed(printed)
    if expected != got:
        difference = "\n".join(difflib.unified_diff(expected, got, "shown", "printed", lineterm=""))
        msg = f"{place} prints something else than the page shows:\n{difference}"
        raise PageMismatchError(msg)


if __name__ == "__main__":
    update = sys.argv[1] == "--update"
    for name in sys.argv[2 if update else 1 :]:
        count = update_page(Path(name)) if update else check_page(Path(name))
        sys.stdout.write(f"{name}: {count} blocks ran{'' if update else ' as shown'}\n")
