"""Run the code blocks of a Markdown page and compare what they print with what the page shows.

A ``python`` block runs in the namespace that the page's blocks share; a ``text`` block right after
it is its output. In a ``console`` block each line after ``$ `` is run and the rest is its output.
Run as a program, it takes the pages as arguments and needs kgroups alone.
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
    """A fenced block of a page and the line on which its first line stands."""

    language: str
    text: str
    line: int
    output: str | None


class PageMismatchError(AssertionError):
    """A block printed something else than its page shows."""


def blocks_of(page: str) -> Iterator[Block]:
    """Yield the blocks that can be run, each with the output that the page shows for it."""
    fences = list(FENCE.finditer(page))
    for fence, following in zip(fences, [*fences[1:], None], strict=True):
        language, text = fence.groups()
        line = page.count("\n", 0, fence.start()) + 2
        adjacent = following is not None and not page[fence.end() : following.start()].strip()
        if language == "python":
            shown = following[2] if adjacent and following[1] == "text" else None
            yield Block(language, text, line, shown)
        elif language == "console":
            yield from _console_commands(text, line)


def _console_commands(text: str, line: int) -> Iterator[Block]:
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        if part:
            command, _, output = part.partition("\n")
            yield Block("console", command.removeprefix("$ "), line, output)
            line += part.count("\n")


def run_page(path: Path) -> int:
    """Run the blocks of a page in an empty folder and return how many there were."""
    namespace: dict[str, object] = {"__name__": "page"}
    count = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in blocks_of(path.read_text(encoding="utf-8")):
            printed = _printed_by(block, namespace, f"{path.name}, line {block.line}")
            if block.output is not None:
                _compare(block.output, printed, f"{path.name}, line {block.line}")
            count += 1
    return count


def _printed_by(block: Block, namespace: dict[str, object], place: str) -> str:
    if block.language == "console":
        # The command must be the one of this interpreter's environment.
        found = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        ran = subprocess.run(
            block.text,
            shell=True,
            check=False,
            env={**os.environ, "PATH": found},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return ran.stdout
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, place, "exec"), namespace)
    return printed.getvalue()


def _compare(shown: str, printed: str, place: str) -> None:
    expected, got = (
        [line.rstrip() for line in text.strip("\n").split("\n")] for text in (shown, printed)
    )
    if expected != got:
        difference = "\n".join(difflib.unified_diff(expected, got, "shown", "printed", lineterm=""))
        msg = f"{place} prints something else than the page shows:\n{difference}"
        raise PageMismatchError(msg)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(f"{name}: {run_page(Path(name))} blocks ran as shown\n")
