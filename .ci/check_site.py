"""Check a built site: relative links and anchors exist, and nothing is loaded from elsewhere.

    python .ci/check_site.py FOLDER

Links to other sites are checked for their form only, because no network is used.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes by which an element makes the browser fetch a file; `a` only links to it.
FETCHED = {
    "script": ("src",),
    "img": ("src",),
    "source": ("src",),
    "iframe": ("src",),
    "link": ("href",),
}
# Links of the head that name a page and fetch nothing.
NAMED = {"author", "canonical", "index", "search", "next", "prev", "copyright", "license"}
CSS_URL = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")
HOST = re.compile(r"[\w-]+(\.[\w-]+)+(:\d+)?|localhost(:\d+)?")


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors = {"", "top"}
        self.links: list[str] = []
        self.fetched: list[str] = []
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the anchors, links and files of an element."""
        given = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif not (tag == "link" and set(given.get("rel", "").split()) <= NAMED):
            self.fetched += [given[name] for name in FETCHED.get(tag, ()) if name in given]
        self.fetched += CSS_URL.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Note the files that an inline style names."""
        if self._in_style:
            self.fetched += CSS_URL.findall(data)


def problems_of(site: Path) -> tuple[int, list[str]]:
    """Return how many links were checked, and what is wrong with them."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found, checked = [], 0
    for path, page in pages.items():
        for link in dict.fromkeys(page.links + page.fetched):
            checked += 1
            problem = _problem(link, path, pages, fetched=link in page.fetched)
            if problem:
                found.append(f"{path.relative_to(site)}: {problem}: {link}")
    for path in sorted(site.rglob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in dict.fromkeys(CSS_URL.findall(text)):
            checked += 1
            problem = _problem(link, path, pages, fetched=True)
            if problem:
                found.append(f"{path.relative_to(site)}: {problem}: {link}")
    return checked, found


def _problem(link: str, origin: Path, pages: dict[Path, Page], *, fetched: bool) -> str | None:
    parts = urlsplit(link)
    if parts.scheme == "data" or (parts.scheme == "mailto" and "@" in parts.path):
        return None
    if parts.scheme or parts.netloc:
        if fetched:
            return "fetched from another site"
        wellformed = parts.scheme in ("http", "https") and HOST.fullmatch(parts.netloc)
        return None if wellformed and not re.search(r"\s", link) else "malformed address"
    target = origin if not parts.path else (origin.parent / unquote(parts.path)).resolve()
    if target.is_dir():
        target = target / "index.html"
    if not target.is_file():
        return "no such file"
    if target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "no such anchor"
    return None


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    number, wrong = problems_of(folder)
    if not number:
        wrong = [f"no pages in {folder}"]
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    sys.stdout.write(f"{number} links checked, {len(wrong)} wrong\n")
    sys.exit(bool(wrong))
