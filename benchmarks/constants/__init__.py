"""Experiments behind the settings of the search."""
