// The payload of a push: its fields in a form, the lines of its values in the text, and the alert as a device shows it. Pure.

/** The fields of the form: their paths in the payload, and their kinds. */
export const fields = [
  { name: "title", title: "Title", at: ["aps", "alert", "title"] },
  { name: "subtitle", title: "Subtitle", at: ["aps", "alert", "subtitle"] },
  { name: "body", title: "Message", at: ["aps", "alert", "body"], isLong: true },
  { name: "badge", title: "Badge", at: ["aps", "badge"], isNumber: true },
  { name: "sound", title: "Sound", at: ["aps", "sound"], help: "default, or the name of a sound" },
  { name: "level", title: "Level", at: ["aps", "interruption-level"], options: ["", "passive", "active", "time-sensitive", "critical"] },
  { name: "category", title: "Category", at: ["aps", "category"] },
  { name: "thread", title: "Thread", at: ["aps", "thread-id"] },
  { name: "url", title: "Link", at: ["url"], help: "the address that View opens" },
];

export const templates = {
  Alert: { aps: { alert: { title: "Train in 5 Minutes", body: "It leaves from platform 4." }, sound: "default" } },
  "Badge Only": { aps: { badge: 1 } },
  "Time-Sensitive": { aps: { alert: { title: "Door Is Open", body: "The front door has been open for 10 minutes." }, "interruption-level": "time-sensitive", sound: "default" } },
  "Silent Update": { aps: { "content-available": 1 } },
};

export const write = (payload) => JSON.stringify(payload, null, 2);

/** Returns the object of a text; null if the text is not a JSON object. */
export function read(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** Returns the values of the form's fields, as texts. An alert that is a text is the message. */
export function formValues(payload) {
  return Object.fromEntries(fields.map(({ name, at }) => {
    const alert = payload?.aps?.alert;
    if (at[1] === "alert" && typeof alert === "string") return [name, name === "body" ? alert : ""];
    const value = at.reduce((found, key) => (isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined), payload);
    return [name, value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value)];
  }));
}

/** Returns a payload with another value of a field; an empty one removes it. The other values stay as they are. */
export function withField(payload, name, text) {
  const { at, isNumber } = fields.find((one) => one.name === name);
  const value = isNumber && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  return set(payload, at, text === "" ? undefined : value);
}

function set(object, [key, ...rest], value) {
  const present = isObject(object) ? object : typeof object === "string" ? { body: object } : {};
  const inner = rest.length ? set(present[key], rest, value) : value;
  const isEmpty = inner === undefined || (isObject(inner) && rest.length > 0 && Object.keys(inner).length === 0 && key !== "aps");
  // An existing member keeps its position.
  return isEmpty ? Object.fromEntries(Object.entries(present).filter(([one]) => one !== key)) : { ...present, [key]: inner };
}

/** Returns the alert as a device shows it; null without one. */
export function preview(payload) {
  const alert = payload?.aps?.alert;
  if (typeof alert === "string") return alert ? { title: "", subtitle: "", body: alert, buttons: twoButtons("View") } : null;
  if (!isObject(alert)) return null;
  const text = (name, prefix) => localized(alert[name])
    ?? localized({ "loc-key": alert[`${prefix}loc-key`], "loc-args": alert[`${prefix}loc-args`] }) ?? "";
  const shown = { title: text("title", "title-"), subtitle: text("subtitle", "subtitle-"), body: text("body", ""), buttons: buttonsOf(alert["action-loc-key"]) };
  return shown.title || shown.subtitle || shown.body ? shown : null;
}

const twoButtons = (title) => ["Close", title];

/** Returns the titles of the buttons (A3 to A5). */
function buttonsOf(key) {
  if (key === null || key === "") return ["OK"];
  return twoButtons(typeof key === "string" ? key : "View");
}

/** Returns a text, or a key as a device without translations shows it: with its arguments; null for another value. */
function localized(value) {
  if (typeof value === "string") return value;
  if (!isObject(value) || typeof value["loc-key"] !== "string") return null;
  const values = Array.isArray(value["loc-args"]) ? value["loc-args"] : [];
  let next = 0;
  return value["loc-key"].replace(/%(?:(\d+)\$)?@|%%/g, (found, number) => {
    if (found === "%%") return "%";
    const index = number ? Number(number) - 1 : next++;
    return index in values ? (typeof values[index] === "string" ? values[index] : "") : found;
  });
}

/** The parts that a payload requests. */
export function asked(payload) {
  const aps = isObject(payload?.aps) ? payload.aps : {};
  return [aps.badge !== undefined && "badge", aps.sound !== undefined && "sound", preview(payload) && "alert"].filter(Boolean);
}

/** Returns the line of the value at a JSON pointer (RFC 6901) in a text, counted from 1; 1 if it is not found. */
export function lineAt(text, pointer) {
  const wanted = pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const path = [];
  let [found, line] = [1, 1];
  /** Each open object or array: the present key, or the index. */
  const open = [];
  let expectsKey = false;
  const note = () => {
    path.length = 0;
    for (const one of open) path.push(String(one.key));
    if (path.length <= wanted.length && path.every((part, index) => part === wanted[index])) found = line;
  };
  for (const [token] of text.matchAll(/"(?:[^"\\\n]|\\.)*"?|[{}[\]:,]|\n|[^\s{}[\]:,"]+/g)) {
    const last = open.at(-1);
    if (token === "\n") line += 1;
    else if (token === "{" || token === "[") {
      if (open.length > 200) return found;
      note();
      open.push({ isArray: token === "[", key: token === "[" ? 0 : "" });
      expectsKey = token === "{";
    } else if (token === "}" || token === "]") { open.pop(); expectsKey = false; }
    else if (token === ",") {
      if (last?.isArray) last.key += 1;
      expectsKey = last !== undefined && !last.isArray;
    } else if (token === ":") expectsKey = false;
    else if (expectsKey && last) {
      try { last.key = JSON.parse(token); } catch { last.key = token; }
    } else note();
  }
  return found;
}

/**
 * Returns an `apns-expiration` from a text: seconds since 1970, or a span such as 1h from now, or 0. Returns undefined for an empty
 * text, null for an invalid one.
 */
export function expiration(text, now) {
  if (text === "") return undefined;
  const span = /^(\d{1,9})([smhd])$/.exec(text);
  if (span) return Math.floor(now / 1000) + Number(span[1]) * { s: 1, m: 60, h: 3600, d: 86_400 }[span[2]];
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}
