// The worker of the page with stand-ins for the browser: node --test Tests/Web
import assert from "node:assert/strict";
import { test } from "node:test";
import { startWorker } from "./worker.mjs";

/** A database that stores changes, or refuses to open. */
function database(log, canOpen) {
  const request = (body) => {
    const result = {};
    queueMicrotask(() => body(result));
    return result;
  };
  const transaction = () => {
    const one = request(({ oncomplete }) => oncomplete());
    return Object.assign(one, { objectStore: () => ({ add: (change) => log.push(["recorded", change]) }) });
  };
  return {
    open: () => request((one) => {
      if (canOpen) one.result = { transaction, close() {} };
      else one.error = new Error("there is no history");
      (canOpen ? one.onsuccess : one.onerror)();
    }),
  };
}

/** Starts the worker. Returns its log, and a function that dispatches an event and waits for its end. */
async function start({ pages = [], canRecord = true, canReport = true } = {}) {
  const log = [];
  const page = (url) => ({ url, postMessage: (place) => log.push(["sent", url, place]), focus: async () => log.push(["focused", url]) });
  const scope = {
    Request: class { constructor(url) { this.url = url; } },
    location: { origin: "https://gateway" }, indexedDB: database(log, canRecord), navigator: {},
    clients: { matchAll: async () => pages.map((path) => page(`https://gateway${path}`)), openWindow: async (url) => log.push(["opened", url]), claim() {} },
    caches: {
      open: async () => ({ addAll: async (list) => log.push(["kept", list.map(({ url }) => url)]), match: async (path) => `the copy of ${path}` }),
      keys: async () => ["pushgateway-phone-old", "other"], delete: async (name) => log.push(["deleted", name]),
    },
    fetch: async (path, options = {}) => {
      if (!canReport) throw new TypeError("there is no network");
      log.push([options.method ?? "GET", path, options.body]);
      return { ok: true, text: async () => "" };
    },
    BroadcastChannel: class { postMessage() { log.push(["posted"]); } },
    skipWaiting() {},
  };
  return { log, dispatch: await startWorker(scope), names: () => log.map(([name]) => name) };
}

const closing = (action) => ({ type: "answered", answers: [{ ordinal: 7, id: "ID", action }], isRead: true });

/** The notification of an alert with Close and View; of a question, which a click does not answer. */
function notification(log, answers = { close: closing("close"), view: closing("view"), "": closing("view") }) {
  return { data: { ordinal: 7, answers }, close: () => log.push(["closed"]) };
}

async function click(worker, action = "", answers = undefined) {
  await worker.dispatch("notificationclick", { notification: notification(worker.log, answers), action });
}

test("a click on a notification opens its push in a new page, which has the answer", async () => {
  const worker = await start();
  await click(worker);
  assert.deepEqual(worker.names(), ["closed", "recorded", "posted", "POST", "opened"]);
  assert.deepEqual(worker.log[1][1], closing("view"));
  assert.deepEqual(worker.log[3], ["POST", "/v1/device/reports", '{"type":"answer","id":"ID","action":"view"}']);
  assert.deepEqual(worker.log[4], ["opened", "/phone#/push/7"]);
});

test("a click opens the push in the page that is there", async () => {
  const worker = await start({ pages: ["/console", "/phone?source=pwa#/home", "/phone"] });
  await click(worker, "view");
  assert.deepEqual(worker.log.slice(-2), [["sent", "https://gateway/phone?source=pwa#/home", "#/push/7"], ["focused", "https://gateway/phone?source=pwa#/home"]]);
  assert.ok(!worker.names().includes("opened"));
});

test("Close answers, and opens nothing", async () => {
  const worker = await start();
  await click(worker, "close");
  assert.deepEqual(worker.names(), ["closed", "recorded", "posted", "POST"]);
});

test("a click on a question opens the page and answers nothing", async () => {
  const answers = { approve: closing("approve") };
  const worker = await start();
  await click(worker, "", answers);
  assert.deepEqual(worker.log, [["closed"], ["opened", "/phone"]]);
  const answering = await start();
  await click(answering, "approve", answers);
  assert.deepEqual(answering.names(), ["closed", "recorded", "posted", "POST"]);
});

test("a click opens its push although the history can't be written", async () => {
  const worker = await start({ canRecord: false });
  await click(worker);
  assert.deepEqual(worker.names(), ["closed", "POST", "opened"]);
});

test("a click opens its push without a network", async () => {
  const worker = await start({ canReport: false });
  await click(worker);
  assert.deepEqual(worker.names(), ["closed", "recorded", "posted", "opened"]);
});

test("a notification without data opens the page", async () => {
  const worker = await start();
  await worker.dispatch("notificationclick", { notification: { data: null, close() {} }, action: "" });
  assert.deepEqual(worker.log, [["opened", "/phone"]]);
});

test("the worker serves its copy of the page, and nothing else", async () => {
  const worker = await start();
  const answer = (path, more = {}) => worker.dispatch("fetch", { request: { url: `https://gateway${path}`, method: "GET", ...more } });
  assert.equal(await answer("/phone/app.js"), "the copy of /phone/app.js");
  assert.equal(await answer("/phone?source=pwa", { mode: "navigate" }), "the copy of /phone");
  // The cookie of the session is renewed with the page.
  assert.deepEqual(worker.log, [["GET", "/phone", undefined]]);
  for (const [path, more] of [["/v1/device"], ["/phone/worker.js"], ["/phone", { method: "POST" }]]) assert.equal(await answer(path, more), undefined);
  assert.equal(await worker.dispatch("fetch", { request: { url: "https://other/phone", method: "GET" } }), undefined);
});

test("a new version keeps its files and deletes the copy of the earlier one", async () => {
  const worker = await start();
  await worker.dispatch("install", {});
  assert.ok(worker.log[0][1].includes("/phone") && worker.log[0][1].includes("/phone/drafts.js"));
  await worker.dispatch("activate", {});
  assert.deepEqual(worker.log.at(-1), ["deleted", "pushgateway-phone-old"]);
});
