// Starts the worker of the page with stand-ins for the browser.

const folder = new URL("../../Sources/CWebPhone/phone/", import.meta.url);
let starts = 0;

/** Makes the members of `scope` global and starts the worker. Returns a function that dispatches an event, waits for its end, and returns its response. */
export async function startWorker(scope) {
  const listeners = new Map();
  const all = { ...scope, self: scope, addEventListener: (name, listener) => listeners.set(name, listener) };
  for (const [name, value] of Object.entries(all)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  // Each address is a module of its own.
  starts += 1;
  await import(new URL(`worker.js?${starts}`, folder));
  return async (name, event) => {
    const ends = [];
    let response;
    listeners.get(name)({ waitUntil: (end) => ends.push(end), respondWith: (answer) => { response = answer; }, ...event });
    await Promise.all(ends);
    return response;
  };
}
