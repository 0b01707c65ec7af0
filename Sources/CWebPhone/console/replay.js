// Other preferences on past pushes: the request in the address, the bars of the picture, and the numbers in words. Pure.

/** The times that the page offers, with their seconds. */
export const times = { "1d": 86_400, "7d": 604_800, "30d": 2_592_000 };

/** Reads the request in an address: a device, a time, assignments, and an app. */
export function asked(values) {
  return {
    device: values.get("device") ?? "", since: Object.hasOwn(times, values.get("since")) ? values.get("since") : "7d", app: values.get("app") ?? "",
    settings: (values.get("set") ?? "").split("\n").map((one) => one.trim()).filter(Boolean),
  };
}

/** Returns the values of an address for a request. */
export function address({ device, since, settings, app }) {
  const values = new URLSearchParams({ device, since });
  if (settings.length) values.set("set", settings.join("\n"));
  if (app) values.set("app", app);
  return `#/replay?${values}`;
}

/** Returns the body of a request. */
export const body = ({ since, settings, app }) => ({ seconds: times[since], settings, ...(app ? { app } : {}) });

/** Returns the bars of the periods in a box, two for each: {x, y, width, height, kind}. */
export function bars(tallies, top, width, height) {
  const step = width / Math.max(1, tallies.length);
  return tallies.flatMap(({ before, after }, index) => [["before", before], ["after", after]].map(([kind, value], place) => {
    const size = top > 0 ? (height * value) / top : 0;
    return { kind, x: step * (index + 0.1 + 0.4 * place), y: height - size, width: 0.4 * step, height: size };
  }));
}

const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** Returns the result in a sentence. */
export function summary({ pushes, less, more, held, cut, times: periods }) {
  const sum = (name) => periods.reduce((total, one) => total + one[name], 0);
  const words = `${counted(pushes, "push", "pushes")}: ${counted(sum("before"), "alert")} before, ${sum("after")} after; ${less} with less, ${more} with more, ${held} in a summary.`;
  return cut ? `${words} The log has more pushes of this time: the oldest are missing.` : words;
}

/** Returns parts as words. */
export const parts = (list, isHeld = false) => `${list.length ? list.join(", ") : "no part"}${isHeld ? ", in a summary" : ""}`;
