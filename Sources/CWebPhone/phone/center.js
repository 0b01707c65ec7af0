// The rows of the notification center, and its search. Pure.

import { listed } from "./state.js";

/** The texts of pushes in lower case, kept for the next key of a search. */
const lowered = new WeakMap();

function searched(push) {
  let text = lowered.get(push);
  if (text === undefined) {
    const { title, subtitle, body } = listed(push);
    text = [title, subtitle, body, push.app.name, push.thread].join("\n").toLowerCase();
    lowered.set(push, text);
  }
  return text;
}

/** Returns a test of entries: in a scope (all, unread, app:TOPIC, level:NAME), and with a text. */
export function finder({ text = "", scope = "all" }) {
  const needle = text.toLowerCase();
  const [kind, name] = scope.split(/:(.*)/s);
  const isIn = {
    unread: (entry) => !entry.isRead, app: (entry) => entry.push.topic === name, level: (entry) => entry.push.level === name,
  }[kind] ?? (() => true);
  return (entry) => listed(entry.push) !== null && isIn(entry) && (!needle || searched(entry.push).includes(needle));
}

/** Returns the rows, newest first: a heading for each app or day, then its entries. `by` is "app" or "day". */
export function rows(state, search, by, dayOf) {
  const finds = finder(search);
  const groups = new Map();
  for (let index = state.entries.length - 1; index >= 0; index -= 1) {
    const entry = state.entries[index];
    if (!finds(entry)) continue;
    const key = by === "day" ? dayOf(entry.push.received) : entry.push.topic;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(entry);
  }
  const list = [];
  for (const [key, entries] of groups) {
    const title = by === "day" ? key : state.apps.find((app) => app.topic === key)?.name ?? entries[0].push.app.name;
    list.push({ kind: "group", key, title, count: entries.length, ordinals: entries.map((entry) => entry.ordinal) });
    for (const entry of by === "app" ? byThread(entries) : entries) list.push({ kind: "entry", key: entry.ordinal, entry });
  }
  return list;
}

/** Moves the entries of a thread to its newest one. */
function byThread(entries) {
  if (!entries.some((entry) => entry.push.thread)) return entries;
  const threads = new Map();
  entries.forEach((entry, index) => {
    const key = entry.push.thread || `\n${index}`;
    if (!threads.has(key)) threads.set(key, []);
    threads.get(key).push(entry);
  });
  return [...threads.values()].flat();
}

/** Returns the offsets of rows with these heights, and the total height after the last. */
export function offsets(list, heights) {
  const result = [0];
  for (const row of list) result.push(result.at(-1) + heights[row.kind]);
  return result;
}

/** Returns the range of the rows between two offsets. */
export function range(places, top, bottom) {
  const find = (value) => {
    let [low, high] = [0, places.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle + 1] <= value) low = middle + 1; else high = middle;
    }
    return low;
  };
  const last = places.length - 1;
  return [Math.min(find(top), last), Math.min(find(bottom) + 1, last)];
}

/** Returns the ordinal of the selected push: of the one that is open, or of the selected row. */
export const selected = (place, center) => (place.screen === "message" ? place.selected : center.selected);
