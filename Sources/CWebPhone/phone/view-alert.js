// The alert on screen, the action sheet and the help, as dialogs of the page.

import { answer, attentionTime, choices, closeAll, closeChoices, group, offersCloseAll, options, sheetChoices, sheetPosition } from "./alerts.js";
import { button, el, file, icon, isTyping, said, View } from "./dom.js";
import { alertBindings, keyName, sheetBindings } from "./keys.js";
import { offersUnsubscribing } from "./state.js";
import { plain } from "./words.js";

/** The alert: it stays until the user presses a button (A1). */
class AlertView extends View {
  #members = [];
  #key = "";
  #timer = null;

  connectedCallback() {
    if (this.dialog) return;
    this.dialog = el("dialog.alert", {
      role: "alertdialog", "aria-labelledby": "alert-title", "aria-describedby": "alert-text",
      // Escape is the cancelling button (A7), as soon as the alert was on screen long enough.
      oncancel: (event) => { event.preventDefault(); this.#press(choices(this.#members).find(({ id }) => ["close", "ok"].includes(id))); },
      onclose: () => { if (this.#members.length) this.#open(); },
    });
    this.show(this.dialog);
  }

  /** True while an alert is on screen. */
  get isOpen() { return this.#members.length > 0; }

  update() {
    const { alerts } = this.phone.state;
    const members = group(alerts);
    const offers = members.length > 0 && offersUnsubscribing(this.phone.state, members[0].push);
    const key = JSON.stringify([members.map((one) => one.ordinal), alerts.length, offers]);
    if (key === this.#key) return;
    const isOther = members[0]?.ordinal !== this.#members[0]?.ordinal;
    this.#key = key;
    this.#members = members;
    if (!members.length) return void this.dialog.close();
    if (isOther) this.#awaitAttention();
    this.#draw(alerts);
    if (!this.dialog.open) this.#open();
    else if (isOther && this.dialog.matches(":modal")) this.#focus();
    this.phone.notePresented(members);
  }

  /** Ignores keys and clicks until the user has had time to see the alert: they may be meant for the earlier content. */
  #awaitAttention() {
    clearTimeout(this.#timer);
    delete this.dialog.dataset.ready;
    this.#timer = setTimeout(() => { this.dialog.dataset.ready = ""; }, attentionTime);
  }

  get #isReady() { return this.dialog.dataset.ready !== undefined; }

  /** Opens the dialog. While the user types in a field, the field gets the keys until Esc or Tab. */
  #open() {
    if (this.dialog.open || !this.#members.length) return;
    if (!isTyping()) {
      this.dialog.showModal();
      this.#focus();
      return;
    }
    const field = document.activeElement;
    this.dialog.show();
    field.focus();
    const leave = (event) => {
      if (event.type === "keydown" && !["Escape", "Tab"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      field.removeEventListener("keydown", leave);
      field.removeEventListener("blur", leave);
      // A click on a button of the alert is for that button.
      if (!this.#members.length || this.dialog.contains(event.relatedTarget)) return;
      field.blur();
      this.dialog.close();
    };
    field.addEventListener("keydown", leave);
    field.addEventListener("blur", leave);
  }

  #focus() { this.dialog.querySelector(".buttons button:last-child")?.focus(); }

  #draw(alerts) {
    const [first] = this.#members;
    const { alert, app } = first.push;
    const isGroup = this.#members.length > 1;
    const others = alerts.length - this.#members.length;
    const texts = isGroup
      ? el("ul", {}, this.#members.map(({ push }) => el("li", {}, said("b", plain(push.alert.title || push.alert.body)), push.alert.title ? said("span", plain(push.alert.body)) : "")))
      : el("div.texts", {}, alert.subtitle ? said("p.subtitle", plain(alert.subtitle)) : "", alert.body && alert.title ? said("p", plain(alert.body)) : "", file(first.push));
    texts.id = "alert-text";
    texts.className = "texts";
    const title = isGroup ? `${this.#members.length} Notifications` : plain(alert.title || alert.body || "Notification");
    this.dialog.replaceChildren(
      el("div.of", {}, icon(app, "small"), said("span", plain(app.name))), el("div.said", { tabIndex: 0 }, el("h2", { id: "alert-title", dir: "auto" }, title), texts),
      el("div.buttons", {}, choices(this.#members).map((choice, index) => button(plain(choice.title), () => this.#press(choice), {
        className: choice.isDestructive ? "destructive" : index === 1 ? "primary" : "", dir: "auto", "data-keys": { close: "c1", ok: "co1" }[choice.id] ?? "v",
      }))),
      el("div.more", {}, button("Later …", () => this.#snooze(), { className: "plain", "data-keys": "z" }),
        offersUnsubscribing(this.phone.state, first.push) ? button("Unsubscribe …", () => this.#unsubscribe(), { className: "plain", "data-keys": "x" }) : "",
        others > 0 ? el("span", {}, others === 1 ? "1 more" : `${others} more`) : "",
        offersCloseAll(alerts) ? button("Close All …", () => this.#closeAll(), { className: "plain", "data-keys": "C" }) : ""));
  }

  #press(choice) {
    if (!this.#isReady) return;
    const members = this.#members;
    if (choice.id === options) return this.#options(members);
    this.phone.answer(answer(members, choice.id), choice.id === "view" ? members : null);
  }

  async #options(members) {
    const [alert] = members;
    const picked = await this.phone.sheet(sheetChoices(alert));
    const isQueued = this.phone.state.alerts.some((one) => one.ordinal === alert.ordinal);
    if (picked && isQueued) this.phone.answer(answer(members, picked.id), null);
  }

  async #closeAll() {
    if (!this.#isReady) return;
    const picked = await this.phone.sheet(closeChoices(this.phone.state.alerts));
    if (picked) this.phone.answer(closeAll(picked.alerts), null);
  }

  #snooze() {
    if (this.#isReady) this.phone.commands.snooze(this.#members.map(({ ordinal }) => ordinal));
  }

  #unsubscribe() {
    if (this.#isReady && this.#members.length) this.phone.commands.unsubscribe(this.#members[0].push);
  }

  /** Keys of the terminal for the alert on screen. A key presses its button. */
  key({ key }) {
    const own = [...this.dialog.querySelectorAll("[data-keys]")].find((one) => [...one.dataset.keys].includes(key));
    if (own) own.click();
    else if (key === "C" && this.phone.state.alerts.length > 1) this.#closeAll();
    else if (key === "ArrowLeft" || key === "ArrowRight") this.#turn();
    else if (key === "?" && this.#isReady) this.phone.views.help.open([], alertBindings);
  }

  #turn() {
    const all = [...this.dialog.querySelectorAll(".buttons button")];
    all.find((one) => one !== document.activeElement)?.focus();
  }
}

/** The action sheet: its buttons, destructive ones first and red, and Cancel apart (X1 to X5). */
class Sheet extends View {
  /** The button that was pressed last; null after a key that pressed none. */
  #opener = null;

  connectedCallback() {
    if (this.dialog) return;
    this.dialog = this.appendChild(el("dialog.sheet", { "aria-label": "Actions", onclose: () => { if (!this.dialog.open) this.#end(null); } }));
    addEventListener("keydown", () => { this.#opener = null; }, true);
    addEventListener("click", ({ target }) => { if (!this.dialog.open) this.#opener = target.closest("button"); }, true);
    addEventListener("resize", () => this.#place());
  }

  /** Returns the value of the pressed button; null for Cancel. */
  pick(list) {
    this.#end(null);
    const cancel = button("Cancel", () => this.#end(null), { className: "cancel" });
    this.dialog.replaceChildren(
      el("div.choices", {}, list.slice(0, 4).map((choice) => button(plain(choice.title), () => this.#end(choice), { className: choice.isDestructive ? "destructive" : "", dir: "auto" }))), cancel);
    this.dialog.showModal();
    this.#place();
    this.#buttons[0].focus();
    return new Promise((resolve) => { this.resolve = resolve; });
  }

  /** Places the sheet on a wide page at the button that opened it, and otherwise at the lower edge. */
  #place() {
    const { dialog } = this;
    if (!dialog.open) return;
    const edges = matchMedia("(min-width: 45rem)").matches && this.#opener?.isConnected ? this.#opener.getBoundingClientRect() : null;
    dialog.classList.toggle("anchored", edges !== null);
    const { left, top } = edges ? sheetPosition(edges, { width: dialog.offsetWidth, height: dialog.offsetHeight }, { width: innerWidth, height: innerHeight }) : {};
    dialog.style.left = edges ? `${left}px` : "";
    dialog.style.top = edges ? `${top}px` : "";
  }

  get #buttons() { return [...this.dialog.querySelectorAll("button")]; }

  /** Handles a key: arrows move the focus, digits choose a button. */
  key(event) {
    const all = this.#buttons;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const number = Number(event.key);
    if (step) all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
    else if (number >= 1 && number <= all.length) all[number - 1].click();
    else if (event.key === "?") this.phone.views.help.open([], sheetBindings);
  }

  #end(choice) {
    const { resolve } = this;
    this.resolve = null;
    if (this.dialog.open) this.dialog.close();
    resolve?.(choice);
  }
}

/** The list of keys that apply now. */
class Help extends View {
  connectedCallback() { this.dialog ??= this.appendChild(el("dialog.help", { "aria-label": "Keys" })); }

  open(list, ...dialogs) {
    const others = dialogs.flatMap(({ title, list: keys }) => keys.map(([names, words]) => ({ keys: names, words: `${title}: ${words}` })));
    this.dialog.replaceChildren(
      el("div.head", {}, el("h2", {}, "Keys"), button("Done", () => this.dialog.close(), { className: "primary" })),
      el("dl", {}, [...list, ...others].map(({ keys, words }) => [el("dt", {}, keys.map((key) => el("kbd", {}, keyName(key)))), el("dd", {}, words)])));
    this.dialog.showModal();
  }
}

customElements.define("push-alert", AlertView);
customElements.define("push-sheet", Sheet);
customElements.define("push-help", Help);
