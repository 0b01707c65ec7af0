// The settings: grouped rows, each of which takes effect at once and can be undone.

import { subscribe, unsubscribe } from "./closed.js";
import { button, el, icon, said, View } from "./dom.js";
import { drafts } from "./drafts.js";
import { Endpoints } from "./endpoints.js";
import { gateway } from "./gateway.js";
import { assignment, caption, deviceChange, groups, override } from "./preferences.js";
import { limits } from "./state.js";
import { plain } from "./words.js";

/** The settings that need a permission of the browser. */
const notifying = ["device.notices", "device.closed"];

const refused = "The browser does not permit notifications of this page";

/** The limits of the history, in words. */
const kept = `The newest ${limits.entries.toLocaleString("en")} notifications and up to ${limits.alerts} open alerts are kept in this browser. `
  + "Older ones are removed.";

class Settings extends View {
  #known = "";
  /** The values that were sent last, with the error if they were refused: {value, error}. */
  #sent = new Map();
  #isDrawing = false;
  #forms = null;
  #endpoints = null;
  #size = el("span");
  #visit = 0;

  update() {
    const { state, place, visit } = this.phone;
    this.#endpoints ??= new Endpoints(this.phone);
    this.#endpoints.update(state.apps);
    if (visit !== this.#visit) {
      this.#readSize();
      this.#endpoints.read();
    }
    this.#visit = visit;
    const key = JSON.stringify([state.preferences, state.device, state.apps.map(({ topic, name, standing }) => [topic, name, standing])]);
    if (key === this.#known && place.row === this.row) return;
    [this.#known, this.row] = [key, place.row];
    const { id: focused, selectionStart: start, selectionEnd: end } = document.activeElement ?? {};
    this.#isDrawing = true;
    this.show(el("h1", {}, "Settings"), groups(state).map((group) => this.#group(group)), this.#adding(), this.#endpoints.element, this.#session());
    this.#isDrawing = false;
    const target = (place.row && document.getElementById(place.row)) || (this.contains(document.activeElement) || document.getElementById(focused));
    if (place.row && target.scrollIntoView) {
      target.scrollIntoView({ block: "center" });
      place.row = this.row = "";
    }
    target?.focus?.();
    // A text that is being typed keeps its position.
    if (typeof start === "number" && target.id === focused) target.setSelectionRange?.(start, end);
  }

  #group({ title, app, rows }) {
    return el("section", { "aria-label": plain(title) }, el("h2", {}, app ? icon(app, "tiny") : "", said("span", plain(title))),
      el("div.card", {}, rows.map((row) => this.#row(row))),
      app ? button(`Stop Receiving ${plain(app.name)} …`, () => this.phone.commands.stopReceiving(app), { className: "plain destructive" }) : "");
  }

  #row(row) {
    const help = `help/${row.id}`;
    const isRefused = notifying.includes(row.name) && row.value === "on" && globalThis.Notification?.permission !== "granted";
    const error = this.#sent.get(row.id)?.error;
    const reason = isRefused ? refused : override(row, this.phone.state);
    return el("div.setting", {}, el("label", { for: row.id }, said("span", plain(row.title))), this.#control(row, help),
      el("p.help", { id: help }, row.help, reason ? el("b", {}, ` ${plain(reason)}.`) : ""),
      error ? el("p.error", { role: "alert" }, error) : "", this.#unsaved(row));
  }

  /** Names the value of a setting while its field has another text, which is not saved. */
  #unsaved(row) {
    const text = row.kind === "text" ? drafts.get(row.id) ?? row.value : row.value;
    if (text === row.value) return "";
    const discard = button("Discard", () => {
      drafts.delete(row.id);
      this.#sent.delete(row.id);
      this.#redraw();
    }, { className: "plain small", "aria-label": `Discard the text of ${plain(row.title)}`, onpointerdown: (event) => event.preventDefault() });
    return el("p.help.unsaved", {}, "Not saved. The setting is ", said("b", row.value), ". ", discard);
  }

  #redraw() {
    this.#known = "";
    this.phone.update();
  }

  #control(row, help) {
    const common = { id: row.id, "aria-describedby": help };
    if (row.kind === "fact") return el("output", { ...common, dir: "auto" }, row.value);
    if (row.kind === "switch") {
      return el("input", {
        ...common, type: "checkbox", role: "switch", checked: row.value === "on",
        onchange: (event) => this.#set(row, event.target.checked ? "on" : "off"),
      });
    }
    if (row.kind === "choice") {
      return el("select", { ...common, onchange: (event) => this.#set(row, event.target.value) },
        row.values.map((value) => el("option", { value, selected: value === row.value }, caption(row, value))));
    }
    const field = el("input", {
      ...common, type: "text", value: drafts.get(row.id) ?? row.value, placeholder: row.hint, dir: "auto", maxLength: 4000,
      oninput: () => drafts.set(row.id, field.value),
      onblur: () => this.#leave(row, field.value),
      onkeydown: (event) => event.key === "Enter" && this.#leave(row, field.value, true),
    });
    return field;
  }

  /** Sends a text when its field is left, or with Enter; a text that was refused is sent again only with Enter. */
  #leave(row, text, isAgain = false) {
    if (this.#isDrawing || drafts.get(row.id) === undefined) return undefined;
    const value = text.trim() || "off";
    const sent = this.#sent.get(row.id);
    if (value !== row.value) return sent?.value === value && !(isAgain && sent.error) ? undefined : this.#set(row, value);
    drafts.delete(row.id);
    this.#sent.delete(row.id);
    return this.#redraw();
  }

  /** Changes a setting; the change can be undone. A typed text stays if the gateway refuses it. */
  async #set(row, value) {
    const wasRefused = this.#sent.get(row.id)?.error !== undefined;
    this.#sent.set(row.id, { value });
    const change = async (wanted) => {
      if (row.name === "device.closed") await (wanted === "on" ? subscribe(this.phone.state.device) : unsubscribe());
      if (row.name.startsWith("device.")) return this.phone.set(deviceChange(row, wanted));
      await gateway.assign(assignment(row, wanted));
      drafts.delete(row.id);
      return undefined;
    };
    try {
      // The browser asks only after a click or a key.
      if (notifying.includes(row.name) && value === "on" && (await globalThis.Notification?.requestPermission()) !== "granted") {
        throw new Error(`${refused}: permit them in its settings.`);
      }
      await change(value);
      const name = plain(row.title);
      this.phone.commands.undoable(`Change ${name}`, () => change(row.value), () => change(value), `Changed ${name} to ${caption(row, value)}`);
      this.#sent.delete(row.id);
      // The gateway's new preferences draw the value; the error of an earlier attempt is removed in any case.
      if (wasRefused) this.#redraw();
    } catch (error) {
      this.#sent.set(row.id, { value, error: error.message });
      this.#redraw();
    }
  }

  /** The forms for another app and another Focus are made once, so that they keep a typed text. */
  #adding() {
    this.#forms ??= [
      this.#form("topic", "Add an app by its topic", "com.example.news", async (topic) => {
        await gateway.register(topic);
        this.phone.link.reconnect();
      }),
      this.#form("focus", "Add a Focus by its name", "work", async (name) => {
        const assign = (value) => gateway.assign({ settings: [`focus.${name}=${value}`] });
        await assign("none");
        this.phone.commands.undoable(`Add Focus ${plain(name)}`, () => assign("off"), () => assign("none"), `Added the Focus ${plain(name)}`);
      }),
    ];
    return el("section", { "aria-label": "Apps and Focus" }, el("h2", {}, "Apps and Focus"), this.#forms);
  }

  /** A form with one field. Its text stays until it is added. */
  #form(id, title, hint, add) {
    const error = el("p.error", { role: "alert" });
    const field = el("input", {
      type: "text", id, placeholder: hint, dir: "ltr", maxLength: 255, required: true, value: drafts.get(id) ?? "", oninput: () => drafts.set(id, field.value),
    });
    const onsubmit = async (event) => {
      event.preventDefault();
      error.textContent = "";
      try {
        await add(field.value.trim());
        field.value = "";
        drafts.delete(id);
      } catch (problem) {
        error.textContent = problem.message;
      }
    };
    return el("form.card", { onsubmit }, el("label", { for: id }, title), field, el("button", {}, "Add"), error);
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
