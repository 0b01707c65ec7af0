// Presents pushes that arrive: their sounds, and while no page is visible, notifications outside of it.

import { claim, settle } from "./closed.js";
import { notice } from "./notices.js";
import { play } from "./sound.js";
import { headline } from "./state.js";
import { plain } from "./words.js";

const ranks = ["passive", "active", "time-sensitive", "critical"];

/** Each visible page of this browser holds this lock. */
const visibleLock = "pushgateway-phone-visible";

export class Presenter {
  #phone;
  /** Ends with the last use of the browser's notifications: a list that is read while one is shown can remove it (Chromium). */
  #turn = Promise.resolve();

  constructor(phone) {
    this.#phone = phone;
    document.addEventListener("visibilitychange", () => this.#noteVisible());
    this.#noteVisible();
  }

  #noteVisible() {
    if (document.visibilityState !== "visible") return;
    const isHidden = new Promise((resolve) => { document.addEventListener("visibilitychange", resolve, { once: true }); });
    navigator.locks.request(visibleLock, { mode: "shared" }, () => isHidden);
  }

  /**
   * Presents new pushes, in the tab that received them, and reports it. Pushes that the worker has shown while the page
   * was closed are presented already; with `isAgain` they are shown again.
   */
  async arrived(all, isAgain = false) {
    const { state, link, live } = this.#phone;
    const shown = state.device.closed && !isAgain ? await claim(all.map(({ id }) => id)).catch(() => new Set()) : new Set();
    if (shown.size) this.#phone.noteShown(shown);
    const pushes = all.filter(({ id }) => !shown.has(id));
    const last = pushes.findLast((push) => push.center);
    if (last) live.textContent = `${plain(last.app.name)}: ${plain(headline(last))}`;
    const rank = ({ level }) => ranks.indexOf(level);
    const loudest = pushes.filter((push) => push.sound !== null).reduce((best, push) => (!best || rank(push) > rank(best) ? push : best), null);
    const isPlayed = loudest ? play(loudest.sound, loudest.volume * state.device.volume / 100) : false;
    const reports = pushes.map((push) => ({
      id: push.id, parts: [...(push.badge !== null ? ["badge"] : []), ...(push.sound !== null && isPlayed ? ["sound"] : [])],
    })).filter(({ parts }) => parts.length);
    if (reports.length) link.presented(reports);
    await this.#next(() => this.#notify(new Set(pushes.map(({ id }) => id))));
  }

  /** Called when the stream has sent all pending pushes. */
  caughtUp() {
    if (this.#phone.state.device.closed) settle().catch(() => {});
    return this.tidy();
  }

  /** Closes the notifications of alerts that have left the queue. */
  tidy() { return this.#next(() => this.#tidy()); }

  /** Runs one use of the notifications after the other. */
  #next(use) { return (this.#turn = this.#turn.then(use, use)); }

  /** True if notifications of a hidden page are turned on here and permitted by the browser. */
  get #isPermitted() { return this.#phone.state.device.notices && globalThis.Notification?.permission === "granted"; }

  /** Shows the alerts of pushes outside of the page, if no page of the browser is visible. */
  async #notify(ids) {
    if (document.visibilityState !== "hidden" || !this.#isPermitted) return;
    const { held } = await navigator.locks.query();
    const registration = await navigator.serviceWorker?.getRegistration("/phone");
    if (!registration || held.some(({ name }) => name === visibleLock)) return;
    for (const alert of this.#phone.state.alerts.filter(({ push }) => ids.has(push.id))) {
      const { title, options } = notice(alert, Notification.maxActions);
      try {
        await registration.showNotification(title, options);
      } catch {
        return;
      }
      this.#phone.notePresented([alert]);
    }
    // Alerts may have been answered in the meantime.
    await this.#tidy();
  }

  /**
   * Closes the notifications of alerts that have left the queue. The queue of a tab that does not show them may be older. A push
   * that the worker has shown may still be pending until the stream has caught up.
   */
  async #tidy() {
    const { state, link } = this.#phone;
    if (!link.isLeader || !(this.#isPermitted || state.device.closed)) return;
    const registration = await navigator.serviceWorker?.getRegistration("/phone");
    const shown = (await registration?.getNotifications()) ?? [];
    const queued = new Set(this.#phone.state.alerts.map(({ push }) => push.id));
    const isKnown = ({ data }) => link.isCaughtUp || this.#phone.state.entries.some(({ push }) => push.id === data?.id);
    for (const one of shown) if (!queued.has(one.data?.id) && isKnown(one)) one.close();
  }
}
