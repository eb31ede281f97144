// Pages that are lists: vendors, media, categories, in-app messages, ledger, actions, rejections and captures.
import { h } from "./h.js";
import { call, get, session } from "./api.js";
import { block, bytes, count, dim, gatewayTime, hint, inline, link, several, time, timeText,
  visible, writeJSON } from "./text.js";
import { badge, copy, current, facts, filters, first, listFacts, none, problem, section, sendOne, state, table, to,
  windowFields } from "./ui.js";
import { source } from "./preview.js";

// A page with a list of one endpoint. `rows`: member of the answer; `note`: its order and window, in words, or a
// function that makes them of the parameters.
function list({ title, path, rows, fields = [], columns, note, more, empty, actions, sampling }) {
  return {
    showsErrors: true,
    load: ({ params: { tz: _, ...query }, signal }) => get(path, query, signal),
    view: (context) => {
      const { error, params } = context;
      const data = current(context);
      const found = data?.[rows] ?? [];
      return [h("h1", null, title), fields.length ? filters(params, fields) : null, problem(error),
        data ? listFacts({ context, data, shown: found.length, sampling,
          order: typeof note === "function" ? note(params) : note,
          isTimeless: !fields.some(([name]) => name === "since") }) : null, more?.(context),
        table(title, typeof columns === "function" ? columns(context) : columns, found, (row, at) => row.id ?? at,
          data ? none(params, data, empty) : error ? "No list." : "Loading …")];
    },
    actions: (context, at) => {
      const row = context.data?.[rows]?.[at];
      return row && actions ? actions(row) : [];
    },
  };
}

const open = (label, hash) => ({ label, run: () => { location.hash = hash; } });
const percent = (share) => (typeof share === "number" ? `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %` : "–");

// MARK: Vendors

const vendors = {
  showsErrors: true,
  load: ({ signal }) => get("vendors", {}, signal),
  view: ({ data, error }) => {
    const rows = data?.vendors ?? [];
    return [h("h1", null, "Vendors"), problem(error),
      data ? h("p", { class: "listfacts", role: "status" }, "Events, shares and warnings since the process started",
        data.started ? [" (", time(data.started), ")"] : "",
        "; new keys since ", data.since ? time(data.since) : "the beginning",
          ", from sampled events; names of keys only, never values.") : null,
      table("Vendors", [["Vendor", (row) => h("a", { href: to("events", null, { vendor: row.name }) },
        inline(row.name))], ["Events", (row) => count(row.events)],
        ["Share", (row) => [h("meter", { min: 0, max: 1, value: row.share ?? 0,
          "aria-label": `Share of ${visible(row.name, 60)}` }), " ", percent(row.share)]],
        ["Warnings", (row) => first(Object.entries(row.warnings ?? {}).sort(([, a], [, b]) => b - a), 6,
          ([code, number]) => [h("a", { href: to("events", null, { vendor: row.name, warning: code }) },
          inline(code, 60)), ` ${count(number)} `])],
        ["New keys", (row) => count((row.newKeys ?? []).length + (row.folded ?? 0))]], rows, (row) => row.name, data
          ? ["No event yet. A vendor appears here with its first event: ", sendOne]
          : error ? "No list." : "Loading …"),
      rows.filter((row) => row.newKeys?.length).map((row) => section(["New keys of ", inline(row.name)],
        table(`New keys of ${visible(row.name, 60)}`, [["Pointer", (item) => h("code", null, inline(item.pointer))],
          ["Type", (item) => inline(item.type)], ["First seen", (item) => time(item.firstSeen)],
          ["Count", (item) => count(item.count)]], row.newKeys, (item) => item.pointer),
        row.folded ? hint(several(row.folded, "further key is", "further keys are"), " folded: at most 500 are listed.")
          : null))];
  },
};

// MARK: Media

const media = list({
  title: "Media", path: "media", rows: "media", fields: [["state", "State", ["stored", "wanted", "failed"]]],
  // As GET /v1/media lists them.
  note: ({ state: word }) => (["wanted", "failed"].includes(word) ? "newest first" : "oldest first"),
  sampling: "state “stored” unless another one is chosen",
  empty: ["No file has this state. Files that events name appear here, if a route has ", h("code", null, "media"), "."],
  columns: ({ local, redraw }) => {
    const broken = local.broken ??= new Set();
    return [
      ["Picture", (row) => {
        const address = source({ ...row, status: row.state });
        return address && !broken.has(address) && session.who?.content !== false
          ? h("img", { class: "small", src: address, alt: `Stored picture ${visible(row.sha256, 8)}`, loading: "lazy",
            onerror: () => { broken.add(address); redraw(); } }) : dim("none");
      }],
      ["State", (row) => state(row.state)],
      ["File", (row) => (row.sha256 ? h("code", null, visible(row.sha256, 16)) : "–")],
      ["Type", (row) => [inline(row.contentType ?? "–"), row.width ? ` ${row.width} × ${row.height}` : ""]],
      ["Size", (row) => bytes(row.bytes)],
      ["Links of vendors", (row) => first((row.urls ?? [row.url]).filter(Boolean), 3,
        (url) => h("div", { key: url }, link(url)))],
      ["Reason", (row) => [inline(row.reason ?? ""), " ", inline(row.detail ?? "", 160)]],
      ["Time", (row) => time(row.keptAt ?? row.failedAt ?? row.due)]];
  },
});

// MARK: Categories

const categories = list({
  title: "Categories", path: "categories", rows: "categories", note: "by identifier",
  empty: "No category is known. Button sets of payloads, and those of categories in the config, appear here.",
  columns: [
    ["Identifier", (row) => inline(row.identifier, 120)],
    ["Buttons", (row) => (row.actions ?? []).map((action, at) => h("span", { key: at, class: "chip plain" },
      inline(action.title ?? action.identifier, 60)))],
    ["Types", (row) => [...new Set((row.actions ?? []).map((action) => action.type))].map((type) =>
      [badge(type ?? "–"), " "])],
    ["Definition", (row) => h("details", null, h("summary", null, "JSON"),
      h("pre", { tabindex: 0, "aria-label": "Definition of the category" },
      block(writeJSON(row, 2), 16384)))]],
  actions: (row) => [{ label: "Copy the definition", run: () => copy(writeJSON(row, 2),
    "The definition was copied.") }],
});

// MARK: In-app messages

const messages = list({
  title: "In-app messages", path: "inapp/messages", rows: "messages",
  fields: [["withdrawn", "Withdrawn too", ["true"], "false"]], note: "by id",
  empty: ["No in-app message is registered: add one with ", h("code", null, "PUT /v1/inapp/messages/ID"), "."], more: explain,
  columns: [
    ["Id", (row) => h("a", { href: to("inapp", row.id) }, inline(row.id, 120))],
    ["Scope", (row) => scope(row)],
    ["Active", (row) => (row.active ? badge("active", "good") : row.withdrawnAt ? badge("withdrawn")
      : badge(row.fault?.code ?? "not active", "warm"))],
    ["Revision", (row) => count(row.revision)],
    ["Registered", (row) => time(row.registeredAt)],
    ["End", (row) => time(row.end)]],
  actions: (row) => [open("Open the message", to("inapp", row.id))],
});

function scope(row) {
  const { user, device } = row.address ?? {};
  return user ? ["user ", inline(user)] : device ? ["device ", inline(device)] : "all devices";
}

const inapp = {
  ...messages,
  load: (context) => (context.id ? get(`inapp/messages/${encodeURIComponent(context.id)}`, {}, context.signal)
    : messages.load(context)),
  view: (context) => {
    const { data, error, id } = context;
    if (!id) return messages.view(context);
    return [h("h1", null, inline(id, 120)), problem(error),
      data ? [facts(["Scope", scope(data)], ["Revision", count(data.revision)],
        ["Registered", time(data.registeredAt)], ["Withdrawn", data.withdrawnAt ? time(data.withdrawnAt) : null],
        ["End", data.end ? time(data.end) : null],
        ["Not active because", data.fault ? [h("code", null, inline(data.fault.code)), " ",
          inline(data.fault.detail, 300)] : null]),
      section("Form", h("pre", { tabindex: 0, "aria-label": "Form of the message" },
        block(writeJSON(data.form ?? {}, 2), 32768)))] : null];
  },
};

// Asks what a trigger would bring. The gateway stores nothing.
function explain(context) {
  const { local, redraw } = context;
  local.request ??= JSON.stringify({ device: "DEVICE", event: { type: "sessionStart" } }, null, 2);
  const run = async () => {
    try { [local.answer, local.problem] = [await call("POST", "inapp/explain", { body: local.request }),
      null]; } catch (error) { local.problem = error; }
    redraw();
  };
  const candidates = local.answer?.candidates ?? [];
  return h("details", null, h("summary", null, "Explain a trigger"),
    h("label", null, h("span", null, "Request, as to POST /v1/inapp/explain"),
      h("textarea", { class: "code", rows: 6, spellcheck: "false", value: local.request,
      oninput: (event) => { local.request = event.target.value; } })),
    h("div", { class: "buttons" }, h("button", { onclick: run }, "Explain")), problem(local.problem),
    local.answer ? [h("p", { role: "status" }, local.answer.offer
      ? ["Offers ", inline(local.answer.offer.message?.id ?? local.answer.offer.id)] : "No message would be shown."),
      table("Candidates", [["Message", (row) => inline(row.message ?? row.id)],
        ["Result", (row) => inline(row.result)],
        ["Failed checks", (row) => row.checks.filter((check) => !check.ok).map(({ code, actual, expected }) =>
          h("div", { key: code }, h("code", null, inline(code)), " ", inline(`${actual}, expected ${expected}`)))],
        ["Details", (row) => inline(writeJSON(row), 400)]], candidates, (row, at) => at, "No candidate.")] : null);
}

// MARK: Ledger and actions

const ledger = {
  showsErrors: true,
  load: async ({ signal }) => ({ ...await get("ledger", {}, signal), readAt: gatewayTime() }),
  view: ({ data, error }) => [h("h1", null, "Ledger"), problem(error),
    data ? h("p", { class: "listfacts", role: "status" }, data.consistent ? badge("consistent", "good")
      : badge("not consistent", "bad"),
      " Every accepted delivery is delivered, dead, expired or waiting; ",
      `read at ${timeText(data.readAt)}; all deliveries since the queue was made.`) : null,
    table("Ledger", [["Destination", (row) => h("a", { href: to("destinations", row.destination) },
      inline(row.destination))],
      ...["accepted", "delivered", "dead", "expired", "waiting"].map((name) => [name,
        (row) => [count(row[name]), row.removed?.[name] ? dim(
        ` (${count(row.removed[name])} removed)`) : null]]),
      ["Missing", (row) => (row.missing ? badge(count(row.missing), "bad") : "0")]], data?.destinations ?? [],
        (row) => row.destination, data ? "No delivery yet. A destination appears here with its first one." : error ? "No list." : "Loading …")],
};

const log = list({
  title: "Actions", path: "actions", rows: "actions", fields: [["actor", "Actor"], ["operation", "Operation"],
    ["target", "Target"], ...windowFields],
  empty: "No operator changed anything yet. Pauses, retries and other changes appear here.",
  columns: [
    ["Time", (row) => time(row.at)], ["Actor",
      (row) => [inline(row.actor), row.role ? dim(` ${visible(row.role, 20)}`) : null]],
    ["Via", (row) => [inline(row.via), " ", dim(inline(row.remote))]],
    ["Operation", (row) => h("code", null, inline(row.operation))], ["Target", (row) => inline(row.target ?? "–", 80)],
    ["Parameters", (row) => Object.entries(row.parameters ?? {}).map(([name, value]) =>
      [h("code", null, visible(name, 40)), " ", inline(value, 120), " "])],
    ["Count", (row) => count(row.count)], ["Reason", (row) => inline(row.reason ?? "–", 300)],
    ["Result", (row) => (row.result === "done" ? state("done") : badge(row.result, "bad"))]],
  actions: (row) => [open("Only actions of this actor", to("actions", null, { actor: row.actor })), row.target
    ? open("Only actions on this target", to("actions", null, { target: row.target })) : null].filter(Boolean),
});

// MARK: Rejections and captures

const rejections = list({
  title: "Rejections", path: "rejections", rows: "rejections",
  note: "newest first, the last 200 since the process started; bodies are not kept",
  empty: "No payload was rejected since then. Refused ones appear here with their codes.",
  columns: [["Time", (row) => time(row.at)], ["Source", (row) => inline(row.source ?? "–")],
    ["Code", (row) => h("code", null, inline(row.code))], ["Line", (row) => count(row.line)],
    ["Size", (row) => bytes(row.bytes)], ["Received by", (row) => inline(row.door ?? "–")]],
});

const captures = list({
  title: "Captures", path: "captures", rows: "captures", note: "newest first, from memory: a restart begins with none",
  fields: [["run", "Run"], ["source", "Source"], ["platform", "Platform", ["apns", "fcm", "expo"]],
    ["token", "Device token or hash"], ["outcome", "Outcome",
    ["accepted", "repeated", "rejected", "injected", "unavailable", "dry-run"]],
    ["since", "Since (RFC 3339)", "time"]],
  empty: ["No push reached the provider endpoints: point a sender at ", h("code", null, "gateway.listen.apns"), "."],
  columns: [["Time", (row) => time(row.time)], ["Event",
    (row) => (row.eventId ? h("a", { href: to("events", row.eventId) },
    inline(row.event?.data?.content?.title ?? row.eventId, 120)) : "–")], ["Outcome", (row) => state(row.outcome)],
    ["Answer", (row) => [String(row.status ?? "–"), " ", inline(row.reason ?? ""), row.detail
      ? dim(" ", inline(row.detail)) : null]], ["Platform", (row) => inline(row.platform)],
    ["Source", (row) => inline(row.source ?? "–")], ["Run", (row) => inline(row.run ?? "–")],
    ["Addressee", (row) => inline(row.topic ?? row.condition ?? row.channel ?? row.token ?? "–", 60)]],
});

/** The pages of this module, by the name in the URL. */
export const parts = { vendors, media, categories, inapp, ledger, actions: log, rejections, captures };
