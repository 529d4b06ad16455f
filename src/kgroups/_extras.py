"""How an optional dependency is installed: said once, for every message that needs it."""

__all__ = ["install_hint"]


def install_hint(extra: str) -> str:
    """Return the sentence that says how to install an extra of ``pyproject.toml``.

    kgroups is on no package index, so that pip takes it from the source tree.

    Examples
    --------
    >>> install_hint("plot")
    'Install it from the checkout of kgroups: python -m pip install ".[plot]"'
    """
    return f'Install it from the checkout of kgroups: python -m pip install ".[{extra}]"'
