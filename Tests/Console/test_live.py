"""Live: the newest events are there at once, and the stream continues them without a gap and without repeats."""

import json
import unittest
import urllib.parse

from browser import Browser
from gateway import ROOT, alert, gateway

# `asked` has the endpoints in the order of their requests. `hold` names one whose request (`stream`) or whose answer
# (`events`) waits for `release`.
HOLD = """
    const real = window.fetch;
    window.asked = [];
    const gate = new Promise((done) => { window.release = done; });
    window.fetch = async (url, options) => {
      const name = String(url).split(/[/?]/)[1];
      window.asked.push(name);
      if (name === 'stream' && name === '%(hold)s') await gate;
      const answer = await real(url, options);
      if (name === 'events' && name === '%(hold)s') await gate;
      return answer;
    };
"""


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = cls.enterClassContext(gateway())
        cls.browser = Browser(cls.gateway.url)
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.browser.size(1280)
        self.addCleanup(lambda: self.assertEqual(self.browser.log(), []))

    def send(self, *titles):
        """Accepts events one after the other, and waits for their deliveries."""
        ids = [self.gateway.send(alert(title)) for title in titles]
        for event in ids:
            self.gateway.until("the delivery", lambda: self.gateway.get(
                f"/v1/deliveries?event={event}&state=delivered")["deliveries"])

    def column(self, name):
        return self.browser.run(
            "return [...document.querySelectorAll('td[data-label=\"' + arguments[0] + '\"]')]"
            ".map((cell) => cell.textContent.trim())", name)

    def load(self, page, hold):
        """Opens the page while an endpoint waits."""
        self.browser.driver.get("about:blank")
        with self.browser.before(HOLD % {"hold": hold}):
            self.browser.driver.get(f"{self.browser.url}#/{page}")

    def test_an_empty_list_says_what_fills_it(self):
        with gateway() as fresh:
            self.browser.url = fresh.url
            self.addCleanup(setattr, self.browser, "url", self.gateway.url)
            self.browser.open("live")
            self.browser.shows("No event yet. Payloads appear here as the gateway accepts them: send one with")
            fresh.send(alert("First"))
            self.browser.shows("First")

    def test_a_stream_without_events_is_not_an_empty_gateway(self):
        with gateway(console={"recent": 0}) as fresh:
            self.browser.url = fresh.url
            self.addCleanup(setattr, self.browser, "url", self.gateway.url)
            self.browser.open("live")
            self.browser.shows("Connected")
            fresh.send(alert("Unseen"))
            self.browser.shows("The stream shows no event. Events lists them.")
            self.browser.driver.get("about:blank")

    def test_the_newest_events_are_there_at_once(self):
        self.send("One", "Two", "Three")
        self.browser.open("live")
        self.assertEqual(self.column("Title")[:3], ["Three", "Two", "One"])
        self.assertEqual([text.split()[0] for text in self.column("Outcomes")[:3]], ["delivered"] * 3)
        self.send("Four")
        self.browser.shows("Four")
        self.assertEqual(self.column("Title")[:4], ["Four", "Three", "Two", "One"])
        self.browser.until("its outcome", lambda: "delivered crm 200" in self.column("Outcomes")[0])

    def test_a_pattern_selects_earlier_and_later_events(self):
        self.send("Wanted 1", "Other 1")
        pattern = urllib.parse.quote('{"data":{"content":{"title":[{"prefix":"Wanted"}]}}}')
        self.browser.open(f"live?pattern={pattern}")
        self.assertEqual(self.column("Title"), ["Wanted 1"])
        self.send("Other 2", "Wanted 2")
        self.browser.shows("Wanted 2")
        self.assertEqual(self.column("Title"), ["Wanted 2", "Wanted 1"])
        none = urllib.parse.quote('{"data":{"content":{"title":["never sent"]}}}')
        self.browser.open(f"live?pattern={none}")
        self.browser.shows("No event matches the pattern. Events that match appear here")

    def test_an_event_of_both_the_list_and_the_stream_is_one_row(self):
        self.send("Before")
        self.load("live", "events")
        self.browser.shows("Connected")
        self.browser.until("the list is requested", lambda: "events" in self.browser.run("return window.asked"))
        # Its frames arrive while the list is on its way.
        self.send("Meanwhile")
        self.browser.run("window.release()")
        self.browser.shows("Meanwhile")
        self.send("After")
        self.browser.shows("After")
        self.assertEqual(self.column("Title")[:3], ["After", "Meanwhile", "Before"])
        self.assertEqual(self.column("Title").count("Meanwhile"), 1)
        self.browser.until("all outcomes", lambda: all(
            text.startswith("delivered") for text in self.column("Outcomes")[:3]))

    def test_an_event_before_the_stream_is_not_missing(self):
        self.load("live", "stream")
        self.browser.until("the stream is requested", lambda: "stream" in self.browser.run("return window.asked ?? []"))
        self.send("Between")
        self.assertNotIn("events", self.browser.run("return window.asked"))
        self.browser.run("window.release()")
        self.browser.shows("Between")
        self.assertEqual(self.column("Title")[0], "Between")

    def test_an_outcome_that_the_sample_leaves_out_is_not_pending(self):
        self.browser.open("live")
        self.browser.shows("Connected")
        lines = "\n".join(json.dumps(alert(f"Burst {number}")) for number in range(3000))
        status, _, _ = self.gateway.request("POST", "/v1/notifications", lines, content_type="application/json")
        self.assertEqual(status, 202)
        self.gateway.until("the deliveries", lambda: all(
            row["waiting"] == 0 for row in self.gateway.get("/v1/destinations")["destinations"]), 60)
        self.browser.until("the frames", lambda: "pending" not in self.column("Outcomes"), 60)
        self.assertIn("see the event", self.column("Outcomes"))

    def test_each_vendor_has_a_chip(self):
        for folder in sorted((ROOT / "Tests/SignalboxVendorsTests/Fixtures").iterdir())[:16]:
            files = sorted(path for path in folder.glob("*.json") if not path.name.endswith(".expected.json"))
            self.gateway.send(files[0].read_text())
        vendors = {row["vendor"] for row in self.gateway.get("/v1/events?limit=500")["events"]}
        self.assertGreater(len(vendors), 12)
        self.browser.open("live")
        self.browser.until("the chips", lambda: {chip.text for chip in self.browser.all(
            ".chips[aria-label=Vendors] button")} == vendors)

    def test_the_list_is_bounded(self):
        lines = "\n".join(json.dumps(alert(f"Many {number}")) for number in range(60))
        status, _, _ = self.gateway.request("POST", "/v1/notifications", lines, content_type="application/json")
        self.assertEqual(status, 202)
        self.browser.open("live")
        self.assertEqual(len(self.column("Title")), 50)
        self.assertEqual(self.column("Title")[0], "Many 59")


if __name__ == "__main__":
    unittest.main()
