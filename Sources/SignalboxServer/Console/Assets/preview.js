// Approximate pictures of a notification on iOS and Android. Texts are cut by lines, as the systems do.
import { h } from "./h.js";
import { hint, inline, several, visible } from "./text.js";
import { route, to } from "./ui.js";

const longest = 2048;
// Lines before a cut. Android shows one line of the body under a picture.
const limits = {
  ios: { collapsed: { title: 1, subtitle: 1, body: 4, actions: 0 },
    expanded: { title: 3, subtitle: 2, body: 60, actions: 10 } },
  android: { collapsed: { title: 1, subtitle: 1, body: 1, actions: 0 },
    expanded: { title: 1, subtitle: 1, body: 10, actions: 3 } },
};
const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];

/** Four frames in the shade of the URL. `states`: the downloads of the event's media, by URL. */
export function previews(context, event, states) {
  const { params } = context;
  const content = event.data ?? {};
  if (!content.content && !content.media && !content.category) return hint(
    "This event shows no notification.");
  const shade = params.shade === "dark" ? "dark" : "light";
  const page = Math.max(0, Number.parseInt(params.page ?? "0", 10) || 0);
  const here = route();
  const shades = ["light", "dark"].map((word) => h("a",
    { class: "chip", href: to(here.page, here.id, { ...params, shade: word }), "aria-current": word === shade ? "true"
    : undefined }, word));
  const frames = ["ios", "android"].flatMap((os) => ["collapsed", "expanded"].map((form) =>
    frame(context, content, states, { os, form, shade, page })));
  return [h("p", null, h("strong", null, "Approximation. "),
    "Lines are cut as reported for a 390 pt and a 412 dp wide screen; fonts and versions differ. Shade: ", shades),
    h("div", { class: "previews" }, frames)];
}

function frame(context, content, states, { os, form, shade, page }) {
  const name = `${os === "ios" ? "iOS" : "Android"}, ${form}`;
  const texts = content.content ?? {};
  const media = (content.media ?? []).map((item) => ({ ...item, ...merged(states?.get(item.url)) }));
  const items = content.carousel?.items ?? [];
  const first = media.find((item) => item.role === "attachment") ?? media.find((item) => item.role === "background")
    ?? (items.length ? media[items[0].media] : undefined);
  const isOpen = form === "expanded";
  const limit = { ...limits[os][form] };
  if (os === "android" && isOpen && (first || items.length)) limit.body = 1;
  return h("figure", { class: `phone ${os} ${form}`, "data-shade": shade, key: `${os}${form}` },
    h("figcaption", null, name),
    h("div", { class: "note" },
      h("div", { class: "app" }, h("span", { class: "appicon", "aria-hidden": "true" }), h("span", null, "App"),
        h("span", { class: "when" }, "now")),
      h("div", { class: "texts" },
        h("div", { class: "words" },
          clamped("title", shown(texts, "title"), limit.title),
          texts.subtitle || texts.localized?.subtitleKey ? clamped("subtitle", shown(texts, "subtitle"),
            limit.subtitle) : null,
          clamped("body", shown(texts, "body"), limit.body)),
        !isOpen && first ? picture(context, first, "thumb") : null),
      isOpen ? (items.length ? carousel(context, items, media, page) : first ? picture(context, first, "wide") : null)
        : null,
      isOpen ? buttons(content.category?.actions ?? [], limit.actions, os) : null),
    !isOpen && (content.category?.actions?.length || items.length)
      ? hint(hiddenParts(content, items)) : null);
}

function hiddenParts(content, items) {
  const parts = [];
  if (content.category?.actions?.length) parts.push(several(content.category.actions.length, "button"));
  if (items.length) parts.push(`a carousel of ${items.length}`);
  return `Expanded only: ${parts.join(", ")}.`;
}

function merged(state) {
  if (!state) return {};
  return { status: ["wanted", "waiting"].includes(state.state) ? "pending" : state.state === "none"
    ? undefined : state.state, sha256: state.sha256, reason: state.reason,
    ...(state.href ? { href: state.href } : null) };
}

function shown(texts, name) {
  if (texts[name] !== undefined) return texts[name];
  const key = texts.localized?.[`${name}Key`];
  return key === undefined ? "" : `[${key}]`;
}

// The mark is a neighbour, because a cut box hides what is inside.
function clamped(name, text, lines) {
  if (text === "" || text === undefined) return name === "subtitle" ? null
    : h("div", { class: `${name} dim` }, `(no ${name})`);
  const value = String(text);
  const measure = (node) => measureLater(node, value.length > longest);
  return [h("div", { class: `clamp ${name} lines${lines}`, mounted: measure, key: name },
    h("bdi", null, visible(value.slice(0, 2 * longest).replaceAll(/\s+/g, " "), longest))),
    h("div", { class: "cut", key: `${name}cut` }, `${name} cut after ${several(lines, "line")}`)];
}

// All boxes are measured before one of them is marked: each mark invalidates the layout of the page.
let unmeasured = [];
function measureLater(node, isCut) {
  if (unmeasured.push([node, isCut]) > 1) return;
  requestAnimationFrame(() => {
    const found = unmeasured.map(([box, isLong]) => [box, isLong || box.scrollHeight > box.clientHeight + 1]);
    unmeasured = [];
    for (const [box, isMarked] of found) box.toggleAttribute("data-cut", isMarked);
  });
}

function buttons(actions, most, os) {
  if (!actions.length) return null;
  const cut = actions.length - most;
  return [h("ul", { class: "actions", "aria-label": "Buttons" }, actions.slice(0, most).map((action, at) =>
    h("li", { key: at, class: (action.options ?? []).includes("destructive") ? "destructive" : "" },
      inline(action.title ?? action.identifier ?? "(no title)", 60),
      action.textInput ? h("span", { class: "hint" }, " (text field)") : null,
      (action.options ?? []).includes("authenticationRequired") ? h("span", { class: "hint" }, " (after unlocking)")
        : null))),
  cut > 0 ? h("div", { class: "cut on" },
    `${cut} cut: ${os === "android" ? "Android shows 3 buttons" : "iOS shows at most 10"}`) : null];
}

function carousel(context, items, media, page) {
  const here = route();
  const at = Math.min(page, items.length - 1);
  const item = items[at];
  const turn = (number, words) => (number < 0 || number >= items.length ? h("span", { class: "chip off" }, words)
    : h("a", { class: "chip", href: to(here.page, here.id, { ...context.params, page: number }) }, words));
  return h("div", { class: "carousel" },
    picture(context, media[item.media], "wide"),
    item.caption ? h("div", { class: "caption" }, inline(item.caption, 200)) : null,
    item.subcaption ? h("div", { class: "caption dim" }, inline(item.subcaption, 200)) : null,
    h("div", { class: "turn" }, turn(at - 1, "Former"), h("span", { class: "pages" },
      `Page ${at + 1} of ${items.length}`), turn(at + 1, "Next")));
}

/** The address of a stored picture; null for everything that is not one. */
export function source(item) {
  if (item?.status !== "stored" || !/^[0-9a-f]{64}$/.test(item.sha256 ?? "")) return null;
  if (item.contentType && !pictures.includes(item.contentType)) return null;
  const query = /\?([\w=&%.-]+)$/.exec(item.href ?? "")?.[1];
  return `media/${item.sha256}${query ? `?${query}` : ""}`;
}

function picture(context, item, size) {
  const broken = context.local.broken ??= new Set();
  const address = source(item);
  if (!address || broken.has(address)) return h("div", { class: `${size} nopicture` }, why(item, broken.has(address)));
  const fail = () => { broken.add(address); context.redraw(); };
  const words = item.width ? `Picture of the notification, ${item.width} × ${item.height} pixels`
    : "Picture of the notification";
  return h("img", { class: size, src: address, alt: words, onerror: fail, key: address });
}

function why(item, isBroken) {
  if (!item) return "No picture";
  if (isBroken) return "The stored file is no longer there";
  if (item.status === "stored") return `Not a picture: ${visible(item.contentType ?? "unknown type", 60)}`;
  return `Not stored: ${visible(item.status ?? "not requested", 40)}${item.reason ? `, ${visible(item.reason, 80)}` : ""}`;
}
