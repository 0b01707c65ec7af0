// Notifications while the page is closed: the worker and the page with one database, without a browser: node --test Tests/Web
import assert from "node:assert/strict";
import { test } from "node:test";
import { databases, message, start, subscription } from "./closed.mjs";

const folder = new URL("../../Sources/CWebPhone/phone/", import.meta.url);
const closed = await import(new URL("closed.js", folder));
const { plain } = await import(new URL("words.js", folder));
const { notice } = await import(new URL("notices.js", folder));
const { readPush } = await import(new URL("state.js", folder));

const shownStore = () => databases.databases.get("phone-shown")?.get("pushes").records ?? new Map();

test("a message is shown under the id of its push, and reported", async () => {
  const worker = await start();
  await worker.push(message("A", { sound: "default", badge: 3 }));
  const one = worker.notifications.get("A");
  assert.deepEqual([one.title, one.body, one.silent, one.renotify], ["Title", "Sub\nBody", false, true]);
  assert.equal(one.timestamp, Date.parse("2026-01-02T03:04:05.000Z"));
  assert.deepEqual(worker.log, [
    ["badge", 3], ["shown", "A"],
    ["POST", "/v1/device/reports", [{ type: "presented", id: "A", parts: ["badge", "alert"] }]],
  ]);
});

test("a message that replaces another one has its tag, and one without a sound is silent", async () => {
  const worker = await start();
  await worker.push(message("A", {}, { collapse: "game" }));
  await worker.push(message("B", {}, { collapse: "game" }));
  assert.deepEqual([...worker.notifications.keys()], ["com.example.news/game"]);
  const one = worker.notifications.get("com.example.news/game");
  assert.deepEqual([one.data.id, one.silent], ["B", true]);
});

test("a message that comes twice is shown once", async () => {
  const worker = await start();
  for (let times = 0; times < 2; times += 1) await worker.push(message("A"));
  assert.equal(worker.log.filter(([name]) => name === "shown").length, 1);
});

test("a push that could not be shown is shown when it comes again, and by the page", async () => {
  const worker = await start();
  worker.state.isRefusing = true;
  for (const id of ["A", "B"]) await assert.rejects(worker.push(message(id)), /no permission/);
  assert.deepEqual(worker.log, []);
  assert.deepEqual([...await closed.claim(["A"])], []);
  worker.state.isRefusing = false;
  for (const id of ["A", "B"]) await worker.push(message(id));
  assert.deepEqual([...worker.notifications.keys()], ["B"]);
});

test("an aborted transaction closes its database", async () => {
  const worker = await start();
  databases.open("phone", 1).onupgradeneeded = ({ target }) => target.result.createObjectStore("changes");
  await new Promise((resolve) => { setImmediate(() => setImmediate(resolve)); });
  assert.equal(databases.connections, 1);
  databases.isFull = true;
  await worker.push(message("A", { badge: 1 }));
  assert.equal(databases.connections, 1);
  const notification = worker.notifications.get("A");
  await worker.dispatch("notificationclick", { notification, action: "" });
  assert.equal(databases.connections, 1);
  assert.deepEqual(worker.log.at(-1), ["opened", "/phone#/id/A"]);
});

test("a push that the page has is not shown by the worker", async () => {
  const worker = await start();
  assert.deepEqual([...await closed.claim(["A", "B"])], []);
  await worker.push(message("A"));
  assert.equal(worker.notifications.size, 0);
  assert.deepEqual(worker.log, []);
});

test("a push that the worker has shown is not shown by the page", async () => {
  const worker = await start();
  await worker.push(message("A"));
  assert.deepEqual([...await closed.claim(["A", "B"])], ["A"]);
  // Its own pushes are not those of the worker.
  assert.deepEqual([...await closed.claim(["B"])], []);
});

test("the number of known pushes is limited, and the oldest are forgotten", async () => {
  await closed.claim(Array.from({ length: 400 }, (_, index) => `old-${index}`));
  for (const one of shownStore().values()) one.at = 1;
  await closed.claim(Array.from({ length: 300 }, (_, index) => `new-${index}`));
  assert.equal(shownStore().size, 500);
  assert.ok(shownStore().has("new-0") && shownStore().has("new-299"));
});

test("the worker keeps no more known pushes than the page", async () => {
  await closed.claim(Array.from({ length: 500 }, (_, index) => `old-${index}`));
  for (const one of shownStore().values()) one.at = 1;
  shownStore().get("old-7").at = 0;
  const worker = await start();
  for (const id of ["A", "B"]) await worker.push(message(id));
  assert.equal(shownStore().size, 500);
  assert.deepEqual(["old-7", "old-0", "old-1", "A", "B"].map((id) => shownStore().has(id)), [false, false, true, true, true]);
});

test("without a database a push is shown rather than lost", async () => {
  databases.open = () => {
    const request = { error: new Error("there is no database") };
    setImmediate(() => request.onerror());
    return request;
  };
  const worker = await start();
  await worker.push(message("A", { badge: 1 }));
  assert.ok(worker.notifications.has("A"));
});

test("a retraction closes the notification, and a push that comes after it is not shown", async () => {
  const worker = await start();
  await worker.push(message("A"));
  await worker.push({ type: "retract", id: "A" });
  assert.equal(worker.notifications.size, 0);
  await worker.push({ type: "retract", id: "B" });
  await worker.push(message("B"));
  assert.equal(worker.notifications.size, 0);
});

test("badges are summed with those that the page has stored", async () => {
  await closed.keep("badges", { "com.example.news": 1, "com.example.mail": 4 });
  const worker = await start();
  await worker.push(message("A", { badge: 0, alert: undefined }));
  assert.deepEqual(worker.log[0], ["badge", 4]);
  assert.equal(worker.notifications.size, 0);
  const other = await start({ canShowBadge: false });
  await other.push(message("B", { badge: 2, alert: undefined }));
  assert.deepEqual(other.log, []);
});

test("a message of another form shows nothing", async () => {
  const worker = await start();
  for (const one of [null, 7, [], {}, { type: "push" }, { type: "push", id: 7 }, { type: "push", id: "A" }, { type: "other", id: "A" }]) await worker.push(one);
  await worker.dispatch("push", { data: null });
  await worker.deliver("no JSON");
  assert.equal(worker.notifications.size, 0);
});

test("the texts of senders are cleaned as on the page", async () => {
  const worker = await start();
  for (const text of ["a\u202eb\u0007", "x\u0300".padEnd(40, "\u0301"), "🏴\u{e0067}\u{e0062}\u{e007f}", "\u200bhidden"]) {
    const id = `ID-${text}`;
    await worker.push(message(id, { alert: { title: text, subtitle: "", body: text, buttons: ["OK"] } }));
    const one = worker.notifications.get(id);
    assert.deepEqual([one.title, one.body], [plain(text), plain(text)]);
  }
});

test("the worker and the page show the same notification", async () => {
  const worker = await start();
  const alerts = [
    { title: "T", subtitle: "S", body: "B", buttons: ["Close", "View"] }, { title: "", subtitle: "", body: "B", buttons: ["OK"] },
    { title: "T", subtitle: "", body: "", buttons: ["Close", "Options"], actions: [{ id: "yes", title: "Yes" }, { id: "no", title: "No" }] },
  ];
  const attachment = { id: "0123456789abcdef0123456789abcdef", name: "report.txt", type: "text/plain", size: 12_000 };
  for (const [index, alert] of alerts.entries()) {
    const line = { ...message(`ID-${index}`, { alert }, index ? { payload: { attachment } } : { collapse: "c" }), seq: 1 };
    await worker.push(line);
    const expected = notice({ ordinal: 7, push: readPush(line) }, 2);
    const shown = worker.notifications.get(expected.options.tag);
    const parts = ({ body, icon, actions }) => [body, icon, actions];
    assert.deepEqual(parts(shown), parts(expected.options));
    assert.equal(shown.title, expected.title);
    assert.deepEqual(Object.keys(shown.data.answers), Object.keys(expected.options.data.answers));
  }
});

test("a click answers the push, and opens it when the page has it", async () => {
  const worker = await start();
  await worker.push(message("A/1"));
  const notification = worker.notifications.get("A/1");
  await worker.dispatch("notificationclick", { notification, action: "" });
  assert.deepEqual(worker.log.slice(-2), [
    ["POST", "/v1/device/reports", [{ type: "answer", id: "A/1", action: "view" }]], ["opened", "/phone#/id/A%2F1"],
  ]);
});

test("a subscription that the push service replaced reaches the gateway with the state of the device", async () => {
  await closed.keep("device", { quiet: true, silent: false, focus: "work" });
  const worker = await start();
  await worker.dispatch("pushsubscriptionchange", { oldSubscription: subscription("https://push/old", new ArrayBuffer(2)) });
  const body = { endpoint: "https://push/new", keys: { p256dh: "P", auth: "A" }, quiet: true, silent: false, focus: "work" };
  assert.deepEqual(worker.log, [["PUT", "/v1/device/subscription", [body]]]);
  await worker.dispatch("pushsubscriptionchange", {});
  assert.equal(worker.log.length, 1);
});

test("a notification names the attachment, and a click opens the push that has it", async () => {
  const worker = await start();
  const attachment = { id: "0123456789abcdef0123456789abcdef", name: "report\u202e.txt", type: "text/plain", size: 12_000 };
  await worker.push(message("A", {}, { payload: { attachment } }));
  await worker.push(message("B", {}, { payload: { attachment: "of the app" } }));
  assert.equal(worker.notifications.get("A").body, "Sub\nBody\nAttachment: report.txt (12 KB)");
  assert.equal(worker.notifications.get("B").body, "Sub\nBody");
  await worker.dispatch("notificationclick", { notification: worker.notifications.get("A"), action: "" });
  assert.deepEqual(worker.log.at(-1), ["opened", "/phone#/id/A"]);
});

// The page

/** A browser with a push service, and a gateway that answers with a record. */
function browser({ known = null, record = {}, agent = "Chrome/120" } = {}) {
  const log = [];
  let current = known;
  const pushManager = {
    getSubscription: async () => current,
    subscribe: async ({ applicationServerKey }) => {
      log.push("subscribed");
      current = subscription("https://push/1", applicationServerKey.buffer);
      return current;
    },
  };
  if (current) current.unsubscribe = async () => { log.push("unsubscribed"); current = null; };
  const navigator = { userAgent: agent, serviceWorker: { getRegistration: async () => ({ pushManager }) } };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  globalThis.Notification = { permission: "granted" };
  globalThis.fetch = async (path, { method, body }) => {
    log.push([method, path, ...(body ? [JSON.parse(body)] : [])]);
    return { ok: true, json: async () => ({ key: "AQI", ...record }) };
  };
  return log;
}

const path = "/v1/device/subscription";
const key = Uint8Array.from([1, 2]).buffer;

test("the page subscribes with the key of the gateway", async () => {
  const log = browser();
  await closed.subscribe({ isSilent: true, focus: "work" });
  const body = { endpoint: "https://push/1", keys: { p256dh: "P", auth: "A" }, quiet: true, silent: true, focus: "work" };
  assert.deepEqual(log, [["GET", path], "subscribed", ["PUT", path, body]]);
});

test("the page confirms its subscription, and replaces one for another key", async () => {
  const same = browser({ known: subscription("https://push/0", key), agent: "Safari/17" });
  await closed.subscribe({ isSilent: false, focus: "" });
  assert.deepEqual(same[1], ["PUT", path, { endpoint: "https://push/0", keys: { p256dh: "P", auth: "A" }, quiet: false, silent: false }]);
  const other = browser({ known: subscription("https://push/0", new ArrayBuffer(2)) });
  await closed.subscribe({ isSilent: false, focus: "" });
  assert.deepEqual(other.slice(1, 3), ["unsubscribed", "subscribed"]);
});

test("a refused subscription is not confirmed", async () => {
  const log = browser({ known: subscription("https://push/0", key), record: { endpoint: "https://push/0", refused: 403 } });
  await closed.subscribe({ isSilent: false, focus: "" });
  assert.deepEqual(log, [["GET", path]]);
});

test("the end of the subscription reaches the gateway and the push service, and the shown pushes are forgotten", async () => {
  await closed.claim(["A"]);
  const log = browser({ known: subscription("https://push/0", key) });
  await closed.unsubscribe();
  assert.deepEqual(log, [["DELETE", path], "unsubscribed"]);
  assert.equal(databases.databases.has("phone-shown"), false);
});

test("a browser without push services says so", async () => {
  browser();
  globalThis.navigator.serviceWorker = { getRegistration: async () => ({}) };
  await assert.rejects(closed.subscribe({ isSilent: false, focus: "" }), /can't show notifications of a closed page/);
});
