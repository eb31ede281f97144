// The shell: navigation, sign-in, keys, and the page that the URL names.
import { h, render } from "./h.js";
import { Refusal, get, isKept, longestWait, notLoaded, session, signIn, whyNot } from "./api.js";
import { hint, loading, prefer, prefs, visible } from "./text.js";
import { change, dialog, problem, route, to } from "./ui.js";
import * as live from "./live.js";

// Page, words, least role, and its module. Pages of one module are its exports.
const pages = [
  ["live", "Live", "reader", async () => live],
  ["events", "Events", "reader", () => import("./events.js")],
  ["deliveries", "Deliveries", "reader", () => import("./deliveries.js")],
  ["destinations", "Destinations", "reader", () => import("./destinations.js")],
  ["routes", "Routes", "reader", () => import("./routes.js")],
  ["vendors", "Vendors", "reader", () => import("./lists.js")],
  ["media", "Media", "reader", () => import("./lists.js")],
  ["categories", "Categories", "reader", () => import("./lists.js")],
  ["inapp", "In-app", "reader", () => import("./lists.js")],
  ["ledger", "Ledger", "reader", () => import("./lists.js")],
  ["actions", "Actions", "reader", () => import("./lists.js")],
  ["rejections", "Rejections", "reader", () => import("./lists.js")],
  ["captures", "Captures", "reader", () => import("./lists.js")],
  ["settings", "Settings", "metrics", () => import("./settings.js")],
];

/** The page that is shown: its module, what it has loaded, and what it remembers while it is open. */
let shown = null;
let denied = null;
/** Why the module of the page could not be loaded. Each navigation tries again. */
let missing = null;
let frame = 0;
/** Whether the next drawing moves the focus to the new page. */
let focusesPage = false;
let before = null;
/** Scroll positions, by the states of the history's entries. */
const positions = new Map();
let entry = null;
const root = document.getElementById("app");

function redraw() {
  if (frame) return;
  frame = requestAnimationFrame(() => { frame = 0; draw(); });
}

function draw() {
  const { page, params } = route();
  const entry = pages.find(([name]) => name === page);
  document.documentElement.dataset.theme = prefs.theme;
  document.documentElement.dataset.motion = prefs.motion;
  document.title = `${entry?.[1] ?? "Not found"} – Signalbox`;
  render(root,
    h("a", { class: "skip", href: "#main",
      onclick: (event) => { event.preventDefault(); document.getElementById("main").focus(); } },
      "Skip to the content"),
    h("header", null, h("a", { class: "brand", href: to("live") }, "Signalbox"), whoAmI(), zoneSwitch(params),
      h("button", { onclick: help, "aria-label": "Keys" }, "?")),
    h("nav", { "aria-label": "Pages" }, h("ul", null,
      pages.filter(([, , role]) => !whyNot(role)).map(([name, words]) =>
      h("li", { key: name }, h("a", { href: to(name), "aria-current": name === page ? "page" : undefined }, words)))),
      hiddenPages()),
    h("main", { id: "main", tabindex: -1, key: `${page}/${shown?.id ?? ""}` }, content(entry)),
    h("div", { id: "toast", role: "status", "aria-live": "polite", mounted: Object.assign(() => {}, { owns: true }) }));
  if (focusesPage && shown) {
    focusesPage = false;
    document.getElementById("main").focus({ preventScroll: true });
  }
}

function whoAmI() {
  const who = session.who;
  if (!who) return h("span", { class: "who" });
  const words = who.open ? "open on this machine"
    : `${visible(who.name, 60)} (${who.role}${who.content ? "" : ", no texts"})`;
  return h("span", { class: "who" }, words);
}

function zoneSwitch(params) {
  const zone = prefs.zone;
  return h("label", { class: "zone" }, h("span", { class: "hidden" }, "Times in"),
    h("select", { value: zone, onchange: (event) => useZone(event.target.value, params) },
      h("option", { value: "utc" }, "UTC"), h("option", { value: "local" }, "local time")));
}

function useZone(zone, params) {
  prefer({ zone });
  change({ tz: zone, cursor: params.cursor });
  redraw();
}

function hiddenPages() {
  const hidden = pages.filter(([, , role]) => whyNot(role));
  return hidden.length
    ? hint(`Hidden: ${hidden.map(([, words]) => words).join(", ")} – ${whyNot("reader")}.`) : null;
}

function content(entry) {
  if (denied) return signInForm();
  if (!entry) return [h("h1", null, "Not found"), h("p", null, "No such page. The navigation lists all pages.")];
  const reason = whyNot(entry[2]);
  if (reason) return [h("h1", null, entry[1]), h("p", null, `This page ${reason}.`)];
  if (missing) return [h("h1", null, entry[1]), problem(missing), h("button", { onclick: open },
    "Try again")];
  if (!shown) return [h("h1", null, entry[1]), loading()];
  try {
    return [shown.view(shown), shown.error && !shown.showsErrors ? problem(shown.error) : null];
  } catch (error) {
    return [h("h1", null, entry[1]), problem(error)];
  }
}

// MARK: Sign-in

function signInForm() {
  if (!(denied instanceof Refusal) || denied.status !== 401) {
    return [h("h1", null, "Signalbox"), problem(denied), h("button", { onclick: begin }, "Try again")];
  }
  const submit = (event) => {
    event.preventDefault();
    const field = event.target.elements;
    signIn(field.token.value.trim(), field.keep.checked);
    begin();
  };
  return [h("h1", null, "Sign in"),
    h("form", { class: "signin", onsubmit: submit },
      h("p", null, "Enter a token of admin.auth or admin.tokens. It stays in the memory of this page and leaves it ",
        "only in requests to this gateway."),
      session.token ? problem(denied) : null,
      h("label", null, h("span", null, "Token"), h("input",
        { name: "token", type: "password", autocomplete: "off", required: true })),
      h("label", { class: "check" }, h("input", { name: "keep", type: "checkbox", checked: isKept() }),
        h("span", null, "Keep it for this tab (sessionStorage)")),
      h("button", { class: "main" }, "Sign in"))];
}

async function begin() {
  try {
    session.who = await get("whoami");
    denied = null;
    await open();
  } catch (error) {
    denied = error;
    redraw();
  }
}

// MARK: Pages

// Back and forward lead to the position that the page was left at.
async function enter() {
  positions.set(entry, scrollY);
  const now = mark();
  await open();
  if (positions.has(now)) requestAnimationFrame(() => { if (now === entry) scrollTo(0, positions.get(now)); });
}

function mark() {
  if (!history.state) history.replaceState(Date.now(), "");
  return entry = history.state;
}

async function open() {
  const { page, id, params } = route();
  if (params.tz === "utc" || params.tz === "local") prefer({ zone: params.tz });
  const entry = pages.find(([name]) => name === page);
  missing = null;
  if (!entry || denied || !session.who || whyNot(entry[2])) {
    stop();
    return redraw();
  }
  if (shown && (shown.page !== page || shown.id !== id)) {
    stop();
    redraw();
  }
  let module;
  try { module = await inTime(entry[3]()); } catch (error) {
    if (route().page !== page) return;
    stop();
    missing = notLoaded(error);
    return redraw();
  }
  if (route().page !== page || route().id !== id) return;
  if (!shown || shown.page !== page || shown.id !== id) {
    stop();
    const part = module.parts?.[page] ?? module;
    shown = { page, id, local: {}, data: null, error: null, view: part.view, load: part.load, actions: part.actions,
      end: part.end, redraw, reload: () => load(shown), signal: null, showsErrors: part.showsErrors };
    focusesPage = before !== null;
    before = page;
    window.scrollTo(0, 0);
  }
  shown.params = params;
  await load(shown);
}

// Limits the time of an import, which cannot be aborted.
async function inTime(loading) {
  let timer;
  const late = new Promise((_, fail) => { timer = setTimeout(fail, longestWait); });
  try { return await Promise.race([loading, late]); } finally { clearTimeout(timer); }
}

function stop() {
  shown?.abort?.abort();
  shown?.end?.(shown);
  shown = null;
}

async function load(context) {
  context.abort?.abort();
  const abort = new AbortController();
  [context.abort, context.signal] = [abort, abort.signal];
  const { tz: _, ...query } = context.params;
  const asked = JSON.stringify(query);
  // Whether the data belong to other parameters.
  context.isFormer = context.data !== null && context.answered !== asked;
  redraw();
  try {
    const data = (await context.load?.(context)) ?? {};
    if (abort.signal.aborted || context !== shown) return;
    Object.assign(context, { data, error: null, answered: asked, isFormer: false });
  } catch (error) {
    if (abort.signal.aborted || context !== shown) return;
    context.error = error;
    // Pages that read again by themselves would repeat the wrong token.
    if (error instanceof Refusal && error.status === 401) {
      denied = error;
      stop();
    }
  }
  redraw();
}

// MARK: Keys

const keys = [["?", "this list"], ["j / k", "next, former row"], ["Enter", "open the row"],
  ["r", "retry the row, after a question"],
  [".", "actions of the row or page"], ["/", "to the first filter"], ["n", "next page"], ["p", "pause the live list"],
  ["g, then a letter", "go to a page: l e d s r v m c i a"], ["Esc", "close a dialog"]];

function help() {
  dialog("Keys", (close) => [
    h("dl", { class: "facts" }, keys.map(([name, words]) =>
      h("div", null, h("dt", null, h("kbd", null, name)), h("dd", null, words)))),
    h("button", { onclick: close, "data-first": true }, "Close")]);
}

function move(by) {
  const rows = [...document.querySelectorAll("main tr[data-row]")];
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
  const target = row.querySelector("a, button") ?? row;
  if (target === row) row.tabIndex = -1;
  target.focus();
  row.scrollIntoView({ block: "nearest" });
}

function rowAtFocus() {
  const row = document.activeElement?.closest?.("tr[data-row]");
  return row ? Number(row.dataset.row) : null;
}

function actions() {
  const list = shown?.actions?.(shown, rowAtFocus()) ?? [];
  if (!list.length) return;
  dialog("Actions", (close) => list.map((action, at) => {
    const reason = action.role ? whyNot(action.role) : null;
    if (reason) return h("p", { class: "denied" }, `${action.label}: ${reason}`);
    return h("button", { class: "wide", "data-first": at === 0,
      onclick: () => { close(); action.run(); } }, action.label);
  }));
}

let waitsForPage = false;
const goTo = { l: "live", e: "events", d: "deliveries", s: "destinations", r: "routes", v: "vendors", m: "media",
  c: "categories", i: "inapp", a: "actions" };

function onKey(event) {
  const isTyping = event.target.closest?.("input, textarea, select");
  // A key that is held down answers no question.
  if (event.repeat && event.key === "Enter" && !isTyping) event.preventDefault();
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || document.querySelector("dialog[open]")) return;
  if (waitsForPage) {
    waitsForPage = false;
    if (goTo[event.key]) { location.hash = to(goTo[event.key]); event.preventDefault(); }
    return;
  }
  const run = {
    "?": help, j: () => move(1), k: () => move(-1), ".": actions, g: () => { waitsForPage = true; },
    "/": () => document.querySelector("main [data-filter], main form input, main form select")?.focus(),
    n: () => document.querySelector("main [data-next]")?.click(),
    p: () => document.querySelector("main [data-pause]")?.click(),
    r: () => shown?.actions?.(shown, rowAtFocus()).find((action) => action.key === "r")?.run(),
  }[event.key];
  if (!run) return;
  event.preventDefault();
  run();
}

// Ages pass while a page stays as it is.
setInterval(() => {
  if (prefs.relative && shown && !document.activeElement?.matches("input, textarea, select")) redraw();
}, 5000);
addEventListener("keydown", onKey);
addEventListener("hashchange", enter);
addEventListener("signalbox:signin", () => {
  for (const node of document.querySelectorAll("dialog[open]")) node.close();
  denied = null;
  stop();
  begin();
});
// A reload of the config can change the rights of a token. Pages and buttons follow.
addEventListener("signalbox:rights", async () => {
  const former = JSON.stringify(session.who);
  try { session.who = await get("whoami"); } catch { return; }
  if (JSON.stringify(session.who) !== former) open();
});
redraw();
mark();
begin();
