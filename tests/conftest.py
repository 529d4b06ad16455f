"""What the whole suite shares: a Hypothesis profile, no screen, and no data that does not ship."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")
# Small eigenproblems run many times faster on one thread when other processes share the cores.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# The settings above come before numpy.
from hypothesis import settings  # noqa: E402

from helpers.data import (  # noqa: E402, F401
    pytest_runtest_call,
    pytest_runtest_protocol,
    pytest_runtest_setup,
)

# The first call of a kernel compiles it, which no per-example deadline survives.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci")
