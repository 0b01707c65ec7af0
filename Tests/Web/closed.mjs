// The worker and the page with one database and without a browser: the stand-ins, and the messages of the push service.

import { beforeEach } from "node:test";
import { memoryDatabases, memoryLocks } from "./database.mjs";
import { startWorker } from "./worker.mjs";

/** The databases of the browser, which are empty before each test. */
export let databases;

beforeEach(() => {
  databases = memoryDatabases();
  globalThis.indexedDB = databases;
  Object.defineProperty(globalThis, "navigator", { value: { locks: memoryLocks() }, configurable: true, writable: true });
});

/**
 * Starts the worker, with new locks: the browser has released those of an ended worker. Returns its log, the notifications, and functions
 * that dispatch an event or a message and wait for its end. `shown` are notifications of an earlier worker.
 */
export async function start({ canShowBadge = true, isOffline = false, agent = "Chrome/120", shown = new Map() } = {}) {
  const [log, notifications] = [[], shown];
  const state = { isRefusing: false, showing: null };
  const navigator = { locks: memoryLocks(), userAgent: agent, ...(canShowBadge ? { setAppBadge: async (sum) => log.push(["badge", sum]) } : {}) };
  const scope = {
    indexedDB: databases, location: { origin: "https://gateway" }, Notification: { maxActions: 2 }, navigator,
    clients: { matchAll: async () => [], openWindow: async (url) => log.push(["opened", url]), claim() {} },
    BroadcastChannel: class { postMessage() {} },
    fetch: async (path, { method, body }) => {
      if (isOffline) throw new TypeError("there is no network");
      log.push([method, path, body.split("\n").map((line) => JSON.parse(line))]);
      return { ok: true, text: async () => "" };
    },
    registration: {
      showNotification: async (title, options) => {
        if (state.isRefusing) throw new TypeError("there is no permission");
        await state.showing?.();
        const one = { title, ...options, close: () => notifications.delete(options.tag) };
        notifications.set(options.tag, one);
        log.push(["shown", options.tag]);
        await state.afterShowing?.();
      },
      getNotifications: async () => [...notifications.values()],
      pushManager: { subscribe: async (options) => subscription("https://push/new", options.applicationServerKey) },
    },
  };
  const dispatch = await startWorker(scope);
  const deliver = (text, content = []) => {
    const all = Buffer.concat([Buffer.from(text), Buffer.from(content)]);
    return dispatch("push", { data: { arrayBuffer: () => Uint8Array.from(all).buffer } });
  };
  const push = (one, content) => deliver(content ? `${JSON.stringify(one)}\n` : JSON.stringify(one), content);
  /** Delivers a message and ends the worker while it shows it: at the member of `state`. */
  const end = (one, place = "showing") => new Promise((resolve) => {
    state[place] = () => { resolve(); return new Promise(() => {}); };
    push(one);
  });
  return { log, notifications, state, dispatch, push, end, deliver };
}

export const subscription = (endpoint, key) => ({
  endpoint, options: { applicationServerKey: key }, toJSON: () => ({ endpoint, keys: { p256dh: "P", auth: "A" } }),
  unsubscribe: async () => true,
});

export function message(id, presentation = {}, more = {}) {
  return {
    type: "push", id, topic: "com.example.news", app: { name: "News", icon: "N" }, received: "2026-01-02T03:04:05.000Z",
    presentation: { alert: { title: "Title", subtitle: "Sub", body: "Body", buttons: ["Close", "View"] }, ...presentation }, ...more,
  };
}
