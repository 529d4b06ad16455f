"""Print requirements that pyproject.toml declares, one per line, for ``pip install -c``.

``oldest EXTRA...`` prints the lower bound of every dependency and of the named extras as a pin.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())


def pinned_to_lower_bound(requirement: str) -> str:
    """Return ``name==bound`` of a requirement written as ``name>=bound``."""
    match = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
    if match is None:
        sys.exit(f"pyproject.toml: {requirement!r} must be written as name>=bound")
    return "{}=={}".format(*match.groups())


def main() -> None:
    """Print what the command line asks for."""
    match sys.argv[1:]:
        case ["oldest", *extras]:
            project = PYPROJECT["project"]
            declared = list(project["dependencies"])
            for extra in extras:
                declared += project["optional-dependencies"][extra]
            lines = sorted({pinned_to_lower_bound(requirement) for requirement in declared})
        case _:
            sys.exit(__doc__)
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
