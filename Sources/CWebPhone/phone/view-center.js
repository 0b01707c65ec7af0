// The notification center: a windowed list, its search, and its scopes.

import { offsets, range, rows } from "./center.js";
import { button, el, icon, said, View } from "./dom.js";
import { headline, listed } from "./state.js";
import { answerWords, days, exact, moment, plain } from "./words.js";

/** The heights of rows in rem, as in the style sheet. */
const heights = { group: 3, entry: 5.5 };
const swipeSize = 96;

class Center extends View {
  rows = [];
  marked = new Set();
  #places = [0];
  #size = 0;
  #known = "";
  #revision = -1;
  /** The elements of the visible rows. */
  #elements = new Map();

  connectedCallback() {
    if (this.list) return;
    this.search = el("input", {
      type: "search", placeholder: "Search", "aria-label": "Search notifications", dir: "auto", maxLength: 200,
      oninput: () => this.phone.find({ q: this.search.value }),
      onkeydown: (event) => ["Enter", "ArrowDown"].includes(event.key) && (event.preventDefault(), this.list.focus()),
    });
    this.scopes = el("select", { "aria-label": "Scope", onchange: () => this.phone.find({ scope: this.scopes.value }) });
    this.by = el("select", { "aria-label": "Group", onchange: () => this.phone.find({ by: this.by.value }) },
      el("option", { value: "app" }, "By App"), el("option", { value: "day" }, "By Day"));
    this.all = button("Clear All", () => this.phone.command("clearAll"), { className: "plain destructive", "data-command": "clearAll" });
    this.window = el("div.window", { role: "list" });
    this.list = el("div.list", { tabIndex: 0, role: "region", "aria-label": "Notifications", onscroll: () => this.#draw() }, this.window);
    this.empty = el("p.empty");
    this.show(el("h1.hidden", {}, "Notification Center"),
      el("div.filters", {}, this.search, this.scopes, this.by, this.all), this.empty, this.list);
    new ResizeObserver(() => this.#draw()).observe(this.list);
  }

  /** The ordinal of the selected entry; null if the list is empty. */
  get selected() { return this.rows[this.index]?.entry?.ordinal ?? null; }

  /** The index of the selected row: of an entry, or -1. */
  get index() {
    const { selected } = this.phone.place;
    const index = this.rows.findIndex((row) => row.kind === "entry" && row.key === selected);
    return index >= 0 ? index : this.rows.findIndex((row) => row.kind === "entry");
  }

  update() {
    const { state, place, revision } = this.phone;
    const search = { text: place.q, scope: place.scope };
    const known = JSON.stringify([search, place.by]);
    if (known !== this.#known || revision !== this.#revision) {
      this.rows = rows(state, search, place.by, days(Date.now()));
      this.#size = 0;
      if (known !== this.#known) this.list.scrollTop = 0;
      [this.#known, this.#revision] = [known, revision];
      this.#filters(state, place);
    }
    const isFocused = this.window.contains(document.activeElement);
    this.window.replaceChildren();
    this.#elements.clear();
    this.#draw();
    if (isFocused) this.#focus();
  }

  #focus() { this.window.querySelector(".selected a")?.focus({ preventScroll: true }); }

  #filters(state, place) {
    if (document.activeElement !== this.search) this.search.value = place.q;
    this.by.value = place.by;
    this.scopes.replaceChildren(...[
      ["all", "All"], ["unread", "Unread"], ["level:time-sensitive", "Time-Sensitive"], ["level:critical", "Critical"],
      ...state.apps.map((app) => [`app:${app.topic}`, plain(app.name)]),
    ].map(([value, title]) => el("option", { value, selected: value === place.scope }, title)));
    const isFiltered = place.q !== "" || place.scope !== "all";
    this.empty.textContent = this.rows.length ? "" : isFiltered ? "Nothing found." : "No notifications.";
    this.empty.hidden = this.rows.length > 0;
    this.all.hidden = this.rows.length === 0;
  }

  /** Draws the visible rows. Rows that stay visible keep their elements. */
  #draw() {
    const { list, window } = this;
    const height = list.clientHeight;
    if (!height) return;
    const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
    if (size !== this.#size) {
      this.#size = size;
      this.#places = offsets(this.rows, { group: heights.group * size, entry: heights.entry * size });
    }
    window.style.height = `${this.#places.at(-1)}px`;
    const [first, last] = range(this.#places, list.scrollTop - height / 2, list.scrollTop + 1.5 * height);
    const visible = new Set(this.rows.slice(first, last));
    for (const [row, element] of this.#elements) {
      if (visible.has(row)) continue;
      element.remove();
      this.#elements.delete(row);
    }
    const selected = this.index;
    let next = null;
    for (let index = last - 1; index >= first; index -= 1) {
      const row = this.rows[index];
      if (!this.#elements.has(row)) this.#elements.set(row, window.insertBefore(this.#row(row, index, selected), next));
      next = this.#elements.get(row);
    }
  }

  #row(row, index, selected) {
    const element = row.kind === "group" ? this.#group(row) : this.#entry(row.entry, index === selected);
    element.style.top = `${this.#places[index]}px`;
    element.setAttribute("aria-posinset", index + 1);
    element.setAttribute("aria-setsize", this.rows.length);
    return element;
  }

  #group(row) {
    return el("div.row.group", { role: "listitem" }, said("h2", plain(row.title)), el("span.count", {}, String(row.count)),
      button("Clear", () => this.phone.commands.clear(plain(row.title), row.ordinals), { className: "plain", "aria-label": `Clear ${plain(row.title)}` }));
  }

  #entry(entry, isSelected) {
    const { push, ordinal } = entry;
    const alert = listed(push) ?? { body: "" };
    const now = Date.now();
    const text = [answerWords(entry), alert.title ? [alert.subtitle, alert.body].filter(Boolean).join(" — ") : ""].filter(Boolean).join(" · ");
    const level = { "time-sensitive": "Time-Sensitive", critical: "Critical" }[push.level];
    const element = el("div.row.entry", { role: "listitem" }, el("a", {
      href: `#/push/${ordinal}`, tabIndex: isSelected ? 0 : -1, "aria-current": isSelected ? "true" : undefined,
    }, icon(push.app, "small"),
    el("span.texts", {}, said("span.title", plain(headline(push))), said("span.text", plain(text))),
    el("span.facts", {}, el("time", { dateTime: new Date(push.received).toISOString(), title: exact(push.received) }, moment(push.received, now)),
      level ? el(`span.level.${push.level}`, {}, level) : "",
      entry.isRead ? "" : el("span.unread", {}, el("span.hidden", {}, "unread")),
      this.marked.has(ordinal) ? el("span.mark", {}, "✓", el("span.hidden", {}, " ticked")) : "")));
    if (isSelected) element.classList.add("selected");
    this.#swipe(element, entry);
    return element;
  }

  /** Clears an entry that is moved to one side. */
  #swipe(element, entry) {
    let start = null;
    element.addEventListener("pointerdown", (event) => { start = event.pointerType === "mouse" ? null : event.clientX; });
    element.addEventListener("pointermove", (event) => {
      if (start !== null) element.style.translate = `${event.clientX - start}px`;
    });
    const end = (event) => {
      const isSwipe = start !== null && Math.abs(event.clientX - start) > swipeSize && event.type === "pointerup";
      start = null;
      element.style.translate = "";
      if (isSwipe) this.phone.commands.clearOne(entry);
    };
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
  }

  /** Selects the row that is `step` entries away and scrolls to it. */
  move(step) {
    let index = this.index;
    do index += step; while (this.rows[index] && this.rows[index].kind !== "entry");
    if (this.rows[index]) this.#select(index);
  }

  /** Selects the first entry of the next or the previous group. */
  jump(step) {
    const starts = this.rows.flatMap((row, index) => (row.kind === "group" ? [index + 1] : []));
    const own = starts.findLast((start) => start <= this.index) ?? 0;
    const target = starts[starts.indexOf(own) + step];
    if (target !== undefined) this.#select(target);
  }

  #select(index) {
    this.phone.place.selected = this.rows[index].key;
    const [top, bottom] = [this.#places[index], this.#places[index + 1]];
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    if (bottom > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = bottom - this.list.clientHeight;
    this.update();
    this.#focus();
    this.phone.update();
  }
}

customElements.define("push-center", Center);
