// The editor of event patterns: syntax errors with line and column while typing, and chips that write the pattern.
import { h } from "./h.js";
import { dim, readJSON, visible, writeJSON } from "./text.js";

/** Reads a pattern: `{ value }`, or `{ line, column, message }` of the first mistake. An empty text is no pattern. */
export function readPattern(text) {
  if (!text?.trim()) return { value: null };
  let value;
  try { value = readJSON(text); } catch (error) { return { ...place(text, mistakeAt(text)),
    message: visible(error.message, 200) }; }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return { line: 1, column: 1, message: "A pattern is an object." };
  }
  return { value };
}

function place(text, at) {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: before[before.length - 1].length + 1 };
}

// The offset of the first mistake. Browsers do not tell it in one form, so the longest valid beginning is found here.
function mistakeAt(text) {
  let at = 0;
  const space = () => { while (" \t\r\n".includes(text[at]) && at < text.length) at += 1; };
  const fail = () => { throw at; };
  const word = (pattern) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) fail();
    at += match[0].length;
  };
  const string = () => {
    const begin = at;
    pattern.string.lastIndex = at;
    const match = pattern.string.exec(text);
    if (!match) { at = text.indexOf("\n", begin) < 0 ? text.length : text.indexOf("\n", begin); fail(); }
    at += match[0].length;
  };
  const list = (close, item) => {
    at += 1;
    space();
    if (text[at] === close) { at += 1; return; }
    for (;;) {
      item();
      space();
      if (text[at] === close) { at += 1; return; }
      if (text[at] !== ",") fail();
      at += 1;
      space();
    }
  };
  const value = (depth) => {
    space();
    if (depth > 64) fail();
    if (text[at] === "{") {
      list("}", () => {
        if (text[at] !== "\"") fail();
        string();
        space();
        if (text[at] !== ":") fail();
        at += 1;
        value(depth + 1);
      });
    } else if (text[at] === "[") list("]", () => value(depth + 1));
    else if (text[at] === "\"") string();
    else word(pattern.word);
  };
  try {
    value(0);
    space();
    return at;
  } catch (found) {
    if (typeof found === "number") return found;
    throw found;
  }
}
const pattern = {
  string: /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y,
  word: /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y,
};

/** Shows the pattern of the URL in the editor, unless the operator has typed the same. */
export function follow(local, pattern = "") {
  if (local.followed === pattern) return;
  local.followed = pattern;
  if (local.text?.trim() !== pattern) local.text = pattern;
}

/** The pattern with one more permitted value at a path; a value that is there is taken out. */
export function toggled(value, path, word) {
  const next = structuredClone(value ?? {});
  let node = next;
  for (const name of path.slice(0, -1)) node = node[name] = node[name] && !Array.isArray(node[name]) ? node[name] : {};
  const last = path[path.length - 1];
  const list = Array.isArray(node[last]) ? node[last] : [];
  node[last] = list.includes(word) ? list.filter((item) => item !== word) : [...list, word];
  return pruned(next) ?? null;
}

function pruned(value) {
  if (Array.isArray(value)) return value.length ? value : undefined;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, item]) => [name, pruned(item)]).filter(([, item]) =>
    item !== undefined);
  return members.length ? Object.fromEntries(members) : undefined;
}

/** Whether a chip is on. */
export function has(value, path, word) {
  let node = value;
  for (const name of path) node = node?.[name];
  return Array.isArray(node) && node.includes(word);
}

/**
 * The editor. `text`: of the pattern; `use(text)`: called with each text, valid or not; `error`: what the gateway found
 * wrong with the last valid one.
 */
export function editor({ text, use, error, label }) {
  const read = readPattern(text);
  const id = "pattern-problem";
  return h("div", { class: "editor" },
    h("label", null, h("span", null, label ?? "Pattern (EventBridge form); empty: every event"),
      h("textarea", { class: "code", rows: Math.min(12, Math.max(2, (text ?? "").split("\n").length)),
        spellcheck: "false", autocomplete: "off",
        value: text ?? "", "data-filter": "pattern", "aria-describedby": id, "aria-invalid": read.message || error
          ? "true" : undefined,
        placeholder: "{\"data\":{\"vendor\":[\"braze\"]}}", oninput: (event) => use(event.target.value) })),
    h("p", { id, class: read.message || error ? "mistake" : "dim", role: "status" },
      read.message ? [`Line ${read.line}, column ${read.column}: ${read.message}. `,
        "The list below still shows the former pattern."]
        : error ?? (read.value ? "The pattern is valid JSON." : "")));
}

/** Chips that write a pattern. */
export function chips(label, words, path, value, use) {
  if (!words.length) return null;
  return h("div", { class: "chips", role: "group", "aria-label": label }, dim(`${label}:`),
    words.map((word) => h("button", { class: "chip", key: `${path}${word}`,
      "aria-pressed": has(value, path, word) ? "true" : "false",
      onclick: () => use(writeJSON(toggled(value, path, word) ?? undefined) ?? "") }, visible(word, 40))));
}
