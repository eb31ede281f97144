// Deliveries and dead letters: filters, one delivery with its attempts, retry and purge of everything that matches.
import { h } from "./h.js";
import { get, post, whyNot } from "./api.js";
import { block, count, dim, hint, inline, loading, relative, several, time, visible } from "./text.js";
import { badge, confirm, current, facts, filters, listFacts, none, permitted, problem, section, sendOne, state, table,
  tell, to, windowFields } from "./ui.js";

const states = ["waiting", "delivered", "dead", "expired"];
const errors = ["denied", "dns", "refused", "tls", "timeout-connect", "timeout-reply", "exhausted", "reset",
  "unusable", "token", "stopped", "interrupted"];
const fields = [["state", "State", states], ["destination", "Destination"], ["vendor", "Vendor"],
  ["status", "Last status, such as 503 or 5xx"],
  ["error", "Error of the last attempt", errors], ["event", "Event"], ...windowFields];
const views = [["Dead letters", { state: "dead" }], ["Waiting", { state: "waiting" }],
  ["Reply timeouts", { error: "timeout-reply" }], ["All", {}]];

/** Reads a page of the list, or one delivery. */
export async function load(context) {
  if (context.id) return get(`deliveries/${encodeURIComponent(context.id)}`, {}, context.signal);
  const { tz: _, ...query } = context.params;
  return get("deliveries", query, context.signal);
}

export const showsErrors = true;

/** The page. */
export function view(context) {
  return context.id ? detail(context) : list(context);
}

function list(context) {
  const { error, params } = context;
  const data = current(context);
  const rows = data?.deliveries ?? [];
  return [h("h1", null, "Deliveries"),
    h("div", { class: "chips", role: "group", "aria-label": "Views" },
      views.map(([words, query]) => h("a", { class: "chip", href: to("deliveries", null, query) }, words))),
    filters(params, fields), problem(error), listFacts({ context, data, shown: rows.length }),
    h("div", { class: "buttons" },
      // A delivery that was delivered or has expired cannot be retried.
      params.state === "delivered" || params.state === "expired" ? null
        : permitted("operator", `Retry all ${words(params)} …`, { onclick: () => bulk(context, "retry"),
          "data-bulk": "retry" }),
      permitted("admin", `Purge all ${words(params)} …`, { onclick: () => bulk(context, "purge"), class: "danger",
        "data-bulk": "purge" })),
    table("Deliveries", columns, rows, (row) => row.id, data
      ? none(params, data, "No delivery yet. Every event has one for each destination of its routes: ", sendOne)
      : error ? "No list." : "Loading …")];
}

function words(params) { return `${params.state ?? "dead"} deliveries that match`; }

const columns = [
  ["Number", (row) => h("a", { href: to("deliveries", row.id) }, String(row.id))],
  ["Accepted", (row) => time(row.acceptedAt)],
  ["Event", (row) => h("a", { href: to("events", row.event) }, inline(row.subject, 80))],
  ["Destination", (row) => h("a", { href: to("destinations", row.destination) }, inline(row.destination))],
  ["State", (row) => [state(row.state), row.manual ? [" ", badge("manual")] : null, row.blockedBy
    ? [" ", badge(`held by ${row.blockedBy}`, "warm")] : null]],
  ["Attempts", (row) => count(row.attempts)],
  ["Last answer", (row) => [row.status ? String(row.status) : inline(row.error ?? "–"), " ",
    dim(inline(row.reason ?? "", 120))]],
  ["Next attempt", (row) => (row.state === "waiting" ? time(row.due) : "–")],
];

function detail({ data: row, error, id, reload }) {
  if (!row?.id) return [h("h1", null, `Delivery ${visible(id, 20)}`), error ? problem(error)
    : loading()];
  return [h("h1", null, `Delivery ${row.id}`), problem(error),
    facts(["State", state(row.state)], ["Destination",
      h("a", { href: to("destinations", row.destination) }, inline(row.destination))],
      ["Event", h("a", { href: to("events", row.event) }, inline(row.subject))], ["Accepted", time(row.acceptedAt)],
      ["Attempts", [count(row.attempts), row.once ? " (one only)" : ""]], ["Manual", row.manual ? "yes, sent again by an operator" : null],
      ["Due", row.due ? [time(row.due), ` (${relative(row.due)})`] : null],
      ["Not before", row.notBefore ? time(row.notBefore) : null],
      ["Not after", row.notAfter ? time(row.notAfter) : null],
      ["Held by", row.blockedBy ? badge(row.blockedBy, "warm") : null],
      ["Waits for", row.waitingFor ? [inline(row.waitingFor.reason), row.waitingFor.until
        ? [" until ", time(row.waitingFor.until)] : "", " ", inline(row.waitingFor.detail ?? "", 300)] : null]),
    h("div", { class: "buttons" }, canRetry(row) ? permitted("operator", "Retry …",
      { onclick: () => retry(row, reload) }) : null),
    section("Attempts", (row.log ?? []).length ? row.log.map(attempt)
      : h("p", { class: "empty" }, "No attempt was made yet."))];
}

function attempt(item) {
  const words = `Attempt ${item.attempt}: ${item.status ?? visible(item.error ?? "interrupted", 40)}`;
  return h("details", { key: item.attempt, class: "attempt" },
    h("summary", null, words, " ", dim(time(item.startedAt), item.durationMs !== undefined
    ? ` ${count(item.durationMs)} ms` : "")),
    facts(["Error", inline(item.error)], ["Reason", inline(item.reason ?? "", 500)], ["Remote", inline(item.remote)]),
    item.request ? [h("h3", null, "Request (secrets masked)"),
      facts(["Method", inline(item.request.method)], ["URL", inline(item.request.url, 500)]),
      headers(item.request.headers)] : null,
    item.response?.headers ? [h("h3", null, "Headers of the reply"), headers(item.response.headers)] : null,
    item.reply ? [h("h3", null, "Start of the reply"), h("pre", { tabindex: 0, "aria-label": "Start of the reply" },
      block(item.reply))] : null);
}

const headers = (fields) => facts(...Object.entries(fields ?? {}).map(([name, value]) =>
  [inline(name, 100), inline(value, 500)]));

const canRetry = (row) => row.state === "dead" || row.state === "waiting";

/** Actions of the row at the focus, or of the delivery. */
export function actions(context, at) {
  const row = context.id ? context.data : context.data?.deliveries?.[at];
  const all = context.id ? [] : [
    { label: `Retry all ${words(context.params)} …`, role: "operator", run: () => bulk(context, "retry") },
    { label: `Purge all ${words(context.params)} …`, role: "admin", run: () => bulk(context, "purge") }];
  if (!row?.id) return all;
  return [canRetry(row) ? { key: "r", label: `Retry delivery ${row.id} …`, role: "operator",
    run: () => retry(row, context.reload) } : null,
    { label: "Open its event", run: () => { location.hash = to("events", row.event); } },
    { label: `Open destination ${visible(row.destination, 60)}`,
      run: () => { location.hash = to("destinations", row.destination); } }, ...all].filter(Boolean);
}

function retry(row, reload) {
  confirm(`Retry delivery ${row.id}`, {
    body: h("p", null, "The delivery to ", inline(row.destination), " is due at once, with a new retry budget."),
    button: "Retry 1 delivery",
    run: async ({ reason }) => {
      const answer = await post(`deliveries/${row.id}/retry`, undefined, { reason });
      return `${several(answer.due, "delivery was", "deliveries were")} requeued.`;
    },
    done: reload,
  });
}

// The gateway counts first; its answer is what the button says, and the run takes exactly those.
async function bulk(context, kind) {
  // A count may take seconds; a second click must not start another one.
  if (context.local.isCounting) return;
  const { tz: _, cursor: __, limit: ___, ...params } = context.params;
  const filter = { state: "dead", ...params };
  const role = kind === "retry" ? "operator" : "admin";
  if (whyNot(role)) return confirm(kind, { role });
  let preview;
  context.local.isCounting = true;
  tell("Counting the deliveries …");
  try { preview = await post(`deliveries/${kind}`, { filter, dryRun: true }); } catch (error) {
    context.error = error;
    return context.redraw();
  } finally {
    context.local.isCounting = false;
    tell("");
  }
  const number = count(preview.count);
  const verb = kind === "retry" ? "Retry" : "Purge";
  const isOne = preview.count === 1;
  const what = several(preview.count, "delivery", "deliveries");
  const affected = Object.entries(preview.byDestination ?? {}).sort(([, a], [, b]) => b - a);
  if (!preview.count) return confirm(`${verb} deliveries`,
    { role, button: "Close", body: h("p", null, "No delivery matches."), run: async () => "No change was made." });
  return confirm(`${verb} ${what}`, {
    role, needsReason: kind === "purge",
    body: [h("p", null, kind === "retry" ? `${isOne ? "It is" : "They are"} due at once, with a new retry budget.`
      : isOne ? "It is removed, with its attempts. No command brings it back."
        : "They are removed, with their attempts. No command brings them back."),
      facts(["Filter", Object.entries(filter).map(([name, value]) =>
        [h("code", null, `${name}=${visible(value, 100)}`), " "])], ["Oldest", time(preview.oldest)],
        ["Newest", time(preview.newest)]),
      facts(...affected.slice(0, 20).map(([name, value]) => [inline(name), count(value)]),
        affected.length > 20 ? ["Others", several(affected.length - 20, "destination")] : null),
      hint("Deliveries that are added after this count are not changed. ",
        "The preview is valid for 5 minutes.")],
    button: `${verb} ${what}`,
    fields: kind === "retry" ? [["spread", "Spread over seconds (0: at once)",
      { inputmode: "numeric" }]] : [],
    run: async ({ reason, spread }) => {
      const body = { filter, confirm: preview.confirm };
      if (reason) body.reason = reason;
      // The gateway refuses a text that is not a number, which becomes null.
      if (spread?.trim()) body.spread = Number(spread);
      const answer = await post(`deliveries/${kind}`, body);
      const were = several(answer.count, "delivery was", "deliveries were");
      return `${were} ${kind === "retry" ? "requeued" : "removed"}.`;
    },
    progress: async () => {
      const row = (await get("actions", { operation: `deliveries.${kind}`, limit: 1 })).actions?.[0];
      return `${count(row?.count ?? 0)} of ${number} so far.`;
    },
    done: context.reload,
  });
}
