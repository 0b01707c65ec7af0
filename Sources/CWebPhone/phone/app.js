// The device in a browser: its parts, its addresses, and the redrawing of views.

import "./view-alert.js";
import "./view-center.js";
import "./view-home.js";
import "./view-join.js";
import "./view-message.js";
import "./view-settings.js";
import { forget, keep, subscribe } from "./closed.js";
import { Commands } from "./commands.js";
import { button, el, View } from "./dom.js";
import { drafts } from "./drafts.js";
import { gateway } from "./gateway.js";
import { Journal } from "./journal.js";
import { Link } from "./link.js";
import { Presenter } from "./presenter.js";
import { unlock } from "./sound.js";
import { badgeSum, dueSnoozed, unreadCount } from "./state.js";
import { forgetKeys } from "./webpush.js";

class Phone extends View {
  place = { screen: "home", q: "", scope: "all", by: "app", selected: null, row: "", showsPayload: false };
  status = { state: "connecting" };
  /** Counts the changes of entries and apps, and the visits of pages. */
  revision = 0;
  visit = 0;
  invitation = "";
  isRefused = false;
  isUnreachable = false;
  #isDue = false;
  #shownBadge = null;
  #keptBadges = "";
  /** The id of a push that a notification opens when the history has it. */
  #wanted = null;

  get state() { return this.journal.state; }

  async connectedCallback() {
    // The code of an invitation is removed from the address at once, so that no history has it.
    if (location.hash.length > 1 && !location.hash.startsWith("#/")) {
      this.invitation = location.hash.slice(1);
      history.replaceState(null, "", "/phone");
    }
    this.journal = await Journal.open();
    await drafts.open(this.journal);
    // An enrolled device shows its history at once. The stream ends if the gateway has removed the device.
    if (this.state.device.name && !this.invitation) return this.begin();
    if (this.invitation && !this.state.device.name) return this.#join(false);
    try {
      await gateway.device();
    } catch (error) {
      // Without a network, an enrolled device shows its history.
      const isKnown = this.state.device.name !== "";
      this.isUnreachable = !isKnown && error.status === 0;
      if (error.status === 401 || this.isUnreachable) return this.#join(isKnown);
    }
    return this.begin();
  }

  /** Shows the form that makes this browser a device. `isRefused` is true for a device that the gateway no longer accepts. */
  #join(isRefused) {
    this.isRefused = isRefused;
    document.title = "Phone";
    navigator.clearAppBadge?.().catch(() => {});
    const join = el("push-join", { role: "main" });
    join.phone = this;
    this.show(join);
    join.update();
  }

  /** Shows the phone and connects it. */
  async begin() {
    // The history belongs to the earlier device.
    if (this.isRefused) await this.forget();
    if (this.views) return location.reload();
    this.isRefused = false;
    this.#build();
    this.link = new Link(this.journal);
    this.journal.onchange = (changes) => this.#changed(changes);
    this.presenter = new Presenter(this);
    this.link.onpushes = (pushes) => this.presenter.arrived(pushes);
    this.link.oncaughtup = () => this.presenter.caughtUp();
    this.link.onnotice = (words) => this.commands.toast(words);
    this.link.onstatus = (status) => {
      this.status = status;
      if (status.state === "refused") {
        this.link.end();
        this.#join(true);
      } else this.update();
      if (status.state === "connected" && this.link.isLeader) this.#subscribe();
      this.#wake();
    };
    this.status = { state: "follower" };
    this.link.run();
    this.#route();
    navigator.storage?.persist?.();
    this.#worker();
  }

  /** Deletes everything that this browser has of its device. */
  async forget() {
    await forget().catch(() => {});
    forgetKeys();
    await this.journal.erase();
    await drafts.open(this.journal);
    localStorage.removeItem("lastConnected");
  }

  /** Confirms the subscription at the push service, which may have ended, with the state of the device. */
  #subscribe() {
    if (this.state.device.closed && globalThis.Notification?.permission === "granted") subscribe(this.state.device).catch(() => {});
  }

  async #worker() {
    if (!navigator.serviceWorker) return;
    const policy = globalThis.trustedTypes?.createPolicy("phone", { createScriptURL: (path) => (path === "/phone/worker.js" ? path : "") });
    const path = "/phone/worker.js";
    navigator.serviceWorker.register(policy ? policy.createScriptURL(path) : path, { scope: "/phone" }).catch(() => {});
    // A click on a notification opens its push in an open page.
    navigator.serviceWorker.addEventListener("message", ({ data }) => this.go(data));
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
    this.step = button("", () => this.command(this.commands.step?.[0]), { className: "plain step", dir: "auto" });
    this.show(el("header.bar", {}, status, this.step, button("?", () => this.command("help"), { "aria-label": "Keys", className: "plain" })),
      this.main = el("main", {}, home, center, message, settings, why), this.tabs, this.toasts, this.live, alert, sheet, help);
    this.commands = new Commands(this);
    if (navigator.userActivation?.hasBeenActive) unlock();
    addEventListener("hashchange", () => this.#route());
    for (const type of ["keydown", "pointerdown"]) addEventListener(type, unlock, { once: true });
    document.addEventListener("visibilitychange", () => this.update());
    addEventListener("resize", () => this.update());
    // A minute is the unit of the shown times.
    setInterval(() => {
      this.#wake();
      this.link.keepTime();
      if (document.visibilityState === "visible") { this.revision += 1; this.update(); }
    }, 60_000);
  }

  // Addresses

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
    } else if (screen === "id") {
      place.screen = "center";
      this.#wanted = new URLSearchParams(`id=${name}`).get("id");
      this.#openWanted();
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

  /** Opens the push of a notification that the worker has shown, as soon as the history has it. */
  #openWanted() {
    const entry = this.#wanted && this.state.entries.find(({ push }) => push.id === this.#wanted);
    if (!entry) return;
    this.#wanted = null;
    location.replace(`#/push/${entry.ordinal}`);
  }

  go(hash) { location.hash = hash; }

  /** The address of the center with its search. */
  found(change = {}) {
    const { q, scope, by } = { ...this.place, ...change };
    return `#/center?${new URLSearchParams({ q, scope, by })}`;
  }

  /** Changes the search of the center, which is in its address. */
  find(change) {
    history.replaceState(null, "", this.found(change));
    this.#route();
  }

  // The state

  #changed(changes) {
    this.revision += 1;
    this.link.noteChanges(changes);
    this.presenter.tidy();
    if (this.link.isLeader && changes.some(({ type }) => type === "device")) this.#subscribe();
    this.#openWanted();
    this.update();
  }

  /** Draws everything that has changed, once in a frame. */
  update() {
    if (this.#isDue || !this.views || this.isRefused) return;
    this.#isDue = true;
    const draw = () => {
      if (!this.#isDue) return;
      this.#isDue = false;
      if (!this.isRefused) this.#draw();
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
    // A push has the pushes before and after it from the center.
    for (const view of this.main.children) if (view.checkVisibility() || (view === views.center && place.screen === "message")) view.update();
    views.status.update();
    const step = this.commands.step?.[1] ?? "";
    if (this.step.textContent !== step) this.step.textContent = step;
    this.step.hidden = !step;
    if (document.visibilityState === "visible") views.alert.update();
    this.#badge(badgeSum(state), unreadCount(state));
  }

  /** Shows the number of badges, or of unread pushes, in the title, and the badges on the icon of the installed page. */
  #badge(badge, unread) {
    const number = badge || unread;
    document.title = number ? `(${number}) Phone` : "Phone";
    this.#keepBadges();
    if (badge === this.#shownBadge) return;
    this.#shownBadge = badge;
    if (badge) navigator.setAppBadge?.(badge).catch(() => {});
    else navigator.clearAppBadge?.().catch(() => {});
  }

  /** Stores the badges of the apps for the worker, which changes them while the page is closed. */
  #keepBadges() {
    if (!this.state.device.closed) return;
    const badges = Object.fromEntries(this.state.apps.map(({ topic, badge }) => [topic, badge]));
    const text = JSON.stringify(badges);
    if (text === this.#keptBadges) return;
    this.#keptBadges = text;
    keep("badges", badges).catch(() => {});
  }

  /** Records that the worker has shown and reported the alerts of pushes. */
  noteShown(ids) {
    const fresh = this.state.alerts.filter(({ push, isPresented }) => ids.has(push.id) && !isPresented);
    if (fresh.length) this.journal.append([{ type: "presented", ordinals: fresh.map(({ ordinal }) => ordinal) }]);
  }

  /** Records that alerts are on screen, and reports them once. */
  notePresented(members) {
    const fresh = members.filter((alert) => !alert.isPresented);
    if (!fresh.length) return;
    this.journal.append([{ type: "presented", ordinals: fresh.map(({ ordinal }) => ordinal) }]);
    this.link.presented(fresh.map(({ push }) => ({ id: push.id, parts: ["alert"] })));
  }

  /** Shows each snoozed alert again at its time, in the tab with the stream. */
  async #wake() {
    const due = dueSnoozed(this.state, Date.now());
    if (!due.length || !this.link.isLeader) return;
    await this.journal.append([{ type: "woken", ordinals: due.map(({ ordinal }) => ordinal) }]);
    await this.presenter.arrived(due.map(({ push }) => ({ ...push, badge: null })), true);
  }

  /** Gives answers; View opens the push or the app. */
  async answer(change, viewed) {
    if (viewed?.length === 1) this.go(`#/push/${viewed[0].ordinal}`);
    else if (viewed?.length) this.go(`#/center?scope=app:${encodeURIComponent(viewed[0].push.topic)}`);
    await this.journal.append([change]);
  }

  sheet(list) { return this.views.sheet.pick(list); }

  /** Changes settings of this device. */
  set(change) { return this.journal.append([{ ...change, type: "device" }]); }

  #readEntry(ordinal) {
    const entry = this.state.entries.find((one) => one.ordinal === ordinal);
    if (entry && !entry.isRead) this.journal.append([{ type: "read", ordinals: [ordinal] }]);
  }

  command(name) { return this.commands.run(name); }
}

customElements.define("push-phone", Phone);
