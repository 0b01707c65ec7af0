// The worker of the page: the page opens without a network, a notification opens its push, and a message of the browser's push
// service is shown while the page is closed.

// The gateway puts the version of all files before this text: it changes with each of them, and the browser compares the worker.
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
  if (!action || action === "view") await show(change ? place : "");
  await reported;
}

/** Shows the push of an address in the open page, or in a new one. */
async function show(place) {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((one) => new URL(one.url).pathname === "/phone");
  if (!page) return clients.openWindow(`/phone${place}`);
  if (place) page.postMessage(place);
  return page.focus();
}

/** Runs a transaction of a database that is being opened, and closes the database, so that it can be deleted. */
async function transact(request, name, options, body) {
  const database = await new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(name, "readwrite", options);
      let result;
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(transaction.error);
      body(transaction.objectStore(name), (value) => { result = value; });
    });
  } finally {
    database.close();
  }
}

/** Appends a change to the journal, as a page does. */
async function record(change) {
  const request = indexedDB.open("phone");
  // A browser without a history has no alert that could be answered.
  request.onupgradeneeded = () => request.transaction.abort();
  await transact(request, "changes", { durability: "strict" }, (store) => { store.add(change); });
  new BroadcastChannel("pushgateway-phone").postMessage("");
}

const send = (lines) => fetch("/v1/device/reports", {
  method: "POST", headers: { "content-type": "application/json" }, body: lines.map((line) => JSON.stringify(line)).join("\n"),
});

/** Reports an answer: to alerts of the history, or to a push that only the worker has. */
const report = (change) => send((change.answers ?? [change]).map(({ id, action }) => ({ type: "answer", id, action })));

// Messages of the push service

addEventListener("push", (event) => event.waitUntil(arrived(event.data)));

/** Shows a push, unless a page has it, or closes the notification of a retracted one. */
async function arrived(data) {
  const message = read(data);
  if (!message) return;
  // The database is shared with the pages, so that a push is shown once. Without the database, a push is shown again rather than lost.
  const isFirst = await claim(message.id).catch(() => true);
  if (message.type === "retract") return closeNotice(message.id);
  if (message.type !== "push" || !isFirst) return undefined;
  const { badge, alert } = message.presentation;
  const parts = [];
  if (Number.isSafeInteger(badge) && badge >= 0 && await setBadge(message.topic, badge).catch(() => false)) parts.push("badge");
  if (alert) {
    const { title, options } = notice(message, Notification.maxActions ?? 0);
    try {
      await self.registration.showNotification(title, options);
    } catch (error) {
      await release(message.id).catch(() => {});
      throw error;
    }
    parts.push("alert");
  }
  if (parts.length) await send([{ type: "presented", id: message.id, parts }]).catch(() => {});
  return undefined;
}

/** Returns a message with the members that are used; null for any other content. */
function read(data) {
  try {
    const { type, id, topic, app, received, collapse, presentation } = data.json();
    if (typeof type !== "string" || typeof id !== "string") return null;
    return {
      type, id, topic: text(topic), name: text(app?.name), received: Date.parse(received), collapse: text(collapse),
      presentation: presentation ?? {},
    };
  } catch {
    return null;
  }
}

const text = (value) => (typeof value === "string" ? value : "");

/** The same as `plain` of words.js: a worker imports no modules in every browser. */
const hidden = new RegExp([
  /(\u{1f3f4}[\u{e0020}-\u{e007f}]{1,8})/u,
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/u,
  /(?![\u200c\u200d\ufe0e\ufe0f])\p{DI}/u,
].map(({ source }) => source).join("|"), "gu");
const plain = (value) => text(value).replace(hidden, "$1").replace(/(\p{M}{15})\p{M}+/gu, "$1");

/** Returns the title and the options of a push's notification, as notices.js does for an alert of the history. */
function notice({ id, topic, name, received, collapse, presentation: { alert, sound } }, most) {
  const actions = (Array.isArray(alert.actions) ? alert.actions : []).filter((one) => typeof one?.id === "string").slice(0, 4);
  const titles = (Array.isArray(alert.buttons) ? alert.buttons : []).map(plain);
  const buttons = titles.length === 1 ? [{ id: "ok", title: titles[0] || "OK" }]
    : [{ id: "close", title: titles[0] || "Close" }, { id: "view", title: titles[1] || "View" }];
  const offered = (actions.length ? actions : buttons).slice(0, most);
  const settled = (action) => ({ type: "settled", id, action, isRead: true });
  const answers = Object.fromEntries(offered.map((one) => [one.id, settled(one.id)]));
  // A click does not answer a question.
  if (!actions.length) answers[""] = settled(buttons.at(-1).id);
  return {
    title: plain(alert.title) || plain(name) || plain(topic),
    options: {
      body: [plain(alert.subtitle), plain(alert.body)].filter(Boolean).join("\n"), tag: collapse ? `${topic}/${collapse}` : id,
      icon: "/phone/icon.svg", silent: typeof sound !== "string", renotify: typeof sound === "string",
      timestamp: received || Date.now(), data: { id, answers },
      actions: offered.map((one) => ({ action: one.id, title: plain(one.title) || one.id })),
    },
  };
}

async function closeNotice(id) {
  for (const one of await self.registration.getNotifications()) if (one.data?.id === id) one.close();
}

/** Runs a transaction of the database that the page has, too (closed.js). */
function change(name, body) {
  const request = indexedDB.open("phone-shown", 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("pushes", { keyPath: "id" });
    request.result.createObjectStore("state");
  };
  return transact(request, name, {}, body);
}

/** The number of pushes in the database, as in closed.js. */
const kept = 500;

/** Claims a push for the worker. Returns false if the worker or a page has it already. */
const claim = (id) => change("pushes", (store, end) => {
  store.getAll().onsuccess = ({ target }) => {
    const known = target.result;
    const isFirst = known.every((one) => one.id !== id);
    end(isFirst);
    if (!isFirst) return;
    store.put({ id, at: Date.now(), by: "worker" });
    const old = known.sort((one, other) => one.at - other.at).slice(0, Math.max(known.length + 1 - kept, 0));
    for (const one of old) store.delete(one.id);
  };
});

/** Releases the claim of a push that could not be shown: its next copy or the page shows it. */
const release = (id) => change("pushes", (store) => { store.delete(id); });

/** Stores the badge of an app, and shows the sum of all badges on the icon. */
async function setBadge(topic, badge) {
  if (!navigator.setAppBadge) return false;
  const sum = await change("state", (store, end) => {
    store.get("badges").onsuccess = ({ target }) => {
      const badges = { ...target.result, [topic]: badge };
      store.put(badges, "badges");
      end(Object.values(badges).reduce((all, one) => all + one, 0));
    };
  });
  await navigator.setAppBadge(sum);
  return true;
}

// The push service has replaced the subscription: the gateway needs the new one.
addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event)));

async function renew({ oldSubscription, newSubscription }) {
  const key = oldSubscription?.options.applicationServerKey;
  if (!newSubscription && !key) return;
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const subscription = newSubscription ?? (await self.registration.pushManager.subscribe(options));
  const stored = (store, end) => { store.get("device").onsuccess = ({ target }) => end(target.result); };
  const device = await change("state", stored).catch(() => ({}));
  const { endpoint, keys } = subscription.toJSON();
  await fetch("/v1/device/subscription", {
    method: "PUT", headers: { "content-type": "application/json" },
    body: JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth }, ...device }),
  });
}
