// The settings: grouped rows, each of which takes effect at once and can be undone.

import { button, el, icon, said, View } from "./dom.js";
import { gateway } from "./gateway.js";
import { assignment, deviceChange, groups, override } from "./preferences.js";
import { limits } from "./state.js";
import { plain } from "./words.js";

const refused = "The browser does not permit notifications of this page";

/** The limits of the history, in words. */
const kept = `The newest ${limits.entries.toLocaleString("en")} notifications and up to ${limits.alerts} open alerts are kept in this browser. `
  + "Older ones are removed.";

class Settings extends View {
  #known = "";
  #drafts = new Map();
  #errors = new Map();
  #form = null;
  #size = el("span");
  #visit = 0;

  update() {
    const { state, place, visit } = this.phone;
    if (visit !== this.#visit) this.#readSize();
    this.#visit = visit;
    const key = JSON.stringify([state.preferences, state.device, state.apps.map(({ topic, name }) => [topic, name]), [...this.#errors]]);
    if (key === this.#known && place.row === this.row) return;
    [this.#known, this.row] = [key, place.row];
    const focused = document.activeElement?.id;
    this.show(el("h1", {}, "Settings"), groups(state).map((group) => this.#group(group)), this.#apps(), this.#session());
    const target = (place.row && document.getElementById(place.row)) || (this.contains(document.activeElement) || document.getElementById(focused));
    if (place.row && target.scrollIntoView) {
      target.scrollIntoView({ block: "center" });
      place.row = this.row = "";
    }
    target?.focus?.();
  }

  #group({ title, app, rows }) {
    return el("section", { "aria-label": plain(title) }, el("h2", {}, app ? icon(app, "tiny") : "", said("span", plain(title))),
      el("div.card", {}, rows.map((row) => this.#row(row))),
      app ? button(`Stop Receiving ${plain(app.name)} …`, () => this.phone.commands.stopReceiving(app), { className: "plain destructive" }) : "");
  }

  #row(row) {
    const help = `help/${row.id}`;
    const isRefused = row.name === "device.notices" && row.value === "on" && globalThis.Notification?.permission !== "granted";
    const reason = isRefused ? refused : override(row, this.phone.state);
    return el("div.setting", {}, el("label", { for: row.id }, said("span", plain(row.title))), this.#control(row, help),
      el("p.help", { id: help }, row.help, reason ? el("b", {}, ` ${plain(reason)}.`) : ""),
      this.#errors.has(row.id) ? el("p.error", { role: "alert" }, this.#errors.get(row.id)) : "");
  }

  #control(row, help) {
    const common = { id: row.id, "aria-describedby": help };
    if (row.kind === "switch") {
      return el("input", {
        ...common, type: "checkbox", role: "switch", checked: row.value === "on",
        onchange: (event) => this.#set(row, event.target.checked ? "on" : "off"),
      });
    }
    if (row.kind === "choice") {
      return el("select", { ...common, onchange: (event) => this.#set(row, event.target.value) },
        row.values.map((value) => el("option", { value, selected: value === row.value }, value)));
    }
    const field = el("input", {
      ...common, type: "text", value: this.#drafts.get(row.id) ?? row.value, placeholder: row.hint, dir: "auto",
      oninput: () => this.#drafts.set(row.id, field.value),
      onchange: () => this.#set(row, field.value.trim() || "off"),
    });
    return field;
  }

  /** Changes a setting; the change can be undone. What was typed stays if the gateway refuses it. */
  async #set(row, value) {
    this.#errors.delete(row.id);
    const change = async (wanted) => {
      if (row.name.startsWith("device.")) return this.phone.set(deviceChange(row, wanted));
      await gateway.assign(assignment(row, wanted));
      this.#drafts.delete(row.id);
      return undefined;
    };
    try {
      // The browser asks only after a click or a key.
      if (row.name === "device.notices" && value === "on" && (await globalThis.Notification?.requestPermission()) !== "granted") {
        throw new Error(`${refused}: permit them in its settings.`);
      }
      await change(value);
      const name = plain(row.title);
      this.phone.commands.undoable(`Change ${name}`, () => change(row.value), () => change(value), `Changed ${name} to ${value}`);
    } catch (error) {
      this.#errors.set(row.id, error.message);
      this.#known = "";
      this.phone.update();
    }
  }

  /** The form for another app is made once, so that it keeps what was typed. */
  #apps() {
    this.#form ??= this.#adding();
    return el("section", { "aria-label": "Apps" }, el("h2", {}, "Apps"), this.#form);
  }

  #adding() {
    const error = el("p.error", { role: "alert" });
    const field = el("input", { type: "text", id: "topic", placeholder: "com.example.news", dir: "ltr", maxLength: 255 });
    const add = async (event) => {
      event.preventDefault();
      error.textContent = "";
      try {
        await gateway.register(field.value.trim());
        field.value = "";
        this.phone.link.reconnect();
      } catch (problem) {
        error.textContent = problem.message;
      }
    };
    return el("form.card", { onsubmit: add }, el("label", { for: "topic" }, "Add an app by its topic"), field, el("button", {}, "Add"), error);
  }

  /** The size of the history, which is read with each visit of the settings. */
  #readSize() {
    navigator.storage?.estimate?.().then(({ usage }) => {
      this.#size.textContent = usage ? ` They take ${Math.ceil(usage / 1e6)} MB with the copy of this page.` : "";
    }).catch(() => {});
  }

  #session() {
    return el("section", { "aria-label": "This browser" }, el("h2", {}, "This Browser"),
      el("div.card", {}, said("p", `This browser is the device “${plain(this.phone.state.device.name)}”.`),
        el("p.help", {}, kept, this.#size), button("Sign Out …", () => this.phone.commands.leave(), { className: "plain destructive" }),
        el("p.help", {}, "This ends the session wherever it is open. The device stays enrolled: pushcli devices remove NAME removes it.")));
  }
}

customElements.define("push-settings", Settings);
