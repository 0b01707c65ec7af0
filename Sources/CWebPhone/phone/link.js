// The connection of the device: one stream for all tabs of the browser. A push is in the journal before it is acknowledged.

import { gateway, Refusal } from "./gateway.js";
import { Backoff, EventParser, place, readLine } from "./lines.js";
import { apply, changesBy, newState } from "./state.js";
import { open } from "./webpush.js";

const answerInterval = 15_000;
const reportBatch = 100;

/** Keeps one stream in the tab that holds the lock, and reports the records of all tabs. */
export class Link {
  #journal;
  #channel = new BroadcastChannel("pushgateway-phone-link");
  #backoff = new Backoff();
  #abort = null;
  #wake = null;
  #isEnded = false;
  #acknowledged = 0;
  #isAcknowledging = false;
  #query = "";
  #repeat = null;
  #isReporting = false;
  #presented = [];
  #status = { state: "connecting" };
  /** True in the tab that has the stream. */
  isLeader = false;
  /** True if the stream has sent all pushes that were pending. */
  isCaughtUp = false;

  /** Called with a status: {state: connecting, connected, disconnected, refused}, and with pushes that arrived. */
  onstatus = () => {};
  onpushes = () => {};
  onnotice = () => {};
  oncaughtup = () => {};

  constructor(journal) {
    this.#journal = journal;
    this.#channel.onmessage = ({ data }) => this.#receive(data);
  }

  /** Takes a request of another tab to the tab with the stream, or its status. */
  #receive({ wanted, status }) {
    if (!this.isLeader) return status && this.onstatus({ ...status, isElsewhere: true });
    if (wanted === "status") this.#channel.postMessage({ status: this.#status });
    if (wanted === "retry") this.retry();
    if (wanted === "reconnect") this.reconnect();
    return undefined;
  }

  /** Passes on the status of the stream, also to the other tabs. */
  #note(status) {
    this.#status = status;
    this.keepTime();
    this.#channel.postMessage({ status });
    this.onstatus(status);
  }

  /** Waits for the lock of the stream, then connects again and again. */
  async run() {
    this.#channel.postMessage({ wanted: "status" });
    await navigator.locks.request("pushgateway-phone", async () => {
      this.isLeader = true;
      addEventListener("online", () => this.retry());
      document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.retry());
      await this.#journal.refresh();
      this.#compact();
      while (!this.#isEnded) await this.#attempt();
    });
  }

  /** Tries to connect at once. */
  retry() {
    this.#wake?.();
    if (!this.isLeader) this.#channel.postMessage({ wanted: "retry" });
  }

  /** Opens the stream again, which then begins with the apps for which the device is registered now. */
  reconnect() {
    this.#query = "";
    this.#abort?.abort();
    if (!this.isLeader) this.#channel.postMessage({ wanted: "reconnect" });
  }

  end() {
    this.#isEnded = true;
    this.#abort?.abort();
    this.#wake?.();
  }

  async #attempt() {
    const { state } = this.#journal;
    this.#note({ state: "connecting" });
    this.#abort = new AbortController();
    this.#query = JSON.stringify([state.device.isSilent, state.device.focus]);
    let isConnected = false;
    try {
      const response = await gateway.stream(place(state.epoch, state.cursor), state.device, this.#abort.signal);
      isConnected = true;
      await this.#read(response.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) {
        this.#isEnded = true;
        return this.#note({ state: "refused" });
      }
    }
    if (isConnected) this.keepTime();
    clearInterval(this.#repeat);
    if (this.#isEnded || this.#isRestarting()) return;
    const pause = this.#backoff.next();
    this.#note({ state: "disconnected", last: Number(localStorage.getItem("lastConnected")), retry: Date.now() + pause });
    await new Promise((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, pause);
    });
    this.#wake = null;
  }

  /** Stores the time if the stream is connected: also while it is open, because a crash of the browser ends it without a word. */
  keepTime() { if (this.#status.state === "connected") localStorage.setItem("lastConnected", String(Date.now())); }

  /** True if the stream ended because its silent switch or its Focus has changed. */
  #isRestarting() {
    const { device } = this.#journal.state;
    return this.#query !== JSON.stringify([device.isSilent, device.focus]);
  }

  async #read(reader) {
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = parser.push(value).map(({ data }) => ({ line: readLine(data), data })).filter(({ line }) => line);
      // The preferences of a welcome line in the same batch count for the pushes after it.
      let { preferences } = this.#journal.state;
      const opened = [];
      for (const one of lines) {
        preferences = one.line.preferences ?? preferences;
        opened.push(await open(one, preferences));
      }
      await this.#take(opened);
      const bye = lines.find(({ line }) => line.type === "bye")?.line;
      if (!bye) continue;
      if (bye.reason === "revoked") {
        this.#isEnded = true;
        this.#note({ state: "refused" });
      }
      return;
    }
  }

  /** Stores the changes of lines that arrived together, and acknowledges the pushes among them. */
  async #take(lines) {
    const changes = [];
    // Later lines of a batch depend on earlier ones, so that changes are computed from a copy of this state.
    const { cursor, epoch, isRenumbered, entries, alerts, pending, device } = this.#journal.state;
    const ahead = { ...newState(), cursor, epoch, isRenumbered, entries: [...entries], alerts: [...alerts], pending, device };
    for (const { line, data } of lines) {
      if (line.type === "welcome") this.#welcome(line);
      for (const change of changesBy(line, ahead, data)) {
        changes.push(change);
        if (lines.length > 1) apply(ahead, change);
      }
    }
    try {
      await this.#journal.append(changes);
    } catch (error) {
      this.onnotice(`This browser can't store the pushes (${error.message}). Free space on its disk: the gateway keeps them until then.`);
      throw error;
    }
    const pushes = changes.filter((change) => change.type === "received").map((change) => change.push);
    if (pushes.length) this.onpushes(pushes);
    this.#acknowledge();
    if (lines.some(({ line }) => line.type === "caught-up")) {
      this.isCaughtUp = true;
      this.oncaughtup();
    }
  }

  #welcome() {
    this.isCaughtUp = false;
    this.#backoff.reset();
    this.#acknowledged = 0;
    this.#note({ state: "connected" });
    clearInterval(this.#repeat);
    this.#report();
  }

  /** Acknowledges the pushes that are on disk, one request at a time. */
  async #acknowledge() {
    if (this.#isAcknowledging) return;
    this.#isAcknowledging = true;
    try {
      while (this.#journal.state.cursor > this.#acknowledged) {
        const { cursor, epoch } = this.#journal.state;
        await gateway.acknowledge(cursor, epoch);
        this.#acknowledged = cursor;
      }
    } catch {
      // The position of the next stream acknowledges them.
    } finally {
      this.#isAcknowledging = false;
    }
  }

  /** Sends the records of all tabs; called with each change of the journal. */
  noteChanges(changes) {
    if (!this.isLeader) return;
    this.#compact();
    if (changes.some((change) => change.type === "answered")) this.#report();
    if (changes.some((change) => change.type === "device") && this.#isRestarting()) this.#abort?.abort();
  }

  /** Bounds the history. A snapshot that can't be written is tried again with the next change. */
  #compact() { this.#journal.compact().catch(() => {}); }

  /** Reports the parts of pushes that were shown or played. */
  presented(reports) {
    this.#presented.push(...reports.map(({ id, parts }) => ({ type: "presented", id, parts })));
    this.#report();
  }

  /** Sends reports and the answers that the gateway has not confirmed, and repeats the answers. */
  async #report() {
    if (this.#isReporting) return;
    this.#isReporting = true;
    try {
      for (let sent = new Set(); ;) {
        const answers = this.#journal.state.pending.filter(({ id }) => this.isLeader && !sent.has(id));
        const presented = this.#presented.slice(0, reportBatch);
        const lines = [...presented, ...answers.slice(0, reportBatch).map((one) => ({ type: "answer", ...one }))];
        if (!lines.length) break;
        const replies = await gateway.report(lines);
        this.#presented.splice(0, presented.length);
        for (const { id } of answers.slice(0, reportBatch)) sent.add(id);
        await this.#answered(replies.map(readLine).filter((line) => line?.type === "answered"));
      }
    } catch {
      // Answers are repeated below and after each connect.
    } finally {
      this.#isReporting = false;
    }
    clearTimeout(this.#repeat);
    if (this.isLeader && this.#journal.state.pending.length) this.#repeat = setTimeout(() => this.#report(), answerInterval);
  }

  async #answered(lines) {
    const { pending } = this.#journal.state;
    for (const { id, action } of lines) {
      const own = pending.find((answer) => answer.id === id);
      if (own && action && action !== own.action) this.onnotice(`Answered before, on another device: ${action}`);
    }
    await this.#journal.append(lines.flatMap((line) => changesBy(line, this.#journal.state, "")));
  }
}
