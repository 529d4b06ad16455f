"""Experiments behind the constants of the regimes."""
