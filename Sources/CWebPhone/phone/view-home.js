// The home screen: the apps with their badges, and the state of the device.

import { button, el, icon, said, View } from "./dom.js";
import { clock } from "./words.js";

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
      el("p.note", {}, "Pushes arrive while this page is open. The gateway keeps later ones for the next visit."));
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

/** The line with the state of the connection. */
class Status extends View {
  update() {
    const { status } = this.phone;
    if (status.state === "connected" || status.state === "connecting") {
      const words = status.state === "connected" ? this.phone.state.device.name || "Connected" : "Connecting …";
      this.show(el(`span.dot.${status.state}`, { "aria-hidden": "true" }), el("span.device", { dir: "auto" }, words),
        el("span.hidden", {}, status.state === "connected" ? " connected" : ""));
      return;
    }
    const words = status.state === "follower" ? "Connected in another tab"
      : status.last ? `Last connected at ${clock(status.last)}` : "Not connected yet";
    this.show(el("span.dot", { "aria-hidden": "true" }), el("span", {}, words),
      status.state === "disconnected" ? button("Try Now", () => this.phone.command("retry"), { className: "small" }) : null);
  }
}

customElements.define("push-home", Home);
customElements.define("push-status", Status);
