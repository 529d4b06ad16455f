"""Messages of the library in the words of the command line: ``--no-weight`` for ``weight=None``."""

import argparse
import shlex
from collections.abc import Iterator

from kgroups._wording import Wording

__all__ = ["Flags", "note_parsers"]

_PARSER = "command_parser"
# Flags by the arguments of the library that have another name, the first one that is given.
_FLAGS_OF_ARGUMENT = {"n_jobs": ("jobs",), "P": ("matrix", "inside", "degree")}
_COMMAND_OF_FUNCTION = {
    "Partition.save()": "`kgroups detect --output FILE`",
    "Study.save()": "`kgroups study --output FILE`",
    "kgroups.read_graph()": "`kgroups detect PATH`",
}


def note_parsers(parser: argparse.ArgumentParser) -> None:
    """Let the arguments of every command know the parser that they came from."""
    parser.set_defaults(**{_PARSER: parser})
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                note_parsers(command)


class Flags(Wording):
    """Arguments of the library as the flags of the command that was given.

    Parameters
    ----------
    args : Namespace
        What the parser understood; see :func:`note_parsers`.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._parser: argparse.ArgumentParser = getattr(args, _PARSER)

    def argument(self, name: str) -> str:
        """Return the flag that sets an argument."""
        return next(
            (
                action.option_strings[0]
                for action in self._actions(name)
                if not isinstance(action, argparse._StoreConstAction)
            ),
            name,
        )

    def setting(self, name: str, value: object) -> str:
        """Return the flag with its value, or the flag that stands for the value."""
        for action in self._actions(name):
            if isinstance(action, argparse._StoreConstAction) and action.const is value:
                return action.option_strings[0]
        flag = self.argument(name)
        return f"no {flag}" if value is None else f"{flag} {_typed(value)}"

    def function(self, name: str) -> str:
        """Return the command that does what a function does, or its name if none does."""
        return _COMMAND_OF_FUNCTION.get(name, name)

    def in_python(self, text: str) -> str:
        """Leave out what only callers in Python can do."""
        return ""

    def _actions(self, name: str) -> Iterator[argparse.Action]:
        dests = _FLAGS_OF_ARGUMENT.get(name, (name,))
        given = [dest for dest in dests if getattr(self._args, dest, None) is not None]
        for action in self._parser._actions:
            if action.dest == (given or dests)[0] and action.option_strings:
                yield action


def _typed(value: object) -> str:
    """Return a value as it is typed in a shell: i/N for two numbers, commas between words."""
    if not isinstance(value, tuple):
        return shlex.quote(str(value))
    separator = "," if all(isinstance(part, str) for part in value) else "/"
    return shlex.quote(separator.join(map(str, value)))
