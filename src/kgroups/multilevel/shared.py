"""Moves on large graphs that several threads share, with the same result for any number of them."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from kgroups._parallel import Threads
from kgroups._progress import tell_share
from kgroups._types import Indices, Ints
from kgroups.multilevel.levels import Level

# A chunk has one unit in this many: few units have a neighbor in their own chunk, whose move they
# do not see. With one in 8 twice as many visits are needed.
_CHUNKS = 256
_Judge: TypeAlias = Callable[..., None]


def shared_moves(
    level: Level,
    penalty: float,
    margin: float,
    max_visits: int,
    tally: Ints,
    *,
    threads: Threads | None = None,
    chunks: int = _CHUNKS,
) -> Indices:
    """Move units from singletons while modularity rises, as ``move`` does; return their groups.

    Units form a queue, which is taken chunk by chunk. The threads judge the units of a chunk, all
    by the labels before it, and then one of them moves these units in their order. So the result
    depends on the size of a chunk, which is fixed, and not on the number of threads.
    """
    from kgroups.multilevel._shared_nb import judge, move_judged

    threads = Threads() if threads is None else threads
    n = level.nodes.size
    z, size = np.arange(n, dtype=np.int32), -(-n // chunks)
    strength, members = level.strength.copy(), np.ones(n, dtype=np.int64)
    queue, waiting = z.copy(), np.ones(n, dtype=np.bool_)
    target = np.empty(size, dtype=np.int32)
    link = np.zeros((threads.count, n))
    touched = np.empty((threads.count, n), dtype=np.int32)
    left = max_visits * n
    while queue.size and left > 0:
        following, pending = np.empty(n, dtype=np.int32), 0
        for begin in range(0, queue.size, size):
            units = queue[begin : begin + size]
            bounds = [units.size * t // threads.count for t in range(threads.count + 1)]
            judged = partial(judge, level, z, strength, penalty, margin, units)

            def task(t: int, judged: _Judge = judged, bounds: list[int] = bounds) -> None:
                judged(bounds[t], bounds[t + 1], link[t], touched[t], target)

            waiting[units] = False
            threads.run(task, threads.count)
            state = z, strength, members, units, target, waiting, following
            pending = move_judged(level, *state, pending, tally)
            tell_share(n - (queue.size - begin - units.size) - pending, n)
        left -= queue.size
        queue = following[:pending].copy()
    return z
