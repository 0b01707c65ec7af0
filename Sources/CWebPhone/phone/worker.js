// The worker of the page: the page opens without a network, and a notification opens its push.

// The gateway puts the version of all files before this text: it changes with each of them, and the browser compares the worker.
const cache = `pushgateway-phone-${typeof version === "string" ? version : ""}`;
const files = [
  "/phone", "app.js", "alerts.js", "center.js", "commands.js", "dom.js", "drafts.js", "gateway.js", "icon.svg", "journal.js", "keys.js",
  "lines.js", "link.js", "manifest.webmanifest", "notices.js", "preferences.js", "presenter.js", "sound.js", "state.js", "style.css", "undo.js",
  "view-alert.js", "view-center.js", "view-home.js", "view-join.js", "view-message.js", "view-settings.js", "words.js",
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
  const { ordinal, answers = {} } = notification.data ?? {};
  const change = answers[action];
  notification.close();
  // The page that is opened has the answer. If the history can't be written, the gateway still gets it, and the page opens.
  if (change) await record(change).catch(() => {});
  // Without a network, and if no page is open, the next visit reports the answer.
  const reported = change ? report(change).catch(() => {}) : undefined;
  if (!action || action === "view") await show(change ? `#/push/${ordinal}` : "");
  await reported;
}

/** Shows the push of a place in the page that is there, or in a new one. */
async function show(place) {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((one) => new URL(one.url).pathname === "/phone");
  if (!page) return clients.openWindow(`/phone${place}`);
  if (place) page.postMessage(place);
  return page.focus();
}

/** Appends a change to the journal, as a page does. */
const record = (change) => new Promise((resolve, reject) => {
  const request = indexedDB.open("phone");
  // Without a history there is no alert that could be answered.
  request.onupgradeneeded = () => request.transaction.abort();
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const transaction = request.result.transaction("changes", "readwrite", { durability: "strict" });
    transaction.objectStore("changes").add(change);
    transaction.onabort = () => reject(transaction.error);
    transaction.oncomplete = () => {
      request.result.close();
      new BroadcastChannel("pushgateway-phone").postMessage("");
      resolve();
    };
  };
});

const report = ({ answers }) => fetch("/v1/device/reports", {
  method: "POST", headers: { "content-type": "application/json" },
  body: answers.map(({ id, action }) => JSON.stringify({ type: "answer", id, action })).join("\n"),
});
