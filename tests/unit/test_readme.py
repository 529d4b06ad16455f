"""The pages that people copy from: their code runs and prints what they show."""

from pathlib import Path

import pytest

from readme_blocks import PageMismatchError, blocks_of, check_page, update_page

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/index.md",
    "docs/start.md",
    "docs/tutorial.md",
    "docs/methods.md",
    "docs/k.md",
    "docs/scales.md",
    "docs/coming.md",
    "docs/input.md",
    "docs/networkx.md",
    "docs/igraph.md",
    "docs/scipy.md",
    "docs/store.md",
    "docs/confidence.md",
    "docs/generators.md",
    "docs/energy.md",
    "docs/cli.md",
    "docs/blocks.md",
    "docs/report.md",
    "docs/studies.md",
    "docs/cluster.md",
    "docs/extend.md",
    "docs/verdict.md",
    "docs/faq.md",
)


@pytest.mark.parametrize("page", PAGES)
def test_page_prints_what_it_shows(page):
    assert check_page(ROOT / page) > 0


@pytest.mark.filterwarnings("ignore")
def test_page_for_single_cells_prints_what_it_shows():
    pytest.importorskip("scanpy")
    assert check_page(ROOT / "docs/single_cell.md") > 0


def test_wrong_output_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n3\n```\n")
    with pytest.raises(PageMismatchError, match=r"page\.md, line 6 prints something else"):
        check_page(page)


def test_wrong_console_output_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one\none\n$ echo two\nthree\n```\n")
    with pytest.raises(PageMismatchError, match=r"page\.md, line 4 prints something else"):
        check_page(page)


def test_output_belongs_to_the_block_right_before_it():
    page = "```python\nprint(1)\n```\nSome prose.\n```text\n2\n```\n"
    assert [block.output for block in blocks_of(page)] == [None]


def test_update_makes_a_page_right(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(2)\n```\n\n```text\n3\n```\n\n```console\n$ echo one\n```\n")
    update_page(page)
    assert check_page(page) == 2
    assert page.read_text().count("\none\n") == 1
