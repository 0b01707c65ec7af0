// The status: health, figures of the last hour as charts and tables, limits, certificates, and the members of a cluster.

import { el } from "../phone/dom.js";
import { exact, plain } from "../phone/words.js";
import { api, path, sentence } from "./api.js";
import { charts, earlier, figure, figures, line, remember, roundTop, sampleTime } from "./metrics.js";
import { clockTime, facts, failure, Page, svg, text } from "./page.js";

const [width, height] = [300, 80];
const day = 86_400;
/** The rows of a table; a chart has more points. */
const tableRows = 12;
/** The figures of the last hour, also while another page is shown; null before they are read. */
let history = null;

/** Returns the names and the issuer of the gateway's certificate, and the fingerprint of the CA as `pushcli certs authority` prints it. */
const issued = ({ certificate, authority = "" }) => [
  ["Names of the certificate", certificate && [...certificate.names, ...certificate.addresses].join(", ")], ["Issuer of the certificate", certificate?.issuer],
  ["Fingerprint of the CA", /^0+$/.test(authority) ? "none: the CAs of the system verify the certificate" : authority.match(/.{1,4}/g)?.join("-")]];

class Status extends Page {
  #timer = null;
  #isTable = false;
  #facts = null;
  #problem = null;

  connectedCallback() {
    if (this.wake) return;
    this.wake = () => document.visibilityState === "visible" && this.#read();
    document.addEventListener("visibilitychange", this.wake);
  }

  get keys() { return [[["v"], "charts or tables", () => this.#turn()]]; }

  open() { this.#read(); }

  leave() {
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.wake);
  }

  async #read() {
    clearTimeout(this.#timer);
    try {
      const [metrics, status, health] = await Promise.all([api.text(path("metrics")), api.get(path("status")), api.health()]);
      // The gateway has the figures of the time before this visit.
      history ??= (await api.get(path("metrics", "history"))).map(earlier);
      history = remember(history, figures(metrics, Date.now()));
      this.#facts = { status, health };
      this.#problem = null;
    } catch (error) {
      this.#problem = error;
    }
    if (!this.isConnected) return;
    this.#draw();
    // A hidden page sends no requests.
    if (document.visibilityState === "visible") this.#timer = setTimeout(() => this.#read(), sampleTime);
  }

  #turn() {
    this.#isTable = !this.#isTable;
    this.#draw();
    this.querySelector("#as-tables")?.focus();
  }

  #draw() {
    if (!this.#facts) return this.show(el("h1", {}, "Status"), failure(this.#problem, () => this.#read()));
    const { status, health } = this.#facts;
    const now = history.at(-1);
    // Each reading draws the page again: the focused element keeps the focus.
    const focused = this.contains(document.activeElement) ? document.activeElement.getAttribute("href") ?? "" : null;
    const table = el("input", { type: "checkbox", id: "as-tables", checked: this.#isTable, onchange: () => this.#turn() });
    this.show(
      el("header", {}, el("h1", {}, "Status"), el("label", {}, table, " Tables")), this.#problem ? failure(this.#problem) : "",
      el("ul", {}, health.error ? el("li.bad", {}, `The health is unknown. ${plain(health.error)}`) : health.problems.length ? health.problems.map((one) => el("li.bad", {}, sentence(plain(one)))) : el("li.good", {}, "The gateway is ready.")),
      facts([
        ["Accepted pushes are", plain(health.promise ?? "")], ["Version", now.version], ["Running since", status.started && exact(Date.parse(status.started))],
        ["Environment", status.environment], ["Addresses", status.listening?.join(", ")], ["Open streams of devices", String(now.devices)],
        ...Object.entries(now.certificates).map(([name, time]) => [`Certificate ${name}`, this.#certificate(time)]), ...issued(status),
        ["Other gateways", status.gateways?.join(", ")],
      ]),
      el("div.charts", {}, charts.map((chart) => this.#chart(chart, now.at))),
      el("div.counts", {}, this.#counts("Refused by rules", now.refusedBy, "rule", "Pushes that a rule refused since the start."),
      this.#counts("Removed by rules", now.removedBy, "rule", "Parts of pushes that preferences removed since the start."),
      this.#counts("Refused by reason", now.reasons, "", "Requests of providers since the start."),
      this.#counts("Limits that were reached", now.limits, "", "Since the start.")));
    if (focused !== null) (focused ? this.querySelector(`a[href="${CSS.escape(focused)}"]`) : table)?.focus();
    return undefined;
  }

  #certificate(time) {
    const days = Math.floor((time - Date.now() / 1000) / day);
    const words = days < 0 ? "has expired" : `ends in ${days} ${days === 1 ? "day" : "days"}`;
    return el(`span.${days < 7 ? "bad" : days < 30 ? "late" : "plain"}`, { title: exact(time * 1000) }, words);
  }

  #chart(chart, now) {
    const series = chart.series(history);
    const last = series.map(({ title, points }) => (points.length ? `${series.length > 1 ? `${title} ` : ""}${figure(points.at(-1).value)}` : "")).filter(Boolean).join(", ");
    const head = el("h2", {}, chart.title, " ", el("span.figure", {}, last ? `${last} ${chart.unit}` : "no figure yet"));
    return el("section.chart", { "aria-label": chart.title }, head, this.#isTable ? this.#table(series) : this.#lines(chart, series, now, last));
  }

  #lines(chart, series, now, last) {
    const top = roundTop(Math.max(0, ...series.flatMap(({ points }) => points.map((one) => one.value))));
    const label = `${chart.title} in the last hour, from 0 to ${figure(top)} ${chart.unit}; now ${last || "unknown"}`;
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "none" },
      svg("path", { d: `M0 ${height}H${width}M0 0H${width}`, class: "grid" }),
      ...series.map(({ points }, index) => svg("path", { d: line(points, now, top, width, height), class: `line line-${index}` })));
  }

  #table(series) {
    const times = [...new Set(series.flatMap(({ points }) => points.map((one) => one.at)))].sort((one, other) => other - one);
    const step = Math.max(1, Math.ceil(times.length / tableRows));
    const rows = times.filter((_, index) => index % step === 0);
    return el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Time"), series.map(({ title }) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, rows.map((at) => el("tr", {}, el("th", { scope: "row" }, clockTime(new Date(at).toISOString())), series.map(({ points }) => {
        const found = points.find((one) => one.at === at);
        return el("td", {}, found ? figure(found.value) : "–");
      })))));
  }

  /** A table of the counters of a label that are not 0. */
  #counts(title, counts, term, words) {
    const rows = Object.entries(counts).sort((one, other) => other[1] - one[1]);
    return el("section", {}, el("h2", {}, title), rows.length ? el("table", {}, el("caption", {}, words), el("tbody", {}, rows.map(([name, value]) => el("tr", {},
      el("th", { scope: "row" }, term ? el("a", { href: `#/activity?${new URLSearchParams({ q: `${term}:${name}` })}` }, name) : text("span", name)), el("td", {}, figure(value)))))) : el("p.note", {}, "None since the start."));
  }
}

customElements.define("console-status", Status);
