"""Oracles, Hypothesis strategies and models that several tests share."""
