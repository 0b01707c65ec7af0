// Notifications while the page is closed: the subscription at the browser's push service, and the pushes that the worker or a
// page has shown. Both have the database `phone-shown`, so that each push is shown once.

import { gateway } from "./gateway.js";

/** The number of pushes in the database: more than the gateway posts while the page is closed. */
const kept = 500;

const unsupported = "This browser can't show notifications of a closed page. Install the page as an app, or use another browser.";

/** Returns the bytes of a text in base64url. */
export const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));

/** True if the browser permits messages without a notification: only Chromium keeps the subscription then. */
export const allowsQuiet = (agent) => /Chrome\//.test(agent);

const isSame = (one, other) => one?.byteLength === other.byteLength && new Uint8Array(one).every((byte, index) => byte === other[index]);

// The subscription

async function manager() {
  const registration = await navigator.serviceWorker?.getRegistration("/phone");
  if (!registration?.pushManager || !globalThis.Notification) throw new Error(unsupported);
  return registration.pushManager;
}

/** Subscribes at the push service, or confirms the subscription with the state of the device. */
export async function subscribe({ isSilent, focus }) {
  const service = await manager();
  const record = await gateway.subscription();
  const applicationServerKey = bytes(record.key);
  let subscription = await service.getSubscription();
  // A subscription for another key is useless.
  if (subscription && !isSame(subscription.options.applicationServerKey, applicationServerKey)) {
    await subscription.unsubscribe();
    subscription = null;
  }
  // A refused subscription stays refused until the user turns the switch off and on.
  if (subscription && record.refused && record.endpoint === subscription.endpoint) return;
  subscription ??= await service.subscribe({ userVisibleOnly: true, applicationServerKey });
  const device = { quiet: allowsQuiet(navigator.userAgent), silent: isSilent, ...(focus ? { focus } : {}) };
  await keep("device", device);
  const { endpoint, keys } = subscription.toJSON();
  await gateway.subscribe({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth }, ...device });
}

/** Ends the subscription at the push service and at the gateway, and forgets the shown pushes. */
export async function unsubscribe() {
  await gateway.unsubscribe();
  await forget();
}

/** Ends the subscription of a device that is signed out, as far as the browser has one. */
export async function forget() {
  const registration = await navigator.serviceWorker?.getRegistration("/phone");
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
  indexedDB.deleteDatabase("phone-shown");
}

// The shown pushes

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** Runs a transaction, and closes the database, so that it can be deleted. */
async function change(name, body) {
  const request = indexedDB.open("phone-shown", 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("pushes", { keyPath: "id" });
    request.result.createObjectStore("state");
  };
  const database = await done(request);
  try {
    const transaction = database.transaction(name, "readwrite");
    const isOver = new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    isOver.catch(() => {});
    const result = await body(transaction.objectStore(name));
    await isOver;
    return result;
  } finally {
    database.close();
  }
}

/** Runs one use of the shown pushes after the other, of the worker and of all pages. The lock of a worker that the browser ends is released. */
const alone = (use) => navigator.locks.request("pushgateway-phone-shown", use);

/** Returns the rows of the pushes by their ids: {id, at, by}, and `message` in a row of the worker until its notification is shown. */
const rows = async (pushes) => new Map((await done(pushes.getAll())).map((one) => [one.id, one]));

/** Stores rows, and deletes the oldest others above the number that is kept. */
function put(pushes, known, fresh) {
  const others = new Map(known);
  for (const one of fresh) {
    pushes.put(one);
    others.delete(one.id);
  }
  const old = [...others.values()].sort((one, other) => one.at - other.at).slice(0, Math.max(others.size + fresh.length - kept, 0));
  for (const { id } of old) pushes.delete(id);
}

/** Claims pushes for this page, also those that the worker has claimed and not shown. Returns the ids of the pushes that the worker has shown. */
export const claim = (ids) => alone(() => change("pushes", async (pushes) => {
  const known = await rows(pushes);
  const isOver = (id) => known.has(id) && !known.get(id).message;
  const at = Date.now();
  put(pushes, known, ids.slice(-kept).filter((id) => !isOver(id)).map((id) => ({ id, at, by: "page" })));
  return new Set(ids.filter((id) => isOver(id) && known.get(id).by === "worker"));
}));

/** Drops the messages that the worker has claimed and not shown, when this page has received all pending pushes. */
export const settle = () => alone(() => change("pushes", async (pushes) => {
  for (const { id, at, message } of (await rows(pushes)).values()) if (message) pushes.put({ id, at, by: "page" });
}));

/**
 * Shows the push of a message by `show`, unless a page or the worker has it. First it shows the pushes that an ended run of the worker
 * has claimed and not shown: `isLate` is true for them. A message of another type than `push` ends its push; null only shows late pushes.
 * Without the database, a push is shown again rather than lost.
 */
export const present = (message, show) => alone(async () => {
  const isPush = message?.type === "push";
  const due = await change("pushes", async (pushes) => {
    const known = await rows(pushes);
    const own = known.get(message?.id);
    const isOpen = message !== null && (!own || own.message !== undefined);
    if (isOpen) put(pushes, known, [{ id: message.id, at: Date.now(), by: "worker", ...(isPush ? { message } : {}) }]);
    const late = [...known.values()].filter((one) => one.message && one !== own).sort((one, other) => one.at - other.at);
    return [...late.map((one) => ({ message: one.message, isLate: true })), ...(isOpen && isPush ? [{ message, isLate: own !== undefined }] : [])];
  }).catch(() => (isPush ? [{ message, isLate: false }] : []));
  let failure = null;
  for (const { message: one, isLate } of due) {
    try {
      await show(one, isLate);
      await change("pushes", async (pushes) => { pushes.put({ id: one.id, at: Date.now(), by: "worker" }); }).catch(() => {});
    } catch (error) {
      failure = error;
      // The next copy of the message or the page shows the push.
      await change("pushes", async (pushes) => { pushes.delete(one.id); }).catch(() => {});
    }
  }
  if (failure) throw failure;
});

/** Stores a value for the worker: the badges of the apps, or the state of the device. */
export const keep = (name, value) => change("state", async (state) => { state.put(value, name); });

/** Returns a value that a page has stored. */
export const stored = (name) => change("state", (state) => done(state.get(name)));

/** Stores the badge of an app. Returns the sum of all badges. */
export const keepBadge = (topic, badge) => change("state", async (state) => {
  const badges = { ...await done(state.get("badges")), [topic]: badge };
  state.put(badges, "badges");
  return Object.values(badges).reduce((sum, one) => sum + one, 0);
});
