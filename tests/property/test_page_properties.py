"""Names and titles of any characters cannot leave their place in a report."""

import html
import json
import re
from html.parser import HTMLParser

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

import kgroups as kg
from kgroups.page import page_content
from kgroups.partition import Partition

PIECES = ["</script>", "<script>", "<!--", "]]>", "</title>", "</h1>", "<img onerror=x>"]
PIECES += ['"', "'", "&lt;", "\u2028", "{{data}}", "\\", "\0"]
TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=5).map("".join)


class Tags(HTMLParser):
    """The tags of a document with the names of their attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))


def page_of(names, title):
    graph = kg.as_graph(nx.relabel_nodes(nx.path_graph(4), dict(enumerate(names))))
    labels = Partition([0, 0, 1, 1], graph=graph)
    return page_content(labels, graph, title=title, spectrum=False, confidence=False).decode()


@settings(max_examples=40)
@given(names=st.lists(TEXT, min_size=4, max_size=4, unique=True), title=TEXT.filter(bool))
def test_any_names_and_title_stay_in_their_place(names, title):
    text = page_of(names, title)
    assert Tags(text).tags == Tags(page_of(list("abcd"), "title")).tags
    block = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1]
    assert json.loads(block)["nodes"]["names"] == names
    heading = html.escape(title).encode("utf-8", "replace").decode()
    assert text.count(f">{heading}</") == 2
