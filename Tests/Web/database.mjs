// Stand-ins for IndexedDB in memory and for the locks of a browser: the parts of them that the page and its worker use.

/**
 * Returns an object like `indexedDB`, with the contents of its databases as `databases`: name → store → Map, and the number of
 * connections that are open. While it is full, each transaction that writes is aborted.
 */
export function memoryDatabases() {
  const databases = new Map();
  const all = { databases, connections: 0, isFull: false };
  const later = (body) => setImmediate(body);
  const settle = (request, value) => later(() => {
    request.result = value;
    request.onsuccess?.({ target: request });
  });
  const objectStore = (records, keyPath, note, abort) => {
    const request = (value) => {
      const one = {};
      note();
      settle(one, value);
      return one;
    };
    const written = (write) => (all.isFull ? abort() : request(write()));
    return {
      get: (key) => request(structuredClone(records.get(key))),
      getAll: () => request([...records.values()].map((value) => structuredClone(value))),
      put: (value, key = value[keyPath]) => written(() => records.set(key, structuredClone(value)) && key),
      add: (value) => written(() => records.set(records.size + 1, structuredClone(value)) && records.size),
      delete: (key) => written(() => records.delete(key) && undefined),
    };
  };
  const transaction = (stores, name) => {
    const one = { error: null };
    // A transaction ends when all of its requests have ended and no new one was made, or when it is aborted.
    let [open, isAborted] = [0, false];
    const check = () => later(() => (open === 0 && !isAborted ? one.oncomplete?.() : undefined));
    const abort = () => {
      isAborted = true;
      one.error = new Error("the disk is full");
      later(() => one.onabort?.());
      return {};
    };
    const note = () => {
      open += 1;
      later(() => later(() => {
        open -= 1;
        check();
      }));
    };
    const { records, keyPath } = stores.get(name);
    let isUsed = false;
    one.objectStore = () => objectStore(records, keyPath, () => { isUsed = true; note(); }, abort);
    later(() => later(() => (isUsed ? undefined : check())));
    return one;
  };
  return Object.assign(all, {
    open(name) {
      const request = {};
      later(() => {
        const isNew = !databases.has(name);
        const stores = databases.get(name) ?? new Map();
        databases.set(name, stores);
        request.result = {
          createObjectStore: (store, { keyPath } = {}) => stores.set(store, { records: new Map(), keyPath }),
          transaction: (store) => transaction(stores, [store].flat()[0]),
          close: () => { all.connections -= 1; },
        };
        let isAborted = false;
        request.transaction = { abort: () => { isAborted = true; } };
        if (isNew) request.onupgradeneeded?.({ target: request });
        if (isAborted) {
          databases.delete(name);
          request.error = new Error("the upgrade was aborted");
        } else {
          all.connections += 1;
        }
        later(() => (isAborted ? request.onerror : request.onsuccess)?.({ target: request }));
      });
      return request;
    },
    deleteDatabase(name) { databases.delete(name); },
  });
}

/** Returns an object like `navigator.locks`, with exclusive locks. */
export function memoryLocks() {
  const ends = new Map();
  return {
    request(name, use) {
      const end = (ends.get(name) ?? Promise.resolve()).then(use);
      ends.set(name, end.catch(() => {}));
      return end;
    },
  };
}
