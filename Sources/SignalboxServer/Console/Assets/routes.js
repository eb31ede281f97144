// Routes: the graph of what flows where, a playground for patterns, and the config with its history.
import { h } from "./h.js";
import { call, get, optional, session, whyNot } from "./api.js";
import { count, dim, hint, inline, loading, several, time, visible, writeJSON } from "./text.js";
import { badge, change, copy, facts, problem, section, state, table, to } from "./ui.js";
import { editor, follow, readPattern } from "./pattern.js";

const mostNodes = 200;

/** Reads routes, graph and history; evaluates the pattern of the URL. */
export async function load(context) {
  const { params, signal, local } = context;
  follow(local, params.pattern);
  const [list, graph, history] = await Promise.all([get("routes", {}, signal), optional("routes/graph", {}, signal),
    whyNot("admin") ? null : optional("config/history", {}, signal)]);
  match(context);
  return { ...list, graph, history: history?.history };
}

/** Ends what the page would do later. */
export function end({ local }) { clearTimeout(local.timer); }

export const showsErrors = true;

// The former result stays while a new pattern is typed or evaluated.
async function match(context) {
  const { local, params, signal } = context;
  const read = readPattern(params.pattern);
  if (!read.value || local.matched === params.pattern) return;
  local.matched = params.pattern;
  const begin = performance.now();
  try {
    local.result = { ...(await call("POST", "routes/match", { body: { pattern: read.value, over: 1000 }, signal })),
      ms: Math.round(performance.now() - begin) };
    local.problem = null;
  } catch (error) {
    if (error.name === "AbortError") { local.matched = null; return; }
    local.problem = error;
  }
  context.redraw();
}

/** The page. */
export function view(context) {
  const { data, error } = context;
  if (!data) return [h("h1", null, "Routes"), error ? problem(error) : loading()];
  return [h("h1", null, "Routes"), problem(error),
    h("p", { class: "listfacts" }, "Counters since the process started; every event counts."),
    table("Routes", [["Route", (row) => inline(row.name)], ["State",
      (row) => (row.enabled ? badge("enabled", "good") : badge("off"))],
      ["Destinations", (row) => (row.to ?? []).map((name) =>
        [h("a", { href: to("destinations", name) }, inline(name)), " "])],
      ["Stops", (row) => (row.stop ? "yes" : "no")], ["Matched", (row) => count(row.matched)],
        ["Failed", (row) => (row.failed ? badge(count(row.failed), "bad") : "0")]],
    data.routes ?? [], (row, at) => at, "The config has no route: add one to routes."),
    data.fallback ? h("p", null, "Fallback: ", data.fallback.map((name) => [inline(name), " "])) : null,
    section("Graph", graph(data.graph)), section("Pattern playground", playground(context)),
    section("Config", config(context))];
}

// MARK: Graph

const kinds = ["source", "vendor", "route", "destination"];

function graph(value) {
  if (!value) return hint("Not available on this gateway.");
  const nodes = value.nodes ?? [];
  const edges = value.edges ?? [];
  const rows = table("Edges of the graph", [["From", (row) => inline(row.from)], ["To", (row) => inline(row.to)],
    ["Events", (row) => count(row.count)]], edges, (row) => `${row.from}>${row.to}`,
    "No event was accepted since the process started; further ones appear here.");
  if (!nodes.length || nodes.length > mostNodes) return rows;
  return [value.folded ? hint("The smallest nodes are folded into “other”.") : null,
    drawing(nodes, edges), h("details", null, h("summary", null, "The same as a table"), rows)];
}

function drawing(nodes, edges) {
  const columns = kinds.map((kind) =>
    nodes.filter((node) => (node.kind ?? node.id.split(":")[0]) === kind).sort((a, b) => b.count - a.count));
  const [wide, high, gap] = [150, 34, 90];
  const place = new Map();
  columns.forEach((list, column) => list.forEach((node, row) =>
    place.set(node.id, { x: column * (wide + gap), y: row * (high + 10) })));
  const height = Math.max(1, ...columns.map((list) => list.length)) * (high + 10);
  const width = kinds.length * wide + (kinds.length - 1) * gap;
  const most = Math.max(1, ...edges.map((edge) => edge.count));
  const lines = edges.map((edge) => {
    const [from, end] = [place.get(edge.from), place.get(edge.to)];
    if (!from || !end) return null;
    const [x1, y1, x2, y2] = [from.x + wide, from.y + high / 2, end.x, end.y + high / 2];
    return h("path", { d: `M${x1} ${y1} C${x1 + gap / 2} ${y1} ${x2 - gap / 2} ${y2} ${x2} ${y2}`, class: "edge",
      "stroke-width": (1 + 5 * Math.sqrt(edge.count / most)).toFixed(1) },
      h("title", null, `${visible(edge.from, 80)} to ${visible(edge.to, 80)}: ${count(edge.count)}`));
  });
  const boxes = nodes.filter((node) => place.has(node.id)).map((node) => {
    const { x, y } = place.get(node.id);
    const name = visible(node.name ?? node.id.split(":").slice(1).join(":"), 60);
    return h("g", { class: `node ${visible(node.kind ?? "", 20)}`, key: node.id },
      h("title", null, `${name}: ${several(node.count, "event")}`),
      h("rect", { x, y, width: wide, height: high, rx: 6 }),
      h("text", { x: x + 8, y: y + 15 }, name.length > 20 ? `${name.slice(0, 19)}…` : name),
        h("text", { x: x + 8, y: y + 28, class: "small" }, count(node.count)));
  });
  return h("div", { class: "scroll", role: "region",
    "aria-label": "Graph of sources, vendors, routes and destinations", tabindex: 0 },
    h("svg", { class: "graph", role: "img",
      "aria-label": `${several(nodes.length, "node")} and ${several(edges.length, "edge")}; `
        + "the table below has the same numbers",
      viewBox: `-4 -4 ${width + 8} ${height + 8}`, width, height }, lines, boxes));
}

// MARK: Playground

function playground(context) {
  const { local } = context;
  if (session.who?.content === false) return hint(
    "This token does not read texts; the gateway leaves out found values.");
  const use = (text) => {
    local.text = text;
    clearTimeout(local.timer);
    if (!readPattern(text).message) local.timer = setTimeout(() => change({ pattern: text.trim() }), 300);
    context.redraw();
  };
  const result = local.result;
  const read = readPattern(local.text);
  return [editor({ text: local.text, use, label: "Pattern, tried on the last 1,000 accepted events",
    error: refusal(local.problem) }),
    result ? h("p", { role: "status" }, h("strong", null, `${count(result.matched)} of ${count(result.seen)}`),
      ` ${result.seen === 1 ? "event" : "events"} ${result.matched === 1 ? "matches" : "match"}`,
      `${result.complete === false ? " (the search stopped early)" : ""}; `,
      `evaluated in ${count(result.ms)} ms.`) : null,
    read.value ? h("div", { class: "buttons" }, h("button",
      { onclick: () => copy(asRoute(read.value, known(context.data)),
      "The route was copied: add it to routes of the config.") }, "Copy as route"),
      h("a", { href: to("live", null, { pattern: local.text.trim() }) }, "Watch live")) : null,
    result ? table("Samples", [["Time", (row) => time(row.time)],
      ["Event", (row) => h("a", { href: to("events", row.id) }, visible(row.id, 36))],
      ["Matches", (row) => (row.matched ? badge("matched", "good") : badge("no"))],
      ["First mismatch", (row) => (row.matched ? "" : [h("code", null, inline(row.pointer)), row.found !== undefined
        ? [" is ", inline(typeof row.found === "string" ? row.found : writeJSON(row.found), 160)] : ""])]],
    result.samples ?? [], (row) => row.id, "No event was accepted yet.") : null];
}

// The gateway reports where in the request the mistake is.
function refusal(error) {
  if (!error) return null;
  const { line, column, pointer } = error.problem ?? {};
  const place = column ? ` Line ${line ?? 1}, column ${column}.` : pointer ? ` At ${pointer}.` : "";
  return visible(`${error.message}${place}`, 400);
}

function known(data) { return (data.routes ?? []).flatMap((row) => row.to ?? [])[0] ?? data.fallback?.[0] ?? "inbox"; }

/** A route of the config with this pattern. */
export function asRoute(pattern, destination) {
  return `${writeJSON({ name: "new-route", match: pattern, to: [destination] }, 2)}\n`;
}

// MARK: Config

/** The active config, and the problems of a newer one that was refused. */
export const active = ({ digest, since, refused }) => [
  facts(["Digest", h("code", null, inline(digest))], ["Active since", time(since)]),
  refused ? h("div", { class: "problem" }, h("strong", null, "The newest config was refused "), time(refused.at),
    h("ul", null, (refused.problems ?? []).map((text, at) => h("li", { key: at }, inline(text, 500))))) : null];

function config(context) {
  const { data, local } = context;
  const denied = whyNot("admin");
  return [data.config ? active(data.config) : null, denied ? h("p", { class: "denied" }, `Check and history: ${denied}.`)
    : [check(context, local), history(data.history)]];
}

function check(context, local) {
  const run = async () => {
    try { [local.checked, local.checkProblem] = [await call("POST", "config/check", { body: local.config ?? "" }),
      null]; } catch (error) { local.checkProblem = error; }
    context.redraw();
  };
  const found = local.checked;
  return [h("h3", null, "Check a config"),
    h("label", null, h("span", null, "Text of a config file; it is checked and not applied"),
      h("textarea", { class: "code", rows: 6, spellcheck: "false", value: local.config ?? "",
      oninput: (event) => { local.config = event.target.value; } })),
    h("div", { class: "buttons" }, h("button", { onclick: run }, "Check")), problem(local.checkProblem),
    found ? [h("p", { role: "status" }, verdict(found)),
      table("Problems of the config",
        [["Severity", (row) => badge(row.severity, row.severity === "error" ? "bad" : "warm")],
        ["Position", (row) => inline([row.file, row.line, row.column].filter(Boolean).join(":"))],
        ["At", (row) => h("code", null, inline(row.pointer))],
        ["Message", (row) => [inline(row.message, 400), row.hint
        ? [" ", dim(inline(row.hint, 200))] : null]]],
        found.problems ?? [], (row, at) => at, "No problem was found.")] : null];
}

function verdict({ valid, errors, warnings, routes, destinations, sources }) {
  return valid
    ? `Valid: ${several(routes, "route")}, ${several(destinations, "destination")}, ${several(sources, "source")}.`
    : `Not valid: ${several(errors, "error")}, ${several(warnings, "warning")}.`;
}

/** The last configs with their changes. Secrets are not among them. */
export function history(list) {
  if (!list) return hint("The history of configs is not available.");
  return [h("h3", null, "History"), list.length ? list.map((entry, at) => h("details", { key: `${entry.at}${at}` },
    h("summary", null, time(entry.at), " ", state(entry.result), " ",
      h("code", null, visible(entry.digest ?? "", 12)),
      ` ${several((entry.changes ?? []).length + (entry.more ?? 0), "change")}`),
    (entry.problems ?? []).length ? h("ul", null,
      entry.problems.map((text, number) => h("li", { key: number }, inline(text, 500)))) : null,
    table("Changes", [["Member", (row) => h("code", null, inline(row.pointer))],
      ["Change", (row) => badge(row.change)], ["From", (row) => json(row.from)], ["To", (row) => json(row.to)]],
      entry.changes ?? [], (row) => row.pointer, "No member changed."),
    entry.more ? hint(`${several(entry.more, "more change is", "more changes are")} not listed.`) : null))
      : h("p", { class: "empty" }, "No config was loaded yet.")];
}

function json(value) { return value === undefined ? "" : inline(writeJSON(value), 200); }
