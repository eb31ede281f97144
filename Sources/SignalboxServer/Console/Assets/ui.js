// Parts that several pages have: problems, tables, filters, dialogs, charts, and the route in the URL.
import { h, render } from "./h.js";
import { Refusal, whyNot } from "./api.js";
import { block, count, dim, inline, prefs, several, timeText, visible, zoneName } from "./text.js";

// MARK: The URL is the whole state

/** The page, the object and the parameters that the URL names. */
export function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, ...rest] = path.split("/");
  const decode = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  const params = Object.fromEntries(new URLSearchParams(query ?? ""));
  return { page: page || "live", id: rest.length ? decode(rest.join("/")) : null, params };
}

/** The address of a page. The zone of times goes along, so that a link shows the same times everywhere. */
export function to(page, id, params) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...params, tz: params?.tz ?? prefs.zone })) {
    if (value !== undefined && value !== null && value !== "") search.set(name, value);
  }
  return `#/${page}${id ? `/${encodeURIComponent(id)}` : ""}?${search}`;
}

/** Goes to the same page with other parameters. Without `cursor`, a list begins at its first page. */
export function change(params) {
  const now = route();
  location.hash = to(now.page, now.id, { ...now.params, cursor: undefined, ...params });
}

// MARK: Problems and facts

/** An error as the operator sees it: with the problem's words, never as an empty page. */
export function problem(error) {
  if (!error) return null;
  if (!(error instanceof Refusal)) return h("div", { class: "problem", role: "alert" },
    block(`The page failed: ${error.message}`));
  const { title, detail, code, pointer, line, column } = error.problem;
  return h("div", { class: "problem", role: "alert" },
    h("strong", null, inline(title ?? "The gateway refused")), " ",
      h("code", null, `${error.status} ${visible(code ?? "", 80)}`),
    h("p", null, block(detail ?? "")),
    column || line ? h("p", null, `Line ${visible(line ?? 1, 9)}, column ${visible(column ?? "?", 9)}.`) : null,
    pointer ? h("p", null, "At ", h("code", null, inline(pointer)), ".") : null);
}

/** Names and values. Absent values are left out. */
export function facts(...pairs) {
  const shown = pairs.filter((pair) => pair && pair[1] !== undefined && pair[1] !== null && pair[1] !== "");
  return shown.length
    ? h("dl", { class: "facts" },
      shown.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))) : null;
}

/** A word with the color of its meaning; the word itself says the same. */
export function badge(word, kind) { return h("span", { class: `badge ${kind ?? ""}` }, visible(word, 60)); }

const good = ["delivered", "active", "stored", "closed", "done", "accepted", "matched", "chosen", "passed"];
const bad = ["dead", "failed", "breaker_open", "open", "disabled", "rejected", "unavailable", "refused"];
const warm = ["waiting", "paused", "withheld", "throttled", "expired", "retry", "probing", "resting", "injected",
  "hint"];
/** The word of a state. */
export function state(word) {
  if (!word) return "–";
  return badge(word, good.includes(word) ? "good" : bad.includes(word) ? "bad" : warm.includes(word) ? "warm" : "");
}

/** How many deliveries have each state; null for none. */
export function counted(states) {
  const list = Object.entries(states ?? {});
  return list.length ? list.map(([word, number]) => [state(word), ` ${count(number)} `]) : null;
}

/** The first entries of a list, and the number of the others. */
export const first = (list, most, draw) => [list.slice(0, most).map(draw),
  list.length > most ? dim(`and ${count(list.length - most)} more`) : null];

/** A heading with a section. */
export function section(title, ...content) {
  return h("section", null, h("h2", null, title), content);
}

/** A control for which the token's role is too small becomes a sentence. */
export function permitted(role, label, props) {
  const reason = whyNot(role);
  return reason ? h("span", { class: "denied" }, `${label}: ${reason}`)
    : h("button", props, label);
}

// MARK: Lists

/**
 * A table whose rows are cards on narrow screens. `columns`: name and cell of each; `rowKey`: of each row. The first
 * cell has the link that `j`, `k` and Enter use. `at`: the index of a row, for the actions of keys.
 */
export function table(label, columns, rows, rowKey, empty) {
  if (!rows.length) return h("p", { class: "empty" }, empty ?? "No entry matches.");
  return h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 },
    h("table", { role: "table" },
      h("caption", { class: "hidden" }, label),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
        columns.map(([name]) => h("th", { scope: "col", role: "columnheader" }, name)))),
      h("tbody", { role: "rowgroup" },
        rows.map((row, at) => h("tr", { key: String(rowKey(row, at)), role: "row", "data-row": at },
        columns.map(([name, cell]) => h("td", { role: "cell", "data-label": name }, cell(row, at))))))));
}

/** Words for a list without entries: `words` say what would appear and how, unless the filters leave out everything. */
export function none(params, data, ...words) {
  if (data.complete === false) return "No entry matches so far: search on.";
  return Object.keys(params).some((name) => !["tz", "cursor", "limit"].includes(name))
    ? "No entry matches: clear a filter, or choose a longer window." : words;
}

/** How to make an event. */
export const sendOne = ["send one with ", h("code", null, "signalbox send braze"), " or ",
  h("code", null, "POST /v1/notifications"), "."];

/** The data of a list; null if the request for these parameters failed, because the former ones selected other rows. */
export const current = (context) => (context.isFormer && context.error ? null : context.data);

/**
 * The window, the order, the completeness and the pages of a list. Every list has one. `isTimeless`: the list has no
 * window of time, and `order` says which entries it has.
 */
export function listFacts({ context, data, shown, order, sampling, isTimeless }) {
  const { params } = context;
  if (!data) return null;
  const since = params.since ? timeText(params.since) : "the beginning";
  const until = params.until ? timeText(params.until) : "now";
  const part = params.cursor || data.next ? " on this page" : "";
  const range = isTimeless && !params.since && !params.until ? "" : ` from ${since} until ${until}`;
  return h("div", { class: "listfacts", role: "status" },
    h("span", null, context.isFormer ? "Loading …; the entries below are from the previous filter or page. "
      : [`${several(shown, "entry", "entries")}${part}${range}; ${order ?? "newest first"}; `,
        `times in ${zoneName()}; ${sampling ?? "every entry counts, none is sampled"}.`]),
    data.complete === false && !context.isFormer
      ? h("strong", { class: "stopped" },
        " The search stopped before the end of the data (50,000 rows or 200 ms): older entries may match. ") : null,
    // The keys keep the focus on the same link.
    params.cursor ? h("a", { key: "first", href: to(route().page, route().id, { ...params, cursor: undefined }) },
      "First page") : null, " ",
    data.next ? h("a", { key: "next", href: to(route().page, route().id, { ...params, cursor: data.next }),
      "data-next": true },
      data.complete === false ? "Search on" : "Next page") : null);
}

/** Fields whose values are parameters of the URL. Each: name, label, options or kind, words for no option. */
export function filters(params, fields) {
  return h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    fields.map(([name, label, kind, unset = "any"]) => h("label", null, h("span", null, label),
      Array.isArray(kind)
        ? h("select", { value: params[name] ?? "", onchange: (event) => change({ [name]: event.target.value }) },
          h("option", { value: "" }, unset), kind.map((word) => h("option", { value: word }, word)))
        : h("input", {
          type: "text", value: params[name] ?? "", autocomplete: "off", spellcheck: "false",
          placeholder: kind === "time" ? "2026-11-27T08:00:00Z" : "", "data-filter": name,
          onchange: (event) => change({ [name]: event.target.value.trim() }),
        }))),
    Object.keys(params).some((name) => fields.some(([field]) => field === name))
      ? h("a", { href: to(route().page, route().id, {}) }, "Clear") : null);
}

/** `since` and `until`, which every list has. */
export const windowFields = [["since", "Since (RFC 3339)", "time"], ["until", "Until (RFC 3339)", "time"]];

// MARK: Dialogs

/** Shows a dialog until it closes. `draw(close, redraw)` returns its content. */
export function dialog(title, draw) {
  const before = document.activeElement;
  const node = document.createElement("dialog");
  node.setAttribute("aria-label", title);
  const close = () => node.close();
  const redraw = () => render(node, h("h2", null, title), draw(close, redraw));
  node.addEventListener("close", () => { node.remove(); before?.focus?.(); });
  document.body.append(node);
  redraw();
  node.showModal();
  node.querySelector("[data-first]")?.focus();
  return { close, redraw };
}

/**
 * Asks before a change. `button`: its words name the number. `needsReason`: the reason must not be empty. `fields`:
 * further inputs. `run(values)` makes the change and returns what happened, in words; `progress()` says how far it is.
 */
export function confirm(title, { body, button, needsReason, fields, run, role, done, progress }) {
  const denied = whyNot(role ?? "operator");
  const values = { reason: "" };
  let [busy, error, result, note] = [false, null, null, null];
  dialog(title, (close, redraw) => {
    const go = async () => {
      if (busy || (needsReason && !values.reason.trim())) return;
      [busy, error] = [true, null];
      redraw();
      const timer = progress && setInterval(() => progress().then((words) => { note = words; redraw(); }, () => {}),
        1000);
      try { result = (await run(values)) ?? "Done."; } catch (caught) { error = caught; }
      clearInterval(timer);
      busy = false;
      redraw();
      document.querySelector("dialog [data-after]")?.focus();
      if (result) done?.();
    };
    if (denied) return [h("p", null, `This ${denied}.`), h("button",
      { onclick: close, "data-first": true }, "Close")];
    if (result) return [h("p", { role: "status" }, result),
      h("button", { onclick: close, "data-after": true }, "Close")];
    const field = (name, label, props) => h("label", null, h("span", null, label),
      h("input", { type: "text", value: values[name] ?? "",
        oninput: (event) => { values[name] = event.target.value; redraw(); }, ...props }));
    return [body, problem(error), busy && note ? h("p", { role: "status" }, note) : null,
      (fields ?? []).map(([name, label, props]) => field(name, label, props)),
      field("reason", needsReason ? "Reason (required; the action log keeps it)" : "Reason (the action log keeps it)",
        { maxlength: 500 }),
      h("div", { class: "buttons" },
        h("button", { class: "main", disabled: busy || (needsReason && !values.reason.trim()),
          onclick: go,
          "data-first": !needsReason, "data-confirm": true }, busy ? "Working …" : button),
        h("button", { onclick: close }, "Cancel"))];
  });
}

/** Says something in passing, to screen readers too. */
export function tell(text) {
  const box = document.getElementById("toast");
  if (!box) return;
  box.textContent = text;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { box.textContent = ""; }, 6000);
}

/** Copies a text; without permission, shows it in a dialog. */
export async function copy(text, words) {
  try {
    await navigator.clipboard.writeText(text);
    tell(words);
  } catch {
    dialog("Copy this text", (close) => [
      h("textarea", { class: "code", rows: 8, readonly: true, "aria-label": "Text to copy", "data-first": true,
        value: text }),
      h("button", { onclick: close }, "Close")]);
  }
}

// MARK: Charts

/**
 * Numbers over time as a line. `from`: the time of the first one; `step`: seconds. The caption and the title say what is
 * drawn, so the picture is not needed to read it.
 */
export function chart(label, values, { step, from }) {
  if (!values?.length) return null;
  const [width, height] = [300, 48];
  const top = Math.max(1, ...values);
  const x = (at) => (values.length === 1 ? 0 : (at / (values.length - 1)) * width);
  const points = values.map((value, at) =>
    `${x(at).toFixed(1)},${(height - (value / top) * (height - 4)).toFixed(1)}`).join(" ");
  const last = values[values.length - 1];
  const sum = values.reduce((all, value) => all + value, 0);
  const end = timeText(new Date(from).getTime() + step * 1000 * values.length, "clock");
  return h("figure", { class: "chart" },
    h("figcaption", null, inline(label), dim(
      ` ${count(sum)} in all, at most ${count(top === 1 && !sum ? 0 : top)}, now ${count(last)} per ${step} s`)),
    h("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": visible(`${label}: ${count(sum)} in all, at most ${count(top)} per ${step} s`),
      preserveAspectRatio: "none" },
      h("polyline", { points, fill: "none", "vector-effect": "non-scaling-stroke" })),
    h("div", { class: "axis" }, h("span", null, timeText(from, "clock")), h("span", null, end)));
}
