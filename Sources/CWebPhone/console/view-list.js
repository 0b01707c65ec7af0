// A list of objects, one object with its actions, and the forms and questions of the actions.

import { button, el } from "../phone/dom.js";
import { plain } from "../phone/words.js";
import { api, path, request } from "./api.js";
import { lists, members, search } from "./manage.js";
import { copy, facts, failure, Page, save, svg, text } from "./page.js";
import { modules, outline } from "./qr.js";
import { Table } from "./table.js";

const pageSize = 10_000;
/** The largest number of rows in memory. */
const mostRows = 200_000;
/** The largest number of values to choose from; of more, one is typed. */
const mostChoices = 500;
/** The largest size of a file for a field, in bytes. */
const mostText = 65_536;

/** Returns the QR code of a link; an empty text if the link is too long for one. */
function code(value) {
  const grid = modules(value);
  if (!grid) return "";
  const size = grid.length + 8;
  return svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "QR code of the link", class: "code" }, svg("path", { d: outline(grid) }));
}

/** A table of texts below its title. */
const grid = ({ title, head, rows }) => el("section", {}, text("h2", title), el("table.wide", { "aria-label": title }, el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
  el("tbody", {}, rows.map(([first, ...others]) => el("tr", {}, el("th", { scope: "row" }, text("span", first)), others.map((value) => el("td", {}, text("span", value))))))));

class List extends Page {
  #name = "";
  #rows = [];
  #found = [];
  /** The key of the object that is shown in place of the list. */
  #selected = "";
  #reads = 0;
  #isReading = false;
  /** True if the list has more than the greatest number of rows. */
  #isCut = false;
  /** The scroll position of the table, and the key of the object that was opened from it: both for the way back. */
  #top = 0;
  #opened = "";

  get #list() { return lists[this.#name]; }

  /** The address of the list with its search. */
  get #address() { return this.query ? `#/${this.#name}?${new URLSearchParams({ q: this.query })}` : `#/${this.#name}`; }

  get keys() {
    const create = this.#list?.create;
    return [
      ...(this.field?.isConnected ? [[["/"], "search", () => this.field.focus()], ...this.table.keys] : []),
      ...(create && this.app.may(create.role) && !this.#selected ? [[["n"], create.title.replace(" …", "").toLowerCase(), () => this.#act(create, {})]] : []),
      ...(this.#selected ? [[["Escape"], "back to the list", () => this.app.go(this.#address)]] : []),
    ];
  }

  async open({ name, parts, values }) {
    const isOther = name !== this.#name;
    [this.#name, this.#selected] = [name, parts[0] ?? ""];
    if (this.table?.element.isConnected) this.#top = this.table.element.scrollTop;
    // An object has no search in its address: that of the list stays, for the way back.
    if (this.#selected) this.#opened = this.#selected;
    if (isOther || !this.#selected) this.query = values.get("q") ?? "";
    if (isOther) [this.#rows, this.#top, this.#opened] = [[], 0, this.#selected];
    if (this.#rows.length) return void this.#draw();
    this.show(el("h1", {}, this.#list.title), el("p.note", {}, "Reading …"));
    return this.#load();
  }

  leave() {
    this.#reads += 1;
    this.table?.close();
  }

  // Reading

  /** Reads all pages of the list. The first time each page is shown when it is read; later the rows stay until all pages are read. */
  async #load() {
    const number = this.#reads += 1;
    const { key, position = key, isWhole, where = [this.#name], query = {} } = this.#list;
    const isFirst = !this.#rows.length;
    let [rows, after, isMore] = [[], null, true];
    this.#isReading = true;
    try {
      while (isMore && rows.length < mostRows) {
        const page = await api.get(path(...where), isWhole ? query : { ...query, limit: pageSize, ...(after === null ? {} : { after }) });
        if (number !== this.#reads) return;
        isMore = !isWhole && page.length === pageSize;
        this.#isReading = isMore;
        if (page.length) after = position(page.at(-1));
        const count = rows.length;
        rows = rows.concat(page);
        if (isFirst) this.#take(rows, count);
      }
      [this.#isCut, this.#isReading] = [isMore, false];
      if (!isFirst || isMore) this.#take(rows, 0);
    } catch (error) {
      if (number === this.#reads) this.show(el("h1", {}, this.#list.title), failure(error, () => this.#load()));
    }
  }

  /** Shows rows, of which the first ones are shown already. */
  #take(rows, count) {
    // Later pages change nothing about an object that is shown.
    const isShown = count > 0 && this.#selected && this.#rows.some((row) => this.#list.key(row) === this.#selected);
    this.#rows = rows;
    if (isShown) return;
    if (!this.#selected && this.table?.element.isConnected) this.#find(count); else this.#draw();
  }

  #draw() { return this.#selected ? this.#detail() : this.#table(); }

  // The table

  #table() {
    const { title, columns, key, create, others = [] } = this.#list;
    const had = document.activeElement === this.field;
    this.table?.close();
    this.table = new Table(title, columns, (row) => `#/${this.#name}/${encodeURIComponent(key(row))}`);
    this.field = el("input", {
      type: "search", id: "search", value: this.query, placeholder: "Search", "aria-label": `Search ${title}`, dir: "auto", oninput: () => this.#search(),
      onkeydown: (event) => { if (event.key === "ArrowDown") { event.preventDefault(); this.table.focus(); } },
    });
    this.status = el("span.state", { role: "status" });
    const made = [create, ...others].filter((one) => one && this.app.may(one.role));
    this.show(el("header", {}, el("h1", {}, title), made.map((one) => button(one.title, () => this.#act(one, {}), { className: one === create ? "primary" : one.isDestructive ? "destructive" : "" }))),
      el("div.filters", {}, this.field, this.status), this.table.element);
    this.#find();
    const opened = this.#found.findIndex((row) => key(row) === this.#opened);
    this.table.select(opened);
    this.table.element.scrollTop = this.#top;
    if (had) this.field.focus();
    else if (opened >= 0 && document.activeElement === document.body) this.table.focus();
    this.#opened = "";
  }

  #search() {
    this.query = this.field.value;
    this.app.replace(this.#address);
    this.#find();
    this.table.select(0);
    this.table.element.scrollTop = 0;
  }

  /** Finds the rows of the search. The first rows, as many as `count`, were searched before. */
  #find(count = 0) {
    const found = search(count ? this.#rows.slice(count) : this.#rows, this.#list.columns, this.query);
    this.#found = count ? this.#found.concat(found) : found;
    const all = `${this.#isCut ? "the first " : ""}${this.#rows.length}`;
    // A screen reader speaks the last number only.
    this.status.setAttribute("aria-busy", this.#isReading);
    this.status.textContent = this.#found.length === this.#rows.length ? all : `${this.#found.length} of ${all}`;
    this.table.show(this.#found, count > 0);
  }

  // One object

  async #detail() {
    const { title, key, details = () => [], detailed = (_, found) => found, tables = () => [], actions = [], filter, links = () => [] } = this.#list;
    const row = this.#rows.find((one) => key(one) === this.#selected);
    const back = el("p", {}, el("a", { href: this.#address }, `All ${title}`));
    if (!row) return this.show(el("h1", {}, title), el("p.note", {}, this.#isReading ? "Reading …" : `This list has no ${this.#selected}.`), back);
    const [own, more] = [el("div", {}, facts(members(row.rule ?? row))), el("div")];
    const others = [...(filter ? [["Activity", `#/activity?${new URLSearchParams({ q: filter(row) })}`, "reader"]] : []), ...links(row)].filter(([, , role]) => this.app.may(role));
    this.show(el("header", {}, el("h1", { dir: "auto" }, text("span", key(row)))), own,
      others.length ? el("p", {}, others.map(([words, href], index) => [index ? " · " : "", el("a", { href }, text("span", words))])) : "",
      el("p.actions", {}, actions.filter((one) => this.app.may(one.role) && (!one.when || one.when(row))).map((one) => button(one.title, () => this.#act(one, row), { className: one.isDestructive ? "destructive" : "" }))), more, back);
    const paths = details(row);
    if (!paths.length) return undefined;
    try {
      const found = await Promise.all(paths.map((one) => api.get(one)));
      own.replaceChildren(facts(members(detailed(row, ...found))));
      more.replaceChildren(...tables(row, ...found).map(grid));
    } catch (error) {
      own.append(failure(error));
    }
    return undefined;
  }

  /** Shows an object that has another key now. */
  #rekey(old, key) {
    if (this.#selected !== old) return;
    [this.#selected, this.#opened] = [key, key];
    this.app.replace(`#/${this.#name}/${encodeURIComponent(key)}`);
  }

  // Actions

  /** Carries out an action: at once, or after its form or its question. */
  async #act(action, row) {
    if (!action.fields && !action.confirm) return this.#run(action, row, {}, null);
    const id = (name) => `field-${name}`;
    const problem = el("div");
    const inputs = {};
    const rows = await Promise.all((action.fields ?? []).map(async (field) => {
      const { name, title, options, source, of, from, help, value, isNumber, isLong, accept } = field;
      const present = from?.(row);
      let choices = options ?? (Array.isArray(present) ? present : null);
      let suggestions = "";
      if (source) {
        const found = await this.#choices(source, of, row);
        if (field.required && found.length && found.length <= mostChoices) choices = found;
        else if (found.length <= mostChoices) suggestions = el("datalist", { id: `${id(name)}-list` }, found.map((one) => el("option", { value: one })));
      }
      const input = choices ? el("select", { id: id(name) }, choices.map((one) => el("option", { value: one }, one || "—"))) : el(isLong ? "textarea" : "input", { id: id(name), autocomplete: "off", dir: "auto", ...(isLong ? { rows: 5, spellcheck: false } : { type: "text" }) });
      input.required = field.required ?? false;
      if (isNumber) Object.assign(input, { inputMode: "numeric", pattern: "[0-9]{1,9}" });
      if (suggestions) input.setAttribute("list", `${id(name)}-list`);
      const first = typeof present === "string" ? present : value;
      if (first !== undefined) input.value = first;
      if (help) input.setAttribute("aria-describedby", `${id(name)}-help`);
      inputs[name] = input;
      return [accept ? this.#file(field, inputs, problem) : "", el("p.field", {}, el("label", { for: id(name) }, title), input, suggestions, help ? el("span.help", { id: `${id(name)}-help` }, help) : "")];
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

  /** The choice of a file. Its text is the value of the field, and its name can have values of other fields. */
  #file({ name, title, accept, named }, inputs, problem) {
    const read = async ({ target: { files: [file] } }) => {
      if (!file) return;
      try {
        if (file.size > mostText) throw new Error(`${plain(file.name)} has ${file.size} bytes: choose a text of at most ${mostText}.`);
        for (const [other, value] of Object.entries({ [name]: await file.text(), ...named(file.name) })) if (value) inputs[other].value = value;
        problem.replaceChildren();
      } catch (error) {
        problem.replaceChildren(failure(error));
      }
    };
    return el("p.field", {}, el("label", { for: `field-${name}-file` }, `${title} from a file`), el("input", { type: "file", id: `field-${name}-file`, accept, onchange: read }));
  }

  /** Returns the values for a field from a list, or from the list or the object at a path. */
  async #choices(source, of, row) {
    const found = await api.get(typeof source === "string" ? path(source) : source(row)).catch(() => []);
    return [found].flat().flatMap((one) => (typeof of === "string" ? one[of] : of(one, row))).filter(Boolean);
  }

  async #run(action, row, values, dialog, problem) {
    const name = action.title.replace(" …", "");
    if (action.result) this.app.toast(`${name} …`);
    try {
      const before = action.before && await api.get(action.before(row));
      const response = await request(...action.request(row, values));
      const made = await response.json().catch(() => ({}));
      dialog?.close();
      if (action.result) return this.#showTexts(name, "", action.result(made));
      if (action.secret) this.#showTexts("Shown Only Once", "The gateway keeps no copy: save it now.", action.secret(made, location.origin, values));
      const keys = action.key ? [this.#list.key(row), action.key(values)] : [];
      const undo = action.undo && (async () => {
        await request(...action.undo(row, values, before));
        if (action.key) this.#rekey(...keys.toReversed());
        await this.#changed();
      });
      this.app.toast(action.done?.(row, values) ?? "Done", undo);
      if (action.removes) this.#leaveOut(row);
      if (action.key) this.#rekey(...keys);
      await this.#changed();
    } catch (error) {
      if (problem) problem.replaceChildren(failure(error)); else this.app.toast(error.message);
    }
    return undefined;
  }

  /** Goes back to the list from an object that was removed, to the row after it. */
  #leaveOut(row) {
    const { key } = this.#list;
    const index = this.#found.findIndex((one) => key(one) === key(row));
    const next = index < 0 ? undefined : this.#found[index + 1] ?? this.#found[index - 1];
    this.#opened = next ? key(next) : "";
    this.#rows = this.#rows.filter((one) => key(one) !== key(row));
    this.app.go(this.#address);
  }

  async #changed() {
    if (this.#name === "faults") this.app.noteFaults(await api.get(path("faults")).catch(() => []));
    await this.#load();
  }

  /** Shows texts of the gateway with their titles. */
  #showTexts(title, note, texts) {
    const dialog = el("dialog", { "aria-labelledby": "dialog-title", onclose: () => dialog.remove() }, el("h2", { id: "dialog-title" }, title), note ? el("p", {}, note) : "", texts.filter(({ value }) => value).map(({ title: name, value, file, isDrawn }) => [
        el("h3", {}, name), el("pre", { tabIndex: 0, dir: "ltr" }, value), isDrawn ? code(value) : "",
        el("p.row", {}, copy(this.app, value), file ? button(`Save ${file}`, () => save(file, [value], "application/x-pem-file"), { className: "small" }) : "")]),
      el("p.row", {}, button("Done", () => dialog.close(), { className: "primary" })));
    this.app.append(dialog);
    dialog.showModal();
  }
}

customElements.define("console-list", List);
