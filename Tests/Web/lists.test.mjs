// Lists of 100,000 rows with a stand-in for the document: node --test Tests/Web
import assert from "node:assert/strict";
import { test } from "node:test";
import { install } from "./document.mjs";

install();
const load = (name) => import(new URL(`../../Sources/CWebPhone/console/${name}`, import.meta.url));
const { Table } = await load("table.js");
const { scrolled, shift } = await load("window.js");
await load("view-list.js");

const count = 100_000;
const nameOf = (number) => `many-${String(number).padStart(6, "0")}`;
const device = (number) => ({ device: `id-${number}`, name: nameOf(number), person: "ada", apps: ["com.example.news"], waiting: 0, streams: 0 });
const devices = Array.from({ length: count }, (_, number) => device(number));
/** Rows on screen, half a screen before and after them, and the selected row. */
const mostDrawn = 2 * Math.ceil(800 / 36) + 3;

function table(rows, ratio = 1) {
  globalThis.devicePixelRatio = ratio;
  const one = new Table("Devices", [["Name", (row) => row.name], ["User", (row) => row.person]], (row) => `#/devices/${row.name}`);
  document.body.replaceChildren(one.element);
  one.show(rows);
  return one;
}
const drawn = (one) => one.withClass("row");
const names = (one) => drawn(one).map((row) => row.querySelector("a").textContent);
/** The names of the rows that are on screen, below the head. */
const onScreen = ({ element }) => drawn(element).filter((row) => {
  const above = parseFloat(row.style.top) - element.scrollTop;
  return above >= -0.5 && above + 36 <= 800 - 36 + 0.5;
}).map((row) => row.querySelector("a").textContent);
const press = (keys, name) => keys.find(([all]) => all.includes(name))[2]();
const focused = () => document.activeElement.textContent;

test("a table of 100,000 rows has elements for the rows on screen only", () => {
  const one = table(devices);
  let most = 0;
  for (const top of [0, 36 * 50_000, 36 * 99_000, 36 * count, 0, 18]) {
    one.element.scrollTop = top;
    most = Math.max(most, drawn(one.element).length);
    const first = Math.min(Math.ceil(top / 36), count - 21);
    assert.deepEqual(onScreen(one).slice(0, 20), devices.slice(first, first + 20).map((row) => row.name), `at ${top}`);
  }
  assert.ok(most <= mostDrawn, `${most} rows`);
  assert.ok(document.body.all.length < 6 * mostDrawn, `${document.body.all.length} elements`);
});

test("a screen reader gets the number of all rows, and the index of each", () => {
  const one = table(devices);
  one.element.scrollTop = 36 * 50_000;
  assert.equal(one.element.getAttribute("aria-rowcount"), String(count + 1));
  for (const row of drawn(one.element)) assert.equal(nameOf(row.getAttribute("aria-rowindex") - 2), row.querySelector("a").textContent);
  // The elements are in the order of the rows, since a screen reader reads them in their order.
  assert.deepEqual(names(one.element), names(one.element).toSorted());
});

test("one row is a stop of Tab, also after the table has scrolled, and it keeps the focus", () => {
  const one = table(devices);
  press(one.keys, "j");
  assert.equal(focused(), nameOf(0));
  press(one.keys, "ArrowDown");
  press(one.keys, "j");
  press(one.keys, "k");
  assert.equal(focused(), nameOf(1));
  one.element.scrollTop = 36 * 70_000;
  assert.equal(focused(), nameOf(1));
  assert.equal(names(one.element)[0], nameOf(1));
  assert.equal(drawn(one.element).filter((row) => row.querySelector("a").tabIndex === 0).length, 1);
  // A key returns to the selected row.
  press(one.keys, "j");
  assert.ok(onScreen(one).includes(nameOf(2)));
  press(one.keys, "End");
  assert.equal(focused(), nameOf(count - 1));
  assert.equal(onScreen(one).at(-1), nameOf(count - 1));
  press(one.keys, "Home");
  assert.deepEqual([focused(), onScreen(one)[0]], [nameOf(0), nameOf(0)]);
});

test("a row that gets the focus by Tab from another place is scrolled to", () => {
  const one = table(devices);
  one.element.scrollTop = 36 * 70_000;
  drawn(one.element)[0].querySelector("a").focus();
  assert.equal(onScreen(one)[0], nameOf(0));
});

test("more rows keep the elements, and other rows keep the focus", () => {
  const one = table(devices.slice(0, 10_000));
  press(one.keys, "j");
  const [first] = drawn(one.element);
  one.show(devices, true);
  assert.equal(drawn(one.element)[0], first);
  one.show(devices.slice(5));
  assert.equal(focused(), nameOf(5));
  one.show([]);
  assert.deepEqual([names(one.element), one.element.getAttribute("aria-rowcount")], [[], "1"]);
});

test("rows that are higher than an element can be are all reached", () => {
  // 100,000 rows of 36 pixels, where an element has at most 1,000,000 pixels.
  const one = table(devices, 33);
  assert.equal(one.window.style.height, "1000000px");
  for (const [key, last] of [["End", count - 1], ["Home", 0]]) {
    press(one.keys, key);
    assert.ok(onScreen(one).includes(nameOf(last)), key);
  }
  for (let step = 0; step < 100; step += 1) {
    press(one.keys, "j");
    assert.ok(onScreen(one).includes(focused()));
  }
  one.element.scrollTop = 1_000_000;
  assert.equal(onScreen(one).at(-1), nameOf(count - 1));
  one.element.scrollTop = 500_000;
  document.activeElement = document.body;
  drawn(one.element)[0].querySelector("a").focus();
  assert.ok(onScreen(one).includes(focused()));
  assert.ok(drawn(one.element).length <= mostDrawn);
});

test("the position in the rows is the scroll position, unless the rows are higher than their area", () => {
  assert.deepEqual([shift(3600, 3600, 100, 800), scrolled(100, 3600, 3600, 800)], [0, 100]);
  assert.deepEqual([shift(10_000, 1000, 0, 800), shift(10_000, 1000, 200, 800), shift(10_000, 1000, 900, 800)], [0, 9000, 9000]);
  for (const top of [0, 50, 200]) assert.equal(scrolled(top + shift(10_000, 1000, top, 800), 10_000, 1000, 800), top);
});

/** A console with the list of devices, whose pages a stand-in of the gateway sends. `answers` has the open answers. */
function consoleOf(rows) {
  const page = document.createElement("console-list");
  const requests = [];
  const answers = [];
  const answer = (body) => new Response(JSON.stringify(body), { status: 200 });
  globalThis.devicePixelRatio = 1;
  globalThis.fetch = (where, { method }) => {
    requests.push(`${method} ${where}`);
    const query = new URLSearchParams(where.split("?")[1]);
    if (method === "DELETE") rows.splice(rows.findIndex(({ name }) => where.endsWith(`/${name}`)), 1);
    if (!query.has("limit")) return Promise.resolve(answer(rows.find(({ name }) => where.endsWith(`/${name}`)) ?? []));
    const after = query.get("after") ?? "";
    const first = after ? rows.findIndex(({ name }) => name > after) : 0;
    const found = first < 0 ? [] : rows.slice(first, first + Number(query.get("limit")));
    return new Promise((resolve) => { answers.push(() => resolve(answer(found))); });
  };
  const show = (hash) => {
    const [name, ...parts] = hash.split("?")[0].split("/");
    return page.open({ name, parts, values: new URLSearchParams(hash.split("?")[1]) });
  };
  page.app = Object.assign(document.createElement("push-console"), { may: () => true, toast() {}, go: (hash) => show(hash.slice(2)), replace() {} });
  document.body.replaceChildren(page, page.app);
  const settled = () => new Promise((resolve) => { setImmediate(resolve); });
  return {
    page, requests, show,
    /** Answers requests for pages, also the later ones, up to a number of them. */
    async answer(most = Infinity) {
      let done = 0;
      for (await settled(); answers.length && done < most; done += 1) {
        answers.shift()();
        for (let turn = 0; turn < 5; turn += 1) await settled();
      }
      return done;
    },
    get state() { return page.withClass("state")[0]; },
    button: (words) => document.body.all.findLast((one) => one.localName === "button" && one.textContent === words),
  };
}

test("a list of 100,000 rows is read in pages, and each is shown", async () => {
  const view = consoleOf([...devices, device(count)]);
  view.show("devices");
  await view.answer(1);
  assert.deepEqual([view.state.textContent, view.state.getAttribute("aria-busy")], ["10000", "true"]);
  const [first] = drawn(view.page);
  assert.equal(await view.answer(), 10);
  assert.deepEqual([view.state.textContent, view.state.getAttribute("aria-busy")], ["100001", "false"]);
  assert.equal(drawn(view.page)[0], first);
  assert.deepEqual(view.requests.slice(0, 2), ["GET /admin/v1/devices?limit=10000", "GET /admin/v1/devices?limit=10000&after=many-009999"]);
  assert.ok(view.page.all.length < 20 * mostDrawn, `${view.page.all.length} elements`);
});

test("a search that is typed while the list is read finds each row once", async () => {
  const view = consoleOf([...devices]);
  view.show("devices");
  await view.answer(3);
  view.page.field.value = "99";
  view.page.field.dispatch("input");
  await view.answer();
  const found = devices.filter(({ name }) => name.includes("99"));
  assert.equal(view.state.textContent, `${found.length} of 100000`);
  assert.equal(names(view.page)[0], found[0].name);
});

test("a list longer than can be kept is called the first part", async () => {
  const view = consoleOf(Array.from({ length: 210_000 }, (_, number) => device(number)));
  view.show("devices");
  assert.equal(await view.answer(), 20);
  assert.equal(view.state.textContent, "the first 200000");
});

test("an object of a later page is shown when its page is read", async () => {
  const view = consoleOf([...devices]);
  view.show(`devices/${nameOf(25_000)}`);
  await view.answer(2);
  assert.match(view.page.textContent, /Reading/);
  await view.answer(1);
  assert.match(view.page.textContent, /many-025000.*Remove/);
  const [heading] = view.page.children;
  await view.answer();
  assert.equal(view.page.children[0], heading);
  view.show("devices/nothing");
  assert.match(view.page.textContent, /This list has no nothing/);
});

test("the way back from an object has the search, the scroll position and the focus", async () => {
  const view = consoleOf([...devices]);
  view.show("devices?q=many");
  await view.answer();
  view.page.table.element.scrollTop = 36 * 80_000;
  view.show(`devices/${nameOf(80_003)}`);
  await view.answer();
  press(view.page.keys, "Escape");
  assert.equal(view.page.field.value, "many");
  assert.equal(view.page.table.element.scrollTop, 36 * 80_000);
  assert.equal(focused(), nameOf(80_003));
});

test("after a removal the list stays at its place while its pages are read again", async () => {
  const view = consoleOf([...devices]);
  view.show("devices");
  await view.answer();
  view.page.table.element.scrollTop = 36 * 80_000;
  view.show(`devices/${nameOf(80_003)}`);
  await view.answer();
  view.button("Remove …").dispatch("click");
  await view.answer();
  view.page.app.querySelector("form").dispatch("submit");
  await view.answer(1);
  assert.ok(view.requests.includes(`DELETE /admin/v1/devices/${nameOf(80_003)}`));
  for (const pages of [1, Infinity]) {
    await view.answer(pages);
    assert.equal(view.page.table.element.scrollTop, 36 * 80_000);
    assert.deepEqual(onScreen(view.page.table).slice(0, 4), [80_000, 80_001, 80_002, 80_004].map(nameOf));
  }
  assert.equal(view.state.textContent, "99999");
  assert.equal(focused(), nameOf(80_004));
});

test("an action is a button only for the rows that it is for", async () => {
  const disabled = "2026-11-27T18:00:00.000Z";
  const view = consoleOf([{ name: "a", url: "http://127.0.0.1:1" }, { name: "b", url: "http://127.0.0.1:2", disabled }]);
  view.show("event-targets");
  await view.answer();
  const buttons = (name) => {
    view.show(`event-targets/${name}`);
    return view.page.all.filter((one) => one.localName === "button").map((one) => one.textContent);
  };
  assert.deepEqual(buttons("a"), ["Test", "Rotate Secret …", "Remove …"]);
  assert.deepEqual(buttons("b"), ["Test", "Resume", "Rotate Secret …", "Remove …"]);
});
