// The worker of the page: the page opens without a network, and a notification opens its push.

const cache = "pushgateway-phone";
const files = [
  "/phone", "app.js", "alerts.js", "center.js", "dom.js", "gateway.js", "icon.svg", "journal.js", "keys.js", "lines.js",
  "link.js", "manifest.webmanifest", "preferences.js", "sound.js", "state.js", "style.css", "view-alert.js", "view-center.js",
  "view-home.js", "view-join.js", "view-message.js", "view-settings.js", "words.js",
].map((name) => (name.startsWith("/") ? name : `/phone/${name}`));

addEventListener("install", (event) => {
  event.waitUntil(caches.open(cache).then((one) => one.addAll(files)).then(() => self.skipWaiting()));
});

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

// The network first, so that the page is that of the gateway; the copy if the gateway can't be reached.
addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== location.origin || !files.includes(pathname)) return;
  event.respondWith(fetch(event.request).then(async (response) => {
    if (response.ok) (await caches.open(cache)).put(pathname, response.clone());
    return response;
  }, () => caches.match(pathname, { ignoreVary: true })));
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
