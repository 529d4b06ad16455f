"""Draws from Python's ``random.Random``, many at a time, bit for bit the same."""

import random

import numpy as np

from kgroups._types import Floats

__all__ = ["Stream"]


class Stream:
    """The coming numbers of a ``random.Random``, which moves on only when told to.

    Python and numpy share the Mersenne Twister and the way it becomes a double, so a state of the
    one goes on in the other. numpy's draws thousands at once.

    Parameters
    ----------
    source : random.Random
        Not touched before :meth:`close`.
    """

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._version, state, self._gauss_next = source.getstate()
        self._twister = np.random.MT19937()
        self._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(state[:-1], dtype=np.uint32), "pos": state[-1]},
        }
        self._draws = np.random.Generator(self._twister)
        self._buffer: Floats = np.empty(0)

    def take(self, count: int) -> Floats:
        """Return the next numbers, in memory that the next call uses again."""
        if count > len(self._buffer):
            self._buffer = np.empty(count)
        taken = self._buffer[:count]
        self._draws.random(out=taken)
        return taken

    def peek(self, count: int) -> Floats:
        """Return the next numbers and stay where we are."""
        here = self._twister.state
        ahead = self.take(count)
        self._twister.state = here
        return ahead

    def close(self) -> None:
        """Move the source on past all that was taken."""
        state = self._twister.state["state"]
        words = (*state["key"].tolist(), int(state["pos"]))
        self._source.setstate((self._version, words, self._gauss_next))
