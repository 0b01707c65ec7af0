// Words for times, answers and reasons, and values that are derived from names. Pure.

/** Characters that hide or reorder other text: controls, marks of the direction, invisible ones. Flags, joiners and variants stay. */
const hidden = new RegExp([
  /(\u{1f3f4}[\u{e0020}-\u{e007f}]{1,8})/u, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/u,
  /(?![\u200c\u200d\ufe0e\ufe0f])\p{DI}/u,
].map(({ source }) => source).join("|"), "gu");

/** Marks above or below one letter, with as many as the terminal shows. */
const stacked = /(\p{M}{15})\p{M}+/gu;

/** Returns the text of a sender without characters that hide, reorder or cover other text. */
export const plain = (text) => String(text).replace(hidden, "$1").replace(stacked, "$1");

/** A size in bytes, as `12 KB`. */
export const fileSize = (size) => (size < 1000 ? `${size} bytes` : size < 999_500 ? `${Math.round(size / 1000)} KB` : `${Math.round(size / 1e6)} MB`);

/** A hue from 0 to 359 that depends on a topic alone. */
export function hue(topic) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(topic)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % 360;
}

const formats = new Map();

/** Returns a time in words; an empty text for an invalid one. A format is kept, because its creation takes much longer than its use. */
function written(time, locale, options) {
  const key = JSON.stringify([locale, options]);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat(locale, options));
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : formats.get(key).format(date);
}

/** Returns a time relative to now: minutes under an hour, then the time of day, then the date. */
export function moment(time, now, locale) {
  const minutes = Math.floor((now - time) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min ago`;
  const isToday = time >= new Date(now).setHours(0, 0, 0, 0);
  return written(time, locale, isToday ? { timeStyle: "short" } : { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });
}

/** The time of day, with the date if it is another day. */
export function clock(time, now = Date.now(), locale) {
  const isToday = time >= new Date(now).setHours(0, 0, 0, 0);
  return written(time, locale, isToday ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

export const exact = (time, locale) => written(time, locale, { dateStyle: "full", timeStyle: "medium" });

/** Returns the heading of a day. */
export function day(time, now, locale) {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (time >= midnight) return "Today";
  if (time >= new Date(midnight - 1).setHours(0, 0, 0, 0)) return "Yesterday";
  return written(time, locale, { weekday: "long", month: "long", day: "numeric" });
}

/** Returns a function for the headings of many times, which writes each heading once. */
export function days(now, locale) {
  const known = new Map();
  return (time) => {
    const midnight = new Date(time).setHours(0, 0, 0, 0);
    if (!known.has(midnight)) known.set(midnight, day(midnight, now, locale));
    return known.get(midnight);
  };
}

/** Returns the answer of another user or device, such as: Answered “Approve” by ann. */
export function answerWords(entry) {
  const { answer, push } = entry;
  if (!answer) return "";
  const title = (push.alert ?? push.center)?.actions.find((one) => one.id === answer.action)?.title ?? answer.action;
  const by = answer.person ? ` by ${answer.person}` : answer.device ? ` on ${answer.device}` : "";
  return `Answered “${plain(title)}”${plain(by)}`;
}

const steps = {
  accepted: "Accepted", stored: "Stored", transmitted: "Sent to this device", acknowledged: "Stored on the device",
  presented: "Shown", viewed: "Viewed", closed: "Closed", action: "Answered", suppressed: "Not shown", held: "Deferred",
  dropped: "Dropped", expired: "Expired", collapsed: "Replaced", retracted: "Retracted", refused: "Refused",
};

/** Returns the steps of a push, each with its time after the first, from rows of the delivery log. */
export function history(rows) {
  const sorted = [...rows].sort((one, other) => Date.parse(one.at) - Date.parse(other.at) || one.number - other.number);
  const first = Date.parse(sorted[0]?.at);
  return sorted.map((row, index) => ({
    title: steps[row.event] ?? row.event, detail: row.event === "suppressed" ? "" : row.detail ?? "",
    time: index === 0 ? exact(first) : `+${duration(Date.parse(row.at) - first)}`,
    reasons: row.event === "suppressed" ? reasons(row.detail ?? "") : [],
  }));
}

function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds < 3_570_000) return `${Math.round(milliseconds / 60_000)} min`;
  return `${Math.round(milliseconds / 3_600_000)} h`;
}

const parts = { badge: "badge", sound: "sound", alert: "alert" };

/** Reads why parts were removed, such as `sound S4 silent; alert N5 apps/com.example.news/alert`. */
export function reasons(detail) {
  return detail.split("; ").map((one) => {
    const match = /^(badge|sound|alert) ([A-Z]\d+) (.+)$/.exec(one);
    return match && { part: parts[match[1]], rule: match[2], ...cause(match[3].split("/")) };
  }).filter(Boolean);
}

/** Returns the cause of a removal in words, and the setting that would show the part; null without such a setting. */
function cause(path) {
  const setting = (name, app = null, category = null) => ({
    name: name === "alert_budget" ? "budget" : name.replaceAll("_", "-"), app, category,
  });
  const [first] = path;
  const last = path.at(-1);
  switch (first) {
    case "apps": {
      // The recipient's own preference is above the reports of others.
      if (last === "standing") return { words: "recipients reported the app as advertising", setting: setting("advertising", path[1]) };
      const category = path[2] === "categories" && path.length > 4 ? path.slice(3, -1).join("/") : null;
      const words = {
        notifications: "notifications of the app are off", provisional: "the app is delivered quietly",
        delivery: "pushes of the app come in the summary", alert_budget: "the app has shown its alerts of this hour",
        permission: `the category “${category ?? ""}” is new, quiet or off`, advertising: "the app may not advertise", marketing: "marketing of the app is off",
      }[last] ?? `it is off for ${category ? `“${category}”` : "the app"}`;
      return { words, setting: setting(last, path[1], category) };
    }
    case "quiet": return { words: "quiet hours", setting: setting("quiet") };
    case "focus": return { words: `the Focus “${path.slice(1).join("/")}” is on`, setting: setting("device.focus") };
    case "silent": return { words: "this device is silent", setting: setting("device.silent") };
    case "budget": return { words: "the app has shown its 20 alerts of this hour", setting: null };
    case "absence": return { words: "too many alerts came while the device was away", setting: null };
    case "interruption-level": return { words: "its sender marked it as passive", setting: null };
    case "notifications": return { words: "notifications are off", setting: setting("notifications") };
    default: return { words: `${last} is off`, setting: setting(last) };
  }
}
