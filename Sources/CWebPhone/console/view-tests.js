// The tests of a test gateway, and the page of a test: its expectations, the nearest pushes of each failed one, and its pushes.

import { el } from "../phone/dom.js";
import { api } from "./api.js";
import { clockTime, failure, Page, text } from "./page.js";
import { differences, keyOf, nameOf, ordered, outcome, overview, result, titleOf } from "./tests.js";

/** The time between two readings, in milliseconds. */
const restTime = 2000;
const mostPushes = 1000;

class Tests extends Page {
  #selected = "";
  #timer = null;
  #known = "";
  #read = 0;

  connectedCallback() {
    if (this.wake) return;
    this.wake = () => document.visibilityState === "visible" && this.#look();
    document.addEventListener("visibilitychange", this.wake);
  }

  get keys() { return this.#selected ? [[["Escape", "ArrowLeft"], "all tests", () => this.app.go("#/tests")]] : []; }

  open({ parts }) {
    this.#selected = parts[0] ?? "";
    this.#known = "";
    this.show(el("h1", {}, "Tests"), el("p.note", {}, "Reading …"));
    this.#look();
  }

  leave() {
    this.#read += 1;
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.wake);
  }

  async #look() {
    clearTimeout(this.#timer);
    const number = this.#read += 1;
    try {
      const { tests } = await api.get("/test/v1/tests");
      const test = this.#selected && tests.find((one) => keyOf(one) === this.#selected);
      const pushes = test?.token ? (await api.get("/test/v1/pushes", { token: test.token, limit: mostPushes })).pushes : [];
      if (number !== this.#read) return;
      // The page is drawn again only after a change, so that the scroll position and the selection stay.
      const now = JSON.stringify([tests, pushes]);
      if (now !== this.#known) this.#draw(tests, test, pushes);
      this.#known = now;
    } catch (error) {
      if (number !== this.#read) return;
      this.#known = "";
      this.show(el("h1", {}, "Tests"), failure(error, () => this.#look()));
    }
    if (document.visibilityState === "visible") this.#timer = setTimeout(() => this.#look(), restTime);
  }

  #draw(tests, test, pushes) {
    const focused = this.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    if (this.#selected) this.#one(test, pushes); else this.#all(tests);
    if (focused) this.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }

  #all(tests) {
    this.show(el("h1", {}, "Tests"), el("p.state", { role: "status" }, overview(tests)),
      tests.length ? el("table.wide", {}, el("thead", {}, el("tr", {}, ["Test", "Result", "Pushes", "Last"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, ordered(tests).map((test) => {
          const found = result(test);
          return el("tr", {}, el("th", { scope: "row" }, el("a", { href: `#/tests/${encodeURIComponent(keyOf(test))}`, dir: "auto" }, text("span", nameOf(test)))),
            el(`td.${found.kind}`, {}, found.words), el("td", {}, String(test.pushes)), el("td", {}, clockTime(test.last)));
        })))
        : el("p.note", {}, "No test has sent a push or expected one yet. A test is a device token of this gateway."));
  }

  #one(test, pushes) {
    const back = el("p", {}, el("a", { href: "#/tests" }, "All tests"));
    if (!test) return this.show(el("h1", {}, "Tests"), el("p.note", {}, "This test is not in the list any more, which has the last 1,000."), back);
    const found = result(test);
    const failed = test.expectations.filter((one) => !one.fulfilled).toReversed();
    const fulfilled = test.expectations.filter((one) => one.fulfilled).toReversed();
    return this.show(
      el("h1", { dir: "auto" }, text("span", nameOf(test))), el(`p.verdict.${found.kind}`, { role: "status" }, found.words), test.token ? el("p", {}, el("code", { dir: "ltr" }, test.token)) : "",
      failed.map((one) => this.#failure(one)),
      fulfilled.length ? el("details", {}, el("summary", {}, `Fulfilled (${fulfilled.length})`), el("ul.steps", {}, fulfilled.map((one) => el("li.good", {}, clockTime(one.at), text("span", one.detail))))) : "",
      el("h2", { id: "pushes" }, "Pushes"), pushes.length ? this.#pushes(pushes) : el("p.note", {}, "The record has no push of this test."), back);
  }

  #failure({ at, detail, nearest }) {
    return el("section.card", { "aria-label": "Failed expectation" }, el("h2", {}, "Failed Expectation"), el("p.bad", {}, clockTime(at), " ", text("span", detail)),
      nearest.length ? nearest.map((push, index) => [
        el("h3", {}, index ? `Push ${push.push}` : `The nearest push: ${push.push}`), push.cause ? text("p", push.cause, { className: "late" }) : "",
        el("table.wide", {}, el("thead", {}, el("tr", {}, ["Field", "Expected", "Found"].map((name) => el("th", { scope: "col" }, name)))),
          el("tbody", {}, differences(push).map(([field, expected, value]) => el("tr", {}, el("th", { scope: "row" }, el("code", {}, field)), el("td", {}, text("span", expected)), el("td", {}, text("span", value)))))),
      ]) : el("p", {}, "The test has no other push."));
  }

  #pushes(pushes) {
    return el("table.wide", { "aria-labelledby": "pushes" }, el("thead", {}, el("tr", {}, ["Push", "Time", "Title", "Outcome"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, pushes.toReversed().map((push) => {
        const found = outcome(push);
        return el("tr", {}, el("th", { scope: "row" }, el("a", { href: `#/push/${push.id}` }, String(push.number))), el("td", {}, clockTime(push.received)),
          el("td", {}, text("span", titleOf(push))), el(`td.${found.kind}`, {}, text("span", found.words)));
      })));
  }
}

customElements.define("console-tests", Tests);
