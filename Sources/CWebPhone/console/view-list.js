// A list of objects, one object with its actions, and the forms and questions of the actions.

import { button, el } from "../phone/dom.js";
import { api, path, request } from "./api.js";
import { lists, members, search } from "./manage.js";
import { copy, facts, failure, Page, save, svg, text } from "./page.js";
import { modules, outline } from "./qr.js";
import { visible } from "./window.js";

const pageSize = 10_000;
const mostRows = 200_000;

/** Returns the QR code of a link; an empty text if the link is too long for one. */
function code(value) {
  const grid = modules(value);
  if (!grid) return "";
  const size = grid.length + 8;
  return svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "QR code of the link", class: "code" }, svg("path", { d: outline(grid) }));
}

class List extends Page {
  #name = "";
  #rows = [];
  #found = [];
  #selected = "";
  #height = 36;
  #elements = new Map();
  #read = 0;
  /** The scroll position of the table, to which a visit of one object returns. */
  #top = 0;

  get #list() { return lists[this.#name]; }

  get keys() {
    const create = this.#list?.create;
    return [
      ...(this.field?.isConnected ? [[["/"], "search", () => this.field.focus()]] : []),
      ...(create && this.app.may(create.role) && !this.#selected ? [[["n"], create.title.replace(" …", "").toLowerCase(), () => this.#act(create, {})]] : []),
      ...(this.#selected ? [[["Escape"], "back to the list", () => this.app.go(`#/${this.#name}`)]] : []),
    ];
  }

  async open({ name, parts, values }) {
    const isOther = name !== this.#name;
    [this.#name, this.#selected] = [name, parts[0] ?? ""];
    this.query = values.get("q") ?? "";
    if (isOther || !this.#rows.length) {
      this.#rows = [];
      this.#top = 0;
      this.show(el("h1", {}, this.#list.title), el("p.note", {}, "Reading …"));
      await this.#load();
    } else this.#draw();
  }

  leave() { this.#read += 1; }

  // Reading

  /** Reads all pages of the list. The first one is shown before the next one is read. */
  async #load() {
    const number = this.#read += 1;
    const { key, position = key, isWhole } = this.#list;
    const rows = [];
    try {
      for (let after = null, isMore = true; isMore && rows.length < mostRows;) {
        const page = await api.get(path(this.#name), isWhole ? {} : after === null ? { limit: pageSize } : { limit: pageSize, after });
        if (number !== this.#read) return;
        for (const row of page) rows.push(row);
        isMore = !isWhole && page.length === pageSize;
        const isFirst = after === null;
        after = page.length ? position(page.at(-1)) : null;
        this.#rows = rows;
        // Later pages are added below the rows on screen, which do not change.
        if (isFirst || !this.list?.isConnected) this.#draw(); else this.#find(true);
      }
    } catch (error) {
      if (number === this.#read) this.show(el("h1", {}, this.#list.title), failure(error, () => this.#load()));
    }
  }

  #draw() { return this.#selected ? this.#detail() : this.#table(); }

  // The table

  #table() {
    const { title, columns, create, others = [] } = this.#list;
    const had = this.contains(document.activeElement) && document.activeElement === this.field;
    this.field = el("input", { type: "search", id: "search", value: this.query, placeholder: "Search", "aria-label": `Search ${title}`, dir: "auto", oninput: () => this.#search() });
    this.window = el("div.window", { role: "rowgroup" });
    this.status = el("span.state", { role: "status" });
    const scrolled = () => { this.#top = this.list.scrollTop; this.#rowsOnScreen(); };
    const top = this.#top;
    this.list = el("div.list.plain", { tabIndex: 0, role: "table", "aria-label": title, onscroll: scrolled },
      el("div.head", { role: "rowgroup" }, el("div.columns", { role: "row" }, columns.map(([name]) => el("span", { role: "columnheader" }, name)))), this.window);
    this.list.style.setProperty("--columns", columns.length);
    const made = [create, ...others].filter((one) => one && this.app.may(one.role));
    this.show(el("header", {}, el("h1", {}, title), made.map((one) => button(one.title, () => this.#act(one, {}), { className: one === create ? "primary" : one.isDestructive ? "destructive" : "" }))),
      el("div.filters", {}, this.field, this.status), this.list);
    new ResizeObserver(() => { this.#elements.clear(); this.window.replaceChildren(); this.#rowsOnScreen(); }).observe(this.list);
    if (had) this.field.focus();
    this.#find();
    this.list.scrollTop = top;
  }

  #search() {
    this.query = this.field.value;
    this.app.replace(this.query ? `#/${this.#name}?${new URLSearchParams({ q: this.query })}` : `#/${this.#name}`);
    this.#find();
  }

  /** Finds the rows of the search. With `isMore` the rows that were found before are the first ones. */
  #find(isMore = false) {
    this.#found = search(this.#rows, this.#list.columns, this.query);
    this.status.textContent = this.#found.length === this.#rows.length ? `${this.#rows.length}` : `${this.#found.length} of ${this.#rows.length}`;
    if (!isMore) {
      this.#elements.clear();
      this.window.replaceChildren();
    }
    this.#rowsOnScreen();
  }

  #rowsOnScreen() {
    const { list, window } = this;
    if (!list.isConnected) return;
    this.#height = parseFloat(getComputedStyle(list).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
    window.style.height = `${this.#found.length * this.#height}px`;
    list.setAttribute("aria-rowcount", this.#found.length + 1);
    const [first, last] = visible(this.#found.length, this.#height, list.scrollTop, list.clientHeight);
    for (const [index, element] of this.#elements) {
      if (index >= first && index < last) continue;
      element.remove();
      this.#elements.delete(index);
    }
    let next = null;
    for (let index = last - 1; index >= first; index -= 1) {
      if (!this.#elements.has(index)) this.#elements.set(index, window.insertBefore(this.#row(this.#found[index], index), next));
      next = this.#elements.get(index);
    }
  }

  #row(row, index) {
    const { columns, key } = this.#list;
    const element = el("div.row", { role: "row", "aria-rowindex": index + 2 }, columns.map(([, value], column) => {
      const words = String(value(row) ?? "");
      return el("span", { role: "cell", title: words }, column ? text("span", words) : el("a", { href: `#/${this.#name}/${encodeURIComponent(key(row))}`, dir: "auto" }, text("span", words)));
    }));
    element.style.top = `${index * this.#height}px`;
    return element;
  }

  // One object

  async #detail() {
    const { title, key, detail, detailed = (_, found) => found, actions = [], filter, link } = this.#list;
    const row = this.#rows.find((one) => key(one) === this.#selected);
    const back = el("p", {}, el("a", { href: `#/${this.#name}` }, `All ${title}`));
    if (!row) return this.show(el("h1", {}, title), el("p.note", {}, `This list has no ${this.#selected}.`), back);
    const own = el("div", {}, facts(members(row.rule ?? row)));
    this.show(el("header", {}, el("h1", { dir: "auto" }, text("span", key(row)))), own,
      filter ? el("p", {}, el("a", { href: `#/activity?${new URLSearchParams({ q: filter(row) })}` }, "Activity"), this.#other(link?.(row))) : "",
      el("p.actions", {}, actions.filter((one) => this.app.may(one.role)).map((one) => button(one.title, () => this.#act(one, row), { className: one.isDestructive ? "destructive" : "" }))), back);
    if (!detail) return undefined;
    try {
      const more = detailed(row, await api.get(detail(row)));
      if (own.isConnected) own.replaceChildren(facts(members(more)));
    } catch (error) {
      own.append(failure(error));
    }
    return undefined;
  }

  #other(link) {
    if (!link || !this.app.may(link[2])) return "";
    return [" · ", el("a", { href: link[1] }, link[0])];
  }

  // Actions

  /** Carries out an action: at once, or after its form or its question. */
  async #act(action, row) {
    if (!action.fields && !action.confirm) return this.#run(action, row, {}, null);
    const id = (name) => `field-${name}`;
    const problem = el("div");
    const inputs = {};
    const rows = await Promise.all((action.fields ?? []).map(async (field) => {
      const { name, title, options, source, of, from, help, value, isNumber, isLong } = field;
      const present = from?.(row);
      let choices = options ?? (Array.isArray(present) ? present : null);
      let suggestions = "";
      if (source) {
        const found = (await api.get(path(source)).catch(() => [])).map((one) => one[of]);
        if (field.required && found.length) choices = found;
        else suggestions = el("datalist", { id: `${id(name)}-list` }, found.map((one) => el("option", { value: one })));
      }
      const input = choices ? el("select", { id: id(name) }, choices.map((one) => el("option", { value: one }, one || "—"))) : el(isLong ? "textarea" : "input", { id: id(name), autocomplete: "off", dir: "auto", ...(isLong ? { rows: 5, spellcheck: false } : { type: "text" }) });
      input.required = field.required ?? false;
      if (isNumber) Object.assign(input, { inputMode: "numeric", pattern: "[0-9]{1,9}" });
      if (suggestions) input.setAttribute("list", `${id(name)}-list`);
      const first = typeof present === "string" ? present : value;
      if (first !== undefined) input.value = first;
      if (help) input.setAttribute("aria-describedby", `${id(name)}-help`);
      inputs[name] = input;
      return el("p.field", {}, el("label", { for: id(name) }, title), input, suggestions, help ? el("span.help", { id: `${id(name)}-help` }, help) : "");
    }));
    const title = action.title.replace(" …", "");
    const dialog = el("dialog", { "aria-labelledby": "dialog-title", onclose: () => dialog.remove() }, el("form", {
      onsubmit: (event) => {
        event.preventDefault();
        this.#run(action, row, Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()])), dialog, problem);
      },
    }, el("h2", { id: "dialog-title", dir: "auto" }, text("span", this.#selected ? `${title} ${this.#selected}` : title)), action.confirm ? el("p", {}, action.confirm) : "", rows, problem,
    el("p.row", {}, button("Cancel", () => dialog.close()), el(`button.${action.isDestructive ? "destructive" : "primary"}`, {}, title))));
    this.app.append(dialog);
    dialog.showModal();
    return undefined;
  }

  async #run(action, row, values, dialog, problem) {
    try {
      const response = await request(...action.request(row, values));
      const made = await response.json().catch(() => ({}));
      dialog?.close();
      if (action.secret) this.#showSecret(action.secret(made, location.origin, values));
      const undo = action.undo && (async () => { await request(...action.undo(row, values)); await this.#changed(); });
      this.app.toast(action.done?.(row, values) ?? "Done", undo);
      // A removed object has no page.
      if (action.removes) this.app.go(`#/${this.#name}`);
      await this.#changed();
    } catch (error) {
      if (problem) problem.replaceChildren(failure(error)); else this.app.toast(error.message);
    }
  }

  async #changed() {
    if (this.#name === "faults") this.app.noteFaults(await api.get(path("faults")).catch(() => []));
    await this.#load();
  }

  /** Shows a secret that the gateway sends only once. */
  #showSecret(list) {
    const dialog = el("dialog", { "aria-labelledby": "dialog-title", onclose: () => dialog.remove() }, el("h2", { id: "dialog-title" }, "Shown Only Once"),
      el("p", {}, "The gateway keeps no copy: save it now."), list.filter(({ value }) => value).map(({ title, value, file, isDrawn }) => [
        el("h3", {}, title), el("pre", { tabIndex: 0, dir: "ltr" }, value), isDrawn ? code(value) : "",
        el("p.row", {}, copy(this.app, value), file ? button(`Save ${file}`, () => save(file, [value], "application/x-pem-file"), { className: "small" }) : "")]),
      el("p.row", {}, button("Done", () => dialog.close(), { className: "primary" })));
    this.app.append(dialog);
    dialog.showModal();
  }
}

customElements.define("console-list", List);
