"""What the whole suite shares: one Hypothesis profile, and no drawing on a screen."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")
# Small eigenproblems run many times faster on one thread when other processes share the cores.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from hypothesis import settings  # noqa: E402  (the settings above come before numpy)

# The first call of a kernel compiles it, which no per-example deadline survives.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci")
