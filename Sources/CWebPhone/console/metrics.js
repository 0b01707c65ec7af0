// The metrics of the gateway as figures, and their charts as paths. Pure.

/** The time that charts show, and the time between two samples, in milliseconds. */
export const shownTime = 3_600_000;
export const sampleTime = 20_000;

/** Reads the text format of Prometheus: a list of {name, labels, value}. Other lines are ignored. */
export function parse(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!found) continue;
    const labels = {};
    for (const [, key, value] of (found[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = value.replace(/\\(.)/g, (_, one) => (one === "n" ? "\n" : one));
    const value = found[3] === "+Inf" ? Infinity : Number(found[3]);
    if (!Number.isNaN(value)) samples.push({ name: found[1].replace(/^pushgateway_/, ""), labels, value });
  }
  return samples;
}

/** Returns the figures that the page shows, of one reading of the metrics. */
export function figures(text, at) {
  const samples = parse(text);
  const of = (name, label, value) => samples.filter((one) => one.name === name && (label === undefined || one.labels[label] === value));
  const sum = (...search) => of(...search).reduce((total, one) => total + one.value, 0);
  const byLabel = (name, label) => Object.fromEntries(of(name).filter((one) => one.value > 0).map((one) => [one.labels[label], one.value]));
  return {
    at, accepted: sum("requests_accepted_total"), delivered: sum("delivery_events_total", "event", "acknowledged"), refused: sum("policy_refused_total"),
    removed: sum("policy_removed_total"), pending: sum("mailbox_pushes"), connections: sum("connections"), devices: sum("device_streams"),
    latency: of("transmit_seconds_bucket", "from", "live").map((one) => [one.labels.le === "+Inf" ? Infinity : Number(one.labels.le), one.value]).sort((one, other) => one[0] - other[0]),
    refusedBy: byLabel("policy_refused_total", "rule"), removedBy: byLabel("policy_removed_total", "rule"), reasons: byLabel("requests_refused_total", "reason"),
    limits: { ...byLabel("limits_reached_total", "limit"), ...byLabel("transport_limits_reached_total", "limit") },
    certificates: Object.fromEntries(of("certificate_expiry_timestamp_seconds").map((one) => [one.labels.certificate ?? "server", one.value])),
    version: of("build_info")[0]?.labels.version ?? "",
  };
}

/** Returns the figures of a reading that the gateway has kept: those of the charts. Its counts are of each bucket alone. */
export function earlier({ at, bounds, counts, ...numbers }) {
  let total = 0;
  const latency = counts.map((count, index) => [bounds[index] ?? Infinity, (total += count)]);
  return { ...numbers, at: Date.parse(at), latency };
}

/** Adds figures to a history, and removes its old figures. */
export const remember = (history, one) => [...history, one].filter((old) => one.at - old.at <= shownTime);

/** Returns the change of a counter in a minute. A counter that is smaller than before began again at 0. */
export function rate(before, after, name) {
  const minutes = (after.at - before.at) / 60_000;
  if (!(minutes > 0)) return 0;
  return (after[name] >= before[name] ? after[name] - before[name] : after[name]) / minutes;
}

/** Returns a quantile of the observations between two readings of a histogram, in seconds; null without observations. */
export function quantile(before, after, part) {
  const isReset = before.length !== after.length || before.some(([, value], index) => value > after[index][1]);
  const counts = after.map(([bound, value], index) => [bound, isReset ? value : value - before[index][1]]);
  const total = counts.at(-1)?.[1] ?? 0;
  if (!total) return null;
  const wanted = part * total;
  const index = counts.findIndex(([, value]) => value >= wanted);
  const [bound, count] = counts[index];
  const [low, below] = index > 0 ? counts[index - 1] : [0, 0];
  // A value above the last bound is reported as this bound.
  return bound === Infinity ? low : low + (bound - low) * ((wanted - below) / (count - below || 1));
}

const pairs = (history) => history.slice(1).map((one, index) => [history[index], one]);

/** The charts: their titles, units, and series of {at, value} from a history. */
export const charts = [
  ...[["accepted", "Accepted"], ["delivered", "Delivered"], ["refused", "Refused by rules"]].map(([name, title]) => ({
    title, unit: "a minute", series: (history) => [{ title, points: pairs(history).map(([before, after]) => ({ at: after.at, value: rate(before, after, name) })) }],
  })),
  {
    title: "Time to the device", unit: "ms",
    series: (history) => [["p50", 0.5], ["p99", 0.99]].map(([title, part]) => ({
      title, points: pairs(history).map(([before, after]) => ({ at: after.at, value: quantile(before.latency, after.latency, part) }))
        .filter((one) => one.value !== null).map((one) => ({ ...one, value: one.value * 1000 })),
    })),
  },
  ...[["pending", "Pending"], ["connections", "Connections"]].map(([name, title]) => ({
    title, unit: "", series: (history) => [{ title, points: history.map((one) => ({ at: one.at, value: one[name] })) }],
  })),
];

/** Returns a figure with as many digits as it needs. */
export const figure = (value) => (value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

/** Returns the path of a line in a box, from `now - shownTime` to `now`, and from 0 to `top`. */
export function line(points, now, top, width, height) {
  return points.map(({ at, value }, index) => {
    const x = Math.max(0, width * (1 - (now - at) / shownTime));
    const y = height * (1 - (top > 0 ? value / top : 0));
    return `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
  }).join("");
}

/** Returns a round number that is at least a value: the top of a chart. */
export function roundTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= value);
}
