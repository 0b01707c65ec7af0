// Other preferences on the past pushes of a device: a picture of before and after, with tables.

import { el } from "../phone/dom.js";
import { exact } from "../phone/words.js";
import { api, path } from "./api.js";
import { roundTop } from "./metrics.js";
import { failure, Page, svg, text } from "./page.js";
import { address, asked, bars, body, parts, summary } from "./replay.js";

const [width, height] = [720, 160];

class Replay extends Page {
  #number = 0;

  get keys() { return [[["t"], "device", () => this.device?.focus()]]; }

  open({ values }) {
    const wanted = asked(values);
    if (!this.device) this.#build();
    [this.device.value, this.since.value, this.settings.value, this.topic.value] = [wanted.device, wanted.since, wanted.settings.join("\n"), wanted.app];
    // A bookmark may name an app that is not in the list yet.
    if (wanted.app && this.topic.value !== wanted.app) {
      this.topic.append(el("option", { value: wanted.app }, wanted.app));
      this.topic.value = wanted.app;
    }
    if (wanted.device) return this.#read(wanted);
    return this.result.replaceChildren(el("p.note", {}, "Choose a device and other preferences. No push is sent, and no preference changes."));
  }

  leave() { this.#number += 1; }

  #field(id, title, input, help = "") {
    if (help) input.setAttribute("aria-describedby", `${id}-help`);
    input.id = id;
    return el("p.field", {}, el("label", { for: id }, title), input, help ? el("span.help", { id: `${id}-help` }, help) : "");
  }

  #build() {
    this.device = el("input", { type: "text", required: true, dir: "auto", autocomplete: "off" });
    this.device.setAttribute("list", "replay-devices");
    this.names = el("datalist", { id: "replay-devices" });
    this.since = el("select", {}, Object.entries({ "1d": "A day", "7d": "A week", "30d": "30 days" }).map(([value, words]) => el("option", { value }, words)));
    this.topic = el("select", {}, el("option", { value: "" }, "Everything"));
    this.settings = el("textarea", { rows: 3, dir: "ltr", spellcheck: false, placeholder: "quiet=22:00-07:00" });
    this.result = el("div", { role: "status" });
    const go = () => {
      const place = address({ device: this.device.value.trim(), since: this.since.value, app: this.topic.value, settings: this.settings.value.split("\n").map((one) => one.trim()).filter(Boolean) });
      if (place === location.hash) this.open(this.app.place); else this.app.go(place);
    };
    this.show(el("h1", {}, "Replay"), el("form.send", { onsubmit: (event) => { event.preventDefault(); go(); } },
      el("section", {}, this.#field("replay-device", "Device", this.device), this.names, this.#field("replay-since", "Time", this.since)),
      el("section", {}, this.#field("replay-settings", "Preferences", this.settings, "one in each line, as for pushcli prefs set: badge=off, delivery=summary, quiet=22:00-07:00"), this.#field("replay-app", "For", this.topic),
        el("p.row", {}, el("button.primary", {}, "Show Before and After")))), this.result);
    api.get(path("devices"), { limit: 1000 }).then((all) => this.names.append(...all.map((one) => el("option", { value: one.name }))), () => {});
    api.get(path("apps")).then((all) => {
      const known = new Set([...this.topic.options].map((one) => one.value));
      this.topic.append(...all.filter((one) => !known.has(one.topic)).map((one) => el("option", { value: one.topic }, one.topic)));
    }, () => {});
  }

  async #read(wanted) {
    const number = this.#number += 1;
    this.result.replaceChildren(el("p.note", {}, "Reading the log …"));
    try {
      const found = await api.post(path("devices", wanted.device, "replay"), body(wanted));
      if (number === this.#number) this.#draw(found, wanted);
    } catch (error) {
      if (number === this.#number) this.result.replaceChildren(failure(error));
    }
  }

  #draw(found, wanted) {
    const words = summary(found);
    this.result.replaceChildren(el("p.verdict", {}, words), ...(found.pushes ? [
      this.#picture(found, words), el("p.legend", {}, el("span.before", {}, "■ before"), " ", el("span.after", {}, "■ after")),
      el("h2", {}, "Apps"), this.#table("App", found.apps, ({ topic }) => text("span", topic)),
      el("details", {}, el("summary", {}, "The picture as a table"), this.#table("From", found.times, ({ at }) => exact(Date.parse(at)))),
      el("h2", {}, "Pushes with a Difference"), found.changes.length ? this.#changes(found.changes) : el("p.note", {}, "No push differs."),
    ] : [el("p.note", {}, `The log has no push of ${wanted.device} in this time.`)]));
  }

  #picture({ times: periods }, words) {
    const top = roundTop(Math.max(0, ...periods.flatMap(({ before, after }) => [before, after])));
    const first = periods[0]?.at ? exact(Date.parse(periods[0].at)) : "";
    return el("section.chart", { "aria-label": "Alerts before and after" }, el("h2", {}, "Alerts", el("span.figure", {}, `0 to ${top} in each of ${periods.length} periods since ${first}`)),
      svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words, preserveAspectRatio: "none" },
        svg("path", { d: `M0 ${height}H${width}M0 0H${width}`, class: "grid" }),
        ...bars(periods, top, width, height).map(({ kind, ...box }) => svg("rect", { ...box, class: kind }))));
  }

  #table(title, tallies, name) {
    return el("table", {}, el("thead", {}, el("tr", {}, [title, "Pushes", "Alerts before", "Alerts after", "In a summary"].map((one) => el("th", { scope: "col" }, one)))),
      el("tbody", {}, tallies.map((one) => el("tr", {}, el("th", { scope: "row" }, name(one)), [one.pushes, one.before, one.after, one.held].map((value) => el("td", {}, String(value)))))));
  }

  #changes(list) {
    return el("table.wide", {}, el("thead", {}, el("tr", {}, ["Time", "App", "Was", "Would be", "Because"].map((one) => el("th", { scope: "col" }, one)))),
      el("tbody", {}, list.map((one) => el("tr", {}, el("th", { scope: "row" }, el("a", { href: `#/push/${one.id}` }, exact(Date.parse(one.at)))), el("td", {}, text("span", one.topic)),
        el("td", {}, parts(one.was)), el("td", {}, parts(one.would_be, one.held)), el("td", {}, text("span", one.reasons.join(", ")))))));
  }
}

customElements.define("console-replay", Replay);
