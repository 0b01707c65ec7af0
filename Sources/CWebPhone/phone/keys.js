// The keys: the only table for matching and for the help. The terminal client has the same keys for the same commands.

/** Returns the bindings of a screen: keys, words, and the command of the keys. */
export function bindings({ screen, hasEntry, isUnread, hasLink, hasMarketing, hasNewCategory, undo, redo, isConnected, dropped }) {
  const list = [];
  const add = (keys, words, command) => list.push({ keys, words, command });
  if (hasEntry && screen === "center") {
    add(["Enter"], "open", "open");
    add([" "], "tick", "mark");
    add(["ArrowLeft", "["], "previous group", "previousGroup");
    add(["ArrowRight", "]"], "next group", "nextGroup");
  }
  if (hasEntry && (screen === "center" || screen === "message")) {
    add(["ArrowDown", "j"], screen === "center" ? "next" : "older", "next");
    add(["ArrowUp", "k"], screen === "center" ? "previous" : "newer", "previous");
    add(["d", "Delete"], "clear", "clear");
    if (isUnread) add(["m"], "mark read", "read");
    if (hasLink) add(["o"], "open link", "openLink");
    add(["y"], "copy", "copy");
    add(["a"], "report as advertising", "reportAd");
    add(["z"], "show again later", "snooze");
    if (hasNewCategory) add(["c"], "choose for the new category", "permitCategory");
    if (hasMarketing) add(["x"], "unsubscribe", "unsubscribe");
  }
  if (screen === "center") add(["D"], "clear all", "clearAll");
  if (screen === "message") add(["p"], "payload", "payload");
  if (undo) add(["u"], `undo ${undo}`, "undo");
  if (redo) add(["U"], `redo ${redo}`, "redo");
  if (dropped) add(["n"], "note the dropped pushes", "noteDropped");
  if (!isConnected) add(["r"], "try now", "retry");
  add(["/"], "search", "search");
  add(["w"], "why a push was not shown", "why");
  add(["s"], "silent or ring", "silent");
  add(["1"], "home", "home");
  add(["2"], "center", "center");
  add(["3"], "settings", "settings");
  add(["Escape"], "back", "back");
  add(["?"], "keys", "help");
  return list;
}

/** The keys of an alert on screen, and of an action sheet. */
export const alertBindings = {
  title: "in an alert", list: [[["c"], "close"], [["v"], "view"], [["o"], "OK"], [["ArrowLeft", "ArrowRight"], "other button"], [["C"], "close all"], [["z"], "show again later"], [["x"], "unsubscribe from marketing"]],
};
export const sheetBindings = { title: "in an action sheet", list: [[["ArrowUp", "ArrowDown"], "previous, next"], [["1", "2", "3", "4"], "choose"], [["Escape"], "cancel"]] };

export const commandOf = (list, key) => list.find(({ keys }) => keys.includes(key))?.command;

const names = { " ": "Space", Escape: "Esc", ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Enter: "↵", Delete: "Del" };

export const keyName = (key) => names[key] ?? key;
