"""Shells that let other packages call kgroups by their own names."""
