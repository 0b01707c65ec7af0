// The tests of a test gateway: their names, results, and the differences of the nearest pushes. Pure.

/** The name of a test: its device, or the beginning of its token. Broadcasts and expectations without a token have no test of their own. */
export const nameOf = ({ token, device }) => device ?? (token ? `${token.slice(0, 16)}${token.length > 16 ? "…" : ""}` : "without a token");

/** The part of the address that identifies a test. */
export const keyOf = ({ token }) => token ?? "-";

/** Returns the tests with failed expectations first, both in the order of the gateway. */
export const ordered = (tests) => [...tests.filter((one) => one.failed), ...tests.filter((one) => !one.failed)];

/** Returns the result of a test in words, with a kind that has a color. */
export function result({ expectations, failed }) {
  const count = expectations.length;
  if (failed) return { kind: "bad", words: `${failed} of ${count} ${count === 1 ? "expectation" : "expectations"} failed` };
  if (!count) return { kind: "plain", words: "no expectation" };
  return { kind: "good", words: count === 1 ? "1 expectation fulfilled" : `${count} expectations fulfilled` };
}

/** Returns the numbers of all tests in a sentence. */
export function overview(tests) {
  const failed = tests.filter((one) => one.failed).length;
  const pushes = tests.reduce((sum, one) => sum + one.pushes, 0);
  return `${tests.length} ${tests.length === 1 ? "test" : "tests"}, ${failed} with failed expectations, ${pushes} ${pushes === 1 ? "push" : "pushes"}`;
}

const shown = (value) => (value === undefined ? "no value" : typeof value === "string" ? value : JSON.stringify(value));

/** Returns the differences of a push from an expectation as rows of words: field, expected, found. */
export const differences = ({ differences: list }) => list.map(({ field, expected, found }) => [field, shown(expected), shown(found)]);

/** Returns the title of a push of the record, or the first words of it. */
export function titleOf({ payload, method, path }) {
  const alert = payload?.aps?.alert;
  const words = typeof alert === "string" ? alert : alert?.title ?? alert?.body;
  return typeof words === "string" && words ? words : payload?.aps ? "without an alert" : `${method} ${path}`;
}

/** Returns the outcome of a push of the record, with a kind that has a color. */
export function outcome({ outcome: name, status, reason, presented, suppressed }) {
  if (name === "refused") return { kind: "bad", words: `${status} ${reason ?? ""}`.trim() };
  if (name !== "accepted") return { kind: ["duplicate", "open"].includes(name) ? "plain" : "bad", words: name };
  const removed = suppressed.map(({ part, rule }) => `no ${part} (${rule})`);
  const words = [presented.length ? `presented ${presented.join(", ")}` : "", ...removed].filter(Boolean).join("; ");
  return { kind: removed.length ? "late" : presented.length ? "good" : "plain", words: words || "accepted" };
}
