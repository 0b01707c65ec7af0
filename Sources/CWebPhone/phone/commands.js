// The commands that keys and buttons give.

import { snoozeEnd, snoozeTimes } from "./alerts.js";
import { selected } from "./center.js";
import { button, el, frontDialog, isTyping } from "./dom.js";
import { gateway } from "./gateway.js";
import { alertBindings, bindings, commandOf, sheetBindings } from "./keys.js";
import { headline, isLink, listed, offersUnsubscribing, undecidedCategory } from "./state.js";
import { Steps } from "./undo.js";
import { exact, plain } from "./words.js";

const toastTime = 8000;
/** The number of entries that one change restores. */
const restoredPage = 250;

const short = (push) => `“${plain(headline(push)).slice(0, 24)}”`;

export class Commands {
  #phone;
  #steps = new Steps();
  #timer = null;

  constructor(phone) {
    this.#phone = phone;
    addEventListener("keydown", (event) => this.#key(event));
  }

  /** The keys that are possible now. */
  get bindings() {
    const { place, state, status } = this.#phone;
    const entry = this.#entry();
    return bindings({
      screen: place.screen, hasEntry: entry !== undefined, isUnread: entry?.isRead === false, hasLink: entry?.push.link != null,
      hasMarketing: entry !== undefined && offersUnsubscribing(state, entry.push),
      hasNewCategory: entry !== undefined && undecidedCategory(state, entry.push) !== null,
      undo: this.#steps.undoTitle, redo: this.#steps.redoTitle, isConnected: status.state !== "disconnected", dropped: state.dropped,
    });
  }

  #entry() {
    const { place, state, views } = this.#phone;
    return state.entries.find((entry) => entry.ordinal === selected(place, views.center));
  }

  #key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const front = frontDialog(event.target);
    if (front) return void front.closest("push-alert, push-sheet")?.key(event);
    if (isTyping()) {
      if (event.key === "Escape") document.activeElement.blur();
      return;
    }
    if ([" ", "Enter"].includes(event.key) && document.activeElement?.matches("button, summary, a, input")
      && !document.activeElement.closest("push-center .row.entry")) return;
    const command = commandOf(this.bindings, event.key);
    if (!command) return;
    event.preventDefault();
    // A key presses the button of its command: an action sheet is shown at the button.
    const own = this.#phone.main.querySelector(`[data-command=${command}]`);
    if (own?.checkVisibility()) own.click(); else this.run(command);
  }

  run(name) {
    const phone = this.#phone;
    const { views, place, journal } = phone;
    const entry = this.#entry();
    const simple = {
      home: () => phone.go("#/home"), center: () => phone.go("#/center"), settings: () => phone.go("#/settings"), why: () => phone.go("#/why"),
      help: () => views.help.open(this.bindings, alertBindings, sheetBindings), retry: () => phone.link.retry(), silent: () => phone.set({ isSilent: !phone.state.device.isSilent }),
      undo: () => this.#turn("undo"), redo: () => this.#turn("redo"),
      noteDropped: () => journal.append([{ type: "gapNoted" }]), payload: () => { place.showsPayload = !place.showsPayload; phone.update(); },
      back: () => (place.screen === "home" ? undefined : phone.go(place.screen === "message" ? phone.found() : "#/home")),
      search: () => { if (place.screen !== "center") phone.go("#/center"); setTimeout(() => views.center.search.focus()); },
      clearAll: () => this.#clearAll(), nextGroup: () => views.center.jump(1), previousGroup: () => views.center.jump(-1),
      next: () => this.#step(1), previous: () => this.#step(-1),
    };
    if (simple[name]) return simple[name]();
    return entry && this.#runOn(entry, name);
  }

  #runOn(entry, name) {
    const { push, ordinal } = entry;
    const { center } = this.#phone.views;
    const marked = [...center.marked];
    switch (name) {
      case "open": return this.#phone.go(`#/push/${ordinal}`);
      case "read": return this.#phone.journal.append([{ type: "read", ordinals: marked.length ? marked : [ordinal] }]);
      case "clear": return marked.length
        ? this.clear(marked.length === 1 ? "1 Notification" : `${marked.length} Notifications`, marked) : this.clearOne(entry);
      case "openLink": return isLink(push.link) ? window.open(push.link, "_blank", "noopener,noreferrer") : undefined;
      case "mark":
        if (!center.marked.delete(ordinal)) center.marked.add(ordinal);
        return center.move(1) ?? this.#phone.update();
      case "copy": return this.#copy(push);
      case "reportAd": return this.#reportAd(push);
      case "snooze": return listed(push) ? this.snooze([ordinal]) : undefined;
      case "unsubscribe": return this.unsubscribe(push);
      case "permitCategory": return this.#permitCategory(push);
      default: return undefined;
    }
  }

  #step(step) {
    const { views, place } = this.#phone;
    views.center.move(step);
    if (place.screen === "message" && place.selected !== null) this.#phone.go(`#/push/${place.selected}`);
  }

  // Clearing, with undo

  clearOne(entry) { return this.clear(short(entry.push), [entry.ordinal]); }

  async clear(title, ordinals) {
    const { journal, state, views, place } = this.#phone;
    const gone = new Set(ordinals);
    const entries = state.entries.filter((entry) => gone.has(entry.ordinal));
    if (!entries.length) return;
    if (gone.has(place.selected)) views.center.move(1);
    if (gone.has(place.selected)) place.selected = null;
    if (place.screen === "message" && place.selected === null) this.#phone.go(this.#phone.found());
    const clear = () => journal.append([{ type: "cleared", ordinals: entries.map(({ ordinal }) => ordinal) }]);
    const restore = async () => {
      for (let end = entries.length; end > 0; end -= restoredPage) {
        await journal.append([{ type: "restored", entries: entries.slice(Math.max(end - restoredPage, 0), end) }]);
      }
    };
    await clear();
    for (const ordinal of gone) views.center.marked.delete(ordinal);
    this.undoable(`Clear ${title}`, restore, clear, `Cleared ${title}`);
  }

  async #clearAll() {
    const ordinals = this.#phone.views.center.rows.flatMap((row) => (row.kind === "entry" ? [row.key] : []));
    if (!ordinals.length) return;
    const title = ordinals.length === 1 ? "Clear 1 Notification" : `Clear ${ordinals.length} Notifications`;
    if (await this.#phone.sheet([{ id: "clear", title, isDestructive: true }])) this.clear("All", ordinals);
  }

  /** The command and the title of the next step to undo or to repeat; undefined without a step. */
  get step() {
    const { undoTitle, redoTitle } = this.#steps;
    return undoTitle ? ["undo", `Undo ${undoTitle}`] : redoTitle ? ["redo", `Redo ${redoTitle}`] : undefined;
  }

  /** Keeps the reverse of a change for Undo, and shows the title of the change. */
  undoable(title, undo, redo, words) {
    this.#steps.add({ title, undo, redo });
    this.#phone.update();
    this.toast(words, [`Undo ${title}`, () => this.run("undo")]);
  }

  async #turn(name) {
    const [words, next, reverse] = name === "undo" ? ["Undid", "Redo", "redo"] : ["Did again", "Undo", "undo"];
    try {
      const title = await this.#steps[name]();
      this.#phone.update();
      if (title) this.toast(`${words} ${title}`, [`${next} ${title}`, () => this.run(reverse)]);
    } catch (error) {
      this.toast(error.message);
    }
  }

  /** Shows a sentence for a few seconds, with a button [title, function] if given. */
  toast(words, action) {
    const { toasts } = this.#phone;
    toasts.replaceChildren(el("div.toast", {}, el("span", { dir: "auto" }, words), action ? button(action[0], action[1], { className: "plain" }) : ""));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => toasts.replaceChildren(), toastTime);
  }

  async #copy(push) {
    const alert = listed(push);
    await navigator.clipboard?.writeText(plain([alert?.title, alert?.subtitle, alert?.body, push.link].filter(Boolean).join("\n")));
    this.toast("Copied");
  }

  /** Asks for a time, and shows alerts or entries again then. */
  async snooze(ordinals) {
    const picked = await this.#phone.sheet(snoozeTimes);
    if (!picked) return;
    const until = snoozeEnd(picked.id, Date.now());
    await this.#phone.journal.append([{ type: "snoozed", ordinals, until }]);
    this.toast(`Shown again: ${exact(until)}`);
  }

  // Requests to the gateway

  async #reportAd(push) {
    const alert = listed(push);
    if (!alert) return;
    await this.#try(async () => {
      await gateway.reportAd(push, [alert.title, alert.subtitle, alert.body].filter(Boolean).join("\n"));
      this.toast(`Reported ${short(push)} as an advertisement`);
    });
  }

  /** Asks for the permission of the new category of a push. */
  async #permitCategory(push) {
    const category = undecidedCategory(this.#phone.state, push);
    if (!category) return;
    const picked = await this.#phone.sheet([
      { id: "show", title: `Show ${plain(category)}` }, { id: "quiet", title: "Keep Quiet" }, { id: "off", title: "Off", isDestructive: true },
    ]);
    if (picked) await this.#try(() => gateway.assign({ settings: [`permission=${picked.id}`], app: push.topic, category }));
  }

  /** Ends the marketing of the app of a push, after the user has confirmed it. */
  async unsubscribe(push) {
    if (!offersUnsubscribing(this.#phone.state, push)) return;
    const name = plain(push.app.name);
    if (!(await this.#phone.sheet([{ id: "unsubscribe", title: `Unsubscribe From ${name}`, isDestructive: true }]))) return;
    await this.#try(async () => {
      await gateway.assign({ settings: ["marketing=off"], app: push.topic, push: push.id });
      this.toast(`No more marketing from ${name}: the settings can turn it on again`);
    });
  }

  async leave() {
    const { link } = this.#phone;
    if (!(await this.#phone.sheet([{ id: "leave", title: "Sign Out and Delete the History", isDestructive: true }]))) return;
    const { onstatus } = link;
    // The end of the secret ends the stream, too.
    link.onstatus = () => {};
    await this.#try(async () => {
      await gateway.leave();
      link.end();
      await this.#phone.forget();
      location.assign("/phone");
    }, () => { link.onstatus = onstatus; });
  }

  async stopReceiving(app) {
    if (!(await this.#phone.sheet([{ id: "stop", title: `Stop Receiving ${plain(app.name)}`, isDestructive: true }]))) return;
    await this.#try(async () => {
      await gateway.unregister(app.topic);
      this.#phone.link.reconnect();
    });
  }

  async #try(body, failed = () => {}) {
    try {
      await body();
    } catch (error) {
      failed();
      this.toast(error.message);
    }
  }
}
