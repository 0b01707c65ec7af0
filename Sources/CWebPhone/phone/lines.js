// The stream of a device as events: parsing, positions and pauses. Pure, without I/O.

/** The size of a line above which the stream is given up. */
const maximumLineSize = 4 << 20;

/** Splits a text/event-stream into events with an `id` (or null) and `data`. */
export class EventParser {
  #rest = "";
  #id = null;
  #data = null;

  /** Returns the events that a piece of text completes. */
  push(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    if (this.#rest.length > maximumLineSize) throw new Error("the gateway sends a line without an end");
    const events = [];
    for (const line of lines) {
      if (line === "") {
        if (this.#data !== null) events.push({ id: this.#id, data: this.#data });
        [this.#id, this.#data] = [null, null];
      } else if (line.startsWith("id:")) {
        this.#id = line.slice(3).trim();
      } else if (line.startsWith("data:")) {
        const data = line.slice(line[5] === " " ? 6 : 5);
        this.#data = this.#data === null ? data : `${this.#data}\n${data}`;
      }
    }
    return events;
  }
}

/** Reads a line of the gateway. Returns null for any other value than an object with a type. */
export function readLine(text) {
  try {
    const line = JSON.parse(text);
    return line && typeof line === "object" && typeof line.type === "string" ? line : null;
  } catch {
    return null;
  }
}

/** Returns the value of `last-event-id` for a position; null for the beginning. */
export function place(epoch, seq) {
  if (!seq) return null;
  return epoch ? `${epoch}:${seq}` : String(seq);
}

/** The pauses between failed attempts: random, with a bound that doubles from a second to a minute. */
export class Backoff {
  static shortest = 50;
  #random;
  bound = 1000;

  constructor(random = Math.random) { this.#random = random; }

  next() {
    const pause = Backoff.shortest + (this.bound - Backoff.shortest) * this.#random();
    this.bound = Math.min(2 * this.bound, 60_000);
    return pause;
  }

  reset() { this.bound = 1000; }
}
