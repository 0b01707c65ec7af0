// The place of an action sheet, the buttons and keys of dialogs, and the selected push: node --test Tests/Web
import assert from "node:assert/strict";
import { test } from "node:test";
import { standInDocument } from "./page.mjs";

standInDocument();
const folder = new URL("../../Sources/CWebPhone/phone/", import.meta.url);
const load = (name) => import(new URL(name, folder));
const { answer, buttons, cancellation, closeAll, sheetPosition } = await load("alerts.js");
const { selected } = await load("center.js");
const { frontDialog } = await load("dom.js");
const { alertBindings, sheetBindings } = await load("keys.js");

const page = { width: 1280, height: 800 };
const sheet = { width: 320, height: 160 };
const button = (left, top) => ({ left, right: left + 100, top, bottom: top + 44 });

test("a sheet is under the middle of its button", () => {
  assert.deepEqual(sheetPosition(button(600, 300), sheet, page), { left: 490, top: 352 });
});

test("a sheet without room under its button is above it", () => {
  assert.deepEqual(sheetPosition(button(600, 580), sheet, page), { left: 490, top: 632 });
  assert.deepEqual(sheetPosition(button(600, 581), sheet, page), { left: 490, top: 581 - 8 - 160 });
});

test("a sheet stays within the page", () => {
  assert.equal(sheetPosition(button(0, 300), sheet, page).left, 8);
  assert.equal(sheetPosition(button(1180, 300), sheet, page).left, 1280 - 320 - 8);
  assert.equal(sheetPosition(button(600, 100), sheet, { width: 1280, height: 200 }).top, 8);
});

test("a key is for the dialog with the focus, else for the last one of the page", () => {
  const [first, last] = [{ name: "alert" }, { name: "sheet" }];
  globalThis.document = { querySelectorAll: () => [first, last] };
  assert.equal(frontDialog({ closest: () => first }), first);
  assert.equal(frontDialog({ closest: () => null }), last);
  globalThis.document = { querySelectorAll: () => [] };
  assert.equal(frontDialog({ closest: () => null }), null);
});

test("the help names each key of a dialog once", () => {
  for (const { list } of [alertBindings, sheetBindings]) {
    const keys = list.flatMap(([names]) => names);
    assert.equal(new Set(keys).size, keys.length);
    assert.ok(list.every(([, words]) => words));
  }
});

test("the selected push is the open one, or the one of the selected row", () => {
  assert.equal(selected({ screen: "message", selected: 3 }, { selected: 7 }), 3);
  assert.equal(selected({ screen: "center", selected: 3 }, { selected: 7 }), 7);
});

/** An alert with the buttons that the gateway sends for the actions of its category. */
const asking = (titles, ...actions) => ({ ordinal: 1, push: { id: "A", topic: "t", alert: { buttons: titles, actions } } });

test("a single action is a button of its alert, and a destructive one is on the left", () => {
  const approve = { id: "approve", title: "Approve", isDestructive: false };
  const remove = { id: "remove", title: "Remove", isDestructive: true };
  assert.deepEqual(buttons(asking(["Close", "Approve"], approve)).map(({ id, title }) => [id, title]), [["close", "Close"], ["approve", "Approve"]]);
  const alert = asking(["Remove", "Close"], remove);
  assert.deepEqual(buttons(alert).map(({ id, title }) => [id, title]), [["remove", "Remove"], ["close", "Close"]]);
  assert.deepEqual(buttons(alert).map(({ id }) => answer([alert], id).answers[0].action), ["remove", "close"]);
  assert.deepEqual([cancellation(alert), closeAll([alert]).answers[0].action], ["close", "close"]);
  assert.deepEqual(buttons(asking(["Close", "Options"], approve, remove)).map(({ id }) => id), ["close", "options"]);
});
