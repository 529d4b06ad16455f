"""Draws from Python's ``random.Random``, many at a time, bit for bit the same."""

import random
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from kgroups._types import Floats

__all__ = ["Stream"]

_AT_ONCE = 1 << 16


class _Batch(NamedTuple):
    """Numbers that were drawn at once, and the state of the generator before them."""

    state: Any
    size: int


class Stream:
    """The coming numbers of a ``random.Random``, which moves on only when told to.

    Python and numpy share the Mersenne Twister and the way it becomes a double, so a state of the
    one goes on in the other. numpy draws thousands at once, more than are asked for; the states
    between the batches tell afterwards how far the source has to go.

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
        self._ready: Floats = np.empty(0)
        self._used = 0
        self._batches: deque[_Batch] = deque()
        self._used_before = 0

    def ahead(self, count: int) -> Floats:
        """Return the next numbers and stay where we are; the memory is used again later."""
        if self._used + count > len(self._ready):
            self._draw(count)
        return self._ready[self._used : self._used + count]

    def skip(self, count: int) -> None:
        """Move past numbers that were looked at."""
        self._used += count

    def take(self, count: int) -> Floats:
        """Return the next numbers and move past them."""
        taken = self.ahead(count)
        self.skip(count)
        return taken

    def take_ready(self, most: int) -> Floats:
        """Return some of the next numbers, at most so many, and move past them."""
        left = len(self._ready) - self._used
        return self.take(min(most, left or _AT_ONCE))

    def close(self) -> None:
        """Move the source on past all that was taken."""
        self._forget_used_batches()
        if self._batches:
            self._twister.state = self._batches[0].state
            self._draws.random(self._used_before)
        state = self._twister.state["state"]
        words = (*state["key"].tolist(), int(state["pos"]))
        self._source.setstate((self._version, words, self._gauss_next))

    def _draw(self, count: int) -> None:
        left = self._ready[self._used :]
        self._forget_used_batches()
        size = max(count, _AT_ONCE)
        ready = self._ready if len(self._ready) == size else np.empty(size)
        ready[: len(left)] = left
        self._batches.append(_Batch(self._twister.state, size - len(left)))
        self._draws.random(out=ready[len(left) :])
        self._ready, self._used = ready, 0

    def _forget_used_batches(self) -> None:
        self._used_before += self._used
        self._used = 0
        while self._batches and self._used_before >= self._batches[0].size:
            self._used_before -= self._batches.popleft().size
