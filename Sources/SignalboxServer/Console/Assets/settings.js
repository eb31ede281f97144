// Settings: the token, times, theme and motion of this browser; the config of the gateway with its last refusals.
import { h } from "./h.js";
import { get, isKept, optional, session, signIn, whyNot } from "./api.js";
import { clockDifference, gatewayTime, hint, inline, prefer, prefs, span, timeText, visible } from "./text.js";
import { change, facts, problem, section } from "./ui.js";
import { active, history } from "./routes.js";

/** Reads the state of the config. */
export async function load({ signal }) {
  const [list, past] = await Promise.all([whyNot("reader") ? null : get("routes", {}, signal), whyNot("admin") ? null
    : optional("config/history", {}, signal)]);
  return { config: list?.config, history: past?.history };
}

/** The page. */
export function view({ data, error, redraw }) {
  const who = session.who;
  return [h("h1", null, "Settings"), problem(error),
    section("Token", facts(["Name", inline(who?.name)], ["Role", inline(who?.role)],
      ["Texts of notifications", who?.content ? "may be read" : "hidden by the gateway"],
      ["Gateway", `Signalbox ${visible(who?.version ?? "", 40)}`],
      ["Kept", session.token ? (isKept() ? "in sessionStorage of this tab" : "in memory, until this page is left")
        : who?.open ? "the gateway needs no token from this machine" : "no token"]),
    session.token || !who?.open ? h("div", { class: "buttons" },
      h("button", { onclick: leave }, "Sign out"),
      h("button", { onclick: () => { signInAgain(); redraw(); } }, isKept() ? "Keep it in memory only"
        : "Keep it for this tab")) : null),
    section("Display",
      choice("Times", "zone", [["utc", "UTC"], ["local", "local time"]], () => change({ tz: prefs.zone })),
      choice("Times as", "relative", [[false, "clock"], [true, "age, with the clock"]], redraw),
      choice("Theme", "theme", [["auto", "as the system"], ["light", "light"], ["dark", "dark"]], redraw),
      choice("Motion", "motion", [["auto", "as the system"], ["reduced", "reduced"]], redraw),
      clockWords(),
      hint(`It is ${timeText(gatewayTime())}. These choices stay in this browser; `,
        "the token does not, unless you choose so.")),
    data?.config ? section("Config", active(data.config),
      whyNot("admin") ? h("p", { class: "denied" }, `History: ${whyNot("admin")}.`) : history(data.history)) : null];
}

function clockWords() {
  const seconds = clockDifference();
  return seconds ? h("p", { class: "problem soft" }, `The clock of this browser is ${span(Math.abs(seconds))} `,
    `${seconds < 0 ? "ahead of" : "behind"} the gateway's. The console uses the gateway's clock.`) : null;
}

function choice(label, name, options, after) {
  return h("label", { class: "choice" }, h("span", null, label),
    h("select", { value: String(prefs[name]),
      onchange: (event) => { prefer({ [name]: options.find(([value]) =>
      String(value) === event.target.value)[0] }); after(); } },
      options.map(([value, words]) => h("option", { value: String(value) }, words))));
}

function leave() {
  signIn(null, false);
  dispatchEvent(new Event("signalbox:signin"));
}

function signInAgain() {
  const who = session.who;
  signIn(session.token, !isKept());
  session.who = who;
}
