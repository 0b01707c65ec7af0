// The worker of the page: the page opens without a network, and a notification opens its push.

// The gateway puts the version of all files before this text: it changes with each of them, and the browser compares the worker.
const cache = `pushgateway-phone-${typeof version === "string" ? version : ""}`;
const files = [
  "/phone", "app.js", "alerts.js", "center.js", "dom.js", "gateway.js", "icon.svg", "journal.js", "keys.js", "lines.js",
  "link.js", "manifest.webmanifest", "preferences.js", "sound.js", "state.js", "style.css", "view-alert.js", "view-center.js",
  "view-home.js", "view-join.js", "view-message.js", "view-settings.js", "words.js",
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

addEventListener("notificationclick", (event) => {
  const { id } = event.notification.data ?? {};
  const message = { id, action: event.action || "view" };
  event.notification.close();
  event.waitUntil(clients.matchAll({ type: "window", includeUncontrolled: true }).then(async (pages) => {
    const page = pages.find((one) => new URL(one.url).pathname.startsWith("/phone"));
    if (!page) return clients.openWindow("/phone");
    page.postMessage(message);
    return event.action === "close" ? undefined : page.focus();
  }));
});
