// The history of the device in IndexedDB: a snapshot of the state, and the changes after it. The order of the changes is
// that of the database, so that all tabs have the same state.

import { apply, newState } from "./state.js";

const compactAfter = 2000;

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

const committed = (transaction) => new Promise((resolve, reject) => {
  transaction.oncomplete = () => resolve();
  transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("the history can't be written"));
});

export class Journal {
  state = newState();
  /** The key of the last applied change. */
  position = 0;
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
    const added = structuredClone(changes);
    // Keys are consecutive: without a change of another tab in between, nothing has to be read.
    this.#reading = this.#reading.catch(() => {}).then(() => (
      last - added.length === this.position ? this.#apply(added, last) : this.#read()));
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
    const isReplaced = position > this.position;
    if (isReplaced) {
      this.state = (await done(snapshots.get("state"))) ?? newState();
      this.position = position;
    }
    const range = IDBKeyRange.lowerBound(this.position, true);
    const store = transaction.objectStore("changes");
    const [keys, changes] = await Promise.all([done(store.getAllKeys(range)), done(store.getAll(range))]);
    if (changes.length || isReplaced) this.#apply(changes, keys.at(-1) ?? position);
  }

  #apply(changes, position) {
    for (const change of changes) apply(this.state, change);
    this.position = position;
    this.onchange(changes);
  }

  /** Replaces the changes by a snapshot, if there are many. Only the tab with the stream does this. */
  async compact() {
    await this.refresh();
    const range = IDBKeyRange.upperBound(this.position);
    const count = await done(this.#database.transaction("changes").objectStore("changes").count(range));
    if (count < compactAfter) return;
    const transaction = this.#database.transaction(["changes", "snapshots"], "readwrite", { durability: "strict" });
    const snapshots = transaction.objectStore("snapshots");
    snapshots.put(this.state, "state");
    snapshots.put(this.position, "position");
    transaction.objectStore("changes").delete(range);
    await committed(transaction);
  }

  /** Deletes the history, of a device that is signed out. */
  async erase() {
    const transaction = this.#database.transaction(["changes", "snapshots"], "readwrite");
    const store = transaction.objectStore("changes");
    // The key of the next change stays higher than all earlier ones.
    store.clear();
    transaction.objectStore("snapshots").put(newState(), "state");
    transaction.objectStore("snapshots").put(this.position + 1, "position");
    store.put({ type: "erased" }, this.position + 1);
    await committed(transaction);
    this.#channel.postMessage("");
    await this.refresh();
  }
}
