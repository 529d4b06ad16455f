"""The interactive report in headless Chromium; the pages of larger graphs are marked ``slow``."""

import csv
import io
import re
import time

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.scales import give_scales
from kgroups.generators import lfr_benchmark
from kgroups.page import page_content
from kgroups.page.document import PageLimits

HOSTILE = [
    "<script>window.attacked = 1</script>",
    "</script><script>window.attacked = 2</script>",
    "<img src=x onerror='window.attacked = 3'>",
    '"><svg onload="window.attacked = 4">',
    "<!-- <script>",
    "<b>bold</b><br>new line",
    "<a href='https://example.org/'>link</a>",
    "&lt;i&gt;escaped&lt;/i&gt;",
    "%{x} ${window.attacked = 5} {{data}}",
    "line\u2028separator\u2029 and\ttab\nnew line",
    "\u202eright to left",
    '=HYPERLINK("https://example.org/";"x")',
    "lone \ud800 surrogate",
    "constructor",
    "__proto__",
]


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    """Two cliques whose nodes have names that try to be something else than text."""
    names = HOSTILE + [f"node {i}" for i in range(16 - len(HOSTILE))]
    graph = nx.relabel_nodes(nx.barbell_graph(8, 0), dict(enumerate(names)))
    partition = kg.detect_communities(graph)
    path = tmp_path_factory.mktemp("pages") / "hostile.html"
    partition.to_html(path, title="<script>window.attacked = 6</script>")
    return partition, path


def check_quiet(page, path):
    """Assert that the browser loaded the file alone and logged nothing."""
    assert page.requests() == [path.resolve().as_uri()]
    assert page.messages() == []


def colors_of(pixels, least=20):
    """Return the number of colors that at least so many pixels of a picture have."""
    _, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    return np.count_nonzero(counts >= least)


def test_the_page_of_a_small_graph(page, hostile_page):
    """Everything that a reader does, on a graph with hostile names."""
    partition, path = hostile_page
    page.open(path)
    blank = page.picture()
    assert colors_of(blank) >= 4
    # Pointing at a node.
    for node in (0, 5, 11):
        named = "return document.querySelector('#tip strong')?.textContent === arguments[0]"
        page.wait_at(node, named, partition.nodes[node])
        tip = page.text("#tip")
        assert f"community: {partition.labels[node]}" in tip
        assert "degree: " in tip
        assert "confidence: " in tip
    # Isolating the community of a node by a click in the picture, and all again by a key.
    page.point_at(3, press=True)
    page.wait("return document.getElementById('selected-community') !== null")
    assert f"Community {partition.labels[3]}" in page.text("#selected-community")
    assert np.any(page.picture() != blank)
    page.keys("body", "\ue00c")
    page.wait("return document.getElementById('selected-community') === null")
    # Searching, by the keyboard alone.
    page.keys("#search", "IMG src")
    assert page.run("return document.querySelectorAll('#found li').length") == 1
    page.keys("#search", "\ue007")
    assert page.text("#selected-node") == HOSTILE[2]
    page.click("#show-all")
    # Sorting.
    page.click("#communities thead th:nth-child(7) button")
    page.click("#communities thead th:nth-child(7) button")
    sorted_by = "#communities thead th:nth-child(7)"
    assert page.run(f"return document.querySelector('{sorted_by}').getAttribute('aria-sort')") in (
        "ascending",
        "descending",
    )
    # Downloads.
    page.click("#save-nodes")
    rows = list(csv.reader(io.StringIO(page.downloaded("nodes.csv"), newline=""), strict=True))
    assert rows[0] == ["node", "community", "degree", "confidence", "stability"]
    expected = [str(name).replace("\ud800", "\ufffd") for name in partition.nodes]
    assert [row[0] for row in rows[1:]] == expected
    assert [int(row[1]) for row in rows[1:]] == partition.labels.tolist()
    page.click("#save-communities")
    text = page.downloaded("communities.csv")
    assert [row["nodes"] for row in csv.DictReader(io.StringIO(text))] == ["8", "8"]
    # Names stayed text, in the heading, the panel and the picture.
    assert page.run("return window.attacked") is None
    assert page.text("h1") == "<script>window.attacked = 6</script>"
    assert page.run("return document.querySelectorAll('img, #graph a, iframe').length") == 0
    assert page.run("return document.querySelectorAll('script').length") == 2
    check_quiet(page, path)


def test_names_in_the_picture_are_text(page, hostile_page):
    partition, path = hostile_page
    page.open(path)
    page.click("#details [data-community='0']")
    shown = page.run("return document.getElementById('graph').shown.scene.texts.map(t => t.text)")
    known = {" ".join(str(name).split()) for name in partition.nodes}
    assert len(shown) == 6
    for text in shown:
        assert any(name == text or name[:21] == text[:21] for name in known), text
    # They are painted, and make no elements.
    assert page.run("return document.querySelectorAll('#graph *').length") == 1


RANGES = "const {x, y} = document.getElementById('graph').shown.box; return [...x, ...y]"


def test_what_the_reader_zoomed_to_stays(page, hostile_page):
    """Neither another color scheme nor printing moves the picture."""
    _, path = hostile_page
    page.open(path)
    whole = page.run(RANGES)
    # By the wheel, as a reader does; the script of the page is not told.
    page.point_at(3)
    x, y = page.place_of_node(3)
    for _ in range(3):
        page.cdp("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-200)
    drawn = "const {x} = document.getElementById('graph').shown.box; "
    drawn += "return x[1] - x[0] < 0.9 * arguments[0]"
    page.wait(drawn, whole[1] - whole[0])
    time.sleep(0.3)
    zoomed = page.run(RANGES)
    light = page.picture()
    scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.cdp("Emulation.setEmulatedMedia", features=scheme)
    page.wait("return getComputedStyle(document.body).backgroundColor === 'rgb(18, 23, 29)'")
    assert np.any(page.picture() != light)
    assert page.run(RANGES) == pytest.approx(zoomed)
    page.cdp("Page.printToPDF")
    page.picture()
    assert page.run(RANGES) == pytest.approx(zoomed)
    page.click("#show-all")
    assert page.run(RANGES) == pytest.approx(whole)
    check_quiet(page, path)


def test_a_drag_that_ends_outside_the_picture_has_ended(page, hostile_page):
    """Pressed near an edge, moved out in one step and released there."""
    _, path = hostile_page
    page.open(path)
    page.place_of_node(0)
    box = "const {left, top, height} = document.getElementById('graph').getBoundingClientRect();"
    left, top, height = page.run(f"{box} return [left, top, height]")
    x, inside, outside = left + 100, top + height - 2, top + height + 30
    whole = page.run(RANGES)

    def mouse(kind, y, **button):
        page.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    for _ in range(2):
        mouse("mouseMoved", inside)
        mouse("mousePressed", inside, button="left", buttons=1, clickCount=1)
        mouse("mouseMoved", outside, button="left", buttons=1)
        mouse("mouseReleased", outside, button="left", clickCount=1)
    # The picture went along while the button was down, and stays once it is released.
    page.wait("return document.getElementById('graph').shown.box.y[0] !== arguments[0]", whole[2])
    moved = page.run(RANGES)
    for y in (inside, top + height / 2, top + height / 3):
        mouse("mouseMoved", y)
    time.sleep(0.3)
    assert page.run(RANGES) == pytest.approx(moved)
    # A click still isolates the community of a node.
    page.click("#show-all")
    page.point_at(3, press=True)
    page.wait("return document.getElementById('selected-community') !== null")
    check_quiet(page, path)


def test_the_text_beside_a_picture_without_all_nodes_or_edges(page, hostile_page, tmp_path):
    partition, _ = hostile_page
    path = tmp_path / "page.html"
    path.write_bytes(page_content(partition, partition.graph, limits=PageLimits(nodes=15)))
    page.open(path)
    assert "Click one to see its numbers." in page.text("#drawn")
    assert "Choose one to see its numbers" in page.text("#details")
    page.click("#details [data-community='0']")
    assert "edges inside28" in page.text("#details dl")
    assert "Click one to see its numbers." in page.text("#drawn")
    check_quiet(page, path)
    path.write_bytes(page_content(partition, partition.graph, limits=PageLimits(edges=10)))
    page.open(path)
    assert "Point at a node for its name." in page.text("#details")
    page.click("#view-communities")
    assert "Zoom in, or click one, to see its nodes." in page.text("#drawn")
    page.click("#details [data-community='0']")
    assert re.search(r"28 edges inside, of which \d are drawn\. Escape", page.text("#drawn"))


@pytest.fixture
def levels_page(tmp_path, monkeypatch):
    """Twelve cliques, with levels of four and of two communities above."""
    fine = np.arange(60) // 5
    give_scales(monkeypatch, fine // 3, fine // 6)
    partition = kg.detect_communities(nx.ring_of_cliques(12, 5))
    path = tmp_path / "levels.html"
    partition.to_html(path)
    return partition.levels(), path


def colors_of_nodes(page):
    """Return how many colors the nodes are drawn in."""
    script = "return new Set(document.getElementById('graph').shown.scene.marks.map(m => m.color))"
    return page.run(f"{script}.size")


def test_the_reader_switches_between_levels(page, levels_page):
    levels, path = levels_page
    page.open(path)
    buttons = "[...document.querySelectorAll('#levels button')]"
    pressed = f"return {buttons}.map(button => button.ariaPressed)"
    assert page.run(f"return {buttons}.map(button => button.textContent)") == ["12", "4", "2"]
    assert page.run(pressed) == ["true", "false", "false"]
    assert page.text("#level") == ""
    first, ranges = page.picture(), page.run(RANGES)
    before = colors_of_nodes(page)
    sizes = "return [...document.querySelectorAll('#communities tbody tr')]"
    sizes += ".map(row => Number(row.cells[1].textContent))"
    assert page.run(sizes) == levels[0].sizes.tolist()
    page.wait_at(7, "return !document.getElementById('tip').hidden")
    assert "confidence: " in page.text("#tip")
    # A selected node belongs to the level that it was selected at.
    page.keys("#search", "7", "\ue007")
    for place in (2, 1):
        level = levels[place]
        page.click(f"#levels button[data-level='{place}']")
        assert page.run(pressed) == ["true" if at == place else "false" for at in range(3)]
        assert f"level of {level.k} communities" in page.text("#level")
        assert "the one of 12 communities that was returned" in page.text("#level")
        assert page.run("return document.getElementById('selected-node')") is None
        # The table, the list beside the picture, and the picture.
        assert page.run(sizes) == level.sizes.tolist()
        listed = "return document.querySelectorAll('#details [data-community]').length"
        assert page.run(listed) == level.k
        assert colors_of_nodes(page) == level.k < before
        assert np.any(page.picture() != first)
        assert page.run(RANGES) == pytest.approx(ranges)
        named = "return document.getElementById('tip').textContent.includes(arguments[0])"
        page.wait_at(33, named, f"community: {level.labels[33]}")
        assert "confidence: " not in page.text("#tip")
        page.click("#details [data-community='1']")
        assert f"nodes{level.sizes[1]}" in page.text("#details dl")
        page.click("#view-communities")
        assert page.text("#drawn").startswith(f"{level.k} communities")
        page.click("#view-nodes")
    # What is downloaded belongs to the level that is shown.
    page.click("#save-nodes")
    rows = list(csv.reader(io.StringIO(page.downloaded("nodes.csv"), newline="")))
    assert rows[0] == ["node", "community", "degree"]
    assert [int(row[1]) for row in rows[1:]] == levels[1].labels.tolist()
    page.click("#levels button[data-level='0']")
    assert page.text("#level") == ""
    assert page.run(sizes) == levels[0].sizes.tolist()
    page.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    page.wait("return document.getElementById('tip').hidden")
    assert np.array_equal(page.picture(), first)
    check_quiet(page, path)


@pytest.fixture(scope="module")
def large_page(tmp_path_factory):
    """Thirty cliques of forty nodes: more nodes than are drawn at first; and 80 single nodes."""
    graph = nx.ring_of_cliques(30, 40)
    graph.add_nodes_from(f"alone {i}" for i in range(80))
    labels = np.concatenate([np.arange(1200) // 40, 30 + np.arange(80)])
    partition = kg.Partition(labels, graph=kg.as_graph(graph))
    path = tmp_path_factory.mktemp("pages") / "large.html"
    partition.to_html(path, title="Thirty cliques", levels=False)
    return partition, path


MARKS = "return document.getElementById('graph').shown.scene.marks.map(mark => mark.id)"


def test_a_large_graph_is_shown_by_community_and_opens_where_the_reader_zooms(page, large_page):
    partition, path = large_page
    page.open(path)
    discs = {-1 - a for a in range(30)}
    marks = set(page.run(MARKS))
    assert discs < marks
    assert marks - discs == set(range(1200, 1280))
    # By the wheel, onto a community, until its nodes are drawn in place of its disc.
    x, y = page.place_of_node(-1 - 7)
    for _ in range(6):
        page.cdp("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-200)
    page.wait(f"{MARKS}.includes(280)")
    marks = set(page.run(MARKS))
    assert set(np.flatnonzero(partition.labels == 7).tolist()) <= marks
    assert -1 - 7 not in marks
    # A node that has appeared can be pointed at.
    page.wait_at(280, "return document.querySelector('#tip strong')?.textContent === '280'")
    page.click("#show-all")
    assert discs < set(page.run(MARKS))
    # A click on a disc does the same.
    page.point_at(-1 - 7, press=True)
    page.wait("return document.getElementById('selected-community') !== null")
    assert set(np.flatnonzero(partition.labels == 7).tolist()) <= set(page.run(MARKS))
    check_quiet(page, path)


def test_dragging_moves_the_picture_and_is_no_click(page, large_page):
    _, path = large_page
    page.open(path)
    x, y = page.place_of_node(-1 - 3)
    before = page.run(RANGES)
    page.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    page.cdp("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    for step in (20, 40, 60):
        page.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y, **mouse)
    page.cdp("Input.dispatchMouseEvent", type="mouseReleased", x=x + 60, y=y, **mouse)
    page.wait("return document.getElementById('graph').shown.box.x[0] < arguments[0]", before[0])
    assert page.place_of_node(-1 - 3) == pytest.approx([x + 60, y], abs=1)
    assert page.run("return document.getElementById('selected-community')") is None


def test_two_fingers_zoom_and_one_does_not_move_the_picture(page, large_page):
    def touch(kind, *places):
        points = [{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(places)]
        page.cdp("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    _, path = large_page
    page.cdp("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    try:
        page.open(path, width=420)
        x, y = page.place_of_node(-1 - 3)
        before = page.run(RANGES)
        touch("touchStart", (x, y))
        for step in (10, 20, 30):
            touch("touchMove", (x, y - step))
        touch("touchEnd")
        assert page.run(RANGES) == before
        x, y = page.place_of_node(-1 - 3)
        touch("touchStart", (x - 20, y))
        touch("touchStart", (x - 20, y), (x + 20, y))
        for step in (10, 20, 30):
            touch("touchMove", (x - 20 - step, y), (x + 20 + step, y))
        touch("touchEnd")
        narrower = "const {x} = document.getElementById('graph').shown.box; "
        narrower += "return x[1] - x[0] < 0.6 * arguments[0]"
        page.wait(narrower, before[1] - before[0])
        assert page.run("return document.getElementById('selected-community')") is None
    finally:
        page.cdp("Emulation.setTouchEmulationEnabled", enabled=False)


def test_single_nodes_are_one_entry_and_one_row(page, large_page):
    _, path = large_page
    page.open(path)
    listed = (
        "return [...document.querySelectorAll('#details [data-community]')].map(b => b.textContent)"
    )
    assert page.run(listed) == [*map(str, range(30)), "80 single nodes"]
    page.click("#more")
    rows = "return [...document.querySelectorAll('#communities tbody tr')]"
    rows += ".map(row => row.cells[0].textContent)"
    assert page.run(rows) == [*map(str, range(30)), "80 single nodes"]
    assert page.text("#drawn").startswith("30 communities and 80 single nodes: ")
    page.click("#details [data-community='30']")
    assert "80 single nodes" in page.text("#selected-community")
    page.click("#details [data-node='1200']")
    assert "communitynone, a single node" in page.text("#details dl")
    page.click("#save-communities")
    last = page.downloaded("communities.csv").splitlines()[-1]
    assert last.startswith('"80 single nodes",80,')
    check_quiet(page, path)


def test_the_picture_can_be_saved(page, hostile_page):
    _, path = hostile_page
    page.open(path)
    page.click("#save-picture")
    for _ in range(200):
        if (page.downloads / "communities.png").exists():
            break
        time.sleep(0.05)
    assert (page.downloads / "communities.png").read_bytes().startswith(b"\x89PNG")


def test_one_level_needs_no_switch(page, hostile_page, tmp_path):
    partition, _ = hostile_page
    path = tmp_path / "page.html"
    path.write_bytes(page_content(partition, partition.graph, levels=False))
    page.open(path)
    assert page.run("return document.getElementById('levels').getClientRects().length") == 0


def test_levels_of_a_file_without_nodes(page, levels_page, tmp_path):
    levels, path = levels_page
    partition = levels[levels.returned]
    path.write_bytes(page_content(partition, partition.graph, limits=PageLimits(nodes=10)))
    page.open(path)
    assert page.text("#drawn").startswith("12 communities")
    page.click("#levels button[data-level='2']")
    assert page.text("#drawn").startswith("2 communities")
    page.click("#details [data-community='1']")
    assert f"nodes{levels[2].sizes[1]}" in page.text("#details dl")
    check_quiet(page, path)


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 900, 1600])
@pytest.mark.parametrize("dark", [False, True])
def test_no_width_needs_scrolling_to_the_side(page, hostile_page, width, dark):
    _, path = hostile_page
    page.open(path, width=width, dark=dark)
    root = "document.documentElement"
    assert page.run(f"return {root}.scrollWidth - {root}.clientWidth") == 0
    background = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(18, 23, 29)") == dark
    assert colors_of(page.picture()) >= 4


@pytest.mark.slow
def test_the_table_is_sorted_and_the_sorted_table_downloaded(page, tmp_path):
    graph = nx.ring_of_cliques(8, 6)
    graph.add_edges_from((0, 100 + i) for i in range(5))
    graph.add_edges_from((100 + i, 100 + j) for i in range(5) for j in range(i))
    partition = kg.detect_communities(graph)
    partition.to_html(tmp_path / "ring.html")
    page.open(tmp_path / "ring.html")
    rows_of_table = "[...document.querySelectorAll('#communities tbody tr')]"
    nodes_column = f"{rows_of_table}.map(row => row.cells[1].textContent)"
    page.keys("#communities thead th:nth-child(2) button", "\ue007")
    assert page.run(f"return {nodes_column}") == [str(s) for s in partition.sizes]
    page.keys("#communities thead th:nth-child(2) button", "\ue007")
    ascending = [str(s) for s in partition.sizes[::-1]]
    assert page.run(f"return {nodes_column}") == ascending
    page.click("#save-communities")
    rows = list(csv.DictReader(io.StringIO(page.downloaded("communities.csv"))))
    assert [row["nodes"] for row in rows] == ascending
    inside = kg.scoring.scores(partition.graph, partition).coverage * partition.graph.m
    assert sum(int(row["edges_inside"]) for row in rows) == round(inside)
    page.run("document.querySelector('#communities tbody button').click()")
    assert f"Community {rows[0]['community']}" in page.text("#selected-community")


@pytest.mark.slow
def test_a_graph_without_communities_or_edges(page, tmp_path):
    for count, graph in enumerate((nx.empty_graph(3), nx.empty_graph(0), nx.path_graph(2))):
        path = tmp_path / f"{count}.html"
        kg.detect_communities(graph).to_html(path)
        page.open(path)
        check_quiet(page, path)


def lfr_page(n, tmp_path, **options):
    graph = lfr_benchmark(n, degree=10, mixing=0.3, max_degree=100, max_community=500, rng=1).graph
    partition = kg.detect_communities(graph)
    path = tmp_path / f"lfr{n}.html"
    partition.to_html(path, **options)
    return partition, path


@pytest.mark.slow
@pytest.mark.parametrize("n", [500, 3000, 5000, 50_000])
def test_pages_of_larger_graphs(page, tmp_path, n):
    partition, path = lfr_page(n, tmp_path, spectrum=n <= 5000)
    page.open(path)
    assert colors_of(page.picture()) >= 15
    first = page.picture()
    aggregated = n > 1000
    assert page.run("return document.getElementById('view-communities').ariaPressed") == (
        "true" if aggregated else "false"
    )
    # Pointing at and choosing a community, or a node of it.
    hub = int(np.argmax(partition.graph.degrees * (partition.labels == 2)))
    hovered = -1 - 2 if aggregated else hub
    page.wait_at(hovered, "return !document.getElementById('tip').hidden")
    assert ("Community 2" if aggregated else "community: ") in page.text("#tip")
    page.click("#details [data-community='2']")
    assert f"{partition.sizes[2]}" in page.text("#details")
    assert np.any(page.picture() != first)
    # All nodes, each of which can be pointed at.
    page.click("#view-nodes")
    page.wait("return document.getElementById('drawn').textContent.includes('nodes, colored')")
    page.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    page.wait("return document.getElementById('tip').hidden")
    pixels = page.picture()
    assert colors_of(pixels) >= 15
    if aggregated:
        assert np.mean(np.any(pixels != first, axis=2)) > 0.05
    page.wait_at(hub, "return !document.getElementById('tip').hidden")
    assert "degree: " in page.text("#tip")
    # Searching.
    page.keys("#search", str(hub), "\ue007")
    assert page.text("#selected-node") == str(hub)
    assert f"community{partition.labels[hub]}" in page.text("#details dl")
    check_quiet(page, path)


@pytest.mark.slow
def test_a_graph_beyond_the_nodes_that_a_file_holds(page, tmp_path):
    partition, path = lfr_page(110_000, tmp_path)
    page.open(path)
    assert colors_of(page.picture()) >= 15
    assert page.run("return document.getElementById('search').disabled") is True
    page.click("#details [data-community='0']")
    assert f"{partition.sizes[0]:,}" in page.text("#details")
    check_quiet(page, path)


@pytest.mark.slow
def test_the_page_prints_in_light_colors(page, hostile_page):
    _, path = hostile_page
    page.open(path, dark=True)
    content = page.cdp("Page.printToPDF", printBackground=True)["data"]
    assert len(content) > 20_000
    assert page.run("return document.documentElement.dataset.theme ?? null") is None
    check_quiet(page, path)
