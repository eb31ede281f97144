// The payload as received and the event, side by side. A member lights the members of the other side that it comes from
// or goes to, as the gateway found by reading the payload again.
import { h } from "./h.js";
import { dim, hint, inline, readJSON, visible } from "./text.js";

const mostNodes = 3000;
const deepest = 64;

/** Both trees. `provenance`, `unread`: of the answer of explain; absent without it. */
export function sideBySide(raw, event, { provenance = [], unread = [], complete } = {}) {
  const known = { raw: index(provenance, "raw"), event: index(provenance, "event") };
  const grey = new Set(unread);
  const over = (side) => (type) => (action) => {
    const node = action.target.closest?.("[data-p]");
    if (node) light(side, node.dataset.p, provenance, type);
  };
  const panel = (side, title, value, note) => h("div", { class: "panel" }, h("h3", null, title), note,
    h("div", { class: "tree", role: "region", "aria-label": title, tabindex: 0, "data-side": side,
      onpointerover: over(side)("hover"), onfocusin: over(side)("focus") },
      value === undefined ? null : tree(value, { side, known: known[side], grey: side === "raw" ? grey : new Set(),
        left: { count: mostNodes } })));
  return [h("p", { id: "light", class: "dim", role: "status", mounted: Object.assign(() => {}, { owns: true }) }),
    h("div", { class: "sides" }, panel("raw", "Payload as received", raw.value, raw.note),
      panel("event", "Event", event)),
    provenance.length ? hint(
      "Underlined members have a known origin or use: point at one, or reach it with Tab, to see it. ",
      "Grey members were not read.",
      complete === false ? " The payload is too large to examine all of it." : "") : null];
}

/** The payload's bytes as a value, or as text if they are not JSON. */
export function parsed(bytes) {
  const text = new TextDecoder().decode(bytes);
  try { return { text, value: readJSON(text) }; } catch { return { text, value: text }; }
}

function index(provenance, side) {
  const set = new Set();
  for (const entry of provenance) set.add(entry[side]);
  return set;
}

function tree(value, options, pointer = "", depth = 0) {
  const members = Array.isArray(value) ? value.map((item, at) => [String(at), item]) : Object.entries(value ?? {});
  if (value === null || typeof value !== "object") return leaf(value);
  if (!members.length) return dim(Array.isArray(value) ? "[]" : "{}");
  return h("ul", null, members.map(([name, item]) => {
    if (options.left.count <= 0 || depth > deepest) return null;
    options.left.count -= 1;
    const at = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const inner = typeof item === "string" ? nested(item) : item;
    const isBranch = inner !== null && typeof inner === "object";
    const isUnread = options.grey.has(at);
    const label = h("span", { class: "name" }, inline(name, 120));
    return h("li", { "data-p": at, class: isUnread ? "unread" : "", title: isUnread ? "not read" : undefined },
      options.known.has(at) ? h("button", { class: "name" }, inline(name, 120)) : label, ": ",
      isBranch ? [typeof item === "string" ? dim("(JSON in a string)") : null,
        tree(inner, options, at, depth + 1)] : leaf(item));
  }), options.left.count <= 0 && depth === 0 ? h("li", { class: "dim" },
    `Only the first ${mostNodes} members are shown.`) : null);
}

function leaf(value) {
  return h("span", { class: value === null ? "dim" : typeof value }, typeof value === "string"
    ? inline(JSON.stringify(value.slice(0, 4096)), 2048) : visible(value));
}

// JSON inside a string: pointers continue in it.
function nested(text) {
  if (!/^\s*[[{]/.test(text) || text.length > 100_000) return null;
  try { return readJSON(text); } catch { return null; }
}

const other = { raw: "event", event: "raw" };
let lit = "";

// Changes the page directly: a tree of thousands of nodes is not described again for each movement of the pointer.
function light(side, pointer, provenance, type) {
  if (lit === side + pointer) return;
  lit = side + pointer;
  for (const node of document.querySelectorAll(".tree .lit")) node.classList.remove("lit");
  const found = provenance.filter((entry) => entry[side] === pointer
    || entry[side].startsWith(`${pointer}/`)).slice(0, 50);
  const status = document.getElementById("light");
  const words = ({ raw, event, how }) => `${visible(event, 200)} ${visible(how, 20)} from ${visible(raw, 200)}`;
  if (status) status.textContent = found.slice(0, 3).map(words).join("; ");
  let isFirst = true;
  for (const entry of found) {
    for (const [part, at] of [[side, entry[side]], [other[side], entry[other[side]]]]) {
      const node = document.querySelector(`.tree[data-side="${part}"] [data-p="${CSS.escape(at)}"]`);
      node?.classList.add("lit");
      if (node && part !== side && isFirst) {
        isFirst = false;
        const box = node.closest(".tree");
        box.scrollTop += node.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
      }
    }
  }
}

/** The members that differ, by pointer. At most 500 of them. */
export function differences(a, b, pointer = "", out = [], depth = 0) {
  if (out.length >= 500 || depth > deepest || Object.is(a, b)) return out;
  const isTree = (value) => value !== null && typeof value === "object";
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) {
    out.push({ pointer, a, b });
    return out;
  }
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    differences(a[name], b[name], `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, out, depth + 1);
  }
  return out;
}
