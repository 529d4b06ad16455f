"""Names of test cases that are the same in every process."""

import re


def stable_id(value: object) -> str:
    """Return the repr of a value without memory addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
