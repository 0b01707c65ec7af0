// The pushes that users reported as advertising, with the reviews of administrators. Pure.

export const filters = { open: "Not reviewed", right: "Right", wrong: "Wrong", all: "All" };

/** Returns the reports of a filter, the newest first. */
export const chosen = (reports, filter) => reports.filter(({ review }) => filter === "all" || (filter === "open" ? !review : review === filter)).toReversed();

/** Returns the numbers of the reports in words. */
export function counts(reports) {
  const count = (wanted) => reports.filter(({ review }) => (review ?? "") === wanted).length;
  return `${reports.length} ${reports.length === 1 ? "report" : "reports"}: ${count("right")} right, ${count("wrong")} wrong, ${count("")} not reviewed`;
}

/** Returns the present verdict of the detector in words. */
export const verdict = (outcome) => ({ pass: "The detector passes it now.", hold: "The detector holds it now.", refuse: "The detector refuses it now." })[outcome] ?? "The device reported no text.";

/** Returns reports with another review of one. */
export const reviewed = (reports, number, review) => reports.map((one) => (one.number === number ? { ...one, review } : one));
