"""Work of operators in the browser: bulk retries, keys, previews, origins, patterns, roles."""

import json
import subprocess
import unittest
import urllib.parse

from browser import Browser, Keys
from gateway import alert, gateway, with_buttons, with_carousel


class Operations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = cls.enterClassContext(gateway())
        cls.dead = 120
        lines = "\n".join(json.dumps(alert(f"Dead {number}", "to erp")) for number in range(cls.dead))
        status, _, _ = cls.gateway.request("POST", "/v1/notifications", lines, content_type="application/json")
        assert status == 202
        cls.gateway.until("dead deliveries", lambda: cls.gateway.has_dead(cls.dead), 60)
        cls.browser = Browser(cls.gateway.url)
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.browser.size(1280)

    def states(self, **query):
        text = "&".join(f"{name}={value}" for name, value in query.items())
        return self.gateway.get(f"/v1/deliveries?limit=500&{text}")["deliveries"]

    def test_a_retry_by_keys_alone(self):
        number = self.states(state="dead")[0]["id"]
        before = len(self.gateway.get(f"/v1/deliveries/{number}")["log"])
        self.browser.open("deliveries?state=dead")
        self.browser.press("j", "r")
        self.browser.shows(f"Retry delivery {number}", "dialog")
        self.browser.press(Keys.ENTER)
        self.browser.shows("1 delivery was requeued", "dialog")
        self.browser.press(Keys.ENTER)
        self.browser.until("the dialog is closed", lambda: not self.browser.all("dialog"))
        self.gateway.until("a further attempt", lambda: len(
            self.gateway.get(f"/v1/deliveries/{number}")["log"]) > before)
        self.browser.press("j", Keys.ENTER)
        self.browser.until("the delivery is open", lambda: "/deliveries/" in self.browser.run("return location.hash"))
        self.browser.press("?")
        self.browser.shows("actions of the row", "dialog")
        self.browser.press(Keys.ESCAPE)
        self.assertEqual(self.browser.log(), [])

    def test_the_next_pages_by_enter(self):
        self.gateway.until("all dead", lambda: self.gateway.has_dead(self.dead))
        self.browser.open("deliveries?state=dead&limit=50")
        self.browser.all("[data-next]")[0].send_keys(Keys.ENTER)
        self.browser.shows("First page", "main .listfacts")
        self.browser.settle()
        self.assertEqual(self.browser.run("return document.activeElement.textContent"), "Next page")
        self.browser.press(Keys.ENTER)
        self.browser.until("the third page", lambda: len(self.browser.all("tbody tr")) == self.dead - 100)

    def test_the_button_says_the_number_and_takes_no_more(self):
        self.gateway.until("all dead", lambda: self.gateway.has_dead(self.dead))
        shown = len(self.states(state="dead", destination="erp"))
        self.browser.open("deliveries?state=dead&destination=erp")
        self.browser.all("[data-bulk=retry]")[0].click()
        self.browser.shows(f"Retry {shown:,} deliveries", "dialog button")
        # Five more are moved to dead letters before the confirmation.
        for number in range(5):
            self.gateway.send(alert(f"Late {number}", "to erp"))
        self.gateway.until("five more", lambda: self.gateway.has_dead(shown + 5))
        self.browser.all("dialog [data-confirm]")[0].click()
        self.browser.shows(f"{shown:,} deliveries were requeued", "dialog [role=status]")
        type(self).dead += 5
        row = self.gateway.get("/v1/actions?operation=deliveries.retry")["actions"][0]
        self.assertEqual(row["count"], shown)
        self.assertEqual(self.browser.log(), [])

    def test_a_spread_that_is_not_a_number_is_refused(self):
        before = self.gateway.get("/v1/actions?operation=deliveries.retry&limit=1")["actions"][:1]
        self.browser.open("deliveries?state=dead")
        self.browser.all("[data-bulk=retry]")[0].click()
        self.browser.shows("Spread over seconds", "dialog")
        for text in ("600s", "-5", "1.5"):
            field = self.browser.all("dialog input")[0]
            field.clear()
            field.send_keys(text)
            self.browser.all("dialog [data-confirm]")[0].click()
            self.browser.shows("Expected a whole number of seconds", "dialog .problem")
        self.browser.press(Keys.ESCAPE)
        self.browser.log()
        rows = self.gateway.get("/v1/actions?operation=deliveries.retry&limit=5")["actions"]
        self.assertEqual([row["id"] for row in rows if row["result"] == "done"][:1], [row["id"] for row in before])

    def test_a_purge_needs_a_reason(self):
        self.browser.open("deliveries?state=dead&vendor=nowhere")
        self.browser.open("deliveries?state=expired")
        self.browser.all("[data-bulk=purge]")[0].click()
        self.browser.shows("No delivery matches", "dialog")
        self.browser.press(Keys.ESCAPE)
        self.browser.open("deliveries?state=dead")
        self.browser.all("[data-bulk=purge]")[0].click()
        self.browser.shows("Reason (required", "dialog")
        self.assertFalse(self.browser.all("dialog [data-confirm]")[0].is_enabled())
        self.browser.press(Keys.ESCAPE)

    def test_pause_and_resume_with_a_reason(self):
        self.browser.open("destinations/crm")
        self.browser.all("main .buttons button")[0].click()
        self.browser.shows("Pause crm", "dialog")
        fields = self.browser.all("dialog input")
        fields[0].send_keys("30m")
        fields[1].send_keys("moving day")
        self.browser.all("dialog [data-confirm]")[0].click()
        self.browser.shows("Paused until", "dialog")
        self.browser.press(Keys.ESCAPE)
        self.browser.shows("paused")
        self.browser.open("actions?target=crm")
        self.browser.shows("moving day")
        self.gateway.request("POST", "/v1/destinations/crm/resume")

    def test_a_payload_lights_its_event(self):
        event = self.gateway.send({
            "aps": {"alert": {"title": "Origin", "body": "b"}}, "unreadKey": {"deep": 1},
            **{name: value for name, value in with_buttons("x", 1).items() if name != "aps"}})
        self.browser.open(f"events/{event}")
        self.browser.until("the provenance", lambda: self.browser.all(".tree[data-side=raw] button.name"))
        self.browser.run(
            "document.querySelector('.tree[data-side=\"event\"] [data-p=\"/data/content/title\"]')"
            ".dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))")
        self.assertEqual(self.browser.run(
            "return [...document.querySelectorAll('.tree[data-side=raw] .lit')].map((node) => node.dataset.p)"),
            ["/aps/alert/title"])
        self.assertIn("from /aps/alert/title", self.browser.text("#light"))
        self.assertEqual(self.browser.run(
            "return document.querySelector('.tree [data-p=\"/unreadKey/deep\"]').className"), "unread")
        self.assertEqual(self.browser.log(), [])

    def test_a_pointer_continues_in_a_string(self):
        event = self.gateway.send({"bsft_message_uuid": "u1", "message": json.dumps({
            "notification_type": "custom_notification", "title": "Inner", "body": "B"})})
        self.browser.open(f"events/{event}")
        node = "document.querySelector('.tree[data-side=\"raw\"] [data-p=\"/message/title\"]')"
        self.browser.until("the inner key", lambda: self.browser.run(f"return Boolean({node}?.querySelector('button'))"))
        self.browser.run(f"{node}.querySelector('button').focus()")
        lit = self.browser.run("return [...document.querySelectorAll('.tree[data-side=event] .lit')].map((n) => n.dataset.p)")
        self.assertIn("/data/content/title", lit)

    def test_patterns_are_tried_on_real_events(self):
        self.browser.open("routes?pattern=%7B%22data%22%3A%7B%22kind%22%3A%5B%22silent%22%5D%7D%7D")
        self.browser.shows("events match")
        self.browser.shows("/data/kind")
        self.browser.shows("is \"alert\"")
        rows = self.browser.text("table")
        box = self.browser.all("textarea[data-filter]")[0]
        box.clear()
        box.send_keys('{"data":{"kind":["alert" "x"]}}')
        self.browser.shows("column 26", ".editor")
        self.assertEqual(self.browser.text("table"), rows)
        self.assertIn("silent", self.browser.run("return decodeURIComponent(location.hash)"))

    def test_previews_cut_as_the_systems_do(self):
        picture = self.gateway.peer_url + "/picture.png"
        event = self.gateway.send(with_buttons("Five", 5, "A long body that goes on. " * 30, picture))
        self.gateway.until("the picture", lambda: any(
            item["state"] == "stored" for item in self.gateway.get(f"/v1/events/{event}")["media"]))
        self.browser.open(f"events/{event}")
        count = lambda kind: len(self.browser.all(f".phone.{kind}.expanded .actions li"))
        self.assertEqual((count("ios"), count("android")), (5, 3))
        self.assertIn("2 cut", self.browser.text(".phone.android.expanded"))
        self.browser.shows("body cut after 1 line", ".phone.android.expanded")
        self.browser.shows("body cut after 4 lines", ".phone.ios.collapsed")
        self.assertNotIn("body cut", self.browser.text(".phone.ios.expanded"))
        height = self.browser.run(
            "const body = document.querySelector('.phone.android.expanded .body');"
            "return body.getBoundingClientRect().height / parseFloat(getComputedStyle(body).lineHeight)")
        self.assertAlmostEqual(height, 1, delta=0.2)
        self.browser.until("the picture is drawn", lambda: self.browser.run(
            "return document.querySelector('.phone.android.expanded img')?.naturalWidth") == 8)
        self.assertEqual(self.browser.log(), [])

    def test_a_carousel_names_its_failed_page(self):
        links = [f"{self.gateway.peer_url}/picture{at}.png" for at in range(3)] + [f"{self.gateway.peer_url}/missing.png"]
        event = self.gateway.send(with_carousel("Four", links))
        self.gateway.until("the downloads", lambda: sorted(
            item["state"] for item in self.gateway.get(f"/v1/events/{event}")["media"]) == ["failed"] + ["stored"] * 3)
        self.browser.open(f"events/{event}")
        for page in range(4):
            self.browser.shows(f"Page {page + 1} of 4", ".phone.ios.expanded")
            if page < 3:
                self.assertEqual(len(self.browser.all(".phone.ios.expanded img")), 1)
                self.browser.all(".phone.ios.expanded .turn a")[-1].click()
        self.browser.shows("Not stored: failed, not-found", ".phone.ios.expanded")
        self.browser.shows("Not stored: failed, not-found", ".phone.android.expanded")

    def test_a_copied_command_repeats_the_payload(self):
        event = self.gateway.send({**alert("It's “quoted” $HOME `x`", "b"), "mce": {"attribution": "x"}})
        self.browser.open(f"events/{event}")
        self.browser.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
        self.browser.until("the payload", lambda: self.browser.all(".tree[data-side=raw] li"))
        self.browser.run("[...document.querySelectorAll('main button')].find((b) => b.textContent === 'Copy curl').click()")
        self.browser.until("the command was copied", lambda: self.browser.text("#toast"))
        command = self.browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(done.stdout)["vendor"], "mce")

    def test_a_long_number_keeps_its_digits(self):
        event = self.gateway.send({**alert("Long number"), "user": 9007199254740993})
        self.browser.open(f"events/{event}")
        for side, at in (("raw", "/user"), ("event", "/data/custom/user")):
            node = f".tree[data-side={side}] [data-p='{at}']"
            self.browser.until(node, lambda: self.browser.all(node))
            self.assertIn("9007199254740993", self.browser.text(node))
        self.browser.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
        self.browser.run("[...document.querySelectorAll('main button')].find((b) => b.textContent === 'Copy event').click()")
        self.browser.until("the event was copied", lambda: self.browser.text("#toast"))
        copied = self.browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        self.assertEqual(json.loads(copied)["data"]["custom"], {"user": 9007199254740993})
        pattern = '{"data":{"custom":{"user":[9007199254740993]}}}'
        for page in ("events", "live", "routes"):
            self.browser.open(f"{page}?pattern={urllib.parse.quote(pattern)}")
            self.browser.shows("1 of" if page == "routes" else "Long number")

    def test_an_event_is_sent_again(self):
        event = self.gateway.send(alert("Again", "b"))
        self.browser.open(f"events/{event}")
        self.browser.until("the destinations", lambda: self.browser.run(
            "[...document.querySelectorAll('main button')].find((b) => b.textContent === 'Send again …').click();"
            "return document.querySelector('dialog')"))
        self.browser.all("dialog [data-confirm]")[0].click()
        self.browser.shows("was queued", "dialog")
        self.assertTrue(any(row.get("manual") for row in self.states(event=event)))


class Roles(unittest.TestCase):
    """The token of a reader without texts, and one of an operator."""

    @classmethod
    def setUpClass(cls):
        tokens = {
            "rita": {"bearer": "env:RITA", "role": "reader", "content": False},
            "ann": {"bearer": "env:ANN", "role": "operator"}, "grafana": {"bearer": "env:GRAFANA", "role": "metrics"},
        }
        cls.gateway = cls.enterClassContext(gateway({"RITA": "rita-token", "ANN": "ann-token", "GRAFANA": "grafana-token", "APP": "app-token"},
                          admin={"tokens": tokens}, sources={"mobile": {"auth": {"bearer": ["env:APP"]}}}))
        status, _, body = cls.gateway.request(
            "POST", "/v1/notifications", alert("Very secret title", "to erp"), authorization="Bearer app-token")
        assert status == 202, body
        cls.event = json.loads(body)["id"]
        cls.browser = Browser(cls.gateway.url)
        cls.addClassCleanup(cls.browser.quit)

    def sign_in(self, token, page):
        self.browser.size(1280)
        self.browser.driver.get("about:blank")
        self.browser.driver.get(f"{self.gateway.url}#/{page}")
        self.browser.shows("Sign in")
        self.browser.all("input[name=token]")[0].send_keys(token)
        self.browser.press(Keys.ENTER)
        self.browser.until("signed in", lambda: "Sign in" not in self.browser.text("main h1"))
        self.browser.settle()

    def test_a_wrong_token_is_refused(self):
        self.browser.driver.get("about:blank")
        self.browser.driver.get(f"{self.gateway.url}#/events")
        self.browser.shows("Sign in")
        self.browser.all("input[name=token]")[0].send_keys("wrong")
        self.browser.press(Keys.ENTER)
        self.browser.shows("unauthorized")
        self.assertNotIn("wrong", self.browser.run("return location.href + JSON.stringify(sessionStorage)"))

    def test_a_reader_without_texts(self):
        self.sign_in("rita-token", f"events/{self.event}")
        self.assertNotIn("Very secret", self.browser.text("body"))
        self.browser.shows("needs the role operator; the token of rita has the role reader")
        self.assertIn("rita (reader, no texts)", self.browser.text("header"))
        self.browser.run("location.hash = '#/deliveries'")
        self.browser.shows("needs the role operator")
        self.assertEqual(self.browser.all("[data-bulk]"), [])

    def test_an_operator_may_not_purge(self):
        self.sign_in("ann-token", "deliveries")
        self.browser.shows("needs the role admin; the token of ann has the role operator")
        self.assertEqual(len(self.browser.all("[data-bulk]")), 1)

    def test_a_token_for_metrics_sees_settings_only(self):
        self.sign_in("grafana-token", "settings")
        self.browser.shows("needs the role reader", "nav")
        self.browser.run("location.hash = '#/events'")
        self.browser.shows("This page needs the role reader")

    def test_the_token_is_in_memory_only(self):
        self.sign_in("ann-token", "live")
        kept = self.browser.run("return JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie + location.href")
        self.assertNotIn("ann-token", kept)
        self.browser.driver.refresh()
        self.browser.shows("Sign in")


if __name__ == "__main__":
    unittest.main()
