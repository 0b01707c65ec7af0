// The values of forms: texts that are typed, as values of the API, and the faults of each scenario. Pure.

export const day = 86_400;

/** Returns words, separated by commas or spaces. */
export const list = (words) => words.split(/[,\s]+/).filter(Boolean);

/** Returns texts, one in each line. */
export const lines = (text) => text.split("\n").map((one) => one.trim()).filter(Boolean);

const units = { s: 1, m: 60, h: 3600, d: day };

/** Reads a time as `pushcli` writes it, such as `10m`, in seconds. */
export function secondsOf(title, text) {
  const [, number, unit] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? [];
  if (!unit) throw new Error(`${title}: expected a time, as 30s, 10m, 24h or 7d.`);
  return Number(number) * units[unit];
}

/** Writes a time in the largest unit of which it is a whole number. */
export const timeOf = (seconds) => {
  const unit = ["d", "h", "m"].find((one) => seconds > 0 && seconds % units[one] === 0) ?? "s";
  return `${seconds / units[unit]}${unit}`;
};

/** Reads JSON pointers with the names of their fields, one in each line: `title=/monitor/name`. */
export function pointersOf(text) {
  const pairs = lines(text).map((line) => line.split(/=(.*)/s));
  if (pairs.some(([name, pointer]) => !name || pointer === undefined) || new Set(pairs.map(([name]) => name)).size < pairs.length) {
    throw new Error("Fields: expected each name once, as title=/monitor/name, in a line of its own.");
  }
  return Object.fromEntries(pairs);
}

/** Reads the actions of a category: `yes=Yes, no=No!`. An exclamation mark marks a destructive action. */
export function actionsOf(text) {
  return text.split(",").map((one) => one.trim()).filter(Boolean).map((one) => {
    const [id, title = id] = one.split("=").map((part) => part.trim());
    return title.endsWith("!") ? { id, title: title.slice(0, -1), destructive: true } : { id, title, destructive: false };
  });
}

/** Faults that are often needed together. Times are in seconds. */
const busy = { name: "busy", reason: "TooManyRequests", "retry-after": 5, count: 3 };
const slow = { name: "slow", delay: 2, rate: 10, seed: 7 };
const restart = { name: "restart", goaway: "Shutdown", count: 1 };
const outage = { name: "outage", reason: "ServiceUnavailable" };
export const scenarios = {
  "": [], "Too many requests, three times": [busy], "One answer in ten is slow": [slow], "A restart during a request": [restart], "An outage": [outage],
  "Lost connections": [{ name: "lost", drop: true, rate: 5, seed: 7 }], "All of these": [busy, slow, restart, outage, { name: "lost", drop: true, rate: 5, seed: 7 }],
};

/** Reads rules that were typed: a JSON list, or an object with the list `faults`. */
export function rulesOf(text) {
  let value;
  try { value = JSON.parse(text); } catch { value = null; }
  const found = Array.isArray(value) ? value : value?.faults;
  if (!Array.isArray(found)) throw new Error("Rules: expected a JSON list of faults, as [{\"name\": \"slow\", \"delay\": 2}].");
  return found;
}
