"""A headless Chromium that opens the pages, records what it logs and what it would load."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

REQUIRED = "KGROUPS_REQUIRE_BROWSER"
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def _cannot_run(reason):
    """Skip, or fail where the browser is what the run is for."""
    if os.environ.get(REQUIRED):
        pytest.fail(f"{reason}, and {REQUIRED} is set")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    chromedriver = shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        _cannot_run("needs Chromium and its driver (Debian: apt-get install chromium-driver)")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        _cannot_run('needs selenium (python -m pip install -e ".[test,browser]")')
    options = Options()
    options.binary_location = chromium
    for option in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(chromedriver))
    started.set_page_load_timeout(120)
    started.set_script_timeout(60)
    yield started
    started.quit()


class Page:
    """One page in the browser."""

    def __init__(self, driver, downloads):
        self.driver, self.downloads = driver, downloads

    def open(self, path, *, width=1200, height=900, dark=False):
        """Load a file and wait until its script has drawn it."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.cdp("Emulation.setDeviceMetricsOverride", **size)
        self.cdp("Emulation.setEmulatedMedia", features=[scheme])
        self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(Path(path).resolve().as_uri())
        self.wait("return document.documentElement.dataset.ready")
        return self

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments, seconds=20):
        return self._until(lambda driver: driver.execute_script(script, *arguments), seconds)

    def _until(self, condition, seconds=20):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, seconds, 0.05).until(condition)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def keys(self, selector, *keys):
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).send_keys(*keys)

    def place_of_node(self, node):
        """Return where on the screen a node is drawn, or a community a as ``-1 - a``."""
        script = """
        const picture = document.getElementById("graph");
        picture.scrollIntoView({behavior: "instant"});
        const [x, y] = picture.shown.place(arguments[0]), edge = picture.getBoundingClientRect();
        return [edge.left + x, edge.top + y];"""
        return self.run(script, node)

    def point_at(self, node, *, press=False):
        """Move the mouse onto a node, as a user does, and press its button if wanted."""
        x, y = self.place_of_node(node)
        # A mouse that is there already has to move to be noticed.
        for step in (-2, 0):
            self.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y)
        for kind in ("mousePressed", "mouseReleased") if press else ():
            self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def wait_at(self, node, script, *arguments):
        """Wait with the mouse on a node, which may still move when the mouse gets there."""

        def shown(driver):
            self.point_at(node)
            return driver.execute_script(script, *arguments)

        return self._until(shown)

    def picture(self):
        """Return the pixels of the graph as an array of shape (height, width, 3)."""
        import base64
        import io

        import numpy as np
        from PIL import Image

        box = self.run(
            """const picture = document.getElementById("graph");
            picture.scrollIntoView({behavior: "instant"});
            const {x, y, width, height} = picture.getBoundingClientRect();
            return {x: x + scrollX, y: y + scrollY, width, height, scale: 1};"""
        )
        content = self.cdp("Page.captureScreenshot", format="png", clip=box)["data"]
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(content))).convert("RGB"))

    def messages(self):
        """Return what the console shows."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Return the addresses that were requested, without those that the file itself holds."""
        events = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        urls = [
            event["message"]["params"]["request"]["url"]
            for event in events
            if event["message"]["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in urls if not url.startswith(("data:", "blob:"))]

    def downloaded(self, name):
        """Wait for a download and return its text.

        The browser first puts an empty file of that name there, and moves the whole one over it.
        """
        path = self.downloads / name
        for _ in range(200):
            if path.exists() and path.stat().st_size:
                return path.read_bytes().decode()
            time.sleep(0.05)
        pytest.fail(f"no download of {name}")


@pytest.fixture
def page(driver, tmp_path):
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    return Page(driver, downloads)
