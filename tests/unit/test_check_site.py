"""The check of the built documentation notices what would be broken for a reader."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "check_site.py"


@pytest.fixture(scope="module")
def check_site():
    spec = spec_from_file_location("check_site", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def problems(check_site, folder, body, css=""):
    (folder / "style.css").write_text(css)
    (folder / "other.html").write_text('<h1 id="here">Other</h1>')
    (folder / "page.html").write_text(body)
    return check_site.problems_of(folder.resolve())[1]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="absent.html">', "no such file: absent.html"),
        ('<a href="other.html#there">', "no such anchor: other.html#there"),
        ('<a href="#there">', "no such anchor: #there"),
        ('<img src="absent.png">', "no such file: absent.png"),
        ('<script src="https://cdn.example.org/x.js">', "fetched from another site: https://cdn"),
        ('<img src="//example.org/x.png">', "fetched from another site: //example.org"),
        ('<link rel="stylesheet" href="http://example.org/x.css">', "fetched from another site"),
        ("<style>p{background:url(https://example.org/x)}</style>", "fetched from another site"),
        ('<a href="https:/example.org">', "malformed address: https:/example.org"),
        ('<a href="https://example">', "malformed address: https://example"),
        ('<a href="javascript:alert(1)">', "malformed address: javascript:alert"),
    ],
)
def test_broken_links_and_fetches_are_named_with_their_page(check_site, tmp_path, body, problem):
    (found,) = problems(check_site, tmp_path, body)
    assert found.startswith(f"page.html: {problem}")


def test_a_stylesheet_that_fetches_a_font_is_named(check_site, tmp_path):
    css = "@font-face{src:url('https://example.org/font.woff')}"
    (found,) = problems(check_site, tmp_path, "<p>", css)
    assert found == "style.css: fetched from another site: https://example.org/font.woff"


def test_right_links_pass(check_site, tmp_path):
    body = """<p id="x"><a href="#x"><a href="#"><a href="other.html#here"><a href="./other.html">
    <link rel="stylesheet" href="style.css"><a href="https://example.org/a?b#c">
    <img src="data:image/png;base64,AA=="><a href="mailto:a@example.org">"""
    assert problems(check_site, tmp_path, body) == []


def test_an_empty_folder_is_an_error(tmp_path):
    ran = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, check=False)
    assert (ran.returncode, b"no pages in" in ran.stdout) == (1, True)
