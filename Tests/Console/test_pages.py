"""Every page under the policy, in two themes and three widths, without other hosts."""

import json
import os
import unittest
import urllib.parse

from browser import Browser
from gateway import alert, gateway, with_buttons, with_carousel

WIDTHS = (360, 768, 1280)
# When the list of Live has its first row.
FIRST_ROW = """
    new MutationObserver((_, watch) => {
      if (!document.querySelector('tbody tr')) return;
      watch.disconnect();
      requestAnimationFrame(() => { window.firstRow = performance.now(); });
    }).observe(document, { childList: true, subtree: true });
"""


class Everything:
    """A gateway with a little of everything, and its pages."""

    @classmethod
    def setUpClass(cls):
        cls.running = gateway()
        cls.gateway = cls.running.__enter__()
        cls.addClassCleanup(cls.running.__exit__, None, None, None)
        links = [f"{cls.gateway.peer_url}/picture{at}.png" for at in range(3)] + [f"{cls.gateway.peer_url}/missing.png"]
        cls.event = cls.gateway.send(with_buttons("Five buttons", 5, "to erp", links[0]))
        cls.carousel = cls.gateway.send(with_carousel("Four pages", links))
        for number in range(20):
            cls.gateway.send(alert(f"Event {number}", app={"flag": True}))
        cls.gateway.request("POST", "/v1/notifications", "{", content_type="application/json")
        cls.gateway.request(
            "PUT", "/v1/inapp/messages/welcome",
            {"vendor": "own", "kind": "modal", "triggers": [{"type": "event", "name": "buy"}], "content": {"title": "Hi"}},
            content_type="application/json")
        cls.gateway.until("a dead delivery", lambda: cls.gateway.has_dead(1))
        cls.gateway.until("the downloads", lambda: all(
            item["state"] in ("stored", "failed") for item in cls.gateway.get(f"/v1/events/{cls.carousel}")["media"]))
        # Every host but this machine is blocked: the console must not notice.
        cls.browser = Browser(cls.gateway.url, ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"])
        cls.addClassCleanup(cls.browser.quit)
        delivery = cls.gateway.get("/v1/deliveries?state=dead")["deliveries"][0]["id"]
        pattern = urllib.parse.quote('{"data":{"kind":["alert"]}}')
        cls.pages = [
            "live", f"live?pattern={pattern}", "events", f"events/{cls.event}", f"events/{cls.carousel}?shade=dark",
            f"events/{cls.event}?with={cls.carousel}", "deliveries", "deliveries?state=dead", f"deliveries/{delivery}",
            "destinations", "destinations/erp", f"routes?pattern={pattern}", "vendors", "media", "categories", "inapp",
            "inapp/welcome", "ledger", "actions", "rejections", "captures", "settings", "unknown-page",
        ]

    def each(self, theme, width):
        """Checks all pages in one theme and one width."""
        self.browser.size(width)
        for page in self.pages:
            with self.subTest(page=page, theme=theme, width=width):
                self.browser.open(page, theme=theme)
                if page == "live":
                    self.browser.shows("Connected")
                self.assertEqual(self.browser.violations(), [])
                self.assertLessEqual(self.browser.overflow(), 0, "the page is wider than the window")
                self.assertEqual(self.browser.log(), [])
                if (theme, width) in (("light", 1280), ("dark", 360)) or os.environ.get("SIGNALBOX_ALL_SCREENSHOTS"):
                    name = page.split("?")[0].replace(self.event, "event").replace(self.carousel, "carousel")
                    self.browser.shoot(f"{name.replace('/', '-')}-{theme}", width)


class LightPages(Everything, unittest.TestCase):
    """Every page in the light theme."""

    def test_light_narrow(self):
        self.each("light", WIDTHS[0])

    def test_light_middle(self):
        self.each("light", WIDTHS[1])

    def test_light_wide(self):
        self.each("light", WIDTHS[2])


class DarkPages(Everything, unittest.TestCase):
    """Every page in the dark theme."""

    def test_dark_narrow(self):
        self.each("dark", WIDTHS[0])

    def test_dark_middle(self):
        self.each("dark", WIDTHS[1])

    def test_dark_wide(self):
        self.each("dark", WIDTHS[2])


class PagesAndHosts(Everything, unittest.TestCase):
    """Requests, links, lists and times of all pages."""

    def test_no_page_reaches_another_host(self):
        self.browser.requests()
        for page in self.pages:
            self.browser.open(page)
        ours = [self.gateway.url, "data:", "about:", "blob:"]
        urls = self.browser.requests()
        self.assertGreater(len(urls), len(self.pages))
        self.assertEqual([url for url in urls if not any(url.startswith(own) for own in ours)], [])

    def test_the_first_paint_is_measured(self):
        times, rows = [], []
        for _ in range(5):
            self.browser.driver.get("about:blank")
            with self.browser.before(FIRST_ROW):
                self.browser.driver.get(f"{self.browser.url}#/live")
            rows.append(self.browser.until("the first row", lambda: self.browser.run("return window.firstRow")))
            times.append(self.browser.run(
                "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"))
        print("first paint of Live in ms:", sorted(round(time) for time in times if time is not None),
              "and its first events:", sorted(round(time) for time in rows))
        self.assertTrue(any(time is not None for time in times))

    def test_files_are_loaded_once(self):
        self.browser.open("events")
        self.browser.open("events")
        files = self.browser.run(
            "return performance.getEntriesByType('resource').filter((entry) => /[.](js|css)$/.test(entry.name))"
            ".map((entry) => [new URL(entry.name).pathname, entry.transferSize])")
        self.assertGreater(len(files), 8)
        for path, size in files:
            self.assertRegex(path, r"^/assets/[0-9a-f]{16}/[a-z]+[.](js|css)$")
            self.assertEqual(size, 0, f"{path} was requested again")
        path = files[0][0]
        status, headers, body = self.gateway.request("GET", path)
        self.assertEqual((status, headers["cache-control"]), (200, "public, max-age=31536000, immutable"))
        # A page of another version of the gateway receives the present file.
        status, headers, other = self.gateway.request("GET", "/assets/former/" + path.split("/")[-1])
        self.assertEqual((status, headers["cache-control"], other), (200, "no-cache", body))
        self.assertEqual(self.gateway.request("GET", "/assets/former/unknown.js")[0], 404)

    def test_a_link_shows_the_same_rows(self):
        self.browser.size(1280)
        self.browser.open("deliveries?destination=crm&state=delivered", zone="local")
        rows = self.browser.text("table")
        address = self.browser.run("return location.href")
        self.browser.run("localStorage.clear()")
        self.browser.driver.switch_to.new_window("window")
        self.addCleanup(lambda: (self.browser.driver.close(),
                                 self.browser.driver.switch_to.window(self.browser.driver.window_handles[0])))
        self.browser.driver.get(address + "&tz=local" if "tz=" not in address else address)
        self.browser.settle()
        self.assertEqual(self.browser.text("table"), rows)
        self.assertNotIn("UTC", rows)

    def test_a_list_says_which_part_it_shows(self):
        self.browser.size(1280)
        for page, words in (
                ("events", "entries from the beginning until now"), ("events?limit=5", "5 entries on this page from"),
                ("rejections", "1 entry; newest first, the last 200"), ("categories", "1 entry; by identifier"),
                ("media", "1 entry; oldest first"), ("media?state=failed", "1 entry; newest first")):
            self.browser.open(page)
            self.assertIn(words, self.browser.text("main .listfacts"), page)

    def test_a_tap_leads_to_its_notification(self):
        def report(second):
            return json.dumps({"eventId": self.event, "actionIdentifier": "default",
                               "deviceTime": f"2026-11-30T10:{second // 60:02}:{second % 60:02}Z"})
        status, _, body = self.gateway.request("POST", "/v1/interactions", report(0), content_type="application/json")
        self.assertEqual(status, 202, body)
        for page in ("events", "live"):
            self.browser.open(page)
            self.assertIn("(interaction.received)", self.browser.text("tbody tr"))
        self.browser.open(f"events/{json.loads(body)['id']}")
        self.browser.shows("Events of this type have no payload.")
        self.assertNotIn("keepPayloads", self.browser.text())
        self.browser.all(f"main .facts a[href*='{self.event}']")[0].click()
        self.browser.shows("Five buttons", "main h1")
        self.assertNotIn("The oldest 500", self.browser.text())
        lines = "\n".join(report(second) for second in range(1, 500))
        status, _, body = self.gateway.request("POST", "/v1/interactions", lines, content_type="application/json")
        self.assertEqual(status, 202, body[:300])
        self.browser.open(f"events/{self.event}")
        self.browser.shows("The oldest 500; further ones are not listed here.")

    def test_what_a_comparison_leaves_out(self):
        one, other = (self.gateway.send(alert("Many keys", **{f"k{key}": value for key in range(500)})) for value in (1, 2))
        self.browser.open(f"events/{one}?with={other}")
        self.browser.shows("The first 500; further ones are not listed here.")

    def test_back_leads_to_the_former_position(self):
        self.browser.size(1280, 400)
        self.browser.open("events")
        self.browser.run("scrollTo(0, 500); document.querySelectorAll('tbody a')[12].click()")
        self.browser.shows("Event", "main .sides")
        self.assertEqual(self.browser.run("return scrollY"), 0)
        self.browser.driver.back()
        self.browser.until("the position", lambda: self.browser.run("return scrollY") == 500)
        self.browser.run("location.hash = '#/ledger'")
        self.browser.shows("consistent", "main .listfacts")
        self.browser.run("document.querySelector('nav a[href*=events]').click()")
        self.browser.shows("entries", "main .listfacts")
        self.assertEqual(self.browser.run("return scrollY"), 0)

    def test_a_filter_names_its_default(self):
        self.browser.open("inapp")
        self.assertEqual(self.browser.text("form option"), "false")

    def test_utc_everywhere(self):
        self.browser.size(1280)
        for page in ("live", "events", "deliveries", "destinations/crm", "vendors", "actions", f"events/{self.event}"):
            self.browser.open(page, zone="utc")
            times = self.browser.run("return [...document.querySelectorAll('time, .axis span')].map((node) => node.textContent)")
            self.assertTrue(times and all(text.endswith("UTC") for text in times), (page, times))


if __name__ == "__main__":
    unittest.main()
