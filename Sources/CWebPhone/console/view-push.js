// One push: its events as steps with times, and why a part of it was not shown.

import { button, el } from "../phone/dom.js";
import { exact } from "../phone/words.js";
import { api, path } from "./api.js";
import { steps, verdict } from "./log.js";
import { copy, facts, failure, Page, text } from "./page.js";

/** The time in seconds for which a request waits for rows, and the number of such requests: ten minutes. */
const waitTime = 25;
const mostWaits = 24;

/**
 * Follows the rows of a push, and calls `show` with all of them. Ends with the signal, when the page is hidden, or after ten minutes.
 * The first rows of a new push may be written after the answer to its sender.
 */
export async function follow(id, signal, show, isNew = false) {
  const rows = new Map();
  const take = (list) => {
    for (const row of list) rows.set(`${row.gateway ?? ""} ${row.number}`, row);
    show([...rows.values()]);
  };
  const answer = await api.get(path("log"), { id, limit: 1000 }, signal);
  const first = answer.rows ?? answer;
  take(first);
  // The id of the address may be the apns-unique-id, which the rows that follow do not have.
  const apnsID = first[0]?.id ?? id;
  // If the push has no rows yet, the requests begin at the present end of the log.
  const end = first.length || !isNew ? null : await api.get(path("log", "start"), { limit: 1000 }, signal);
  let after = end ? end.position ?? String(end.after) : answer.after ?? String(first.at(-1)?.number ?? 0);
  for (let count = 0; count < mostWaits && !signal.aborted && document.visibilityState === "visible"; count += 1) {
    const page = await api.get(path("log", "next"), { id: apnsID, after, seconds: waitTime, limit: 1000 }, signal);
    after = page.position ?? String(page.next);
    if (page.rows.length) take(page.rows);
  }
}

/** Returns the steps of a push as a list. */
export function stepList(rows) {
  const list = steps(rows);
  const isShared = new Set(list.map(({ device }) => device).filter(Boolean)).size > 1;
  return el("ol.steps", {}, list.map((step) => el(`li.${step.kind}`, {},
    el("b", {}, step.title), el("time", { dateTime: step.at, title: exact(Date.parse(step.at)) }, step.after || exact(Date.parse(step.at))),
    isShared && step.device ? text("span", step.device, { className: "device" }) : "", step.status ? el("span.status", {}, step.status) : "",
    step.detail ? text("p", step.detail, { className: "detail" }) : "",
    step.why.length ? el("ul.why", {}, step.why.map(({ part, rule, words, path: setting }) => el("li", {},
      `No ${part}: `, text("span", words), ". ", el("a", { href: `#/activity?${new URLSearchParams({ q: `rule:${rule}` })}`, title: `Events with the rule ${rule}` }, rule),
      setting ? [", setting ", el("code", { dir: "ltr" }, setting)] : ""))) : "")));
}

class Push extends Page {
  #reading = null;
  #id = "";

  get keys() { return [[["Escape", "ArrowLeft"], "back to the activity", () => this.app.go(this.app.activity)], [["y"], "copy the id", () => this.querySelector("button.copy")?.click()]]; }

  open({ parts }) {
    this.#id = parts[0] ?? "";
    this.#reading?.abort();
    this.#reading = new AbortController();
    this.show(el("h1", {}, "Push"), el("p.note", {}, "Reading the log …"));
    this.#read(this.#reading.signal);
  }

  leave() { this.#reading?.abort(); }

  async #read(signal) {
    try {
      await follow(this.#id, signal, (rows) => this.#draw(rows));
    } catch (error) {
      if (!signal.aborted) this.show(el("h1", {}, "Push"), failure(error, () => this.open({ parts: [this.#id] })));
    }
  }

  #draw(rows) {
    const is = (event) => rows.find((row) => row.event === event);
    const accepted = is("accepted") ?? rows[0];
    const result = verdict(rows);
    const devices = [...new Set(rows.map((row) => row.device).filter(Boolean))];
    const shown = rows.find((row) => row.text)?.text.split("\n") ?? [];
    const filter = (name, value) => value ? el("a", { href: `#/activity?${new URLSearchParams({ q: `${name}:${value}` })}`, dir: "auto" }, text("span", value)) : "";
    const isOpen = this.querySelector("details")?.open ?? false;
    this.show(
      el("header", {}, el("h1", { dir: "auto" }, text("span", shown[0] ?? "Push")), copy(this.app, `${location.origin}/console#/push/${this.#id}`, "Copy Link")),
      shown.length > 1 ? text("p", shown.slice(1).join("\n"), { className: "body" }) : "",
      el(`p.verdict.${result.kind}`, { role: "status" }, result.words),
      facts([
        ["App", filter("app", accepted?.topic)], ["Device", devices.length > 1 ? `${devices.length} devices` : filter("device", devices[0])],
        ["apns-id", el("span", {}, el("code", {}, accepted?.id ?? this.#id), " ", Object.assign(copy(this.app, accepted?.id ?? this.#id), { className: "small copy" }))],
        ["apns-unique-id", accepted?.unique_id ? el("code", {}, accepted.unique_id) : ""],
        ["Trace", rows.find((row) => row.trace_id)?.trace_id ?? ""],
      ]),
      rows.length ? [el("h2", {}, "Steps"), stepList(rows),
        el("details", { open: isOpen }, el("summary", {}, `Rows of the log (${rows.length})`), el("pre", { tabIndex: 0, dir: "ltr" }, rows.map((row) => JSON.stringify(row)).join("\n")))]
        : el("p.note", {}, "The delivery log has no rows about this push. It keeps rows for the time of the setting log_retention_days."),
      el("p", {}, el("a", { href: this.app.activity }, "Back to the activity")));
  }
}

customElements.define("console-push", Push);
