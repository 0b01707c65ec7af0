// Requests to the gateway. The cookie of the session, which scripts can't read, identifies the administrator.

/** A refusal of the gateway, in its words. The status 0 is for a gateway without an answer. */
export class Refusal extends Error {
  constructor(status, detail, isRepeated = false) {
    super(detail);
    this.status = status;
    /** True if an earlier attempt had no answer: the gateway may have served it. */
    this.isRepeated = isRepeated;
  }
}

/** Called when the session has ended. */
export const events = { onend: () => {} };

/** The number of attempts at a request without an answer, and the milliseconds between two. */
const maxAttempts = 3;
const pause = 1000;

/**
 * Sends a request. Without an answer it is sent again if that has no second effect: a change of the network aborts requests.
 * Returns the answer, and the number of its attempt.
 */
async function attempt(path, options, isRepeatable, number = 1) {
  try {
    return [await fetch(path, options), number];
  } catch (error) {
    if (options.signal?.aborted) throw error;
    if (!isRepeatable || number === maxAttempts) throw new Refusal(0, "The gateway does not answer.");
  }
  await new Promise((resolve) => { setTimeout(resolve, pause); });
  return attempt(path, options, isRepeatable, number + 1);
}

/** Returns the content of an answer; null if it is not JSON. */
const json = (response) => response.json().catch(() => null);

/** Returns the reason in the content of a refusal; other words if it has none. */
const reason = (content, otherwise) => sentence(typeof content?.detail === "string" ? content.detail : otherwise);

export async function request(method, path, body, signal, isRepeatable = method === "GET") {
  const [response, number] = await attempt(path, {
    method, signal, cache: "no-store", body: body === undefined ? undefined : JSON.stringify(body),
    headers: body === undefined ? {} : { "content-type": "application/json" },
  }, isRepeatable);
  if (response.ok) return response;
  const refusal = new Refusal(response.status, reason(await json(response), `the gateway refused with ${response.status}`), number > 1);
  if (response.status === 401 && path !== "/console/session") events.onend();
  throw refusal;
}

/** Returns the session of the browser. */
const session = () => request("GET", "/console/session").then((one) => one.json());

/** Begins a session with the code of a link. An attempt without an answer may have begun it already. */
async function signIn(code) {
  try {
    return await request("POST", "/console/session", { code }, undefined, true).then((one) => one.json());
  } catch (error) {
    if (error.status !== 410 || !error.isRepeated) throw error;
    return session().catch((other) => { throw other.status === 401 ? error : other; });
  }
}

/** Reads the health: its `problems` in words, or the `error` that leaves them unknown. A gateway with problems answers with 503. */
async function health() {
  const response = await fetch("/v1/health", { cache: "no-store" }).catch(() => null);
  if (!response) return { error: "The gateway does not answer." };
  const found = await json(response);
  if (!Array.isArray(found?.problems)) return { error: reason(found, `the gateway answered with ${response.status} and without its health`) };
  return { ...found, problems: found.problems.map(({ part, problem }) => `${part}: ${problem}`) };
}

/** Returns the health in words: {isGood, words}. */
export function condition({ problems, error }) {
  if (!problems) return { isGood: false, words: `Unknown: ${error}` };
  const count = problems.length;
  return { isGood: count === 0, words: count ? `${count} ${count === 1 ? "problem" : "problems"}: ${problems.join("; ")}` : "Ready" };
}

/** Returns words of the gateway as a sentence. */
export const sentence = (words) => `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}${/[.!?…]$/.test(words) ? "" : "."}`;

/** Returns the path of an object of the API for administrators: its parts are encoded. */
export const path = (...parts) => `/admin/v1/${parts.map(encodeURIComponent).join("/")}`;

const withQuery = (where, query) => {
  const text = new URLSearchParams(query).toString();
  return text ? `${where}?${text}` : where;
};

export const api = {
  session, signIn, health,
  signOut: () => request("DELETE", "/console/session"),
  get: (where, query = {}, signal = undefined) => request("GET", withQuery(where, query), undefined, signal).then((one) => one.json()),
  text: (where, query = {}) => request("GET", withQuery(where, query)).then((one) => one.text()),
  post: (where, body = {}) => request("POST", where, body).then((one) => one.json().catch(() => ({}))),
  delete: (where, query = {}) => request("DELETE", withQuery(where, query)),
};
