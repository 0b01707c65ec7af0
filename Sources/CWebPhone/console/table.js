// A table of any number of rows of equal height. Only the rows on screen and the selected row are elements.

import { el } from "../phone/dom.js";
import { text } from "./page.js";
import { reveal, scrolled, shift, visible } from "./window.js";

/** Returns the greatest height of an element: Chromium counts pixels of the screen, Firefox at most half as many of the page. */
const mostHeight = () => 33_000_000 / Math.max(2, devicePixelRatio);

export class Table {
  #rows = [];
  #elements = new Map();
  #height = 36;
  #selected = 0;

  /** Creates a table. `address` returns the address of the object of a row. */
  constructor(title, columns, address) {
    [this.columns, this.address] = [columns, address];
    this.head = el("div.head", { role: "rowgroup" }, el("div.columns", { role: "row" }, columns.map(([name]) => el("span", { role: "columnheader" }, name))));
    this.window = el("div.window", { role: "rowgroup" });
    this.element = el("div.list.plain", { tabIndex: 0, role: "table", "aria-label": title, onscroll: () => this.#draw() }, this.head, this.window);
    this.element.style.setProperty("--columns", columns.length);
    this.observer = new ResizeObserver(() => this.#measure());
    this.observer.observe(this.element);
  }

  get keys() {
    return [[["ArrowDown", "j"], "next", () => this.#move(1)], [["ArrowUp", "k"], "previous", () => this.#move(-1)],
      [["Home"], "first", () => this.#move(-Infinity)], [["End"], "last", () => this.#move(Infinity)]];
  }

  /** Ends the observation of the size. */
  close() { this.observer.disconnect(); }

  /** Shows other rows. With `isMore` they begin with the present rows. The elements of these rows stay. */
  show(rows, isMore = false) {
    this.#rows = rows;
    this.#selected = Math.max(0, Math.min(this.#selected, rows.length - 1));
    if (isMore) this.#draw(); else this.#measure();
  }

  /** Selects a row. */
  select(index) {
    if (index < 0 || index === this.#selected) return;
    this.#selected = index;
    this.#draw();
  }

  /** Moves the focus to the selected row. */
  focus() { this.#elements.get(this.#selected)?.querySelector("a").focus({ preventScroll: true }); }

  /** Draws all elements again. */
  #clear() {
    const isFocused = this.#isFocused;
    this.#elements.clear();
    this.window.replaceChildren();
    this.#draw();
    if (isFocused) this.focus();
  }

  get #isFocused() { return this.window.contains(document.activeElement); }

  /** Reads the height of a row, which depends on the font and on the width. */
  #measure() {
    const height = parseFloat(getComputedStyle(this.element).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
    if (height > 0) this.#height = height;
    this.#clear();
  }

  /** The height of all rows, that of their area, that of the visible part, and the position in the rows. */
  get #place() {
    const full = this.#rows.length * this.#height;
    const area = Math.min(full, mostHeight());
    const size = this.element.clientHeight - this.head.offsetHeight;
    return { full, area, size, moved: shift(full, area, this.element.scrollTop, size) };
  }

  #draw() {
    const { element, window } = this;
    if (!element.isConnected) return;
    const count = this.#rows.length;
    window.style.height = `${this.#place.area}px`;
    element.setAttribute("aria-rowcount", count + 1);
    const { size, moved } = this.#place;
    const [first, last] = visible(count, this.#height, element.scrollTop + moved, size);
    const indices = Array.from({ length: last - first }, (_, index) => first + index);
    // The selected row stays, so that it keeps the focus, and Tab reaches it.
    if (this.#selected < first) indices.unshift(this.#selected);
    else if (this.#selected >= last && this.#selected < count) indices.push(this.#selected);
    const drawn = new Set(indices);
    for (const [index, one] of this.#elements) {
      if (drawn.has(index)) continue;
      one.remove();
      this.#elements.delete(index);
    }
    let next = null;
    for (const index of indices.reverse()) {
      if (!this.#elements.has(index)) this.#elements.set(index, window.insertBefore(this.#row(index), next));
      next = this.#elements.get(index);
      next.style.top = `${index * this.#height - moved}px`;
      next.querySelector("a").tabIndex = index === this.#selected ? 0 : -1;
      next.classList.toggle("selected", index === this.#selected);
    }
  }

  #row(index) {
    const row = this.#rows[index];
    return el("div.row", { role: "row", "aria-rowindex": index + 2 }, this.columns.map(([, value], column) => {
      const words = String(value(row) ?? "");
      return el("span", { role: "cell", title: words }, column ? text("span", words) : el("a", { href: this.address(row), dir: "auto", onfocus: () => this.#focused(index) }, text("span", words)));
    }));
  }

  /** Selects the row that has the focus. A row that is not on screen is scrolled to. */
  #focused(index) {
    this.select(index);
    const { size, moved } = this.#place;
    const above = index * this.#height - moved - this.element.scrollTop;
    if (above <= -this.#height || above >= size) this.#reveal(index);
  }

  #reveal(index) {
    const { full, area, size, moved } = this.#place;
    this.element.scrollTop = scrolled(reveal(index, this.#height, this.element.scrollTop + moved, size), full, area, size);
    this.#draw();
  }

  /** Selects a row, before or after the selected one. The first key only moves the focus to the selected row. */
  #move(step) {
    const count = this.#rows.length;
    if (!count) return;
    const wanted = this.#isFocused || Math.abs(step) === Infinity ? this.#selected + step : this.#selected;
    this.#selected = Math.min(count - 1, Math.max(0, wanted));
    this.#reveal(this.#selected);
    this.focus();
  }
}
