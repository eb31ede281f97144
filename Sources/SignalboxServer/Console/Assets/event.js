// One event: previews, origin, detectors, routes, deliveries, taps, and what an operator can do with it.
import { h } from "./h.js";
import { get, optional, post, read, session, whyNot } from "./api.js";
import { count, dim, hint, inline, isPush, link, loading, time, visible, writeJSON } from "./text.js";
import { badge, change, confirm, copy, facts, permitted, problem, section, state, table, tell, to } from "./ui.js";
import { previews, source } from "./preview.js";
import { differences, parsed, sideBySide } from "./origin.js";

/** Reads the event; the payload and its explanation follow. */
export async function load(context) {
  const { id, local, params, signal } = context;
  const path = `events/${encodeURIComponent(id)}`;
  const data = await get(path, {}, signal);
  const mayRead = data.payload === "kept" && !whyNot("operator") && session.who?.content !== false;
  if (mayRead) later(context, "raw", async (ends) => parsed(await read(`${path}/payload`, ends)));
  if (data.payload === "kept") later(context, "explained", (ends) => get(`${path}/explain`, {}, ends));
  later(context, "destinations", (ends) => optional("destinations", {}, ends));
  data.other = params.with ? await get(`events/${encodeURIComponent(params.with)}`, {}, signal) : null;
  return data;
}

// Reads a part of the page once. The request outlives a change of the page's parameters; a failed one is repeated with
// the next load.
function later({ local, redraw }, name, work) {
  local.abort ??= new AbortController();
  local.asked ??= new Set();
  if (local[name] !== undefined || local.asked.has(name)) return;
  local.asked.add(name);
  work(local.abort.signal).then((value) => { [local[name], local[`${name}Error`]] = [value, null]; },
    (error) => { local[`${name}Error`] = error; }).finally(() => { local.asked.delete(name); redraw(); });
}

/** The page. */
export function view(context) {
  const { data, error, local } = context;
  if (!data?.event) return [h("h1", null, "Event"), error ? problem(error) : loading()];
  const { event } = data;
  const content = event.data ?? {};
  const states = new Map((data.media ?? []).map((item) => [item.url, item]));
  const hasPayload = isPush(event);
  return [h("h1", null, inline(content.content?.title ?? content.content?.body
    ?? (hasPayload ? event.subject : event.type), 120)),
    problem(error),
    facts(["Id", h("code", null, inline(event.id))], ["Time", time(event.time)], ["Source", inline(event.source)],
      ["Type", inline(event.type)],
      ["Vendor", inline(content.vendor)], ["Kind", inline(content.kind)], ["Platform", inline(content.platform)],
      ["Evidence", content.detection ? (content.detection.evidence
        ?? []).map((at) => [h("code", null, inline(at)), " "]) : null],
      ["Trace", data.trace ? h("code", null, inline(data.trace)) : null],
      ["Payload", hasPayload ? payloadWords(data) : null], ["Notification", eventLink(content.notification?.id)],
      ["Repetition", eventLink(content.snooze?.eventId)], ["Failed event", eventLink(content.event)]),
    h("div", { class: "buttons" }, permitted("operator", "Send again …", { onclick: () => sendAgain(context) }),
      h("button", { onclick: () => copyCurl(context) }, "Copy curl"),
      h("button", { onclick: () => copy(writeJSON(event, 2), "The event was copied.") },
        "Copy event")),
    section("Preview", previews(context, event, states)),
    section("Payload and event", origin(context)),
    hasPayload ? [section("Warnings", warnings(content.warnings ?? [])), section("Detectors", detectors(context))]
      : null,
    section("Routes", routes(data.routes ?? local.explained?.routes)),
    section("Deliveries", bound(data.deliveries), table("Deliveries of this event", deliveryColumns,
      data.deliveries ?? [], (row) => row.id, "The event has no delivery.")),
    section("Taps", bound(data.interactions), table("Taps", tapColumns, data.interactions ?? [], (row) => row.id,
      "No tap was reported.")),
    section("Media", table("Media", mediaColumns(content), data.media ?? [], (row, at) => at,
      "The event has no media.")),
    section("Compare", compare(context))];
}

// As GET /v1/events/{id} bounds them.
const bound = (list, which = "oldest") => (list?.length >= 500
  ? hint(`The ${which} 500; further ones are not listed here.`) : null);

/** Actions of the event. */
export function actions(context) {
  return [{ label: "Send again …", role: "operator", run: () => sendAgain(context) },
    { label: "Copy curl", run: () => copyCurl(context) },
    { label: "List its deliveries", run: () => { location.hash = to("deliveries", null, { event: context.id }); } },
    { label: "Events of the same vendor",
      run: () => { location.hash = to("events", null, { vendor: context.data?.event?.data?.vendor }); } }];
}

const eventLink = (id) => (typeof id === "string" ? h("a", { href: to("events", id) }, inline(id)) : null);

function payloadWords(data) {
  return data.payload === "kept" ? "kept" : ["gone – ", h("code", null, "console.keepPayloads"),
    " decides which payloads are kept"];
}

function origin({ data, local }) {
  const note = local.raw ? null : !isPush(data.event) ? h("p", null, "Events of this type have no payload.")
    : data.payload !== "kept"
    ? h("p", null, "The payload was not kept: set ", h("code", null, "console.keepPayloads"), " to keep further ones.")
    : session.who?.content === false ? h("p", null, "This token does not read texts.")
      : whyNot("operator") ? h("p", null, `The payload ${whyNot("operator")}.`)
        : local.rawError ? problem(local.rawError) : h("p", null, "Loading …");
  return sideBySide({ value: local.raw?.value, note }, data.event, local.explained);
}

function warnings(list) {
  return table("Warnings", [["Code", (row) => h("code", null, inline(row.code))],
    ["At", (row) => h("code", null, inline(row.path))], ["Message", (row) => inline(row.message, 400)]],
    list, (row, at) => at, "The payload has no mistakes.");
}

function detectors({ data, local }) {
  const { explained, explainedError } = local;
  if (data.payload !== "kept") return h("p", null,
    "The verdicts of the detectors need the payload, which was not kept: see ",
    h("code", null, "console.keepPayloads"), ".");
  if (!explained) return explainedError ? problem(explainedError) : loading();
  return [facts(["Platform", inline(explained.platform)], ["Envelope", inline(explained.envelope)],
    ["Vendor", inline(explained.vendor)]),
    table("Detectors", [["Detector", (row) => inline(row.name)], ["Verdict", (row) => state(row.verdict)],
      ["Strength", (row) => inline(row.strength ?? "–")],
      ["At", (row) => (row.at ?? []).map((at) => [h("code", null, inline(at)), " "])],
      ["Looks for", (row) => inline(row.looksFor ?? "", 300)]],
    explained.detectors ?? [], (row) => row.name)];
}

function routes(list) {
  if (!list) return hint("The gateway did not evaluate the routes.");
  return table("Routes, by the active config", [["Route", (row) => h("a", { href: to("routes") }, inline(row.name))],
    ["Decision", (row) => (row.matched ? badge("matched", "good") : badge(row.reason ?? "not matched"))],
    ["Destinations", (row) => (row.to ?? []).map((name) => [inline(name), " "])],
    ["Why not", (row) => (row.pointer ? [h("code", null, inline(row.pointer)), row.found !== undefined
      ? [" is ", inline(row.found)] : ""] : row.by ? ["stopped by ", inline(row.by)] : "")]],
  list, (row) => row.name, "The config has no routes.");
}

const deliveryColumns = [
  ["Number", (row) => h("a", { href: to("deliveries", row.id) }, String(row.id))],
  ["Destination", (row) => h("a", { href: to("destinations", row.destination) }, inline(row.destination))],
  ["State", (row) => [state(row.state), row.manual ? [" ", badge("manual")] : null, row.blockedBy
    ? [" ", badge(`held by ${row.blockedBy}`, "warm")] : null]],
  ["Attempts", (row) => count(row.attempts)],
  ["Last answer", (row) => [row.status ? String(row.status) : inline(row.error ?? "–"), " ",
    dim(inline(row.reason ?? "", 120))]],
  ["Last attempt", (row) => time(row.startedAt)],
];
const tapColumns = [["Time", (row) => time(row.time)], ["Action", (row) => inline(row.action)],
  ["Outcome", (row) => state(row.outcome)], ["Event", (row) => h("a", { href: to("events", row.id) }, inline(row.id))]];

function mediaColumns(content) {
  const known = new Map((content.media ?? []).map((item) => [item.url, item]));
  return [["Link of the vendor", (row) => link(row.url)], ["Role", (row) => inline(known.get(row.url)?.role ?? "–")],
    ["State", (row) => state(row.state)], ["Reason", (row) => inline(row.reason ?? "")],
    ["File", (row) => {
      const address = source({ ...known.get(row.url), ...row, status: row.state });
      return address ? h("a", { href: address, target: "_blank", rel: "noopener" }, visible(row.sha256, 12))
        : visible(row.sha256 ?? "–", 12);
    }]];
}

function compare(context) {
  const { data, params } = context;
  const form = h("form", { class: "filters",
    onsubmit: (event) => { event.preventDefault(); change({ with: event.target.elements.with.value.trim() }); } },
    h("label", null, h("span", null, "Id of another event"),
      h("input", { name: "with", type: "text", value: params.with ?? "", spellcheck: "false" })),
      h("button", null, "Compare"));
  if (!data.other) return form;
  const rows = differences(data.event, data.other.event);
  return [form, bound(rows, "first"), table("Differences", [["Member", (row) => h("code", null, inline(row.pointer))],
    ["This event", (row) => short(row.a)], ["The other", (row) => short(row.b)]],
    rows, (row) => row.pointer, "The events are equal.")];
}

function short(value) { return value === undefined ? dim("absent")
  : inline(writeJSON(value), 200); }

function sendAgain({ id, local, reload }) {
  const names = (local.destinations?.destinations ?? []).map((item) => item.name);
  if (!names.length) return tell(local.destinations ? "The config has no destination."
    : local.destinationsError?.message ?? "The destinations are not loaded yet: try again.");
  let name = names[0];
  confirm("Send the event again", {
    body: h("label", null, h("span", null, "Destination"), h("select",
      { onchange: (event) => { name = event.target.value; } },
      names.map((item) => h("option", { value: item }, visible(item))))),
    button: "Send 1 event",
    run: async ({ reason }) => {
      const answer = await post(`events/${encodeURIComponent(id)}/send`, undefined, { destination: name, reason });
      return ["Delivery ", h("a", { href: to("deliveries", answer.delivery?.id) }, String(answer.delivery?.id)),
        " was queued."];
    },
    done: reload,
  });
}

/** A command that sends the payload again. It names a variable instead of a token. */
export function curl(origin, source, text, isOpen) {
  const quoted = `'${text.replaceAll("'", "'\\''")}'`;
  const token = isOpen ? "" : "-H \"authorization: Bearer $SIGNALBOX_SOURCE_TOKEN\" ";
  const address = `'${origin}v1/sources/${source}/notifications'`;
  return `curl -sS -X POST ${token}-H 'content-type: application/json' --data-binary ${quoted} ${address}\n`;
}

function copyCurl({ data, local }) {
  const name = String(data.event.source ?? "").split("/").pop();
  if (!local.raw || !/^[\w.-]+$/.test(name)) {
    return tell("The payload is not available, so no command was copied.");
  }
  return copy(curl(document.baseURI.split("#")[0], name, local.raw.text, session.who?.open),
    "The command was copied. It has no secret: set SIGNALBOX_SOURCE_TOKEN.");
}
