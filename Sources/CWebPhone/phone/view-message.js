// One push with its texts and its events, and the suppressed pushes, each with the switch that would show it.

import { selected } from "./center.js";
import { button, el, file, icon, link, said, View } from "./dom.js";
import { gateway } from "./gateway.js";
import { rowID } from "./preferences.js";
import { headline, listed, offersUnsubscribing, undecidedCategory } from "./state.js";
import { answerWords, exact, history, moment, plain, reasons } from "./words.js";

/** Returns a reason in words, with a link to the setting. */
function why({ part, words, setting }) {
  const target = setting && rowID(setting.name, setting.app, setting.category);
  return el("span", {}, `No ${part}: ${plain(words)}. `,
    target ? el("a", { href: `#/settings?row=${encodeURIComponent(target)}` }, "Show the switch") : "");
}

class Message extends View {
  #shown = null;
  #steps = null;

  update() {
    const { state, place, views } = this.phone;
    const ordinal = selected(place, views.center);
    const entry = state.entries.find((one) => one.ordinal === ordinal);
    const key = entry && JSON.stringify([entry.ordinal, entry.isRead, entry.answer, place.showsPayload, state.pending.length, state.alerts.length,
      offersUnsubscribing(state, entry.push), undecidedCategory(state, entry.push)]);
    if (key === this.#shown && entry) return;
    this.#shown = key;
    if (!entry) return this.show(el("p.empty", {}, "No notification is selected."));
    if (this.#steps?.ordinal !== entry.ordinal) this.#steps = { ordinal: entry.ordinal, list: el("ol.steps") };
    this.#draw(entry, state);
  }

  #draw(entry, state) {
    const { push } = entry;
    const alert = listed(push);
    const facts = [
      answerWords(entry),
      push.newCategory && `Kept in the center: the category ${plain(push.newCategory)} is new`,
      push.budget !== null && `Kept in the center: more than ${push.budget} alerts an hour`,
      push.held && (push.held.by === "summary" ? "Kept for the summary" : "Kept in the center: the app had used up its alerts"),
      push.level !== "active" && `Level: ${plain(push.level)}`, push.thread && `Thread: ${plain(push.thread)}`,
    ].filter(Boolean);
    const queued = state.alerts.find((one) => one.ordinal === entry.ordinal);
    this.show(
      el("header", {}, button("Back", () => this.phone.command("back"), { className: "plain back" }),
        icon(push.app, "small"), said("span.name", plain(push.app.name)),
        el("time", { dateTime: new Date(push.received).toISOString(), title: exact(push.received) }, moment(push.received, Date.now()))),
      said("h1", plain(alert?.title || headline(push))), alert?.subtitle ? said("p.subtitle", plain(alert.subtitle)) : null,
      alert?.title && alert.body ? said("p.body", plain(alert.body)) : null,
      push.link ? el("p", {}, link(push.link)) : null, file(push), ...facts.map((fact) => said("p.fact", fact)),
      this.#pending(push, state, queued),
      el("div.actions", {},
        button("Clear", () => this.phone.command("clear"), { className: "destructive" }),
        button("Copy", () => this.phone.command("copy")), alert ? button("Later …", () => this.phone.command("snooze"), { "data-command": "snooze" }) : "", alert ? button("Report as Advertising", () => this.phone.command("reportAd")) : "",
        undecidedCategory(state, push) ? button("New Category …", () => this.phone.command("permitCategory"), { className: "primary", "data-command": "permitCategory" }) : "",
        offersUnsubscribing(state, push) ? button("Unsubscribe …", () => this.phone.command("unsubscribe"), { "data-command": "unsubscribe" }) : ""),
      el("details", { ontoggle: (event) => event.target.open && this.#load(push) }, el("summary", {}, "Events of this push"), this.#steps.list),
      el("details", { open: this.phone.place.showsPayload }, el("summary", {}, "Payload"), el("pre", { dir: "ltr", tabIndex: 0 }, plain(push.payload))));
  }

  #pending(push, state, queued) {
    const own = state.pending.find(({ id }) => id === push.id);
    const actions = listed(push)?.actions ?? [];
    if (queued && actions.length) return el("p.fact", {}, "Not answered yet");
    if (!own) return null;
    const title = actions.find(({ id }) => id === own.action)?.title ?? own.action;
    return el("p.fact", {}, `Answered here: ${plain(title)}, which the gateway has not confirmed`);
  }

  /** Reads the steps of the push from the delivery log. */
  async #load(push) {
    const { list } = this.#steps;
    if (list.childElementCount) return;
    list.replaceChildren(el("li", {}, "Reading the log …"));
    try {
      const found = history(await gateway.log({ id: push.id, limit: "50" }));
      list.replaceChildren(...found.map((step) => el("li", {}, el("b", {}, step.title), " ", el("span.time", { dir: "auto" }, step.time),
        step.detail ? el("span.detail", { dir: "auto" }, plain(step.detail)) : "", step.reasons.map(why))));
    } catch (error) {
      list.replaceChildren(el("li", {}, error.message));
    }
  }
}

class Why extends View {
  #read = 0;

  async update() {
    if (this.#read === this.phone.visit) return;
    this.#read = this.phone.visit;
    const list = el("ul.why", {}, el("li", {}, "Reading the log …"));
    this.show(el("header", {}, button("Back", () => this.phone.command("back"), { className: "plain back" }), el("h1", {}, "Not Shown")),
      el("p.note", {}, "The last pushes of which your preferences removed a part."), list);
    try {
      const rows = await gateway.log({ event: "suppressed", limit: "50" });
      rows.sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
      if (!rows.length) return list.replaceChildren(el("li", {}, "Every push was shown as its sender asked."));
      list.replaceChildren(...rows.map((row) => this.#row(row)));
      // The row of the delivery has the text, if the preference log-text keeps it.
      const sent = await gateway.log({ event: "transmitted", limit: "200" });
      const texts = new Map(sent.map((row) => [row.id, row.text]));
      list.replaceChildren(...rows.map((row) => this.#row({ ...row, text: texts.get(row.id) })));
    } catch (error) {
      list.replaceChildren(el("li", {}, error.message));
    }
  }

  #row(row) {
    const { state } = this.phone;
    const app = state.apps.find((one) => one.topic === row.topic) ?? { topic: row.topic ?? "", name: row.topic ?? "", icon: "" };
    const entry = state.entries.find(({ push }) => push.id === row.id);
    const title = entry ? headline(entry.push) : (row.text ?? "").split("\n")[0];
    return el("li", {}, icon(app, "small"), el("span.texts", {},
      el("span", {}, said("b", plain(app.name)), " ", el("time", { dateTime: row.at, title: exact(row.at) }, moment(Date.parse(row.at), Date.now()))),
      title ? said("span", plain(title)) : "", reasons(row.detail ?? "").map(why)));
  }
}

customElements.define("push-message", Message);
customElements.define("push-why", Why);
