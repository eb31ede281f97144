"""Chromium without a window, and the checks that every page must pass."""

import contextlib
import importlib.util
import json
import pathlib
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHOTS = ROOT / ".build/screenshots"
# Found without importing the package, which needs another browser driver.
PACKAGE = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
AXE = next(pathlib.Path(PACKAGE).rglob("axe.min.js")).read_text()
PREFERENCES = "signalbox.console"


class Browser:
    """One window. Chromium's own requests are switched off, so that every logged line comes from the page."""

    def __init__(self, url, arguments=()):
        options = Options()
        for argument in (
                "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb",
                "--disable-background-networking", "--no-first-run", *arguments):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_script_timeout(60)
        self.url = url

    def quit(self):
        self.driver.quit()

    def open(self, page, **preferences):
        """Loads a page anew, with these preferences, and waits until it has its data."""
        self.driver.get("about:blank")
        value = json.dumps(json.dumps(preferences))
        with self.before(f"if (location.protocol === 'http:') localStorage.setItem('{PREFERENCES}', {value})"):
            self.driver.get(f"{self.url}#/{page}")
        self.settle()

    @contextlib.contextmanager
    def before(self, script):
        """A script that runs before those of every page that is loaded meanwhile."""
        added = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)

    def settle(self, seconds=20):
        """Waits until the page has a heading and does not load."""
        self.until("the page is there", lambda: self.run(
            "const main = document.querySelector('main');"
            "return Boolean(main?.querySelector('h1') && !/Loading …/.test(main.textContent))"), seconds)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def size(self, width, height=900):
        """Sets the size of the page itself; windows have a least width."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def until(self, what, condition, seconds=20):
        end = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            assert time.monotonic() < end, f"timed out: {what}; page: {self.text()[:800]}"
            time.sleep(0.03)

    def text(self, selector="main"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def shows(self, words, selector="main"):
        """Waits until an element has these words."""
        self.until(f"“{words}” in {selector}", lambda: words in self.text(selector))

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def log(self):
        """The complaints of the browser since the last call: violations of the policy, errors, failed loads."""
        return [line["message"] for line in self.driver.get_log("browser")]

    def requests(self):
        """The URLs of the requests since the last call."""
        found = []
        for line in self.driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def overflow(self):
        """By how many pixels the page is wider than the window."""
        return self.run("return document.documentElement.scrollWidth - innerWidth")

    def violations(self):
        """The violations that axe finds: rule, elements, and reasons."""
        self.run(AXE)
        return self.driver.execute_async_script(
            "const done = arguments[0];"
            "axe.run(document, { resultTypes: ['violations'] }).then((found) => done(found.violations.map((rule) => "
            "[rule.id, rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary)])),"
            "(error) => done(String(error)))")

    def shoot(self, name, width, height=None):
        """A picture of the whole page in .build/screenshots."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.size(width, height or min(5000, self.run("return document.documentElement.scrollHeight")))
        self.driver.save_screenshot(str(SHOTS / f"{name}-{width}.png"))
        self.size(width)


__all__ = ["Browser", "By", "Keys"]
