// The home screen: the apps with their badges, and the state of the device.

import { button, el, icon, said, View } from "./dom.js";
import { clock, plain } from "./words.js";

class Home extends View {
  update() {
    const { state } = this.phone;
    const apps = state.apps.map((app) => el("li", {}, el("a.app", {
      href: `#/center?scope=app:${encodeURIComponent(app.topic)}`,
      "aria-label": app.badge ? `${app.name}, ${app.badge} waiting` : app.name,
    }, icon(app), said("span.name", app.name), app.badge ? el("span.badge", {}, String(app.badge)) : "")));
    this.show(
      el("h1.hidden", {}, "Home"), this.#switches(state), this.#dropped(state),
      apps.length ? el("ul.apps", {}, apps) : el("p.empty", {}, "No apps yet. ", el("a", { href: "#/settings?row=topic" }, "Add one in Settings."), " Its sender then reaches this device."),
      el("p.note", {}, this.#advice()), el("p.note", {}, el("a", { href: "#/why" }, "Pushes that were not shown")));
  }

  #advice() {
    if (this.phone.status.state !== "disconnected") return "Pushes arrive while this page is open. The gateway keeps later ones for the next visit.";
    return navigator.onLine === false ? "This machine has no network. The page connects again as soon as it has one."
      : "The gateway does not answer: it is stopped, or out of reach. The page connects again automatically, and new pushes arrive then.";
  }

  #switches(state) {
    const focuses = Object.keys(state.preferences.focus ?? {}).sort();
    const { focus } = state.device;
    if (focus && !focuses.includes(focus)) focuses.unshift(focus);
    const select = el("select", { onchange: () => this.phone.set({ focus: select.value }), "aria-label": "Focus" },
      el("option", { value: "" }, "No Focus"), focuses.map((name) => el("option", { value: name, selected: name === focus }, name)));
    return el("div.switches", {},
      button(state.device.isSilent ? "✓ Silent" : "Silent", () => this.phone.set({ isSilent: !state.device.isSilent }), {
        "aria-pressed": String(state.device.isSilent),
      }),
      focuses.length ? select : "");
  }

  #dropped(state) {
    if (!state.dropped) return null;
    const words = state.dropped === 1 ? "1 push was dropped" : `${state.dropped} pushes were dropped`;
    return el("p.notice", {}, `${words}: the device was away for too long. `, button("OK", () => this.phone.command("noteDropped")));
  }
}

/** The line with the state of the connection, which another tab may have. */
class Status extends View {
  update() {
    const { status, state } = this.phone;
    const isUp = status.state === "connected" || status.state === "connecting" || status.state === "follower";
    const words = status.state === "connecting" ? "Connecting …" : isUp ? `Connected${status.isElsewhere || status.state === "follower" ? " in another tab" : ""}`
      : status.last ? `Last connected at ${clock(status.last)}` : "Not connected yet";
    this.show(el(`span.dot.${status.state}`, { "aria-hidden": "true" }), isUp ? said("span.device", plain(state.device.name)) : null, el("span", {}, words),
      status.state === "disconnected" ? button("Try Now", () => this.phone.command("retry"), { className: "small" }) : null);
  }
}

customElements.define("push-home", Home);
customElements.define("push-status", Status);
