// The pushes that users reported as advertising. An operator says if a report is right or wrong.

import { button, el } from "../phone/dom.js";
import { api, path } from "./api.js";
import { clockTime, failure, Page, text } from "./page.js";
import { chosen, counts, filters, reviewed, verdict } from "./reports.js";

const pageSize = 500;

class Reports extends Page {
  #reports = [];
  #filter = "open";
  #isMore = false;
  #isReading = false;

  open({ values }) {
    this.#filter = Object.hasOwn(filters, values.get("show")) ? values.get("show") : "open";
    if (this.#reports.length) return this.#draw();
    this.show(el("h1", {}, "Reports"), el("p.note", {}, "Reading …"));
    return this.#load();
  }

  /** Reads the reports before the known ones, once at a time. */
  async #load() {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const before = this.#reports[0]?.number;
      const page = await api.get(path("ads", "reports"), before === undefined ? { limit: pageSize } : { limit: pageSize, before });
      this.#reports = [...page, ...this.#reports];
      this.#isMore = page.length === pageSize;
      this.#draw();
    } catch (error) {
      this.show(el("h1", {}, "Reports"), failure(error, () => this.#load()));
    } finally {
      this.#isReading = false;
    }
  }

  #draw() {
    const focused = this.contains(document.activeElement) ? document.activeElement.id : "";
    const list = chosen(this.#reports, this.#filter);
    const choice = el("select", { id: "report-filter", "aria-label": "Reports", onchange: () => this.app.go(`#/reports?show=${choice.value}`) }, Object.entries(filters).map(([value, title]) => el("option", { value }, title)));
    choice.value = this.#filter;
    this.show(el("header", {}, el("h1", {}, "Reports"), choice), el("p.state", { role: "status" }, counts(this.#reports)),
      list.length ? el("ul.reports", {}, list.map((one) => this.#report(one))) : el("p.note", {}, this.#reports.length ? "No report is in this list." : "No user has reported a push as advertising."),
      this.#isMore ? el("p", {}, button("Load Older", () => this.#load())) : "");
    if (focused) (document.getElementById(focused) ?? choice).focus();
  }

  #report({ number, at, device, topic, id, text: words, outcome, review }) {
    const mark = (value, title) => button(title, () => this.#review(number, review, review === value ? null : value), { id: `report-${number}-${value}`, className: "small", "aria-pressed": String(review === value) });
    return el("li.card", {}, el("p.row", {}, clockTime(at), el("a", { href: `#/push/${id}`, dir: "auto" }, text("span", topic ?? "a removed app")), text("span", device ?? "a removed device")),
      words ? text("p", words, { className: "body" }) : "", el("p.detail", {}, verdict(outcome)), el("p.row", {}, el("span", {}, mark("right", "Right: it is advertising"), " ", mark("wrong", "Wrong"))));
  }

  async #review(number, before, review) {
    const set = async (value) => {
      await api.post(path("ads", "reports", String(number)), value ? { review: value } : {});
      this.#reports = reviewed(this.#reports, number, value ?? undefined);
      this.#draw();
    };
    try {
      await set(review);
      this.app.toast(review ? `Marked as ${review}` : "Not reviewed any more", () => set(before ?? null));
    } catch (error) {
      this.app.toast(error.message);
    }
  }
}

customElements.define("console-reports", Reports);
