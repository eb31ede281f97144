"""Tasks of operators, each with a gateway of its own: breaker, routes from patterns, changed configs, signed media."""

import json
import pathlib
import re
import subprocess
import unittest
import urllib.parse

from browser import Browser
from gateway import BINARY, alert, gateway, with_buttons


class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser("")
        cls.addClassCleanup(cls.browser.quit)

    def start(self, **sections):
        running = gateway(**sections)
        started = running.__enter__()
        self.addCleanup(running.__exit__, None, None, None)
        self.browser.url = started.url
        self.browser.size(1280)
        return started

    def test_an_open_breaker_is_shown_alike_everywhere(self):
        retry = {"attempts": 50, "base": "20ms", "max": "50ms"}
        running = self.start()
        down = {"url": running.peer_url + "/down", "secret": "env:WEBHOOK_SECRET", "retry": retry,
                "breaker": {"failures": 3, "probe": "30s"}}
        fine = {"url": running.peer_url + "/ok", "secret": "env:WEBHOOK_SECRET"}
        running.reload(destinations={"fine": fine, "down": down},
                       routes=[{"name": "all", "match": {}, "to": ["fine", "down"]}])
        running.until("the destinations", lambda: {"fine", "down"} <= {
            row["name"] for row in running.get("/v1/destinations")["destinations"] if row["state"] == "active"})
        for number in range(3):
            running.send(alert(f"Event {number}"))

        def row():
            return next(row for row in running.get("/v1/destinations")["destinations"] if row["name"] == "down")
        running.until("the breaker opens", lambda: row()["state"] == "breaker_open" and "probeAt" in row()["breaker"])
        self.browser.open("destinations", theme="light")
        first = self.browser.all("tbody tr")[0]
        self.assertIn("breaker_open", first.text)
        seconds = int(re.search(r"probe in (\d+) s", first.text)[1])
        self.assertTrue(0 < seconds <= 30, seconds)
        color = self.browser.run("return getComputedStyle(document.querySelector('tbody tr .badge')).color")
        red, green, blue = map(int, re.findall(r"\d+", color)[:3])
        self.assertTrue(red > 2 * green and red > 2 * blue, color)
        _, _, page = running.request("GET", "/metrics")
        self.assertIn(b'signalbox_destination_state{destination="down",state="breaker_open"} 1', page)
        self.assertIn(b'signalbox_destination_state{destination="fine",state="active"} 1', page)
        waiting = running.get("/v1/deliveries?destination=down")["deliveries"]
        self.assertEqual([delivery.get("blockedBy") for delivery in waiting], ["breaker"] * 3)
        self.browser.open("deliveries?destination=down")
        self.assertEqual(self.browser.text("table").count("held by breaker"), 3)
        self.assertEqual(self.browser.log(), [])

    def test_a_pattern_becomes_a_route(self):
        running = self.start()
        pattern = {"data": {"vendor": ["mce"], "content": {"title": [{"prefix": "It's \"quoted\" $HOME"}]}}}
        self.browser.open("routes?pattern=" + urllib.parse.quote(json.dumps(pattern)))
        self.browser.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
        self.browser.run(
            "[...document.querySelectorAll('main button')].find((b) => b.textContent === 'Copy as route').click()")
        self.browser.until("the route was copied", lambda: self.browser.text("#toast"))
        route = json.loads(self.browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])"))
        self.assertEqual(route["match"], pattern)
        path = pathlib.Path(running.directory, "routes.json")
        config = json.loads(path.read_text())
        copy = pathlib.Path(running.directory, "copy.json")
        copy.write_text(json.dumps({**config, "routes": config["routes"] + [route]}))
        done = subprocess.run([BINARY, "routes", "check", "--strict", copy], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The gateway accepts it, and the list of routes has it.
        running.reload(routes=config["routes"] + [route])
        running.until("the new route", lambda: any(
            row["name"] == route["name"] for row in running.get("/v1/routes")["routes"]))
        self.browser.open("routes")
        self.browser.shows(route["name"], "table")
        self.assertEqual(self.browser.log(), [])

    def test_settings_show_changes_and_refusals(self):
        running = self.start()
        config = json.loads(pathlib.Path(running.directory, "routes.json").read_text())
        crm = {**config["destinations"]["crm"], "timeout": "7s", "headers": {"x-key": "env:WEBHOOK_SECRET"}}
        running.reload(destinations={**config["destinations"], "crm": crm})

        def newest():
            return running.get("/v1/config/history")["history"][0]
        running.until("the change", lambda: newest()["result"] == "active" and newest()["changes"])
        running.reload(routes=[{"name": "broken", "match": {}, "to": ["nowhere"]}])
        running.until("the refusal", lambda: newest()["result"] == "refused")
        self.browser.open("settings")
        self.browser.shows("The newest config was refused")
        text = self.browser.run("return document.querySelector('main').textContent")
        self.assertIn("/routes/0/to/0: there is no destination", self.browser.text(".problem"))
        for words in ("/destinations/crm/timeout", "\"7s\"", "/destinations/crm/headers", "env:WEBHOOK_SECRET"):
            self.assertIn(words, text)
        whole = self.browser.run("return document.documentElement.outerHTML")
        self.assertNotIn("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", whole)
        # The former routes still apply.
        self.assertNotIn("broken", [row["name"] for row in running.get("/v1/routes")["routes"]])
        self.assertEqual(self.browser.log(), [])

    def test_signed_links_show_pictures(self):
        media = {"allow": ["127.0.0.0/8"], "allowHttp": True, "retry": {"attempts": 1},
                 "signedUrls": {"secret": "env:WEBHOOK_SECRET", "expiry": "2h"}}
        running = self.start(media=media)
        event = running.send(with_buttons("Signed", 1, media=running.peer_url + "/picture.png"))
        running.until("the picture", lambda: any(
            item["state"] == "stored" for item in running.get(f"/v1/events/{event}")["media"]))
        digest = running.get("/v1/media")["media"][0]["sha256"]
        self.assertEqual(running.request("GET", f"/media/{digest}")[0], 403)
        for page, selector in (("media", "img.small"), (f"events/{event}", ".phone.ios.expanded img")):
            self.browser.open(page)
            self.browser.until(f"the picture on {page}", lambda: self.browser.run(
                "return document.querySelector(arguments[0])?.naturalWidth", selector) == 8)
        self.assertEqual(self.browser.log(), [])


if __name__ == "__main__":
    unittest.main()
