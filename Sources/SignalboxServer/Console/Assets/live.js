// Live: what the gateway accepts and delivers, as it happens.
import { h } from "./h.js";
import { Refusal, call, get, session, stream } from "./api.js";
import { bytes, count, dim, hint, inline, several, time, titled, visible, zoneName } from "./text.js";
import { badge, change, chart, counted, problem, sendOne, state, table, to } from "./ui.js";
import { chips, editor, follow, readPattern } from "./pattern.js";

const mostRows = 200;
/** Events that are there at once. */
const mostListed = 50;
const mostHeld = 1000;
const seconds = 120;
const statsStep = 10;

/** Opens the stream; the newest events and the counters follow. */
export async function load(context) {
  const { local, params } = context;
  follow(local, params.pattern);
  const opened = local.opened;
  if (opened?.pattern === (params.pattern ?? "")) return context.data ?? {};
  local.opened = { pattern: params.pattern ?? "" };
  Object.assign(local, { status: "connecting", error: null });
  if (!local.watch) watch(context);
  listen(context, local.opened);
  return {};
}

// The counts of the last 15 minutes, read again for as long as the page is visible.
function measure({ local, redraw }) {
  const { signal } = local.watch;
  const read = () => get("stats", { window: "15m", step: `${statsStep}s` }, signal).then((stats) => {
    local.stats = stats;
    redraw();
  }, () => {});
  read();
  local.meter = setInterval(() => { if (!document.hidden) read(); }, statsStep * 1000);
}

/** Ends the stream when the page closes. */
export function end({ local }) {
  local.watch?.abort();
  local.abort?.abort();
  clearTimeout(local.timer);
  clearTimeout(local.sleeper);
  clearInterval(local.meter);
}

// A browser has six connections to a host, and a stream holds one: a tab that is hidden for a minute, or was left, gives
// its connection back. It resumes where it ended.
function watch(context) {
  const { local } = context;
  local.watch = new AbortController();
  const { signal } = local.watch;
  measure(context);
  const sleep = () => { local.status = "asleep"; local.abort?.abort(); };
  const wake = () => {
    clearTimeout(local.sleeper);
    if (local.status === "asleep") listen(context, local.opened);
  };
  addEventListener("pagehide", sleep, { signal });
  addEventListener("pageshow", wake, { signal });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) local.sleeper = setTimeout(sleep, 60_000);
    else wake();
  }, { signal });
}

// Reads the stream until the page closes or the pattern changes. Waits longer after each failure. The rows of the former
// pattern stay until the gateway accepts the new one.
async function listen(context, opened) {
  const { local } = context;
  local.abort?.abort();
  const abort = local.abort = new AbortController();
  const isCurrent = () => !abort.signal.aborted && local.opened === opened;
  let wait = 1;
  while (isCurrent()) {
    try {
      await stream({ pattern: opened.pattern }, {
        signal: abort.signal, lastID: opened.lastID,
        opened: () => { wait = 1; begin(context, opened); },
        each: (name, value, id) => {
          if (!isCurrent()) return;
          opened.lastID = id ?? opened.lastID;
          if (name) accept(context, name, value);
        },
      });
    } catch (error) {
      if (!isCurrent()) return;
      if (error.status === 401) { dispatchEvent(new Event("signalbox:signin")); return; }
      local.error = error;
      if (isFinal(error)) { local.status = "stopped"; context.redraw(); return; }
      // Set before the list is loaded, which may take 30 s.
      local.status = "reconnecting";
      context.redraw();
      if (!opened.isListed) await list(context, opened);
      wait = Math.min(60, Number(error.headers?.get?.("retry-after")) || wait);
    }
    if (!isCurrent()) return;
    local.status = "reconnecting";
    context.redraw();
    await new Promise((done) => { setTimeout(done, wait * 1000); });
    wait = Math.min(30, wait * 2);
  }
}

function begin(context, opened) {
  const { local } = context;
  [local.status, local.error] = ["live", null];
  if (!opened.isKnown) Object.assign(local, { held: [], dropped: 0, missed: 0, series: [] });
  else doubt(local);
  opened.isKnown = true;
  if (!opened.isListed) list(context, opened);
  context.redraw();
}

// The stream begins with the next event, so those before it come from the list. The list is read after the stream has
// begun: each event is in one of them or in both, and its id tells. Frames wait for the list.
async function list(context, opened) {
  const { local } = context;
  const { signal } = local.abort;
  const early = opened.early = [];
  let events = [];
  try {
    const query = { limit: mostListed };
    const pattern = readPattern(opened.pattern).value;
    const answer = pattern ? await call("POST", "events/search", { query, body: { pattern }, signal })
      : await get("events", query, signal);
    [events, opened.isListed, local.isCut] = [answer.events, true, answer.complete === false];
  } catch (error) { if (!signal.aborted) local.error ??= error; }
  if (local.opened !== opened || opened.early !== early) return;
  opened.early = null;
  // The list is read again with the next connection.
  if (signal.aborted) { opened.isListed = false; return; }
  const rows = new Map(events.reverse().map((row) => [row.id, { ...row, outcomes: new Map() }]));
  if (opened.hasRows) for (const [id, row] of local.rows) rows.set(id, { ...rows.get(id), ...row });
  [opened.hasRows, local.rows] = [true, rows];
  for (const [name, value] of early) accept(context, name, value);
  context.redraw();
}

// Another attempt would have the same answer.
function isFinal(error) { return error instanceof Refusal && error.status >= 400 && error.status < 500; }

function accept(context, name, value) {
  const { local } = context;
  const { early } = local.opened;
  if (early) {
    early.push([name, value]);
    if (early.length > mostHeld) { early.shift(); local.dropped += 1; }
    return;
  }
  if (name === "gap") {
    local.dropped += value.dropped ?? 0;
    doubt(local);
  } else if (name === "stats") {
    local.series.push(value);
    if (local.series.length > seconds) local.series.shift();
  } else if (local.isPaused) {
    local.held.push([name, value]);
    if (local.held.length > mostHeld) { local.held.shift(); local.missed += 1; }
  } else apply(local, name, value);
  context.redraw();
}

// The outcomes of these rows may be among the frames that the stream left out.
function doubt({ rows, held }) {
  for (const row of rows?.values() ?? []) if (!row.outcomes.size) row.mayHaveEnded = true;
  for (const [name, value] of held ?? []) if (name === "event") value.mayHaveEnded = true;
}

function apply(local, name, value) {
  if (name === "event") {
    const known = local.rows.get(value.id);
    local.rows.set(value.id, { ...known, ...value, outcomes: known?.outcomes ?? new Map() });
    if (local.rows.size > mostRows) local.rows.delete(local.rows.keys().next().value);
  } else if (name === "delivery") {
    local.rows.get(value.event)?.outcomes.set(value.destination, value);
  } else if (name === "destination") {
    local.changes = [value, ...(local.changes ?? [])].slice(0, 5);
  }
}

function togglePause(context) {
  const { local } = context;
  local.isPaused = !local.isPaused;
  if (!local.isPaused) {
    for (const [name, value] of local.held) apply(local, name, value);
    local.held = [];
  }
  context.redraw();
}

// A valid pattern becomes part of the URL after a moment without typing; a broken one changes nothing.
function usePattern(context, text) {
  const { local } = context;
  local.text = text;
  clearTimeout(local.timer);
  if (!readPattern(text).message) local.timer = setTimeout(() => change({ pattern: text.trim() }), 400);
  context.redraw();
}

export const showsErrors = true;

/** The page. */
export function view(context) {
  const { local, params } = context;
  const rows = [...(local.rows?.values() ?? [])].reverse();
  const value = readPattern(params.pattern).value;
  const refusal = local.error instanceof Refusal && local.error.status === 400 ? local.error : null;
  const vendors = [...new Set([...Object.keys(local.stats?.series?.received ?? {}),
    ...rows.map((row) => row.vendor)])].filter(Boolean).sort();
  const use = (text) => usePattern(context, text);
  return [h("h1", null, "Live"), status(context),
    hidesContent() ? hint(
      "This token does not read texts: titles are hidden, and patterns are not available.") :
      [editor({ text: local.text, use, error: refusal ? refusal.message : null }),
        chips("Vendors", vendors, ["data", "vendor"], value, use),
        chips("Kinds", ["alert", "silent", "banner", "in-app-message", "live-activity"], ["data", "kind"], value, use)],
    local.error && !refusal ? problem(local.error) : null,
    charts(local),
    (local.changes ?? []).length ? h("ul", { class: "plain", "aria-label": "Changes of destinations" },
      local.changes.map((item) =>
      h("li", null, time(item.at, "clock"), " ", h("a", { href: to("destinations", item.name) }, inline(item.name)),
        " ", state(item.state), " ", inline(item.reason ?? "")))) : null,
    table("Live events", columns, rows, (row) => row.id, noRow(local, value))];
}

function noRow({ rows, error, opened, dropped }, pattern) {
  if (!rows || opened?.early) return error ? "No list." : "Loading …";
  if (!opened?.isListed) return "No list.";
  return pattern ? "No event matches the pattern. Events that match appear here as the gateway accepts them."
    : dropped ? ["The stream shows no event. ", h("a", { href: to("events") }, "Events"), " lists them."]
    : ["No event yet. Payloads appear here as the gateway accepts them: ", sendOne];
}

function hidesContent() { return session.who?.content === false; }

const columns = [
  ["Time", (row) => time(row.time, "clock")],
  ["Title", (row) => h("a", { href: to("events", row.id) }, titled(row, 120))],
  ["Vendor", (row) => [inline(row.vendor), " ", dim(inline(row.kind))]],
  ["Source", (row) => inline(row.source)],
  ["Evidence", (row) => evidence(row)],
  // The list leaves out routes whose evaluation costs too much.
  ["Routes", (row) => (row.routes?.length ? row.routes.map((name) => [inline(name, 60), " "])
    : row.routes ? badge("no route", "warm") : dim("see the event"))],
  ["Outcomes", (row) => [[...row.outcomes.values()].map((item) =>
    h("span", { class: "outcome", key: item.destination }, state(item.outcome), " ", inline(item.destination, 40),
      item.status ? ` ${item.status}` : "", " ")),
  row.outcomes.size < total(row.deliveries) ? counted(row.deliveries)
    : row.outcomes.size ? null : dim(
      !row.routes?.length ? "–" : row.mayHaveEnded ? "see the event" : "pending")]],
];

const total = (group) => Object.values(group ?? {}).reduce((all, item) => all + item, 0);

function evidence(row) {
  const warnings = row.warnings ?? [];
  return [[row.evidence ?? []].flat().map((at) => [h("code", null, inline(at)), " "]),
    row.bytes ? dim(bytes(row.bytes)) : null,
    warnings.length ? h("span", { title: visible(warnings.join(", "), 500) }, " ",
      badge(several(warnings.length, "warning"), "warm")) : null];
}

function status(context) {
  const { local } = context;
  const words = { live: "Connected", connecting: "Connecting …", reconnecting: "Connection lost; trying again …",
    stopped: "No stream", asleep: "Asleep; the tab was hidden" }[local.status] ?? "";
  return h("div", { class: "listfacts" },
    h("span", { role: "status" }, h("strong", null, local.isPaused
      ? `Paused; ${count(local.held.length)} waiting${local.missed ? `, ${count(local.missed)} lost` : ""}` : words),
      ` – the newest events, at most ${mostRows}${local.isCut ? "; older ones may match too" : ""}; `,
      `times in ${zoneName()}. `),
    h("span", null, "Sampled: at most 20 frames a second; ",
      `${several(local.dropped ?? 0, "event or delivery", "events and deliveries")} not shown. `),
    h("button", { "data-pause": true, "aria-pressed": local.isPaused ? "true" : "false",
      onclick: () => togglePause(context) }, local.isPaused ? "Continue" : "Pause"));
}

function charts(local) {
  const stats = local.stats;
  if (!stats?.series) return null;
  const sum = (name) => {
    const lists = Object.values(stats.series[name] ?? {});
    return lists.length ? lists[0].map((_, at) => lists.reduce((all, list) => all + (list[at] ?? 0), 0)) : [];
  };
  const shape = { step: stats.step, from: stats.from };
  const now = local.series?.at?.(-1);
  return h("div", { class: "charts", role: "region", "aria-label": "The last 15 minutes" },
    [["Received", "received"], ["Delivered", "delivered"], ["Failed attempts", "failed"],
      ["Rejected", "rejected"]].map(([words, name]) =>
      chart(words, sum(name), shape)),
    now ? hint("In the second before ", time(now.at, "clock"),
      `: ${count(total(now.received))} received, ${count(total(now.delivered))} delivered, `,
      `${count(total(now.failed))} failed.`) : null);
}
