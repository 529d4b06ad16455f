"""Every hint on how to install something works as it is printed, from a checkout."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from kgroups._wording import install_hint

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = sorted(
    page for pattern in ("*.md", "docs/*.md", "benchmarks/*.md") for page in ROOT.glob(pattern)
)


def calls_of_install_hint():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "install_hint":
                yield path.relative_to(ROOT / "src"), ast.literal_eval(node.args[0])


def test_every_extra_of_a_hint_is_declared():
    named = dict.fromkeys(extra for _, extra in calls_of_install_hint())
    assert set(named) == {"bench", "dask", "parquet", "plot", "sklearn", "study"}
    assert set(named) <= set(EXTRAS)


def test_one_function_makes_the_hints():
    hints = [path.name for path in SOURCES if "pip install" in path.read_text()]
    assert hints == ["_wording.py"]
    assert [path.name for path in SOURCES if "kgroups[" in path.read_text()] == []


def test_a_hint_takes_kgroups_from_the_checkout():
    assert 'from the checkout of kgroups: python -m pip install ".[plot]"' in install_hint("plot")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_install_from_the_checkout_what_is_declared(page):
    text = page.read_text()
    assert "kgroups[" not in text
    listed = re.findall(r"pip install (?:-e )?\"\.\[([^]]*)\]", text)
    assert {extra for group in listed for extra in group.split(",")} <= set(EXTRAS)


def test_the_tutorial_lists_every_extra():
    install = (ROOT / "docs" / "tutorial.md").read_text().split("## Find communities")[0]
    assert re.findall(r"(?m)^\| `(\w+)` \|", install) == list(EXTRAS)
