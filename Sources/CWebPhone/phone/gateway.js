// Requests to the gateway. The session's cookie, which scripts can't read, identifies the device.

/** A refusal of the gateway, in its words. */
export class Refusal extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function request(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method, body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
      headers: body === undefined ? {} : { "content-type": "application/json" },
    });
  } catch {
    throw new Refusal(0, "The gateway can't be reached. Try again when the page is connected.");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Refusal(response.status, problem.detail ?? `The gateway refused with ${response.status}.`);
}

const json = async (promise) => (await promise).json();

export const gateway = {
  device: () => json(request("GET", "/v1/device")),
  join: (name, invitation) => json(request("POST", "/phone/session", invitation ? { name, invitation } : { name })),
  leave: () => request("DELETE", "/phone/session"),
  register: (topic) => request("PUT", `/v1/device/apps/${encodeURIComponent(topic)}`),
  unregister: (topic) => request("DELETE", `/v1/device/apps/${encodeURIComponent(topic)}`),
  assign: (body) => json(request("POST", "/v1/device/preferences", body)),
  acknowledge: (seq, epoch) => request("POST", "/v1/device/acknowledgements", epoch ? { seq, epoch } : { seq }),
  subscription: () => json(request("GET", "/v1/device/subscription")),
  subscribe: (body) => request("PUT", "/v1/device/subscription", body),
  unsubscribe: () => request("DELETE", "/v1/device/subscription"),
  endpoints: () => json(request("GET", "/v1/device/endpoints")),
  addEndpoint: (body) => json(request("POST", "/v1/device/endpoints", body)),
  removeEndpoint: (name) => request("DELETE", `/v1/device/endpoints/${encodeURIComponent(name)}`),
  reportAd: (push, text) => request("POST", "/v1/device/ads/reports", { id: push.id, topic: push.topic, text }),
  /** Sends lines `presented` and `answer`; returns the lines of the response. */
  async report(lines) {
    const response = await request("POST", "/v1/device/reports", lines.map((line) => JSON.stringify(line)).join("\n"));
    return (await response.text()).split("\n").filter(Boolean);
  },
  async log(query) {
    const found = await json(request("GET", `/v1/device/log?${new URLSearchParams(query)}`));
    return Array.isArray(found) ? found : found.rows ?? [];
  },
  /** Opens the stream of events; returns its response. */
  async stream(place, device, signal) {
    const query = new URLSearchParams({ silent: String(device.isSilent) });
    if (device.focus) query.set("focus", device.focus);
    const headers = place ? { "last-event-id": place } : {};
    const response = await fetch(`/v1/device/stream?${query}`, { headers, signal, cache: "no-store" });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    throw new Refusal(response.status, problem.detail ?? "");
  },
};
