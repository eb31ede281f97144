"""The console in trouble: expired tokens, destinations that wait, filters of failures, problems of a config."""

import pathlib
import tempfile
import unittest

from browser import Browser, Keys
from gateway import alert, gateway


class Expiry(unittest.TestCase):
    """An operator whose token is replaced while the page is open."""

    def setUp(self):
        self.token = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "ann.token")
        self.token.write_text("first-token")
        self.gateway = self.enterContext(gateway(
            admin={"tokens": {"ann": {"bearer": f"file:{self.token}", "role": "operator"}}},
            sources={"mobile": {"auth": {"bearer": ["env:WEBHOOK_SECRET"]}}}))
        self.browser = Browser(self.gateway.url)
        self.addCleanup(self.browser.quit)
        self.browser.size(1280)

    def sign_in(self, token):
        self.browser.shows("Sign in")
        self.browser.all("input[name=token]")[0].send_keys(token)
        self.browser.press(Keys.ENTER)
        self.browser.until("signed in", lambda: "Sign in" not in self.browser.text("main h1"))
        self.browser.settle()

    def replace_token(self):
        self.token.write_text("second-token")
        self.gateway.reload()
        self.gateway.until("the new token", lambda: self.gateway.request(
            "GET", "/v1/whoami", authorization="Bearer second-token")[0] == 200)

    def test_a_page_that_reads_again_asks_for_a_token_once(self):
        self.browser.driver.get(f"{self.browser.url}#/destinations")
        self.sign_in("first-token")
        self.replace_token()
        self.browser.run(
            "window.asked = 0; const former = window.fetch;"
            "window.fetch = (...values) => { window.asked += 1; return former(...values); };"
            "window.timers = []; window.setTimeout = (run) => { window.timers.push(run); return 0; };")
        self.browser.shows("Sign in")
        asked = self.browser.run("return window.asked")
        self.browser.run("window.timers.forEach((run) => run())")
        self.assertEqual(self.browser.run("return window.asked"), asked)
        self.sign_in("second-token")
        self.browser.shows("destinations", "main .listfacts")

    def test_a_token_that_no_header_can_have_is_asked_for_again(self):
        self.browser.driver.get(f"{self.browser.url}#/destinations")
        self.browser.shows("Sign in")
        self.browser.all("input[name=token]")[0].send_keys("\u201cfirst-token\u200b")
        self.browser.press(Keys.ENTER)
        self.browser.shows("The token cannot be sent", "main .problem")
        self.browser.all("input[name=token]")[0].clear()
        self.sign_in("first-token")

    def test_a_change_asks_for_a_token(self):
        self.browser.driver.get(f"{self.browser.url}#/destinations/crm")
        self.sign_in("first-token")
        self.browser.run("window.setTimeout = () => 0")
        self.browser.all("main .buttons button")[0].click()
        self.browser.shows("Pause crm", "dialog")
        self.replace_token()
        self.browser.all("dialog [data-confirm]")[0].click()
        self.browser.shows("Sign in")
        self.assertEqual(self.browser.all("dialog"), [])
        self.assertEqual(self.gateway.get("/v1/actions", authorization="Bearer second-token")["actions"], [])

    def test_buttons_follow_a_lower_role(self):
        self.browser.driver.get(f"{self.browser.url}#/destinations/crm")
        self.sign_in("first-token")
        self.browser.all("main .buttons button")[0].click()
        self.browser.shows("Pause crm", "dialog")
        self.gateway.reload(admin={"tokens": {"ann": {"bearer": f"file:{self.token}", "role": "reader"}}})
        self.gateway.until("the lower role", lambda: self.gateway.get(
            "/v1/whoami", authorization="Bearer first-token")["role"] == "reader")
        self.browser.all("dialog [data-confirm]")[0].click()
        self.browser.shows("role-insufficient", "dialog")
        self.browser.shows("needs the role operator; the token of ann has the role reader")
        self.assertEqual(self.browser.all("main .buttons button"), [])

    def test_the_live_page_asks_for_a_token(self):
        self.browser.driver.get(f"{self.browser.url}#/live")
        self.sign_in("first-token")
        self.browser.shows("Connected")
        self.replace_token()
        self.sign_in("second-token")
        self.browser.shows("Connected")


class Failures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = cls.enterClassContext(gateway())
        url = cls.gateway.peer_url
        cls.gateway.reload(
            destinations={
                "crm": {"url": url + "/ok", "secret": "env:WEBHOOK_SECRET"},
                "erp": {"url": url + "/dead", "secret": "env:WEBHOOK_SECRET"},
                "down": {"url": url + "/down", "secret": "env:WEBHOOK_SECRET",
                         "retry": {"attempts": 50, "base": "20ms", "max": "50ms"},
                         "breaker": {"failures": 3, "probe": "10m"}},
            },
            routes=[{"name": "all", "match": {}, "to": ["crm", "erp", "down"]}])
        cls.gateway.until("the destinations", lambda: {"crm", "erp", "down"} <= {
            row["name"] for row in cls.gateway.get("/v1/destinations")["destinations"] if row["state"] == "active"})
        for number in range(3):
            cls.gateway.send(alert(f"Event {number}"))
        cls.gateway.until("the breaker opens", lambda: cls.state("down") == "breaker_open")
        cls.gateway.until("dead letters", lambda: cls.gateway.has_dead(3))
        cls.browser = Browser(cls.gateway.url)
        cls.addClassCleanup(cls.browser.quit)

    @classmethod
    def state(cls, name):
        return cls.gateway.get(f"/v1/destinations/{name}")["state"]

    def setUp(self):
        self.browser.size(1280)

    def test_an_open_breaker_is_resumed(self):
        self.browser.open("destinations/down")
        self.assertEqual([button.text for button in self.browser.all("main .buttons button")],
                         ["Resume …", "Pause …", "Test …"])
        self.browser.press(".")
        self.browser.shows("Resume down …", "dialog")
        self.browser.press(Keys.ENTER)
        self.browser.shows("one of them first", "dialog")
        self.browser.press(Keys.ENTER)
        self.browser.shows("Resumed.", "dialog")
        self.assertEqual(self.gateway.get("/v1/actions?limit=1")["actions"][0]["operation"], "destinations.resume")

    def test_the_focus_stays_on_its_button_when_the_state_changes(self):
        self.browser.open("destinations/erp")
        self.browser.run("document.querySelector('button[aria-label=\"Test erp\"]').focus()")
        for verb in ("pause", "resume"):
            status, _, _ = self.gateway.request("POST", f"/v1/destinations/erp/{verb}")
            self.assertEqual(status, 200)
            self.browser.until(verb, lambda: ("paused" in self.browser.text(".facts")) == (verb == "pause"))
            self.assertEqual(self.browser.run("return document.activeElement.ariaLabel"), "Test erp")
        self.browser.run("document.querySelector('button[aria-label=\"Pause erp\"]').focus()")
        status, _, _ = self.gateway.request("POST", "/v1/destinations/erp/pause")
        self.addCleanup(self.gateway.request, "POST", "/v1/destinations/erp/resume")
        self.browser.shows("paused", ".facts")
        self.assertNotEqual(self.browser.run("return document.activeElement.ariaLabel"), "Resume erp")

    def test_a_state_is_named_once(self):
        self.gateway.request("POST", "/v1/destinations/crm/pause?reason=moving")
        self.addCleanup(self.gateway.request, "POST", "/v1/destinations/crm/resume")
        self.browser.open("destinations/crm")
        self.assertEqual(self.browser.text(".facts dd"), "paused moving")

    def test_a_page_that_could_not_be_loaded_is_loaded_later(self):
        self.browser.open("events")
        self.browser.driver.execute_cdp_cmd("Network.enable", {})
        self.addCleanup(self.browser.log)
        self.addCleanup(self.browser.driver.execute_cdp_cmd, "Network.setBlockedURLs", {"urls": []})
        self.browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/lists.js"]})
        self.browser.run("location.hash = '#/ledger'")
        self.browser.shows("The gateway did not answer", "main .problem")
        self.browser.run("location.hash = '#/events'")
        self.browser.shows("entries", "main .listfacts")
        self.browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
        self.browser.run("location.hash = '#/ledger'")
        self.browser.shows("all deliveries since the queue was made", "main .listfacts")

    def test_a_key_that_is_held_down_changes_nothing(self):
        self.browser.open("deliveries?state=dead")
        self.browser.run("document.querySelector('[data-bulk=retry]').focus()")
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
        send = lambda **more: self.browser.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {**key, **more})
        send(type="keyDown")
        self.browser.shows("Retry 3 deliveries", "dialog [data-confirm]")
        for _ in range(5):
            send(type="keyDown", autoRepeat=True)
        send(type="keyUp")
        self.browser.shows("They are due at once", "dialog")
        self.assertEqual(self.gateway.get("/v1/actions?operation=deliveries.retry")["actions"], [])
        self.browser.press(Keys.ESCAPE)

    def test_a_class_of_statuses_is_a_filter(self):
        self.browser.open("deliveries?status=4xx")
        self.assertEqual(self.browser.run("return document.querySelector('[data-filter=status]').value"), "4xx")
        self.assertEqual(len(self.browser.all("tbody tr")), 3)
        self.browser.open("deliveries?status=2xx&state=dead")
        self.browser.shows("No entry matches: clear a filter")
        self.assertEqual(self.browser.log(), [])

    def test_the_ledger_names_the_time_of_its_numbers(self):
        self.browser.open("ledger")
        before = self.browser.text("main .listfacts").split(";")[1]
        self.browser.run("Date.now = () => 4e12; const former = Date; window.Date = class extends former {"
                         " constructor(...values) { super(...(values.length ? values : [4e12])); } };"
                         "location.hash = '#/ledger?again=1'; window.fetch = () => Promise.reject(new TypeError());")
        self.browser.shows("The gateway did not answer", "main .problem")
        self.assertEqual(self.browser.text("main .listfacts").split(";")[1], before)

    def test_a_broken_pattern_of_an_address_finds_no_event(self):
        self.browser.open("events?pattern=%7B")
        self.browser.shows("The pattern is not valid", ".problem")
        self.assertEqual(self.browser.all("tbody tr"), [])

    def test_only_deliveries_that_can_be_retried_have_a_retry(self):
        for state, verbs in (("dead", ["retry", "purge"]), ("delivered", ["purge"]), ("expired", ["purge"])):
            self.browser.open(f"deliveries?state={state}")
            self.assertEqual([button.get_attribute("data-bulk") for button in self.browser.all("[data-bulk]")], verbs)

    def test_the_charts_of_a_destination_end_at_the_same_time(self):
        self.browser.open("destinations/erp")
        self.browser.shows("Failed attempts")
        axes = [node.text.split("\n") for node in self.browser.all(".chart .axis")]
        self.assertEqual(len(axes), 2)
        self.assertEqual(axes[0], axes[1])

    def test_a_search_that_stopped_early_goes_on(self):
        words = self.browser.driver.execute_async_script(
            "import(`${document.baseURI.split('#')[0]}console/ui.js`).then(({ none }) => arguments[0]("
            "[none({ state: 'dead' }, { complete: false }, 'No delivery'), none({}, {}, 'No delivery')]))")
        self.assertEqual(words, ["No entry matches so far: search on.", ["No delivery"]])

    def test_a_problem_of_another_file_names_the_file(self):
        folder = pathlib.Path(self.gateway.directory, "routes.d")
        folder.mkdir()
        file = folder / "late.json"
        self.addCleanup(folder.rmdir)
        self.addCleanup(file.unlink)
        file.write_text('{"routes": [{"name": "late", "match": {}, "to": ["nowhere"]}]}')
        self.browser.open("routes")
        self.browser.run(
            "const text = [...document.querySelectorAll('textarea')].pop(); text.value = '{}';"
            "text.dispatchEvent(new Event('input', { bubbles: true }));"
            "[...document.querySelectorAll('button')].find((button) => button.textContent === 'Check').click()")
        self.browser.shows("late.json:1:")

    def test_an_explanation_has_results_and_failed_checks(self):
        form = {"vendor": "braze", "kind": "modal", "triggers": [{"type": "sessionStart"}], "content": {}}
        for name, more in (("shown", {}), ("later", {"schedule": {"start": "2100-01-01T00:00:00Z"}})):
            status, _, body = self.gateway.request("PUT", f"/v1/inapp/messages/{name}", {**form, **more})
            self.assertEqual(status, 201, body)
        self.browser.open("inapp")
        self.browser.run(
            "document.querySelector('details').open = true;"
            "[...document.querySelectorAll('button')].find((button) => button.textContent === 'Explain').click()")
        self.browser.shows("schedule.not-started")
        text = self.browser.text("table[role=table]")
        self.assertIn("shown", text)
        self.assertNotIn("not offered", text)


if __name__ == "__main__":
    unittest.main()
