"""Whether a graph has communities at all: significance against random graphs."""

from kgroups.verdict.significance import Significance, compile_kernels, significance

__all__ = ["Significance", "compile_kernels", "significance"]
