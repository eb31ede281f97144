// Checks client.js without a browser: node Tests/inapp-client.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const source = readFileSync(new URL("../Examples/inapp/client/client.js", import.meta.url), "utf8");
const { InAppClient, presentIn, safeLink } = await import("data:text/javascript," + encodeURIComponent(source));

const offer = (id, kind = "modal", content = { title: "Hi" }, report = ["shown", "clicked", "dismissed"]) =>
  ({ id, message: { id: "m", kind, content }, report });

/** A client whose requests get these answers in order; `{}` afterwards. */
function client(answers, present) {
  const sent = [];
  const request = async (path, options) => {
    sent.push({ path, body: JSON.parse(options.body) });
    const answer = answers.shift() ?? { json: {} };
    if (answer instanceof Error) throw answer;
    return {
      ok: (answer.status ?? 200) < 300, status: answer.status ?? 200, json: async () => answer.json, text: async () => "",
      headers: new Headers(answer.date ? { date: answer.date } : {}),
    };
  };
  const waits = [];
  const later = (call, wait) => {
    waits.push(wait);
    call();
  };
  const made = new InAppClient({ device: "d", user: "u", present, request, later });
  return { made, sent, waits };
}

/** As much of a document as the presentation uses; assigning markup fails the test. */
function fakePage() {
  const make = (name) => ({
    name, children: [], append(child) { this.children.push(child); child.parent = this; },
    setAttribute() {}, remove() { this.parent.children.splice(this.parent.children.indexOf(this), 1); },
    set innerHTML(_) { throw new Error("markup"); },
  });
  const opened = [];
  return { createElement: make, body: make("body"), defaultView: { open: (url) => opened.push(url) }, opened };
}

const quiet = console.warn;
console.warn = () => {};

const tests = {
  async showsAnOfferAndReportsIt() {
    const { made, sent } = client([{ json: { offer: offer("of_1") } }], () => true);
    await made.trigger({ type: "sessionStart" });
    assert.deepEqual(sent.map(({ path }) => path), ["/v1/inapp/triggers", "/v1/inapp/offers/of_1/outcome"]);
    assert.equal(sent[0].body.event.type, "sessionStart");
    assert.equal(sent[1].body.outcome, "shown");
    assert.deepEqual(made.state().visible, ["of_1"]);
  },
  async reportsAKindThatItCannotShow() {
    const { made, sent } = client([{ json: { offer: offer("of_1", "inline") } }], presentIn(fakePage()));
    await made.trigger({ type: "sessionStart" });
    assert.equal(sent[1].body.outcome, "template-unknown");
  },
  async repeatsARequestWithTheSameId() {
    const { made, sent } = client([new Error("offline"), { status: 503 }, { json: {} }], () => true);
    await made.trigger({ type: "sessionStart" });
    assert.equal(sent.length, 3);
    assert.equal(new Set(sent.map(({ body }) => body.triggerId)).size, 1);
  },
  async repeatsNoRejectedRequest() {
    const { made, sent } = client([{ status: 409 }], () => true);
    await made.trigger({ type: "sessionStart" });
    assert.equal(sent.length, 1);
  },
  async showsTheOfferThatFollows() {
    const { made, sent } = client([{ json: { offer: offer("a") } }, { json: { offer: offer("b") } }], () => true);
    await made.trigger({ type: "sessionStart" });
    assert.deepEqual(sent.slice(1).map(({ path }) => path.split("/")[4]), ["a", "b"]);
  },
  async asksAgainWhenTheGatewaySaysSo() {
    const { made, sent } = client([{ json: { nextCheck: new Date().toISOString() } }], () => true);
    await made.trigger({ type: "sessionStart" });
    await new Promise((done) => setImmediate(done));
    assert.equal(sent[1].body.event.type, "poll");
  },
  async waitsByTheClockOfTheGateway() {
    for (const day of ["Tue, 24 Nov 2026 10:00:00 GMT", "Fri, 01 Jan 2066 10:00:00 GMT"]) {
      const nextCheck = new Date(Date.parse(day) + 90_000).toISOString();
      const { made, waits } = client([{ date: day, json: { nextCheck } }], () => true);
      await made.trigger({ type: "sessionStart" });
      assert.deepEqual(waits, [90_000]);
    }
  },
  async callsTheTimerAsBrowsersRequire() {
    const { setTimeout } = globalThis;
    let calls = 0;
    // A browser throws "Illegal invocation" for another receiver than the window.
    globalThis.setTimeout = function () {
      if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation");
      calls += 1;
    };
    try {
      const request = async () => ({
        ok: true, status: 200, headers: new Headers(), json: async () => ({ nextCheck: new Date().toISOString() }),
      });
      await new InAppClient({ device: "d", present: () => true, request }).trigger({ type: "sessionStart" });
    } finally {
      globalThis.setTimeout = setTimeout;
    }
    assert.equal(calls, 1);
  },
  async showsAnOfferOnce() {
    let shown = 0;
    const present = () => (shown += 1) > 0;
    const { made } = client([{ json: { offer: offer("a") } }, { json: {} }, { json: { offer: offer("a") } }], present);
    await made.trigger({ type: "sessionStart" });
    await made.trigger({ type: "poll" });
    assert.equal(shown, 1);
  },
  presentsTextAndOpensHttpsLinksOnly() {
    const page = fakePage();
    const content = {
      title: "<img src=x onerror=alert(1)>", image: "http://plain.example/a.png",
      buttons: [{ id: "yes", label: "Yes", url: "javascript:alert(1)" }, { id: "more", url: "https://shop.example/" }],
    };
    const reports = [];
    assert.ok(presentIn(page)(offer("of_1", "modal", content), (...report) => reports.push(report)));
    const [title, yes] = page.body.children[0].children;
    assert.equal(title.textContent, content.title);
    yes.onclick();
    assert.deepEqual([page.opened, page.body.children.length], [[], 0]);
    assert.deepEqual(reports, [["clicked", { button: "yes" }]]);
  },
  closesAMandatoryMessageByItsButtonsOnly() {
    const page = fakePage();
    const mandatory = (buttons) => offer("of_1", "modal", { title: "Update", buttons }, ["shown", "clicked"]);
    assert.ok(presentIn(page)(mandatory([{ id: "go", label: "Update" }]), () => {}));
    assert.equal(page.body.children[0].children.filter(({ name }) => name === "button").length, 1);
    assert.equal(presentIn(page)(mandatory([]), () => {}), false);
  },
  acceptsHttpsLinksOnly() {
    assert.equal(safeLink("https://a.example/x"), "https://a.example/x");
    for (const bad of ["javascript:alert(1)", "http://a.example", "data:text/html,x", "/x", undefined]) {
      assert.equal(safeLink(bad), null);
    }
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log("ok", name);
}
console.warn = quiet;
