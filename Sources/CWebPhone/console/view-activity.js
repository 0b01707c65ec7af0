// The activity: the rows of the delivery log, live, with a filter that is the address.

import { button, el } from "../phone/dom.js";
import { api, path } from "./api.js";
import { events, format, matches, parse, query, terms } from "./filters.js";
import { csv, csvHead, eventWords, kind, ndjson, summary } from "./log.js";
import { clockTime, failure, Page, save, text } from "./page.js";
import { reveal, visible } from "./window.js";

const firstRows = 500;
const pageSize = 1000;
/** The most rows in memory, and the number that stays after the oldest ones are removed. */
const mostRows = 20_000;
const keptRows = 15_000;
/** The time in seconds for which a request waits for rows. */
const waitTime = 25;
/** The most pages that one click on Load Older reads while it searches for rows with a rule. */
const searchedPages = 10;
const mostExported = 100_000;
const restTime = 300;

class Activity extends Page {
  /** The matching rows, the oldest first. */
  rows = [];
  #filter = parse("");
  #older = null;
  #reading = null;
  #elements = new Map();
  #selected = null;
  #height = 44;
  #timer = null;
  #state = "";

  connectedCallback() {
    if (this.list) return;
    this.field = el("input", {
      type: "search", id: "filter", dir: "ltr", spellcheck: false, autocomplete: "off", placeholder: "rule:N7 app:com.example.news device:phone since:1h", "aria-label": "Filter",
      oninput: () => { clearTimeout(this.#timer); this.#timer = setTimeout(() => this.#find(this.field.value, false), restTime); },
      onkeydown: (event) => {
        if (event.key === "Enter") this.#find(this.field.value, true);
        if (event.key === "ArrowDown") { event.preventDefault(); this.#focus(); }
      },
    });
    this.field.setAttribute("aria-describedby", "filter-help");
    this.event = this.#choice("Event", "event", [["", "Any event"], ...events.map((name) => [name, eventWords(name)])]);
    this.since = this.#choice("Time", "since", [["", "Any time"], ["15m", "15 minutes"], ["1h", "An hour"], ["24h", "A day"], ["7d", "A week"]]);
    this.topic = this.#choice("App", "app", [["", "Any app"]]);
    this.chips = el("div.chips", { role: "list", "aria-label": "Filters" });
    this.status = el("p.state", { role: "status" });
    this.problem = el("div");
    this.window = el("div.window", { role: "rowgroup" });
    this.list = el("div.list", { tabIndex: 0, role: "table", "aria-label": "Events, the newest first", onscroll: () => this.#draw() },
      el("div.head", { role: "rowgroup" }, el("div.columns", { role: "row" }, ["Time", "Event", "App", "Device", "Detail"].map((name) => el("span", { role: "columnheader" }, name)))),
      this.window);
    this.more = button("Load Older", () => this.#loadOlder());
    this.exports = el("details.menu", {}, el("summary", {}, "Export"), el("div", {}, button("NDJSON", () => this.#export("ndjson")), button("CSV", () => this.#export("csv"))));
    this.show(el("h1.hidden", {}, "Activity"), el("div.filters", {}, this.field, this.event, this.topic, this.since, this.exports),
      el("p.hidden", { id: "filter-help" }, "Terms such as rule:N7, app:TOPIC, device:NAME, event:refused, since:1h, id:UUID, separated by spaces. Other words are searched for in texts."),
      this.chips, this.problem, this.list, el("div.foot", {}, this.status, this.more));
    this.observer = new ResizeObserver(() => this.#measure());
    this.observer.observe(this.list);
    this.wake = () => document.visibilityState === "visible" && !this.#reading && this.#read();
    document.addEventListener("visibilitychange", this.wake);
    api.get(path("apps")).then((apps) => this.topic.append(...apps.map((app) => el("option", { value: app.topic }, app.topic))), () => {});
  }

  #choice(title, name, options) {
    return el("select", { "aria-label": title, "data-name": name, onchange: (event) => this.#set(name, event.target.value) },
      options.map(([value, words]) => el("option", { value }, words)));
  }

  get keys() {
    return [
      [["/"], "filter", () => this.field.focus()], [["ArrowDown", "j"], "next", () => this.#move(1)], [["ArrowUp", "k"], "previous", () => this.#move(-1)],
      [["Home"], "newest", () => this.#move(-Infinity)], [["End"], "oldest", () => this.#move(Infinity)], [["e"], "export", () => { this.exports.open = true; this.exports.querySelector("button").focus(); }],
    ];
  }

  open({ values }) {
    const given = values.get("q") ?? "";
    const filter = parse(given);
    if (document.activeElement !== this.field) this.field.value = given;
    const isOther = format(filter) !== format(this.#filter) || !this.#reading;
    this.#filter = filter;
    this.app.activity = location.hash || "#/activity";
    this.#describe();
    if (isOther) this.#start();
  }

  leave() {
    this.#stop();
    this.observer.disconnect();
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.wake);
  }

  // The filter

  #address(q) { return q ? `#/activity?${new URLSearchParams({ q })}` : "#/activity"; }

  /** Uses another filter. Typing replaces the address; a selection adds a step to the history. */
  #find(q, isStep) {
    clearTimeout(this.#timer);
    const address = this.#address(q.trim());
    if (address === location.hash || (address === "#/activity" && !location.hash)) return;
    if (isStep) return void this.app.go(address);
    this.app.replace(address);
    this.open(this.app.place);
  }

  #set(name, value) {
    const filter = { ...this.#filter, [name]: Array.isArray(this.#filter[name]) ? [value].filter(Boolean) : value };
    this.#show(format(filter));
  }

  #show(q) {
    this.field.value = q;
    this.#find(q, true);
  }

  #describe() {
    const filter = this.#filter;
    for (const choice of [this.event, this.since, this.topic]) {
      const value = [filter[choice.dataset.name]].flat().join(",");
      if (value && ![...choice.options].some((one) => one.value === value)) choice.append(el("option", { value }, value));
      choice.value = value;
    }
    this.chips.replaceChildren(...terms(filter).map(({ name, value, rest }) => el("span", { role: "listitem" },
      button(`${name}: ${value} ✕`, () => this.#show(rest), { className: "chip", "aria-label": `Remove the filter ${name} ${value}`, dir: "ltr" }))));
    this.problem.replaceChildren(...filter.problems.map((words) => el("p.error", {}, words)));
  }

  // Reading

  #stop() {
    this.#reading?.abort();
    this.#reading = null;
  }

  #start() {
    this.#stop();
    this.rows = [];
    [this.#older, this.after] = [null, null];
    this.list.scrollTop = 0;
    this.#clear();
    if (this.#filter.problems.length) return this.#say("Correct the filter.");
    return this.#read();
  }

  /** Reads the newest rows, then follows the log until the filter changes or the page is hidden. */
  async #read() {
    const reading = new AbortController();
    this.#reading = reading;
    const { signal } = reading;
    try {
      const values = query(this.#filter, Date.now());
      if (this.after === null) {
        this.#say("Reading the log …");
        const start = await api.get(path("log", "start"), { ...values, limit: firstRows }, signal);
        this.after = start.position ?? String(start.after);
        this.#older = start.position ?? (start.after > 0 ? String(start.after + 1) : null);
      }
      let wait = 0;
      while (!signal.aborted && document.visibilityState === "visible") {
        const page = await api.get(path("log", "next"), { ...values, after: this.after, limit: pageSize, seconds: wait }, signal);
        this.after = page.position ?? String(page.next);
        this.#take(page.rows, page.unanswered);
        // After a full page the gateway has further rows.
        wait = page.rows.length === pageSize ? 0 : waitTime;
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#fail(error);
    }
    if (this.#reading === reading) this.#reading = null;
  }

  #fail(error) {
    this.#say("Not live");
    if (error.status === 0 || error.status === 503) {
      setTimeout(() => this.isConnected && !this.#reading && this.#read(), 3000);
      this.#say(error.message);
    } else {
      this.problem.replaceChildren(failure(error, () => this.#start()));
    }
  }

  /** Adds rows at the end. A list that was scrolled shows the same rows as before. */
  #take(rows, unanswered = []) {
    const found = rows.filter((row) => matches(this.#filter, row));
    const isAtTop = this.list.scrollTop < this.#height;
    this.rows.push(...found);
    if (this.rows.length > mostRows) {
      this.rows = this.rows.slice(-keptRows);
      this.#older = this.rows[0].gateway ? null : String(this.rows[0].number);
    }
    this.problem.replaceChildren(...(unanswered?.length ? [el("p.error", {}, `Without the rows of ${unanswered.join(", ")}, which did not answer.`)] : []));
    if (found.length && !isAtTop) this.list.scrollTop += found.length * this.#height;
    this.#say("Live");
    if (found.length || this.rows.length === 0) this.#redraw();
  }

  async #loadOlder() {
    const list = this.rows;
    this.more.disabled = true;
    try {
      for (let [count, found] = [0, 0]; count < searchedPages && this.#older !== null && found < pageSize; count += 1) {
        const answer = await api.get(path("log"), { ...query(this.#filter, Date.now()), before: this.#older, limit: pageSize });
        // Another filter, or the removal of the oldest rows, began another list: the answer does not continue it.
        if (this.rows !== list) break;
        const rows = answer.rows ?? answer;
        this.#older = rows.length < pageSize ? null : answer.before ?? String(rows[0].number);
        const matching = rows.filter((row) => matches(this.#filter, row));
        found += matching.length;
        list.unshift(...matching);
      }
      this.#redraw();
    } catch (error) {
      if (this.rows === list) this.#fail(error);
    }
    this.more.disabled = false;
  }

  // Files

  async #export(type) {
    this.exports.open = false;
    const filter = this.#filter;
    const values = query(filter, Date.now());
    const parts = [];
    let [before, count] = [null, 0];
    try {
      do {
        const answer = await api.get(path("log"), before === null ? { ...values, limit: pageSize } : { ...values, before, limit: pageSize });
        const rows = answer.rows ?? answer;
        const found = rows.filter((row) => matches(filter, row));
        count += found.length;
        parts.unshift(type === "csv" ? csv(found) : ndjson(found));
        before = rows.length < pageSize ? null : answer.before ?? String(rows[0].number);
        if (before !== null) this.app.toast(`Reading ${count} rows …`);
      } while (before !== null && count < mostExported);
    } catch (error) {
      return void this.app.toast(error.message);
    }
    if (type === "csv") parts.unshift(csvHead);
    const name = `activity-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.${type}`;
    save(name, parts, type === "csv" ? "text/csv" : "application/x-ndjson");
    this.app.toast(`Exported ${count} rows${before === null ? "" : ": the newest ones. A filter of the time exports earlier ones"}`);
  }

  // Drawing

  #say(words) { this.#state = words; this.#count(); }

  #count() {
    const words = `${this.#state} · ${this.rows.length} ${this.rows.length === 1 ? "row" : "rows"}`;
    if (this.status.textContent !== words) this.status.textContent = words;
    this.more.hidden = this.#older === null;
  }

  #clear() {
    this.window.replaceChildren();
    this.#elements.clear();
    this.#draw();
  }

  /** Reads the height of a row, which depends on the font and on the width. */
  #measure() {
    const height = parseFloat(getComputedStyle(this.list).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
    if (height > 0) this.#height = height;
    this.#clear();
  }

  #redraw() {
    const focused = this.window.contains(document.activeElement);
    this.#draw();
    if (focused && !this.window.contains(document.activeElement)) this.#focus();
  }

  /** Returns the row at an index of the list, which begins with the newest row. */
  #at(index) { return this.rows[this.rows.length - 1 - index]; }

  #draw() {
    const { list, window } = this;
    const count = this.rows.length;
    window.style.height = `${count * this.#height}px`;
    list.setAttribute("aria-rowcount", count + 1);
    const [first, last] = visible(count, this.#height, list.scrollTop, list.clientHeight);
    const shown = new Set();
    for (let index = first; index < last; index += 1) shown.add(this.#at(index));
    for (const [row, element] of this.#elements) {
      if (shown.has(row)) continue;
      element.remove();
      this.#elements.delete(row);
    }
    if (!this.rows.includes(this.#selected)) this.#selected = count ? this.#at(0) : null;
    let next = null;
    for (let index = last - 1; index >= first; index -= 1) {
      const row = this.#at(index);
      if (!this.#elements.has(row)) this.#elements.set(row, window.insertBefore(this.#row(row), next));
      next = this.#elements.get(row);
      next.style.top = `${index * this.#height}px`;
      next.setAttribute("aria-rowindex", index + 2);
      next.querySelector("a").tabIndex = row === this.#selected ? 0 : -1;
      next.classList.toggle("selected", row === this.#selected);
    }
    this.#count();
    if (!count && this.#state === "Live") this.status.textContent = "Live · No event matches.";
  }

  #row(row) {
    const term = (name, value) => value ? el("a.term", { href: this.#address(format({ ...this.#filter, [name]: value })), tabIndex: -1, title: `Only ${name}:${value}`, dir: "auto" }, text("span", value)) : "";
    const title = eventWords(row.event);
    const shown = row.text ? `${row.text.split("\n")[0]} — ${summary(row)}` : summary(row);
    return el("div.row", { role: "row" }, el("span", { role: "cell" }, clockTime(row.at)),
      el("span", { role: "cell" }, row.id ? el(`a.event.${kind(row.event)}`, { href: `#/push/${row.id}`, onfocus: () => this.#select(row) }, title) : el(`a.event.${kind(row.event)}`, { href: this.#address(`event:${row.event}`) }, title)),
      el("span", { role: "cell" }, term("app", row.topic)), el("span", { role: "cell" }, term("device", row.device)),
      el("span.detail", { role: "cell", title: shown }, text("span", shown)));
  }

  #select(row) {
    if (this.#selected === row) return;
    this.#selected = row;
    this.#draw();
  }

  #focus() { this.#elements.get(this.#selected)?.querySelector("a").focus({ preventScroll: true }); }

  #move(step) {
    const count = this.rows.length;
    if (!count) return;
    const present = count - 1 - this.rows.indexOf(this.#selected);
    const isFocused = this.window.contains(document.activeElement);
    const index = Math.min(count - 1, Math.max(0, isFocused || Math.abs(step) === Infinity ? present + step : present));
    this.#selected = this.#at(index);
    this.list.scrollTop = reveal(index, this.#height, this.list.scrollTop, this.list.clientHeight - this.list.firstChild.offsetHeight);
    this.#draw();
    this.#focus();
  }
}

customElements.define("console-activity", Activity);
