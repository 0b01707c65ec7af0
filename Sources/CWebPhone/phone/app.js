// The device in a browser: its state, its places, and the commands that keys and buttons give.

import "./view-alert.js";
import "./view-center.js";
import "./view-home.js";
import "./view-join.js";
import "./view-message.js";
import "./view-settings.js";
import { cancellation } from "./alerts.js";
import { button, el, isTyping, View } from "./dom.js";
import { gateway } from "./gateway.js";
import { Journal } from "./journal.js";
import { bindings, commandOf } from "./keys.js";
import { Link } from "./link.js";
import { play, unlock } from "./sound.js";
import { badgeSum, headline, isLink, listed, unreadCount } from "./state.js";
import { plain } from "./words.js";

const maximumUndo = 20;
const toastTime = 8000;

class Phone extends View {
  place = { screen: "home", q: "", scope: "all", by: "app", selected: null, row: "", showsPayload: false };
  status = { state: "connecting" };
  /** Counts the changes of entries and apps, and the visits of pages. */
  revision = 0;
  visit = 0;
  invitation = "";
  isRefused = false;
  #undo = [];
  #redo = [];
  #isDue = false;

  get state() { return this.journal.state; }

  async connectedCallback() {
    // The code of an invitation leaves the address at once, so that it is in no history.
    if (location.hash.length > 1 && !location.hash.startsWith("#/")) {
      this.invitation = decodeURIComponent(location.hash.slice(1));
      history.replaceState(null, "", "/phone");
    }
    this.journal = await Journal.open();
    // A known device shows what it has at once; the stream finds out whether it is still a device.
    if (this.state.device.name && !this.invitation) return this.begin();
    if (this.invitation && !this.state.device.name) return this.#join(false);
    try {
      await gateway.device();
    } catch (error) {
      if (error.status === 401) return this.#join(this.state.device.name !== "");
      // Without a network the page shows what it has.
    }
    return this.begin();
  }

  #join(isRefused) {
    this.isRefused = isRefused;
    const join = el("push-join", { role: "main" });
    join.phone = this;
    this.show(join);
    join.update();
  }

  /** Shows the phone and connects it. */
  async begin() {
    // The history is that of the earlier device.
    if (this.isRefused) await this.journal.erase();
    if (this.views) return location.reload();
    this.isRefused = false;
    this.#build();
    this.link = new Link(this.journal);
    this.journal.onchange = (changes) => this.#changed(changes);
    this.link.onpushes = (pushes) => this.#arrived(pushes);
    this.link.onnotice = (words) => this.toast(words);
    this.link.onstatus = (status) => {
      this.status = status;
      if (status.state === "refused") this.#join(true);
      else this.update();
    };
    this.status = { state: "follower" };
    this.link.run();
    this.#route();
    navigator.storage?.persist?.();
    this.#worker();
  }

  async #worker() {
    if (!navigator.serviceWorker) return;
    const policy = globalThis.trustedTypes?.createPolicy("phone", { createScriptURL: (path) => (path === "/phone/worker.js" ? path : "") });
    const path = "/phone/worker.js";
    navigator.serviceWorker.register(policy ? policy.createScriptURL(path) : path, { scope: "/phone" }).catch(() => {});
    navigator.serviceWorker.addEventListener("message", ({ data }) => this.#answerNotice(data));
  }

  #build() {
    const make = (name) => Object.assign(el(name), { phone: this });
    const tab = (screen, title, sign) => el("a", { href: `#/${screen}`, "data-screen": screen }, el("span", { "aria-hidden": "true" }, sign), title);
    this.views = Object.fromEntries(["status", "home", "center", "message", "settings", "why", "alert", "sheet", "help"].map((name) => [name, make(`push-${name}`)]));
    const { status, home, center, message, settings, why, alert, sheet, help } = this.views;
    this.toasts = el("div.toasts", { role: "status" });
    this.live = el("div.hidden", { "aria-live": "polite" });
    this.tabs = el("nav", { "aria-label": "Screens" }, tab("home", "Home", "⌂"), tab("center", "Center", "☰"), tab("settings", "Settings", "⚙"));
    status.setAttribute("role", "status");
    this.show(el("header.bar", {}, status, button("?", () => this.command("help"), { "aria-label": "Keys", className: "plain" })),
      this.main = el("main", {}, home, center, message, settings, why), this.tabs, this.toasts, this.live, alert, sheet, help);
    if (navigator.userActivation?.hasBeenActive) unlock();
    addEventListener("hashchange", () => this.#route());
    addEventListener("keydown", (event) => this.#key(event));
    for (const type of ["keydown", "pointerdown"]) addEventListener(type, unlock, { once: true });
    document.addEventListener("visibilitychange", () => this.update());
    // A minute is the unit of the shown times.
    setInterval(() => document.visibilityState === "visible" && (this.revision += 1, this.update()), 60_000);
  }

  // Places

  #route() {
    const [path, query = ""] = location.hash.slice(2).split("?");
    const [screen = "", name = ""] = path.split("/");
    const values = new URLSearchParams(query);
    const { place } = this;
    this.visit += 1;
    place.row = "";
    if (screen === "push") {
      place.screen = "message";
      place.selected = Number(name);
      this.#readEntry(place.selected);
    } else if (screen === "center") {
      place.screen = "center";
      Object.assign(place, { q: values.get("q") ?? "", scope: values.get("scope") ?? "all", by: values.get("by") === "day" ? "day" : "app" });
    } else if (screen === "settings") {
      place.screen = "settings";
      place.row = values.get("row") ?? "";
    } else {
      place.screen = screen === "why" ? "why" : "home";
    }
    this.update();
  }

  go(hash) { location.hash = hash; }

  /** Changes the search of the center, which is in its address. */
  find(change) {
    const { q, scope, by } = { ...this.place, ...change };
    history.replaceState(null, "", `#/center?${new URLSearchParams({ q, scope, by })}`);
    this.#route();
  }

  // The state

  #changed(changes) {
    this.revision += 1;
    this.link.noteChanges(changes);
    this.update();
  }

  /** Draws everything that has changed, once in a frame. */
  update() {
    if (this.#isDue || !this.views) return;
    this.#isDue = true;
    const draw = () => {
      if (!this.#isDue) return;
      this.#isDue = false;
      this.#draw();
    };
    if (document.visibilityState === "visible") requestAnimationFrame(draw);
    else setTimeout(draw);
  }

  #draw() {
    const { place, state, views } = this;
    this.dataset.screen = place.screen;
    for (const link of this.tabs.children) {
      const isCurrent = link.dataset.screen === (place.screen === "message" || place.screen === "why" ? "center" : place.screen);
      if (isCurrent) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    const isWide = matchMedia("(min-width: 45rem)").matches;
    if (place.screen === "home" || isWide) views.home.update();
    if (["center", "message"].includes(place.screen) || (isWide && place.screen === "home")) views.center.update();
    if (place.screen === "message" || matchMedia("(min-width: 69rem)").matches) views.message.update();
    if (place.screen === "settings") views.settings.update();
    if (place.screen === "why") views.why.update();
    views.status.update();
    if (document.visibilityState === "visible") views.alert.update();
    const [badge, unread] = [badgeSum(state), unreadCount(state)];
    document.title = badge || unread ? `(${badge || unread}) Phone` : "Phone";
    if (badge) navigator.setAppBadge?.(badge).catch(() => {});
    else navigator.clearAppBadge?.().catch(() => {});
  }

  /** Shows and plays new pushes in the tab that received them. */
  async #arrived(pushes) {
    const { state } = this;
    const rank = (push) => ["passive", "active", "time-sensitive", "critical"].indexOf(push.level);
    const loudest = pushes.filter((push) => push.sound !== null).reduce((best, push) => (!best || rank(push) > rank(best) ? push : best), null);
    const isPlayed = loudest ? play(loudest.sound, loudest.volume * state.device.volume / 100) : false;
    const reports = [];
    for (const push of pushes) {
      const parts = [];
      if (push.badge !== null) parts.push("badge");
      if (push.sound !== null && isPlayed) parts.push("sound");
      if (document.visibilityState === "hidden" && push.alert && (await this.#notify(push))) parts.push("alert");
      if (parts.length) reports.push({ id: push.id, parts });
    }
    if (reports.length) this.link.presented(reports);
    const last = pushes.findLast((push) => push.center);
    if (last) this.live.textContent = `${plain(last.app.name)}: ${plain(headline(last))}`;
  }

  /** Shows an alert outside of the page; returns false if that is off or not permitted. */
  async #notify(push) {
    if (!this.state.device.notices || globalThis.Notification?.permission !== "granted") return false;
    const registration = await navigator.serviceWorker?.getRegistration("/phone");
    const { title, subtitle, body, actions } = push.alert;
    const offered = actions.length ? actions : [{ id: "close", title: "Close" }, { id: "view", title: "View" }];
    const content = {
      body: plain([subtitle, body].filter(Boolean).join("\n")), tag: push.id, icon: "/phone/icon.svg", data: { id: push.id }, silent: true,
      actions: offered.slice(0, Notification.maxActions ?? 2).map((one) => ({ action: one.id, title: plain(one.title) })),
    };
    try {
      if (registration) await registration.showNotification(plain(title || push.app.name), content);
      else new Notification(plain(title || push.app.name), { ...content, actions: undefined }).onclick = () => focus();
      return true;
    } catch {
      return false;
    }
  }

  /** Gives the answer that was picked in a notification outside of the page. */
  #answerNotice({ id, action }) {
    const alert = this.state.alerts.find(({ push }) => push.id === id);
    if (!alert) return;
    const { actions } = alert.push.alert;
    if (action === "view" && actions.length) return;
    const given = action === "close" ? cancellation(alert) : action;
    this.answer({ type: "answered", answers: [{ ordinal: alert.ordinal, id, action: given }], isRead: true }, given === "view" ? [alert] : null);
  }

  /** Records that alerts are on screen, and reports them once. */
  notePresented(members) {
    const fresh = members.filter((alert) => !alert.isPresented);
    if (!fresh.length) return;
    this.journal.append([{ type: "presented", ordinals: fresh.map(({ ordinal }) => ordinal) }]);
    this.link.presented(fresh.map(({ push }) => ({ id: push.id, parts: ["alert"] })));
  }

  /** Gives answers; View opens the push or the app. */
  async answer(change, viewed) {
    if (viewed?.length === 1) this.go(`#/push/${viewed[0].ordinal}`);
    else if (viewed?.length) this.go(`#/center?scope=app:${encodeURIComponent(viewed[0].push.topic)}`);
    await this.journal.append([change]);
    const registration = await navigator.serviceWorker?.getRegistration("/phone");
    for (const { id } of change.answers) for (const notice of (await registration?.getNotifications?.({ tag: id })) ?? []) notice.close();
  }

  sheet(list) { return this.views.sheet.pick(list); }

  /** Changes settings of this device. */
  set(change) { return this.journal.append([{ ...change, type: "device" }]); }

  #readEntry(ordinal) {
    const entry = this.state.entries.find((one) => one.ordinal === ordinal);
    if (entry && !entry.isRead) this.journal.append([{ type: "read", ordinals: [ordinal] }]);
  }

  // Clearing, with undo

  async clear(title, ordinals) {
    const gone = new Set(ordinals);
    const entries = this.state.entries.filter((entry) => gone.has(entry.ordinal)).map((entry) => structuredClone(entry));
    if (!entries.length) return;
    if (gone.has(this.place.selected)) this.views.center.move(1);
    if (gone.has(this.place.selected)) this.place.selected = null;
    if (this.place.screen === "message" && this.place.selected === null) this.go("#/center");
    const clear = () => this.journal.append([{ type: "cleared", ordinals: entries.map(({ ordinal }) => ordinal) }]);
    await clear();
    for (const ordinal of gone) this.views.center.marked.delete(ordinal);
    this.undoable(`Clear ${title}`, () => this.journal.append([{ type: "restored", entries }]), clear, `Cleared ${title}`);
  }

  /** Remembers how a change is undone, and says so. */
  undoable(title, undo, redo, words) {
    this.#undo = [...this.#undo, { title, undo, redo }].slice(-maximumUndo);
    this.#redo = [];
    this.toast(words, [`Undo ${title}`, () => this.command("undo")]);
  }

  async #turn(from, to, name) {
    const step = from.pop();
    if (!step) return;
    to.push(step);
    try {
      await step[name]();
      const isUndo = name === "undo";
      this.toast(`${isUndo ? "Undid" : "Did again"} ${step.title}`, [`${isUndo ? "Redo" : "Undo"} ${step.title}`, () => this.command(isUndo ? "redo" : "undo")]);
    } catch (error) {
      this.toast(error.message);
    }
  }

  toast(words, action) {
    this.toasts.replaceChildren(el("div.toast", {}, el("span", { dir: "auto" }, words), action ? button(action[0], action[1], { className: "plain" }) : ""));
    clearTimeout(this.toastTimer);
    this.toastTimer = setTimeout(() => this.toasts.replaceChildren(), toastTime);
  }

  async askToLeave() {
    if (!(await this.sheet([{ id: "leave", title: "Sign Out and Delete the History", isDestructive: true }]))) return;
    const { onstatus } = this.link;
    // The end of the secret ends the stream, too.
    this.link.onstatus = () => {};
    try {
      await gateway.leave();
    } catch (error) {
      this.link.onstatus = onstatus;
      return this.toast(error.message);
    }
    this.link.end();
    await this.journal.erase();
    return location.assign("/phone");
  }

  async askToStop(app) {
    if (!(await this.sheet([{ id: "stop", title: `Stop Receiving ${plain(app.name)}`, isDestructive: true }]))) return;
    try {
      await gateway.unregister(app.topic);
      this.link.reconnect();
    } catch (error) {
      this.toast(error.message);
    }
  }

  // Keys and commands

  get bindings() {
    const { place, state } = this;
    const entry = this.#entry();
    return bindings({
      screen: place.screen, hasEntry: entry !== undefined, isUnread: entry?.isRead === false, hasLink: entry?.push.link != null,
      undo: this.#undo.at(-1)?.title, redo: this.#redo.at(-1)?.title,
      isConnected: this.status.state !== "disconnected", dropped: state.dropped,
    });
  }

  #entry() {
    const ordinal = this.place.screen === "message" ? this.place.selected : this.views.center.selected;
    return this.state.entries.find((entry) => entry.ordinal === ordinal);
  }

  #key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.views.alert.isOpen && document.querySelector("dialog.alert:modal")) return this.views.alert.key(event);
    if (document.querySelector("dialog:modal")) return;
    if (isTyping()) {
      if (event.key === "Escape") document.activeElement.blur();
      return;
    }
    if ([" ", "Enter"].includes(event.key) && document.activeElement?.matches("button, summary, a, input")
      && !document.activeElement.closest("push-center .row.entry")) return;
    const command = commandOf(this.bindings, event.key);
    if (!command) return;
    event.preventDefault();
    this.command(command);
  }

  command(name) {
    const { views, place } = this;
    const entry = this.#entry();
    const marked = [...views.center.marked];
    const simple = {
      home: () => this.go("#/home"), center: () => this.go("#/center"), settings: () => this.go("#/settings"), why: () => this.go("#/why"),
      help: () => views.help.open(this.bindings), retry: () => this.link.retry(), silent: () => this.set({ isSilent: !this.state.device.isSilent }),
      undo: () => this.#turn(this.#undo, this.#redo, "undo"), redo: () => this.#turn(this.#redo, this.#undo, "redo"),
      noteDropped: () => this.journal.append([{ type: "gapNoted" }]), payload: () => { place.showsPayload = !place.showsPayload; this.update(); },
      back: () => (place.screen === "home" ? undefined : place.screen === "message" ? this.go("#/center") : this.go("#/home")),
      search: () => { if (place.screen !== "center") this.go("#/center"); setTimeout(() => views.center.search.focus()); },
      clearAll: () => this.#clearAll(), nextGroup: () => views.center.jump(1), previousGroup: () => views.center.jump(-1),
      next: () => this.#step(1), previous: () => this.#step(-1), copy: () => entry && this.#copy(entry.push),
    };
    if (simple[name]) return simple[name]();
    if (!entry) return undefined;
    switch (name) {
      case "open": return this.go(`#/push/${entry.ordinal}`);
      case "read": return this.journal.append([{ type: "read", ordinals: marked.length ? marked : [entry.ordinal] }]);
      case "clear": return marked.length
        ? this.clear(marked.length === 1 ? "1 Notification" : `${marked.length} Notifications`, marked)
        : this.clear(`“${plain(headline(entry.push)).slice(0, 24)}”`, [entry.ordinal]);
      case "openLink": return isLink(entry.push.link) ? window.open(entry.push.link, "_blank", "noopener,noreferrer") : undefined;
      case "mark":
        if (!views.center.marked.delete(entry.ordinal)) views.center.marked.add(entry.ordinal);
        return views.center.move(1) ?? this.update();
      case "reportAd": return this.#reportAd(entry.push);
      default: return undefined;
    }
  }

  #step(step) {
    this.views.center.move(step);
    if (this.place.screen === "message" && this.place.selected !== null) this.go(`#/push/${this.place.selected}`);
  }

  async #clearAll() {
    const ordinals = this.views.center.rows.flatMap((row) => (row.kind === "entry" ? [row.key] : []));
    if (!ordinals.length) return;
    const picked = await this.sheet([{ id: "clear", title: ordinals.length === 1 ? "Clear 1 Notification" : `Clear ${ordinals.length} Notifications`, isDestructive: true }]);
    if (picked) this.clear("All", ordinals);
  }

  async #copy(push) {
    const alert = listed(push);
    await navigator.clipboard?.writeText(plain([alert?.title, alert?.subtitle, alert?.body, push.link].filter(Boolean).join("\n")));
    this.toast("Copied");
  }

  async #reportAd(push) {
    const alert = listed(push);
    if (!alert) return;
    try {
      await gateway.reportAd(push, [alert.title, alert.subtitle, alert.body].filter(Boolean).join("\n"));
      this.toast(`Reported “${plain(headline(push)).slice(0, 24)}” as an advertisement`);
    } catch (error) {
      this.toast(error.message);
    }
  }
}

customElements.define("push-phone", Phone);
