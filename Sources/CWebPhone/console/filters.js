// The filter of the activity, which is a part of its address: `rule:N7 app:com.example.news since:1h`. Pure.

export const events = [
  "accepted", "stored", "transmitted", "acknowledged", "presented", "suppressed", "viewed", "closed", "action", "refused", "collapsed",
  "expired", "dropped", "ignored", "undeliverable", "retracted", "reported", "traced", "fault", "unsubscribed", "lost", "forwarded",
];
/** The events with a rule in some of their rows. */
const ruled = ["suppressed", "refused", "reported", "ignored"];
const single = ["app", "device", "id", "since", "text"];
const several = ["event", "rule"];
export const names = [...several, ...single];
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reads a filter: `terms` in their order, and `problems` in words. */
export function parse(text) {
  const filter = { event: [], rule: [], app: "", device: "", id: "", since: "", text: "", problems: [] };
  for (const [, name, quoted, bare] of String(text).matchAll(/(?:([a-zA-Z-]+):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g)) {
    const value = quoted === undefined ? bare : quoted.replace(/\\(.)/g, "$1");
    const key = name?.toLowerCase();
    if (!name) {
      if (uuid.test(value)) filter.id = value;
      else filter.text = filter.text ? `${filter.text} ${value}` : value;
    } else if (several.includes(key)) {
      for (const one of value.split(",").filter(Boolean)) {
        const word = key === "rule" ? one.toUpperCase() : one.toLowerCase();
        if (!filter[key].includes(word)) filter[key].push(word);
      }
    } else if (single.includes(key)) {
      filter[key] = value;
    } else {
      filter.problems.push(`Unknown filter “${name}”: expected ${names.slice(0, -1).join(", ")} or ${names.at(-1)}.`);
    }
  }
  for (const word of filter.event) if (!events.includes(word)) filter.problems.push(`Unknown event “${word}”: expected one of ${events.join(", ")}.`);
  if (filter.id && !uuid.test(filter.id)) filter.problems.push("An id is the apns-id or the apns-unique-id of a push, a UUID.");
  if (filter.since && sinceTime(filter.since, 0) === null) filter.problems.push("since: expected 30s, 10m, 2h, 7d, or a date such as 2026-11-27T18:00.");
  return filter;
}

/** Writes a filter. A value with spaces, quotation marks or backslashes is quoted. */
export function format(filter) {
  const quote = (value) => (/[\s"\\]/.test(value) || value === "" ? `"${value.replace(/["\\]/g, "\\$&")}"` : value);
  return [
    ...several.filter((name) => filter[name].length).map((name) => `${name}:${filter[name].join(",")}`),
    ...single.filter((name) => filter[name]).map((name) => `${name}:${quote(filter[name])}`),
  ].join(" ");
}

/** Returns the terms of a filter, each with the rest of the filter. */
export function terms(filter) {
  return names.flatMap((name) => {
    const values = Array.isArray(filter[name]) ? filter[name] : [filter[name]].filter(Boolean);
    return values.map((value) => ({
      name, value,
      rest: format({ ...filter, [name]: Array.isArray(filter[name]) ? filter[name].filter((one) => one !== value) : "" }),
    }));
  });
}

/** Returns the time of `since` in milliseconds since 1970; null if it is invalid. */
export function sinceTime(text, now) {
  const span = /^(\d{1,9})([smhd])$/.exec(text);
  if (span) return now - Number(span[1]) * { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[span[2]];
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : NaN;
  return Number.isNaN(time) ? null : time;
}

/** Returns the parameters of the log's routes. The routes have no parameter for rules: `matches` selects the rows with a rule. */
export function query(filter, now) {
  const values = {};
  for (const name of ["app", "device", "id", "text"]) if (filter[name]) values[name] = filter[name];
  const wanted = filter.event.length || !filter.rule.length ? filter.event : ruled;
  if (wanted.length) values.event = wanted.join(",");
  if (filter.since) values.since = String(sinceTime(filter.since, now));
  return values;
}

/** Returns the rules in a row of the log: of removed parts, of a refusal, or of a finding. */
export function rules(row) {
  const { details } = row;
  if (details) return [...new Set([...(details.removed ?? []).map((one) => one.rule), details.rule].filter(Boolean))];
  return [...new Set([...(row.detail ?? "").matchAll(/(?:^|; |badge |sound |alert )([ABSNX]\d{1,2})\b/g)].map((found) => found[1]))];
}

/** Returns true if a row that the gateway returned matches. */
export const matches = (filter, row) => !filter.rule.length || rules(row).some((rule) => filter.rule.includes(rule));
