// The preferences of a user as tables, and the settings that set them as before a change. Pure.

import { caption, groups } from "../phone/preferences.js";
import { lines } from "./typed.js";

/** Returns the rows of the preferences for everything, for an app, or for a category of it. */
function rowsOf(preferences, app = "", category = "") {
  const values = preferences.apps?.[app] ?? {};
  const apps = app ? { [app]: category ? { ...values, categories: { [category]: {}, ...values.categories } } : values } : {};
  const [, everything, ofApp] = groups({ preferences: { ...preferences, apps }, device: {}, apps: app ? [{ topic: app, name: app }] : [] });
  return (ofApp ?? everything).rows.filter((row) => (row.category ?? "") === category);
}

const table = (title, rows) => ({ title, head: ["Preference", "Value"], rows: rows.map((row) => [row.title, caption(row, row.value)]) });

/** Returns the tables of preferences: all for everything, and for each app those that are not the default. */
export function tables(preferences) {
  const others = (app, category) => {
    const usual = rowsOf({}, app, category);
    return rowsOf(preferences, app, category).filter(({ value }, index) => value !== usual[index].value);
  };
  const apps = Object.entries(preferences.apps ?? {}).map(([app, { categories }]) => table(app, ["", ...Object.keys(categories ?? {}).sort()].flatMap((category) => others(app, category))));
  return [table("Preferences", rowsOf(preferences)), ...apps.filter(({ rows }) => rows.length)];
}

/** Returns the settings that set the preferences of a scope as before a change. Only the user can change `log-text`. */
export function restored(preferences, { app, category, settings }) {
  const rows = rowsOf(preferences, app, category).filter(({ name }) => name !== "log-text");
  const known = new Set(rows.map(({ name }) => name));
  const made = lines(settings).map((one) => one.split("=")[0]).filter((name) => name.startsWith("focus.") && !known.has(name));
  // `marketing=off` also changes `advertising`, which is therefore after it.
  const isFirst = ({ name }) => name === "marketing";
  return [...rows.filter(isFirst), ...rows.filter((one) => !isFirst(one))].map(({ name, value }) => `${name}=${value}`).concat(made.map((name) => `${name}=off`));
}
