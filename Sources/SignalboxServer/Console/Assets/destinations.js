// Destinations: those in trouble first, with the clock of the breaker, rates and latencies; pause, resume, test.
import { h } from "./h.js";
import { get, optional, post } from "./api.js";
import { count, dim, gatewayTime, inline, relative, several, span, time, visible } from "./text.js";
import { badge, chart, confirm, facts, permitted, problem, section, state, table, to } from "./ui.js";

const trouble = ["breaker_open", "disabled", "withheld", "paused", "throttled", "unknown", "active"];

/** Reads the list, or one destination. Reads again five seconds after each answer while the page is open. */
export async function load(context) {
  const { local, id, signal } = context;
  clearTimeout(local.timer);
  local.clock ??= setInterval(context.redraw, 1000);
  try {
    const data = await get(id ? `destinations/${encodeURIComponent(id)}` : "destinations", {}, signal);
    if (id) {
      optional("stats", { window: "15m", step: "10s" },
        signal).then((stats) => { local.stats = stats; context.redraw(); }, () => {});
    }
    return data;
  } finally {
    if (!signal.aborted) local.timer = setTimeout(() => context.reload(), 5000);
  }
}

/** Stops reading. */
export function end({ local }) {
  clearTimeout(local.timer);
  clearInterval(local.clock);
}

export const showsErrors = true;

/** The page. */
export function view(context) {
  const { data, error, id } = context;
  if (id) return detail(context);
  const rows = sorted(data?.destinations ?? []);
  const ill = rows.filter((row) => row.state !== "active").length;
  return [h("h1", null, "Destinations"), problem(error),
    h("p", { class: "listfacts", role: "status" }, data
      ? [`${several(rows.length, "destination")}, ${count(ill)} not active; in trouble first; read again every 5 s; `,
        "latencies of the last 256 attempts."] : "Loading …"),
    table("Destinations", columns(context), rows, (row) => row.name, data ? "The config has no destination: add one to destinations."
      : error ? "No list." : "Loading …")];
}

function sorted(rows) {
  const rank = (row) => trouble.indexOf(row.state) * 2 - (row.dead > 0 ? 1 : 0);
  return [...rows].sort((a, b) => rank(a) - rank(b) || (b.waiting ?? 0) - (a.waiting ?? 0)
    || (a.name < b.name ? -1 : 1));
}

const columns = (context) => [
  ["Destination", (row) => h("a", { href: to("destinations", row.name) }, inline(row.name))],
  ["State", (row) => [state(row.state), " ", why(row)]],
  ["Waiting", (row) => h("a", { href: to("deliveries", null, { destination: row.name, state: "waiting" }) },
    count(row.waiting))],
  ["Dead", (row) => h("a", { href: to("deliveries", null, { destination: row.name, state: "dead" }) },
    count(row.dead))],
  ["In flight", (row) => count(row.inFlight)],
  ["Rate", (row) => rate(row)],
  ["Latency", (row) => latency(row)],
  ["Last success", (row) => (row.lastSuccess ? relative(row.lastSuccess.at) : "–")],
  ["Actions", (row) => buttons(row, context)],
];

// The breaker's clock, and the reason and the end of a pause, in one line.
function why(row) {
  const open = row.breaker?.state === "open" && row.breaker.probeAt;
  return [row.cause && row.cause !== row.state && !open ? dim(inline(row.cause), " ") : null,
    open ? h("strong", { class: "probe" }, probe(row.breaker.probeAt), " ") : null,
    row.reason ? dim(inline(row.reason, 160), " ") : null,
    row.until && !open ? dim("until ", time(row.until)) : null];
}

function probe(at) {
  const seconds = (new Date(at).getTime() - gatewayTime()) / 1000;
  return seconds <= 0 ? "probe due" : `probe in ${span(Math.ceil(seconds))}`;
}

function rate(row) {
  if (!row.rate) return "–";
  const now = typeof row.rate.now === "number" ? row.rate.now.toFixed(1) : "–";
  return `${now}/s${row.rate.limit ? ` of ${count(row.rate.limit)}/s` : ""}`;
}

function latency(row) {
  const value = row.latencyMs;
  return value ? `p50 ${count(value.p50)} · p95 ${count(value.p95)} · p99 ${count(value.p99)} ms` : "–";
}

const isHeld = (row) => row.state === "paused" || row.state === "disabled";

// A resumption also ends the wait for a probe, for permission, and for the end of a requested pause.
function buttons(row, context) {
  if (row.state === "unknown") return dim("not in the config");
  // The keys keep the focus on the same button when the state changes.
  return h("div", { class: "buttons small" },
    row.state === "active" ? null : permitted("operator", "Resume …", { key: "resume",
      onclick: () => resume(row, context),
      "aria-label": `Resume ${visible(row.name, 60)}` }),
    isHeld(row) ? null : permitted("operator", "Pause …", { key: "pause", onclick: () => pause(row, context),
      "aria-label": `Pause ${visible(row.name, 60)}` }),
    permitted("operator", "Test …", { key: "test", onclick: () => ping(row, context),
      "aria-label": `Test ${visible(row.name, 60)}` }));
}

/** Actions of the row at the focus, or of the destination. */
export function actions(context, at) {
  const row = context.id ? context.data : sorted(context.data?.destinations ?? [])[at];
  if (!row?.name || row.state === "unknown") return [];
  return [
    row.state === "active" ? null
      : { label: `Resume ${visible(row.name, 60)} …`, role: "operator", run: () => resume(row, context) },
    isHeld(row) ? null
      : { label: `Pause ${visible(row.name, 60)} …`, role: "operator", run: () => pause(row, context) },
    { label: `Test ${visible(row.name, 60)} …`, role: "operator", run: () => ping(row, context) },
    { label: "List its dead deliveries",
      run: () => { location.hash = to("deliveries", null, { destination: row.name, state: "dead" }); } },
  ].filter(Boolean);
}

const path = (row, verb) => `destinations/${encodeURIComponent(row.name)}/${verb}`;

const waiting = (row) => several(row.waiting, "delivery waits", "deliveries wait");

function pause(row, { reload }) {
  confirm(`Pause ${visible(row.name, 60)}`, {
    body: h("p", null, `${waiting(row)}, and further ones will wait too. No event is lost.`),
    button: `Pause ${visible(row.name, 60)}`,
    fields: [["until", "End: a duration such as 30m, or a time (RFC 3339); empty: until someone resumes it", {}]],
    run: async ({ reason, until }) => {
      const answer = await post(path(row, "pause"), undefined, { reason, until });
      return ["Paused", answer.until ? [" until ", time(answer.until)] : "", "."];
    },
    done: reload,
  });
}

function resume(row, { reload }) {
  confirm(`Resume ${visible(row.name, 60)}`, {
    body: h("p", null, `${waiting(row)}. The gateway attempts the due ones; `,
      "with an open breaker, one of them first."),
    button: `Resume ${visible(row.name, 60)}`,
    run: async ({ reason }) => { await post(path(row, "resume"), undefined, { reason }); return "Resumed."; },
    done: reload,
  });
}

function ping(row, { reload }) {
  confirm(`Test ${visible(row.name, 60)}`, {
    body: h("p", null, "The gateway sends one signed test event now. It is not stored."),
    button: "Send 1 test event",
    run: async ({ reason }) => {
      const answer = await post(path(row, "ping"), undefined, { reason });
      return [state(answer.taken ? "accepted" : "refused"), " ", answer.status ? `status ${answer.status} ` : "",
        inline(answer.detail ?? "", 300)];
    },
    done: reload,
  });
}

function detail(context) {
  const { data: row, error, local, id } = context;
  if (!row?.name) return [h("h1", null, inline(id)), error ? problem(error)
    : h("p", { role: "status" }, row ? "No such destination." : "Loading …")];
  const series = local.stats?.series;
  const shape = { step: local.stats?.step, from: local.stats?.from };
  // As long as the lists of the answer, so that the charts end at the same time.
  const known = Object.values(series ?? {}).flatMap((lists) => Object.values(lists))[0];
  const none = Array(known?.length ?? 90).fill(0);
  const last = (item) => (item ? [time(item.at), " ", item.status ?? inline(item.error ?? ""), " ",
    inline(item.reason ?? "", 200)] : null);
  return [h("h1", null, inline(row.name)), problem(error),
    facts(["State", [state(row.state), " ", why(row)]], ["Since", row.since ? time(row.since) : null],
      ["URL", inline(row.url, 300)], ["Format", inline(row.format)],
      ["Breaker", row.breaker
        ? [state(row.breaker.state), ` ${several(row.breaker.failures, "failure")} in a row`] : null],
      ["Waiting", h("a", { href: to("deliveries", null, { destination: row.name, state: "waiting" }) },
        count(row.waiting))],
      ["Held", row.held === undefined ? null : count(row.held)],
      ["Dead", h("a", { href: to("deliveries", null, { destination: row.name, state: "dead" }) }, count(row.dead))],
      ["Oldest due", row.oldestDue ? time(row.oldestDue) : null],
      ["In flight", row.inFlight === undefined ? null
        : `${count(row.inFlight)}${row.concurrency ? ` of ${count(row.concurrency)}` : ""}`],
      ["Rate", rate(row)], ["Latency (last 256 attempts)", latency(row)], ["Last success", last(row.lastSuccess)],
      ["Last failure", last(row.lastFailure)]),
    buttons(row, context),
    series ? section("The last 15 minutes", h("div", { class: "charts" },
      chart("Delivered", series.delivered?.[row.name] ?? none, shape),
      chart("Failed attempts", series.failed?.[row.name] ?? none, shape))) : null,
    h("p", null, h("a", { href: to("actions", null, { target: row.name }) }, "Actions on this destination")),
    row.state === "unknown" ? badge("not in the config", "warm") : null];
}
