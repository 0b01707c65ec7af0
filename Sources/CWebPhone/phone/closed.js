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

/** Claims pushes for this page. Returns the ids of the pushes that the worker has shown. */
export const claim = (ids) => change("pushes", async (store) => {
  const known = new Map((await done(store.getAll())).map((one) => [one.id, one]));
  const at = Date.now();
  const fresh = ids.slice(-kept).filter((id) => !known.has(id)).map((id) => ({ id, at, by: "page" }));
  for (const one of fresh) store.put(one);
  const old = [...known.values()].sort((one, other) => one.at - other.at).slice(0, Math.max(known.size + fresh.length - kept, 0));
  for (const { id } of old) store.delete(id);
  return new Set(ids.filter((id) => known.get(id)?.by === "worker"));
});

/** Stores a value for the worker: the badges of the apps, or the state of the device. */
export const keep = (name, value) => change("state", async (store) => { store.put(value, name); });
