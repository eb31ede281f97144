// A client of Signalbox's in-app messages for a web page: it reports events, shows what the gateway offers, and reports
// what became of it. It has no dependency and no build step. Serve it from the origin of the gateway's reverse proxy,
// which adds the source token, so the page holds no secret.

/** An https link, or null: messages come from vendors and must not run scripts. */
export function safeLink(text) {
  try {
    const url = new URL(text);
    return url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

export class InAppClient {
  /**
   * `present(offer, report)` shows a message and returns false if it cannot. `report(outcome, details)` tells the
   * gateway. `user` is null for an anonymous user. `request` and `later` are for tests.
   */
  constructor({
    device, user = null, present,
    // Browsers reject fetch and setTimeout as methods of another object.
    request = (...all) => fetch(...all), later = (...all) => setTimeout(...all),
  }) {
    Object.assign(this, { device, user, present, request, later, screen: undefined, visible: new Set(), poll: null });
  }

  /** Reports an event such as `{type: "sessionStart"}` and shows the message that the gateway offers for it. */
  async trigger(event) {
    const body = { triggerId: crypto.randomUUID(), device: this.device, event, state: this.state() };
    if (this.user !== null) body.user = this.user;
    await this.accept(await this.post("/v1/inapp/triggers", body));
  }

  state() {
    const page = globalThis.document;
    const portrait = globalThis.innerHeight >= globalThis.innerWidth;
    return {
      foreground: page?.visibilityState !== "hidden", screen: this.screen, platform: "web",
      orientation: page ? (portrait ? "portrait" : "landscape") : undefined, visible: [...this.visible],
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
  }

  /** Shows the offer of an answer, and asks again when the gateway says so. */
  async accept(answer) {
    if (answer?.nextCheck) {
      clearTimeout(this.poll);
      // By the gateway's clock: that of the device may be wrong.
      const wait = Math.max(1000, Date.parse(answer.nextCheck) - answer.now);
      // Browsers count waits in 32 bits.
      this.poll = this.later(() => this.trigger({ type: "poll" }), Math.min(wait, 2 ** 31 - 1));
    }
    const offer = answer?.offer;
    if (!offer || this.visible.has(offer.id)) return;
    const report = (outcome, details = {}) => this.report(offer, outcome, details);
    if (this.present(offer, report)) {
      this.visible.add(offer.id);
      await report("shown");
    } else {
      await report("template-unknown");
    }
  }

  /** Reports an outcome. The answer may hold the next offer. */
  async report(offer, outcome, details = {}) {
    if (outcome !== "shown") this.visible.delete(offer.id);
    const body = { reportId: crypto.randomUUID(), device: this.device, outcome, ...details };
    await this.accept(await this.post(`/v1/inapp/offers/${encodeURIComponent(offer.id)}/outcome`, body));
  }

  /** Sends a request up to three times; the ids in the body make a repeat harmless. Null after a failure. */
  async post(path, body) {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        const response = await this.request(path, {
          method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), keepalive: true,
        });
        if (response.ok) return { now: Date.parse(response.headers.get("date")) || Date.now(), ...await response.json() };
        if (response.status !== 429 && response.status < 500) {
          console.warn("signalbox:", path, response.status, await response.text());
          return null;
        }
      } catch (error) {
        console.warn("signalbox:", path, error);
      }
      await new Promise((done) => this.later(done, 500 * 2 ** attempt));
    }
    return null;
  }
}

/** Shows modals, bars and banners with `content: {title, text, image, buttons: [{id, label, url}]}`. */
export function presentIn(page) {
  const element = (name, text, parent) => {
    const made = page.createElement(name);
    // Never markup: the content comes from outside.
    if (text) made.textContent = text;
    parent?.append(made);
    return made;
  };
  return ({ message, report: outcomes }, report) => {
    if (!["modal", "fullscreen", "walkthrough", "bar", "banner"].includes(message.kind)) return false;
    const { title, text, image } = message.content ?? {};
    const buttons = Array.isArray(message.content?.buttons) ? message.content.buttons.slice(0, 4) : [];
    const canClose = outcomes.includes("dismissed");
    if (!canClose && buttons.length === 0) return false;
    const box = element("section");
    box.className = `signalbox ${message.kind}`;
    box.setAttribute("role", message.kind === "modal" ? "dialog" : "status");
    const finish = (...outcome) => {
      box.remove();
      report(...outcome);
    };
    if (safeLink(image)) element("img", null, box).src = safeLink(image);
    element("h2", title ?? message.id, box);
    if (text) element("p", text, box);
    for (const { id, label, url } of buttons) {
      element("button", label ?? id, box).onclick = () => {
        finish("clicked", { button: String(id) });
        if (safeLink(url)) page.defaultView.open(safeLink(url), "_blank", "noopener");
      };
    }
    // A mandatory message has no way out but its buttons.
    if (canClose) element("button", "Close", box).onclick = () => finish("dismissed", { how: "user" });
    page.body.append(box);
    return true;
  };
}
