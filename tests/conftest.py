"""What the whole suite shares: one Hypothesis profile, and no drawing on a screen."""

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# The first call of a kernel compiles it, which no per-example deadline survives.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci")
