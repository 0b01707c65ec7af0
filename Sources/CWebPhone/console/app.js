// The console: its session, its addresses, and the frame of every page.

import "./view-activity.js";
import "./view-list.js";
import "./view-push.js";
import "./view-replay.js";
import "./view-reports.js";
import "./view-send.js";
import "./view-status.js";
import "./view-tests.js";
import { button, el, isTyping } from "../phone/dom.js";
import { keyName } from "../phone/keys.js";
import { plain } from "../phone/words.js";
import { api, condition, events, path } from "./api.js";
import { lists } from "./manage.js";
import { failure } from "./page.js";

/** The pages with their least role, in the order of the navigation. A page without a title is reached from another one. */
const pages = [
  { name: "tests", title: "Tests", role: "reader", isForTests: true },
  { name: "send", title: "Send", role: "operator" },
  { name: "activity", title: "Activity", role: "reader" },
  { name: "status", title: "Status", role: "reader" },
  { name: "reports", title: "Reports", role: "operator" },
  { name: "replay", title: "Replay", role: "operator" },
  ...Object.entries(lists).map(([name, { title, role = "reader" }]) => ({ name, title, role, tag: "list" })),
  { name: "push", role: "reader", of: "activity" },
];
const roles = ["reader", "operator", "admin"];
const toastTime = 8000;
const minute = 60_000;

class Console extends HTMLElement {
  session = null;
  /** The last address of the activity, with its filter. */
  activity = "#/activity";
  #page = null;
  #timer = null;
  #read = 0;

  async connectedCallback() {
    addEventListener("hashchange", () => this.#route());
    addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("visibilitychange", () => this.#look());
    setInterval(() => this.#look(), minute);
    events.onend = () => this.#signIn("The session has ended, or its token was removed.");
    // The code of a link is removed from the address at once, so that no history has it.
    const code = location.hash.length > 1 && !location.hash.startsWith("#/") ? location.hash.slice(1) : "";
    if (code) {
      history.replaceState(null, "", "/console");
      return this.#begin(() => api.signIn(code));
    }
    return this.#begin(() => api.session());
  }

  /** Returns true if the session has a page: by its role, and a page about tests only at a test gateway. */
  #has(page) { return this.may(page.role) && (!page.isForTests || this.session.test === true); }

  /** Returns true if the role of the session includes another one. */
  may(role) { return roles.indexOf(this.session?.role) >= roles.indexOf(role); }

  // The session

  async #begin(open) {
    try {
      this.session = await open();
    } catch (error) {
      return error.status === 401 ? this.#signIn("") : this.#signIn(error.message);
    }
    this.#build();
    this.#route();
    return this.#look();
  }

  #signIn(problem) {
    this.#page?.leave();
    [this.session, this.#page] = [null, null];
    document.title = "Sign In — Console";
    const field = el("input", { type: "text", id: "code", autocomplete: "off", spellcheck: false, dir: "ltr", required: true });
    field.setAttribute("aria-describedby", "code-help");
    const form = el("form.card", {
      onsubmit: (event) => {
        event.preventDefault();
        this.#begin(() => api.signIn(field.value.trim().split("#").at(-1)));
      },
    }, el("label", { for: "code" }, "Link or code"), field,
    el("p.help", { id: "code-help" }, "On the gateway's machine, ", el("code", {}, "pushcli open console"), " prints a link for one browser within a minute. On another machine, log in with ",
      el("code", {}, "pushcli login"), " first. The session has the role of the credentials and ends with them, after twelve hours, or when the gateway restarts."),
    problem ? el("p.error", { role: "alert" }, problem) : "", el("button.primary", {}, "Sign In"));
    this.replaceChildren(el("main.sign-in", { id: "main" }, el("img", { src: "/phone/icon.svg", alt: "", width: 72, height: 72 }), el("h1", {}, "Console"), form));
    field.focus();
  }

  async #signOut() {
    try {
      await api.signOut();
      this.#signIn("");
    } catch (error) {
      this.toast(error.message);
    }
  }

  // The frame of all pages

  #build() {
    const { who, role } = this.session;
    this.health = el("span.health", { role: "status" });
    this.faults = el("p.faults", { role: "status", hidden: true });
    this.links = pages.filter((page) => page.title && this.#has(page)).map((page) => el("a", { href: `#/${page.name}`, "data-name": page.name }, page.title));
    this.main = el("main", { id: "main", tabIndex: -1 });
    this.toasts = el("div.toasts", { role: "status" });
    this.help = el("dialog.help", { "aria-label": "Keys" });
    this.replaceChildren(
      el("a.skip", { href: "#main", onclick: (event) => { event.preventDefault(); this.main.focus(); } }, "To the content"),
      el("header.bar", {}, el("b.name", {}, location.host), this.health, el("span.who", { dir: "auto" }, `${plain(who)}${who.includes(role) ? "" : ` (${role})`}`),
        button("?", () => this.#showKeys(), { className: "plain", "aria-label": "Keys" }), this.session.test ? "" : button("Sign Out", () => this.#signOut(), { className: "plain" })),
      this.faults, el("nav", { "aria-label": "Pages" }, this.links), this.main, this.toasts, this.help);
  }

  /** Reads the health and the faults, while the page is visible. */
  async #look() {
    if (!this.session || document.visibilityState !== "visible") return;
    this.#read = Date.now();
    const [health, faults] = await Promise.all([api.health(), api.get(path("faults")).catch(() => null)]);
    if (!this.session) return;
    const { isGood, words } = condition(health);
    this.health.className = `health ${isGood ? "good" : "bad"}`;
    this.health.textContent = plain(words);
    if (faults) this.noteFaults(faults);
  }

  /** Shows the line about faults while one is set. */
  noteFaults(list) {
    const active = list.filter((one) => one.active);
    this.faults.hidden = active.length === 0;
    this.faults.textContent = active.length ? `Faults are set: ${active.map(({ rule, does }) => `${plain(rule.name)} (${plain(does)})`).join(", ")}. They delay requests or make them fail.` : "";
  }

  // Addresses

  /** The parts of the address after `#/`, decoded, and its values. */
  get place() {
    const [where, query = ""] = location.hash.slice(2).split("?");
    const parts = where.split("/").map((part) => {
      try { return decodeURIComponent(part); } catch { return part; }
    });
    return { name: parts[0], parts: parts.slice(1), values: new URLSearchParams(query) };
  }

  go(hash) { location.hash = hash; }

  /** Changes the address without a step in the history. */
  replace(hash) { history.replaceState(null, "", hash); }

  #route() {
    if (!this.session) return;
    const { place } = this;
    const page = pages.find((one) => one.name === place.name && this.#has(one)) ?? pages.find((one) => one.name === (this.session.test ? "tests" : "activity"));
    for (const link of this.links) {
      if (link.dataset.name === (page.of ?? page.name)) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    this.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    document.title = `${page.title ?? "Push"} — ${location.host}`;
    const tag = `console-${page.tag ?? page.name}`;
    if (this.#page?.localName !== tag) {
      this.#page?.leave();
      this.#page = el(tag);
      this.#page.app = this;
      this.main.replaceChildren(this.#page);
    }
    this.#page.open({ ...place, name: page.name });
    if (Date.now() - this.#read > 5000) this.#look();
  }

  // Keys

  /** The keys with their words: the keys of the page, then the keys of all pages. */
  get #keys() {
    return [
      ...(this.#page?.keys ?? []),
      ...this.links.slice(0, 9).map((link, index) => [[String(index + 1)], link.textContent, () => this.go(link.getAttribute("href"))]),
      [["?"], "keys", () => this.#showKeys()],
    ];
  }

  #key(event) {
    if (!this.session || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog:modal")) return;
    if (isTyping()) {
      if (event.key === "Escape") document.activeElement.blur();
      return;
    }
    if ([" ", "Enter"].includes(event.key)) return;
    const found = this.#keys.find(([keys]) => keys.includes(event.key));
    if (!found) return;
    event.preventDefault();
    found[2]();
  }

  #showKeys() {
    this.help.replaceChildren(el("div.head", {}, el("h2", {}, "Keys"), button("Done", () => this.help.close(), { className: "primary" })),
      el("dl", {}, this.#keys.map(([keys, words]) => [el("dt", {}, keys.map((key) => el("kbd", {}, keyName(key)))), el("dd", {}, words)])));
    this.help.showModal();
  }

  // Notes

  /** Shows a note for some seconds, with a button that undoes the change. */
  toast(words, undo) {
    clearTimeout(this.#timer);
    const close = () => this.toasts.replaceChildren();
    const revert = async () => {
      close();
      try {
        await undo();
      } catch (error) {
        this.toast(error.message);
      }
    };
    this.toasts.replaceChildren(el("div.toast", {}, el("span", { dir: "auto" }, plain(words)), undo ? button("Undo", revert, { className: "plain" }) : ""));
    this.#timer = setTimeout(close, toastTime);
  }

  failure(error, retry) { return failure(error, retry); }
}

customElements.define("push-console", Console);
