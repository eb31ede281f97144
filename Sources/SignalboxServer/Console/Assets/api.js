// Requests to the public API. The token is in memory, and in sessionStorage if the operator wishes; never in a URL.
import { followClock, readJSON, writeJSON } from "./text.js";

const slot = "signalbox.token";
/** Milliseconds that the console waits for an answer to a reading request. */
export const longestWait = 30_000;
// The gateway sends a line every 15 s over an open stream.
const longestSilence = 45_000;

/** The token and its owner. `who`: the answer of whoami. */
export const session = { token: null, who: null };
try { session.token = sessionStorage.getItem(slot); } catch { /* Storage is off. */ }

/** Uses a token; null signs out. `keeps`: whether a reload of this tab keeps it. */
export function signIn(token, keeps) {
  [session.token, session.who] = [token, null];
  try {
    if (token && keeps) sessionStorage.setItem(slot, token);
    else sessionStorage.removeItem(slot);
  } catch { /* It stays in memory. */ }
}

/** Whether this tab keeps the token. */
export function isKept() {
  try { return sessionStorage.getItem(slot) !== null; } catch { return false; }
}

/** An answer other than 2xx, with its problem (RFC 9457). Status 0: no answer. */
export class Refusal extends Error {
  constructor(status, problem, headers) {
    super(problem.detail ?? problem.title ?? `Status ${status}`);
    [this.status, this.problem, this.headers] = [status, problem, headers];
  }
  /** Whether this gateway has no such endpoint. */
  get isMissing() { return (this.status === 404 && this.problem.code === "not-found") || this.status === 405; }
}

/** The failure of a request without an answer. `wait`: milliseconds after which the console gave up. */
export const noAnswer = (wait) => new Refusal(0, { title: "No answer", code: "no-answer",
  detail: wait ? `The gateway did not answer within ${wait / 1000} s. Is it overloaded or cut off?`
    : "The gateway did not answer. Is it running?" });

/** The failure to load a module of the console. One of another version lacks names that the loaded ones import. */
export const notLoaded = (error) => (error instanceof SyntaxError
  ? new Refusal(0, { title: "The console was updated", code: "console-updated",
    detail: "The gateway has another version of this page: load it again." }) : noAnswer());

// A request that the page itself ended is not a failure of the gateway.
function failure(error) {
  if (error instanceof Refusal || error.name === "AbortError") return error;
  return noAnswer(error.name === "TimeoutError" ? longestWait : undefined);
}

const ranks = ["metrics", "reader", "operator", "admin"];
/** Why the token may not do this; null if it may. The gateway decides again. */
export function whyNot(role) {
  const who = session.who;
  if (!who || ranks.indexOf(who.role) >= ranks.indexOf(role)) return null;
  return `needs the role ${role}; the token of ${who.name} has the role ${who.role}`;
}

function address(path, query) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== "") search.set(name, value);
  }
  // Servers decode %20 in any case, and + in forms only.
  const text = search.toString().replaceAll("+", "%20");
  return `v1/${path}${text ? `?${text}` : ""}`;
}

async function send(method, path, { query, body, signal, accept, headers } = {}) {
  const fields = { accept: accept ?? "application/json", ...headers };
  if (session.token) {
    // Browsers send no header with other characters: the request would fail as if the gateway did not answer.
    if (!/^[\x20-\x7e]+$/.test(session.token)) {
      throw new Refusal(401, { title: "The token cannot be sent", code: "token-unusable",
        detail: "It has characters other than printable ASCII, such as typographic quotes: copy it again." });
    }
    fields.authorization = `Bearer ${session.token}`;
  }
  // A browser's change needs this type: pages of other sites cannot send it.
  if (method !== "GET") fields["content-type"] = "application/json";
  const text = body === undefined ? undefined : typeof body === "string" ? body : writeJSON(body);
  let response;
  try {
    response = await fetch(address(path, query), {
      method, headers: fields, body: text, signal, cache: "no-store", credentials: "omit", redirect: "error",
    });
  } catch (error) { throw failure(error); }
  followClock(response.headers.get("date"));
  if (response.ok) return response;
  let problem = { title: `Status ${response.status}` };
  try { problem = await response.json(); } catch { /* Not a problem object: the status remains. */ }
  // Pages ask for another token after a failed read; dialogs and editors ask here.
  if (response.status === 401 && method !== "GET") dispatchEvent(new Event("signalbox:signin"));
  if (["role-insufficient", "content-hidden"].includes(problem.code)) dispatchEvent(new Event("signalbox:rights"));
  throw new Refusal(response.status, problem, response.headers);
}

// Only reads have a timeout: a change of many deliveries may take longer.
const limited = (method, path, signal) => (method === "GET" || path === "events/search"
  ? AbortSignal.any([AbortSignal.timeout(longestWait), ...(signal ? [signal] : [])]) : signal);

/** Sends a request, and reads the answer as JSON. Throws ``Refusal``. */
export async function call(method, path, options) {
  const response = await send(method, path, { ...options, signal: limited(method, path, options?.signal) });
  let text;
  try { text = await response.text(); } catch (error) { throw failure(error); }
  try { return text ? readJSON(text) : {}; } catch {
    throw new Refusal(response.status, { title: "The answer is not JSON", code: "answer-unreadable",
      detail: "Something else answered, such as the sign-in page of a proxy: load this page again." });
  }
}
/** Reads JSON. */
export const get = (path, query, signal) => call("GET", path, { query, signal });
/** Sends JSON. */
export const post = (path, body, query) => call("POST", path, { body, query });
/** Reads the bytes of an answer. */
export async function read(path, signal) {
  const response = await send("GET", path, { signal: limited("GET", path, signal), accept: "*/*" });
  try { return new Uint8Array(await response.arrayBuffer()); } catch (error) { throw failure(error); }
}

/** Reads an endpoint that a gateway need not have: null without it. */
export async function optional(path, query, signal) {
  try { return await get(path, query, signal); } catch (error) {
    if (error instanceof Refusal && (error.isMissing || error.status === 403)) return null;
    throw error;
  }
}

/**
 * Reads a stream of server-sent events, and calls `each` with the name, the value and the id of every frame. Returns
 * when the gateway ends the stream; throws ``Refusal``, also when nothing arrives for 45 s.
 */
export async function stream(query, { signal, lastID, each, opened }) {
  const headers = lastID ? { "last-event-id": lastID } : {};
  const silence = new AbortController();
  let timer;
  const isAlive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), longestSilence);
  };
  try {
    isAlive();
    const response = await send("GET", "stream", { query, headers, accept: "text/event-stream",
      signal: AbortSignal.any([signal, silence.signal]) });
    opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      isAlive();
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop();
      for (const text of blocks) frame(text, each);
    }
  } catch (error) {
    throw silence.signal.aborted ? noAnswer(longestSilence) : failure(error);
  } finally { clearTimeout(timer); }
}

function frame(text, each) {
  let [name, id, data] = ["message", null, ""];
  for (const line of text.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, "");
    if (line.startsWith("event:")) name = value;
    else if (line.startsWith("id:")) id = value;
    else if (line.startsWith("data:")) data += value;
  }
  if (!data) {
    if (id) each(null, null, id);
    return;
  }
  let value;
  try { value = JSON.parse(data); } catch { return; }
  each(name, value, id);
}
