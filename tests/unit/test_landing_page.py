"""The landing page of the documentation claims nothing that the README does not."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def numbers_of(text):
    return set(re.findall(r"\d(?:[\d.,]*\d)?", text))


def prose_of(page):
    """Return the page without its code, the options of its directives and its front matter."""
    page = re.sub(r"\A---\n.*?^---$", "", page, flags=re.MULTILINE | re.DOTALL)
    page = re.sub(r"^```\w*\n.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^:.*$", "", page, flags=re.MULTILINE)


def test_every_number_of_the_landing_page_is_in_the_readme():
    landing = numbers_of(prose_of((ROOT / "docs/index.md").read_text(encoding="utf-8")))
    assert {"0.554", "0.502"} <= landing
    assert landing - numbers_of((ROOT / "README.md").read_text(encoding="utf-8")) == set()
