// The history of the device in IndexedDB: a snapshot of the state, and the changes after it. The database
// orders the changes, so that all tabs have the same state. The store `snapshots` has the state without its entries, the
// key of the last change in it, each entry at its ordinal, and texts at arrays of their id; entries are written and read in pages.

import { apply, newState } from "./state.js";

/** The number of changes after which the snapshot is renewed. It bounds the changes on disk, all of which a start applies. */
const compactAfter = 1000;
/** The number of entries or changes that one task reads or writes. */
const pageSize = 250;

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

const committed = (transaction) => new Promise((resolve, reject) => {
  transaction.oncomplete = () => resolve();
  transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("the history can't be written"));
});

/** The keys after one number and up to another. The other keys of a store are words. */
const between = (first, last) => IDBKeyRange.bound(first, last, true);

/** Yields the keys and the values of a store between two numbers, page by page. */
async function* pages(store, first, last) {
  for (let [after, size] = [first, pageSize]; size === pageSize;) {
    const range = between(after, last);
    const [keys, values] = await Promise.all([done(store.getAllKeys(range, pageSize)), done(store.getAll(range, pageSize))]);
    if (keys.length) yield [keys, values];
    [after, size] = [keys.at(-1), keys.length];
  }
}

export class Journal {
  state = newState();
  /** The key of the last applied change. */
  position = 0;
  /** The key of the last change in the snapshot, and the entries that the snapshot has, by ordinal. */
  #snapshot = 0;
  #stored = new Map();
  #isCompacting = false;
  #database;
  #channel = new BroadcastChannel("pushgateway-phone");
  #reading = Promise.resolve();

  /** Called with the changes that were applied, from this tab and from others. */
  onchange = () => {};

  static async open(name = "phone") {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("changes", { autoIncrement: true });
      request.result.createObjectStore("snapshots");
    };
    const journal = new Journal();
    journal.#database = await done(request);
    journal.#channel.onmessage = () => journal.refresh();
    await journal.refresh();
    return journal;
  }

  /** Stores changes, then applies them. They are on disk when this returns. */
  async append(changes) {
    if (!changes.length) return;
    const transaction = this.#database.transaction("changes", "readwrite", { durability: "strict" });
    const store = transaction.objectStore("changes");
    let last = 0;
    for (const change of changes) store.add(change).onsuccess = ({ target }) => { last = target.result; };
    await committed(transaction);
    this.#channel.postMessage("");
    // Keys are consecutive: without a change of another tab in between, no change has to be read.
    this.#reading = this.#reading.catch(() => {}).then(() => (
      last - changes.length === this.position ? this.#apply(changes, last) : this.#read()));
    await this.#reading;
  }

  /** Applies the changes of all tabs. */
  refresh() {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#read());
    return this.#reading;
  }

  async #read() {
    const transaction = this.#database.transaction(["changes", "snapshots"]);
    const snapshots = transaction.objectStore("snapshots");
    const position = (await done(snapshots.get("position"))) ?? 0;
    if (position > this.position) {
      const state = { ...newState(), ...await done(snapshots.get("state")) };
      const stored = new Map();
      for await (const [ordinals, entries] of pages(snapshots, 0, Infinity)) ordinals.forEach((ordinal, index) => stored.set(ordinal, entries[index]));
      state.entries = [...state.entries, ...stored.values()];
      [this.state, this.#stored, this.#snapshot] = [state, stored, position];
      this.#apply([], position);
    }
    for await (const [keys, changes] of pages(transaction.objectStore("changes"), this.position, Infinity)) {
      this.#apply(changes, keys.at(-1));
    }
  }

  #apply(changes, position) {
    for (const change of changes) apply(this.state, change);
    this.position = position;
    this.onchange(changes);
  }

  /** Writes the changes into the snapshot, if it lacks many. Only the tab with the stream does this. */
  async compact() {
    if (this.#isCompacting || this.position - this.#snapshot < compactAfter) return;
    this.#isCompacting = true;
    try {
      await this.#compact(this.position, this.state);
    } finally {
      this.#isCompacting = false;
    }
  }

  /** Writes the entries that the snapshot lacks or has in an earlier form: a change replaces its entry. */
  async #compact(position, { entries, ...state }) {
    const wanted = new Map(entries.map((entry) => [entry.ordinal, entry]));
    const transaction = this.#database.transaction(["changes", "snapshots"], "readwrite", { durability: "strict" });
    const [snapshots, isCommitted] = [transaction.objectStore("snapshots"), committed(transaction)];
    isCommitted.catch(() => {});
    snapshots.put(state, "state");
    snapshots.put(position, "position");
    transaction.objectStore("changes").delete(IDBKeyRange.upperBound(position));
    for (const ordinal of await done(snapshots.getAllKeys(between(0, Infinity)))) if (!wanted.has(ordinal)) snapshots.delete(ordinal);
    const fresh = [...wanted.values()].filter((entry) => this.#stored.get(entry.ordinal) !== entry);
    for (let start = 0; start < fresh.length; start += pageSize) {
      const page = fresh.slice(start, start + pageSize);
      await Promise.all(page.map((entry) => done(snapshots.put(entry, entry.ordinal))));
    }
    await isCommitted;
    [this.#stored, this.#snapshot] = [wanted, position];
  }

  #snapshots(mode) { return this.#database.transaction("snapshots", mode).objectStore("snapshots"); }

  /** Returns the texts that are kept: a list of [id, text]. */
  async texts() {
    const [store, range] = [this.#snapshots("readonly"), IDBKeyRange.lowerBound([])];
    const [keys, values] = await Promise.all([done(store.getAllKeys(range)), done(store.getAll(range))]);
    return keys.map(([id], index) => [id, values[index]]);
  }

  /** Keeps a text with an id; undefined removes it. */
  keepText(id, text) {
    const store = this.#snapshots("readwrite");
    if (text === undefined) store.delete([id]); else store.put(text, [id]);
  }

  /** Deletes the history, of a device that is signed out. */
  async erase() {
    const transaction = this.#database.transaction(["changes", "snapshots"], "readwrite");
    const store = transaction.objectStore("changes");
    // The key of the next change stays higher than all earlier ones.
    store.clear();
    transaction.objectStore("snapshots").clear();
    transaction.objectStore("snapshots").put(this.position + 1, "position");
    store.put({ type: "erased" }, this.position + 1);
    await committed(transaction);
    this.#channel.postMessage("");
    await this.refresh();
  }
}
