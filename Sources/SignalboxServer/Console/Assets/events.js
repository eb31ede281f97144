// Events: every accepted event, with filters. One event is the page of event.js.
import { h } from "./h.js";
import { Refusal, call, get, session } from "./api.js";
import { bytes, dim, inline, time, titled } from "./text.js";
import { badge, change, counted, current, filters, first, listFacts, none, problem, sendOne, table, to,
  windowFields } from "./ui.js";
import { editor, follow, readPattern } from "./pattern.js";
import * as detail from "./event.js";

const fields = [["vendor", "Vendor"], ["kind", "Kind"], ["source", "Source"], ["warning", "Warning code"],
  ["routed", "Routed", ["none"]],
  ["type", "Type"], ...windowFields];

/** Reads a page of the list, or one event. */
export async function load(context) {
  if (context.id) return detail.load(context);
  const { tz: _, pattern, ...query } = context.params;
  follow(context.local, pattern);
  if (!pattern) return get("events", query, context.signal);
  const read = readPattern(pattern);
  if (read.message) throw new Refusal(400, { title: "The pattern is not valid", code: "pattern-invalid",
    detail: read.message, line: read.line, column: read.column });
  return call("POST", "events/search", { query, body: { pattern: read.value ?? {} }, signal: context.signal });
}

/** Ends what the page would do later. */
export function end({ local }) {
  clearTimeout(local.timer);
  local.abort?.abort();
}

export const showsErrors = true;

/** The page. */
export function view(context) {
  if (context.id) return detail.view(context);
  const { error, params, local } = context;
  const data = current(context);
  const rows = data?.events ?? [];
  const use = (text) => {
    [local.text, local.isEdited] = [text, true];
    clearTimeout(local.timer);
    if (!readPattern(text).message) local.timer = setTimeout(() => change({ pattern: text.trim() }), 500);
    context.redraw();
  };
  return [h("h1", null, "Events"), filters(params, fields),
    session.who?.content === false ? null : h("details", { open: Boolean(params.pattern || local.isEdited) },
      h("summary", null, "Pattern"), editor({ text: local.text, use })),
    problem(error), listFacts({ context, data, shown: rows.length }),
    table("Events", columns, rows, (row) => row.id, data
      ? none(params, data, "No event yet. Every accepted payload appears here: ", sendOne)
      : error ? "No list." : "Loading …")];
}

/** The actions of a row or of the event. */
export function actions(context, at) {
  if (context.id) return detail.actions(context);
  const row = context.data?.events?.[at];
  if (!row) return [];
  return [
    { label: "Open the event", run: () => { location.hash = to("events", row.id); } },
    { label: "List its deliveries", run: () => { location.hash = to("deliveries", null, { event: row.id }); } },
    { label: `Only events of ${row.vendor}`, run: () => change({ vendor: row.vendor }) },
    { label: `Only events of source ${row.source}`, run: () => change({ source: row.source }) },
  ];
}

const columns = [
  ["Time", (row) => time(row.time)],
  ["Title", (row) => h("a", { href: to("events", row.id) }, titled(row, 160))],
  ["Vendor", (row) => inline(row.vendor ?? "–")],
  ["Kind", (row) => inline(row.kind ?? row.type)],
  ["Source", (row) => inline(row.source)],
  ["Warnings", (row) => ((row.warnings ?? []).length ? first(row.warnings, 3, (code) =>
    [h("code", null, inline(code, 60)), " "]) : dim("none"))],
  ["Deliveries", (row) => counted(row.deliveries) ?? badge("no route", "warm")],
  ["Size", (row) => bytes(row.bytes)],
];
