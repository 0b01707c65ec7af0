// Requests to the gateway. The cookie of the session, which scripts can't read, identifies the administrator.

/** A refusal of the gateway, in its words. The status 0 is for a gateway without an answer. */
export class Refusal extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** Called when the session has ended. */
export const events = { onend: () => {} };

export async function request(method, path, body, signal) {
  let response;
  try {
    response = await fetch(path, {
      method, signal, cache: "no-store", body: body === undefined ? undefined : JSON.stringify(body),
      headers: body === undefined ? {} : { "content-type": "application/json" },
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(0, "The gateway does not answer. The page tries again.");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  const refusal = new Refusal(response.status, sentence(problem.detail ?? `the gateway refused with ${response.status}`));
  if (response.status === 401 && path !== "/console/session") events.onend();
  throw refusal;
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
  session: () => request("GET", "/console/session").then((one) => one.json()),
  signIn: (code) => request("POST", "/console/session", { code }).then((one) => one.json()),
  signOut: () => request("DELETE", "/console/session"),
  health: async () => {
    // A gateway with problems answers with 503 and the same object.
    const response = await fetch("/v1/health", { cache: "no-store" }).catch(() => null);
    return response ? response.json().catch(() => null) : null;
  },
  get: (where, query = {}, signal = undefined) => request("GET", withQuery(where, query), undefined, signal).then((one) => one.json()),
  text: (where, query = {}) => request("GET", withQuery(where, query)).then((one) => one.text()),
  post: (where, body = {}) => request("POST", where, body).then((one) => one.json().catch(() => ({}))),
  delete: (where, query = {}) => request("DELETE", withQuery(where, query)),
};
