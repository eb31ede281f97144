// Texts of senders, times and numbers. Texts of senders may be hostile: controls and direction overrides are shown as
// escapes, long texts are clipped, and every text is isolated from the direction of its neighbours.
import { h, safeLink } from "./h.js";

/** Preferences of this browser. The token is not one of them. */
export const prefs = { zone: "utc", theme: "auto", relative: false, motion: "auto" };
const key = "signalbox.console";

try {
  Object.assign(prefs, JSON.parse(localStorage.getItem(key) ?? "{}"));
} catch { /* Storage is off, or has something else: the defaults apply. */ }

/** Keeps a preference, if the browser permits storage. */
export function prefer(change) {
  Object.assign(prefs, change);
  try { localStorage.setItem(key, JSON.stringify(prefs)); } catch { /* It lasts as long as the page. */ }
}

// C0, C1, invisible and direction characters, tags, and halves of surrogate pairs. Joiners stay: scripts need them.
const odd = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e"
  + "\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]|\\udb40[\\udc00-\\udc7f]"
  + "|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]", "g");
const longest = 2048;

function escaped(match) {
  const code = match.codePointAt(0);
  if (match === "\n") return "⏎";
  if (match === "\t") return "⇥";
  return code > 0xffff ? `\\u{${code.toString(16).toUpperCase()}}`
    : `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A less important text in a line; `hint` is a paragraph. */
export const dim = (...words) => h("span", { class: "dim" }, words);
export const hint = (...words) => h("p", { class: "dim" }, words);
export const loading = () => h("p", { role: "status" }, "Loading …");

/** A text without its odd characters, for attributes and messages. */
export function visible(value, most = longest) {
  const text = String(value);
  const cut = clip(text, most);
  return cut.replace(odd, escaped) + (cut.length < text.length ? "…" : "");
}

// Never between the halves of a surrogate pair.
function clip(text, most) {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

function parts(text, keepsLines) {
  const out = [];
  let from = 0;
  for (const match of text.matchAll(odd)) {
    if (keepsLines && (match[0] === "\n" || match[0] === "\t")) continue;
    if (match.index > from) out.push(text.slice(from, match.index));
    out.push(h("span", { class: "esc", title: "a character that is not visible" }, escaped(match[0])));
    from = match.index + match[0].length;
  }
  out.push(text.slice(from));
  return out;
}

/** A foreign text in one line box: combining marks cannot leave it. */
export function inline(value, most = 300) {
  if (value === undefined || value === null) return "";
  const text = String(value);
  const cut = clip(text, most);
  return h("bdi", { class: "line" }, parts(cut, false), cut.length < text.length ? dim("…")
    : null);
}

// Events of other types have no payload.
const notification = "io.signalbox.notification.received";
/** Whether an event is a notification. */
export const isPush = (event) => event.type === notification;
/** The text of an event in a list; the type of an event that is not a notification. */
export const titled = (row, most) => (row.title ? inline(row.title, most)
  : isPush(row) ? "(no text)" : ["(", inline(row.type.replace("io.signalbox.", ""), most), ")"]);

/** A foreign text of several lines, at most 2 kB of it. */
export function block(value, most = longest) {
  const text = String(value ?? "");
  const cut = clip(text, most);
  return h("bdi", { class: "block" }, parts(cut, true),
    cut.length < text.length ? dim(` … ${several(text.length - cut.length, "more character")}`)
      : null);
}

/** A foreign link: an anchor for http and https, otherwise text. */
export function link(url) {
  const text = String(url ?? "");
  if (!safeLink(text) || !/^https?:/i.test(text)) return h("span", { class: "nolink", title: "not a web link" },
    inline(text));
  return h("a", { href: text, rel: "noopener noreferrer nofollow", target: "_blank" }, inline(text));
}

/** A number with separators, and three decimals at most. The first use of Intl would cost 20 ms. */
export function count(number) {
  if (typeof number !== "number" || !Number.isFinite(number)) return "–";
  const [whole, decimals] = String(Math.round(number * 1000) / 1000).split(".");
  return whole.replaceAll(/\B(?=(\d{3})+$)/g, ",") + (decimals ? `.${decimals}` : "");
}

/** A number with its noun, such as "1 route" and "2 routes". */
export const several = (number, noun, nouns = `${noun}s`) => `${count(number)} ${number === 1 ? noun : nouns}`;

// Begins the text of a BigInt while JSON is read or written. No sender can know it.
const mark = `${crypto.getRandomValues(new Uint32Array(4)).join("-")}:`;

/** Reads JSON. Integers that a number cannot hold become BigInts, because identifiers must keep all their digits. */
export function readJSON(text) {
  const value = JSON.parse(text);
  if (!/\d{16}/.test(text)) return value;
  let isString = false;
  const marked = text.replaceAll(/\\.|"|-?\d[\d.eE+-]*/g, (token) => {
    if (token === "\"") isString = !isString;
    return isString || !/^-?\d+$/.test(token) || Number.isSafeInteger(Number(token)) ? token : `"${mark}${token}"`;
  });
  return JSON.parse(marked, (_, item) => (typeof item === "string" && item.startsWith(mark)
    ? BigInt(item.slice(mark.length)) : item));
}

/** Writes JSON, also of values with BigInts. `space`: as of `JSON.stringify`. */
export function writeJSON(value, space) {
  const text = JSON.stringify(value, (_, item) => (typeof item === "bigint" ? `${mark}${item}` : item), space);
  return text?.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

/** A number of bytes. */
export function bytes(number) {
  if (typeof number !== "number") return "–";
  return number < 1024 ? `${number} B` : number < 1048576 ? `${(number / 1024).toFixed(1)} KiB`
    : `${(number / 1048576).toFixed(1)} MiB`;
}

/** The zone that times are written in. */
export function zoneName() { return prefs.zone === "utc" ? "UTC" : `local (${offset(new Date())})`; }

function offset(date) {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "−" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function two(number) { return String(number).padStart(2, "0"); }

/** A time as text, always with its zone. `style`: `full`, `clock`. */
export function timeText(value, style = "full") {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return visible(value, 40);
  const isUTC = prefs.zone === "utc";
  const part = (name) => (isUTC ? date[`getUTC${name}`]() : date[`get${name}`]());
  const clock = `${two(part("Hours"))}:${two(part("Minutes"))}:${two(part("Seconds"))}`;
  const zone = isUTC ? "UTC" : offset(date);
  if (style === "clock") return `${clock} ${zone}`;
  return `${part("FullYear")}-${two(part("Month") + 1)}-${two(part("Date"))} ${clock} ${zone}`;
}

// Milliseconds by which the gateway's clock is ahead of the browser's.
let ahead = 0;
const leastDifference = 5000;

/** Takes over the clock of an answer (its `date`), because ages and waits are those of the gateway. */
export function followClock(date) {
  const difference = Date.parse(date ?? "") - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) < leastDifference ? 0 : difference;
}

/** The gateway's time, in milliseconds. */
export const gatewayTime = () => Date.now() + ahead;

/** By how many seconds the gateway's clock is ahead of the browser's; 0 for less than five. */
export const clockDifference = () => Math.round(ahead / 1000);

/** How long ago, or in how long, by the gateway's clock. */
export function relative(value, now = gatewayTime()) {
  const seconds = Math.round((new Date(value).getTime() - now) / 1000);
  if (Number.isNaN(seconds)) return "";
  const text = span(Math.abs(seconds));
  return seconds > 0 ? `in ${text}` : `${text} ago`;
}

/** A number of seconds in its largest unit. */
export function span(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
}

/** A time as an element. The title has the time as the gateway wrote it, whatever is shown. */
export function time(value, style) {
  if (value === undefined || value === null || value === "") return "–";
  const text = timeText(value, style);
  return h("time", { datetime: visible(value, 40), title: visible(value, 40) },
    prefs.relative ? `${relative(value)} (${text})` : text);
}
