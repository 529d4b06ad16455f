"""A stream that says that it is a terminal."""

import io


class Terminal(io.StringIO):
    """Collects what is written to a terminal."""

    def isatty(self):
        """Tell that it is one."""
        return True
