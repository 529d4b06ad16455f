"""Backends that let other packages call kgroups through their own functions."""
