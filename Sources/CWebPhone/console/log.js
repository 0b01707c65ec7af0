// Rows of the delivery log: words, the steps of a push, and files. Pure.

import { reasons } from "../phone/words.js";

const words = {
  accepted: "Accepted", refused: "Refused", stored: "Stored", transmitted: "Sent", acknowledged: "On the device", presented: "Presented",
  suppressed: "Not shown", viewed: "Viewed", closed: "Closed", action: "Answered", collapsed: "Replaced", expired: "Expired", dropped: "Dropped",
  ignored: "Ignored a value", undeliverable: "Undeliverable", retracted: "Retracted", reported: "Reported", traced: "Traced",
  fault: "Fault injected", unsubscribed: "Unsubscribed", lost: "Rows lost", forwarded: "Forwarded",
};

export const eventWords = (event) => words[event] ?? event;

/** Returns the kind of an event, which has a color: good, bad, late or plain. */
export function kind(event) {
  if (["acknowledged", "presented", "viewed", "action", "closed"].includes(event)) return "good";
  if (["refused", "expired", "dropped", "undeliverable", "lost", "fault"].includes(event)) return "bad";
  return ["suppressed", "collapsed", "ignored", "reported", "retracted", "unsubscribed"].includes(event) ? "late" : "plain";
}

/** Returns why parts of a push were not shown: {part, rule, path, words}. */
export function why(row) {
  if (row.event !== "suppressed") return [];
  const found = reasons(row.detail ?? "");
  const removed = row.details?.removed ?? [];
  if (removed.length !== found.length) return found.map(({ part, rule, words: said }) => ({ part, rule, path: "", words: said }));
  return removed.map(({ part, rule, setting }, index) => ({ part, rule, path: setting, words: found[index].words }));
}

/** Returns the details of a row in one line. */
export const summary = (row) => (row.event === "suppressed"
  ? why(row).map(({ part, rule, words: said }) => `no ${part}: ${said} (${rule})`).join("; ") || (row.detail ?? "") : row.detail ?? "");

/** Returns a span of time in the unit that fits. */
export function span(milliseconds) {
  // The limits apply to the rounded values: 60.0 s is 1 min 0 s.
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${(milliseconds / 3_600_000).toFixed(1)} h`;
}

const inOrder = (one, other) => Date.parse(one.at) - Date.parse(other.at) || one.number - other.number;

/** Returns the steps of a push with their times after the first one. Rows that were sent twice are one. */
export function steps(rows) {
  const known = new Map(rows.map((row) => [`${row.gateway ?? ""} ${row.number}`, row]));
  const sorted = [...known.values()].sort(inOrder);
  const first = Date.parse(sorted[0]?.at);
  return sorted.map((row, index) => ({
    row, title: eventWords(row.event), kind: kind(row.event), device: row.device ?? "", at: row.at, status: row.status ?? "",
    after: index === 0 ? "" : `+${span(Date.parse(row.at) - first)}`,
    detail: row.event === "suppressed" ? "" : row.detail ?? "", why: why(row),
  }));
}

/** Returns the result of a push in a sentence, from its rows. */
export function verdict(rows) {
  const has = (event) => rows.some((row) => row.event === event);
  const removed = rows.filter((row) => row.event === "suppressed").flatMap(why);
  const parts = [...new Set(removed.map(({ part }) => part))];
  if (has("refused")) return { kind: "bad", words: "The gateway refused this push." };
  if (has("retracted")) return { kind: "late", words: "This push was retracted." };
  if (has("collapsed")) return { kind: "late", words: "A later push replaced this one." };
  if (has("expired")) return { kind: "bad", words: "This push expired before its device received it." };
  if (has("dropped") || has("undeliverable")) return { kind: "bad", words: "This push was dropped." };
  const asked = rows.filter((row) => row.event === "transmitted").flatMap((row) => row.details?.asked ?? (row.detail ?? "").split(" ").filter(Boolean));
  if (parts.length && asked.length && asked.every((part) => parts.includes(part))) return { kind: "late", words: "No part of this push was shown." };
  if (parts.length) return { kind: "late", words: `This push was delivered without ${parts.join(" and ")}.` };
  if (has("acknowledged")) return { kind: "good", words: "This push was delivered as its sender asked." };
  if (has("transmitted")) return { kind: "plain", words: "This push was sent to its device, which has not acknowledged it." };
  return { kind: "plain", words: has("stored") || has("accepted") ? "This push is pending." : "The log has no rows about this push." };
}

const columns = ["at", "event", "id", "unique_id", "status", "device", "topic", "detail", "trace_id", "text", "gateway"];

/** Returns a value for a file of comma-separated values (RFC 4180). A spreadsheet must not read a text of a sender as a formula. */
function cell(value) {
  const text = value === undefined || value === null ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvHead = `${columns.join(",")}\r\n`;
export const csv = (rows) => rows.map((row) => `${columns.map((name) => cell(row[name])).join(",")}\r\n`).join("");
export const ndjson = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
