"""The console without answers: a gateway that hangs or is gone, slow and foreign answers, clocks that differ."""

import signal
import unittest

from browser import Browser, Keys
from gateway import alert, gateway

# Waits of twenty seconds and more are fifteen times shorter.
SHORT = """
    const [timeout, timer] = [AbortSignal.timeout.bind(AbortSignal), window.setTimeout];
    AbortSignal.timeout = (wait) => timeout(wait / 15);
    window.setTimeout = (run, wait, ...values) => timer(run, wait >= 20_000 ? wait / 15 : wait, ...values);
"""
# Answers whose address has `window.held` wait for `release`.
HOLD = """
    const real = window.fetch;
    window.fetch = async (url, options) => {
      const answer = await real(url, options);
      if (window.held && String(url).includes(window.held)) await new Promise((done) => { window.release = done; });
      options?.signal?.throwIfAborted();
      return answer;
    };
"""
# A browser whose clock is three hours ahead.
AHEAD = """
    const former = Date;
    const now = () => former.now() + 3 * 3600_000;
    window.Date = class extends former {
      constructor(...values) { super(...(values.length ? values : [now()])); }
      static now() { return now(); }
    };
"""


class Outages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = cls.enterClassContext(gateway())
        cls.event = cls.gateway.send(alert("First", "to erp"))
        cls.gateway.until("a dead letter", lambda: cls.gateway.has_dead(1))
        cls.browser = Browser(cls.gateway.url)
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.browser.size(1280)

    def load(self, page, script):
        """Opens a page after a script."""
        self.browser.driver.get("about:blank")
        with self.browser.before(script):
            self.browser.driver.get(f"{self.browser.url}#/{page}")
        self.browser.settle()

    def go(self, page):
        self.browser.run("location.hash = `#/${arguments[0]}`", page)

    def hang(self):
        """The gateway keeps its connections and answers nothing."""
        self.gateway.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.gateway.process.send_signal, signal.SIGCONT)

    def test_a_silent_stream_is_not_connected(self):
        self.load("live", SHORT)
        self.browser.shows("Connected")
        self.hang()
        self.browser.shows("Connection lost; trying again", "main .listfacts")
        self.browser.shows("The gateway did not answer within 45 s", "main .problem")
        self.gateway.process.send_signal(signal.SIGCONT)
        self.browser.shows("Connected", "main .listfacts")
        self.assertEqual(self.browser.all("main .problem"), [])

    def test_a_stream_is_not_connected_while_the_list_is_read_again(self):
        self.load("destinations", SHORT + HOLD + "AbortSignal.timeout = timeout; window.held = 'v1/events';")
        self.go("live")
        self.browser.shows("Connected")
        self.hang()
        self.browser.shows("Connection lost; trying again", "main .listfacts")

    def test_destinations_say_that_the_gateway_hangs(self):
        self.load("destinations", SHORT)
        self.browser.shows("read again every 5 s")
        self.hang()
        self.browser.shows("The gateway did not answer within 30 s", "main .problem")

    def test_a_page_that_does_not_load_says_so(self):
        self.load("events", SHORT)
        self.hang()
        self.go("ledger")
        self.browser.shows("Ledger", "main h1")
        self.browser.shows("Loading …")
        self.browser.shows("The gateway did not answer", "main .problem")

    def test_a_search_by_a_pattern_has_the_same_limit(self):
        self.load("events", SHORT)
        self.hang()
        self.go("events?pattern=%7B%22source%22%3A%5B%22mobile%22%5D%7D")
        self.browser.shows("The gateway did not answer within 30 s", "main .problem")

    def test_a_stream_that_breaks_names_the_gateway(self):
        with gateway() as fresh:
            self.browser.driver.get("about:blank")
            self.browser.driver.get(f"{fresh.url}#/live")
            self.browser.shows("Connected")
            fresh.process.kill()
            self.browser.until("a problem", lambda: self.browser.all("main .problem"))
            self.assertIn("The gateway did not answer. Is it running?", self.browser.text("main .problem"))
            self.browser.log()

    def test_rows_of_a_previous_filter_are_not_those_of_the_next_one(self):
        self.load("deliveries?destination=erp", HOLD)
        self.assertEqual(len(self.browser.all("tbody tr")), 1)
        self.browser.run("window.held = 'destination=crm&state=dead'")
        self.go("deliveries?destination=crm&state=dead")
        self.browser.shows("the entries below are from the previous filter or page", "main .listfacts")
        self.browser.until("the answer", lambda: self.browser.run("return Boolean(window.release)"))
        self.browser.run("window.held = null; window.release()")
        self.browser.shows("No entry matches: clear a filter")
        self.go("deliveries?destination=erp")
        self.browser.shows("1 entry", "main .listfacts")
        self.browser.run("window.fetch = () => Promise.reject(new TypeError())")
        for page in ("deliveries?destination=nowhere", "events?vendor=nowhere", "events?vendor=elsewhere"):
            self.go(page)
            self.browser.shows("The gateway did not answer", "main .problem")
            self.browser.shows("No list.")
            self.assertEqual(self.browser.all("tbody tr"), [])

    def test_parts_of_an_event_outlive_a_change_of_the_page(self):
        self.load("events", HOLD)
        self.browser.run("window.held = '/explain'")
        self.go(f"events/{self.event}")
        self.browser.until("the answer", lambda: self.browser.run("return Boolean(window.release)"))
        self.go(f"events/{self.event}?shade=dark")
        self.browser.shows("dark", ".chip[aria-current=true]")
        self.browser.run("window.held = null; window.release()")
        self.browser.shows("Looks for")
        self.assertEqual(self.browser.all("main .problem"), [])

    def test_ages_and_waits_are_those_of_the_gateway(self):
        self.load("destinations", AHEAD)
        self.browser.shows("s ago", "tbody")
        self.assertNotIn("h ago", self.browser.text("tbody"))
        self.go("settings")
        self.browser.shows("The clock of this browser is 3 h ahead of the gateway's")

    def test_ages_pass(self):
        self.load("events", "const timer = window.setInterval;"
                  "window.setInterval = (run, wait, ...values) => timer(run, wait / 10, ...values);"
                  "localStorage.setItem('signalbox.console', JSON.stringify({ relative: true }));")
        self.addCleanup(self.browser.run, "localStorage.clear()")
        self.browser.shows(" ago", "tbody")
        self.browser.run("const now = Date.now; Date.now = () => now() + 7_200_000;")
        self.browser.shows("2 h ago", "tbody")

    def test_charts_continue(self):
        self.load("live", "const timer = window.setInterval;"
                  "window.setInterval = (run, wait, ...values) => timer(run, wait / 10, ...values);")
        words = lambda: self.browser.text(".charts figcaption")
        self.browser.until("the counts", words)
        before = words()
        self.gateway.send(alert("Counted"))
        self.browser.until("the next counts", lambda: words() != before)

    def test_an_answer_that_is_not_json_is_named(self):
        self.load("events", "")
        self.browser.run("const page = '<html>Sign in</html>'; window.fetch = async () => new Response(page)")
        self.go("ledger")
        self.browser.shows("The answer is not JSON", "main .problem")
        self.browser.shows("200 answer-unreadable", "main .problem")

    def test_the_pattern_editor_stays_open(self):
        self.load("events", "")
        self.browser.all("main summary")[0].click()
        self.browser.all("main details textarea")[0].send_keys('{"data": {"content": {"title": ["First"]}}}')
        self.browser.until("the pattern", lambda: "pattern" in self.browser.run("return location.hash"))
        self.browser.shows("First", "tbody")
        self.browser.all("main details textarea")[0].send_keys(Keys.CONTROL + "a", Keys.DELETE)
        self.browser.until("no pattern", lambda: "pattern" not in self.browser.run("return location.hash"))
        self.browser.settle()
        self.assertTrue(self.browser.run("return document.querySelector('main details').open"))


if __name__ == "__main__":
    unittest.main()
