// The worker of the page: the page opens without a network, a notification opens its push, and a message of the browser's push
// service is shown while the page is closed.

import { allowsQuiet, keepBadge, present, stored } from "./closed.js";
import { gateway } from "./gateway.js";
import { closedNotice } from "./notices.js";
import { readPush } from "./state.js";
import { base64url, open } from "./webpush.js";

// The gateway serves this text as one script with its modules, because a worker imports no modules in every browser. The version of
// all files is before it: it changes with each of them, and the browser compares the worker.
const cache = `pushgateway-phone-${typeof version === "string" ? version : ""}`;
const files = [
  "/phone", "app.js", "alerts.js", "center.js", "closed.js", "commands.js", "dom.js", "drafts.js", "endpoints.js", "gateway.js", "icon.svg", "journal.js", "keys.js",
  "lines.js", "link.js", "manifest.webmanifest", "notices.js", "preferences.js", "presenter.js", "reload.js", "sound.js", "state.js", "style.css", "undo.js",
  "view-alert.js", "view-center.js", "view-home.js", "view-join.js", "view-message.js", "view-settings.js", "webpush.js", "words.js",
].map((name) => (name.startsWith("/") ? name : `/phone/${name}`));

addEventListener("install", (event) => {
  const requests = files.map((file) => new Request(file, { cache: "no-cache" }));
  event.waitUntil(caches.open(cache).then((one) => one.addAll(requests)).then(() => self.skipWaiting()));
});

addEventListener("activate", (event) => {
  const removed = caches.keys().then((names) => Promise.all(names.filter((name) => name.startsWith("pushgateway-phone") && name !== cache).map((name) => caches.delete(name))));
  event.waitUntil(removed.then(() => clients.claim()));
});

// The copy first, all of one version. A page of a new version is shown from the next visit on.
addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== location.origin || !files.includes(pathname)) return;
  event.respondWith(caches.open(cache).then((one) => one.match(pathname, { ignoreVary: true })).then((found) => found ?? fetch(event.request)));
  // The gateway renews the cookie of the session with the page.
  if (event.request.mode === "navigate") event.waitUntil(fetch(pathname, { cache: "no-store" }).catch(() => {}));
});

addEventListener("notificationclick", (event) => event.waitUntil(answerNotice(event.notification, event.action)));

/** Gives the answer of a button, or of a click on the notification, which also opens its push. A question stays open then. */
async function answerNotice(notification, action) {
  const { ordinal, id, answers = {} } = notification.data ?? {};
  const change = answers[action];
  notification.close();
  // The page that is opened has the answer. If the history can't be written, the gateway still gets it, and the page opens.
  if (change) await record(change).catch(() => {});
  // Without a network, and if no page is open, the next visit reports the answer.
  const reported = change ? report(change).catch(() => {}) : undefined;
  // A push that the worker has shown gets its address when the page has it.
  const place = ordinal ? `#/push/${ordinal}` : `#/id/${encodeURIComponent(id)}`;
  if (!action || action === "view") await visit(change ? place : "");
  await reported;
  if (id && !ordinal) await arrived({ type: "clicked", id }).catch(() => {});
}

/** Shows the push of an address in the open page, or in a new one. */
async function visit(place) {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((one) => new URL(one.url).pathname === "/phone");
  if (!page) return clients.openWindow(`/phone${place}`);
  if (place) page.postMessage(place);
  return page.focus();
}

/** Appends a change to the journal, as a page does. */
async function record(change) {
  const request = indexedDB.open("phone");
  // A browser without a history has no alert that could be answered.
  request.onupgradeneeded = () => request.transaction.abort();
  const database = await new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  try {
    await new Promise((resolve, reject) => {
      const transaction = database.transaction("changes", "readwrite", { durability: "strict" });
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
      transaction.objectStore("changes").add(change);
    });
  } finally {
    // The page can delete the database.
    database.close();
  }
  new BroadcastChannel("pushgateway-phone").postMessage("");
}

/** Reports an answer: to alerts of the history, or to a push that only the worker has. */
const report = (change) => gateway.report((change.answers ?? [change]).map(({ id, action }) => ({ type: "answer", id, action })));

// Messages of the push service

addEventListener("push", (event) => event.waitUntil(arrived(read(event.data))));

/** Shows a push, unless a page has it, or closes the notification of a retracted one. Late pushes are shown first. */
async function arrived(message) {
  const reports = [];
  try {
    await present(message, async (one, isLate) => {
      const parts = await show(one, isLate);
      if (parts.length) reports.push({ type: "presented", id: one.id, parts });
    });
  } finally {
    if (reports.length) await gateway.report(reports).catch(() => {});
  }
  if (message?.type === "retract") await closeNotice(message.id);
}

/**
 * Reads a message: JSON, and after a line end the content of an encrypted Web Push message. Returns the line of the device protocol;
 * null for any other content.
 */
function read(data) {
  try {
    const all = new Uint8Array(data.arrayBuffer());
    const end = all.indexOf(0x0a);
    const line = JSON.parse(new TextDecoder().decode(end < 0 ? all : all.subarray(0, end)));
    if (!["push", "retract"].includes(line.type) || typeof line.id !== "string") return null;
    if (end >= 0 && line.payload?.web_push) line.payload.web_push.content = base64url(all.subarray(end + 1));
    return line;
  } catch {
    return null;
  }
}

/** Shows the parts of a push. Returns them; an empty list if nothing is shown. */
async function show(message, isLate) {
  const push = readPush({ ...await decrypted(message), seq: 0 });
  const parts = [];
  if (push && push.badge !== null && await setBadge(push).catch(() => false)) parts.push("badge");
  if (!push?.alert) return parts;
  const { title, options } = closedNotice(push, Notification.maxActions ?? 0);
  // The browser may have ended the worker after it has shown the push.
  if (!isLate || !(await noticesOf(push.id)).length) await self.registration.showNotification(title, options);
  return [...parts, "alert"];
}

/** Returns the line of a push with its decrypted text, if it is an encrypted Web Push message and this browser has its keys. */
async function decrypted(message) {
  const { line } = await open({ line: message, data: "" }, message.preferences);
  // Without a text there is only a badge, and most browsers require a notification for each message.
  if (line === message || line.presentation.alert || allowsQuiet(navigator.userAgent)) return line;
  return { ...line, presentation: { ...line.presentation, alert: message.presentation?.alert } };
}

const noticesOf = async (id) => (await self.registration.getNotifications()).filter(({ data }) => data?.id === id);

async function closeNotice(id) {
  for (const one of await noticesOf(id)) one.close();
}

/** Stores the badge of an app, and shows the sum of all badges on the icon. */
async function setBadge({ topic, badge }) {
  if (!navigator.setAppBadge) return false;
  await navigator.setAppBadge(await keepBadge(topic, badge));
  return true;
}

// The push service has replaced the subscription: the gateway needs the new one.
addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event)));

async function renew({ oldSubscription, newSubscription }) {
  const key = oldSubscription?.options.applicationServerKey;
  if (!newSubscription && !key) return;
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const subscription = newSubscription ?? (await self.registration.pushManager.subscribe(options));
  const device = await stored("device").catch(() => ({}));
  const { endpoint, keys } = subscription.toJSON();
  await gateway.subscribe({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth }, ...device });
}
