/**
 * Asserts the pushes of an unmodified sender with a test gateway (`pushcli serve --test`), in node:test, Jest and Vitest.
 * One file without dependencies, for Node 18 or later. docs/send/testing.md describes the fields, states and options.
 *
 * @module pushgateway-test
 */
import { AssertionError } from "node:assert";
import { spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { types } from "node:util";

/** @typedef {"accepted" | "presented" | "suppressed" | "refused"} State the answer to a push, or its presentation */

/**
 * Fields of a push with their values: `title`, `badge`, `pushType` or "push-type", "payload./url" and so on. A regular
 * expression is searched in the text, "title*" is a part of it, and `null` is a missing field.
 * @typedef {{[field: string]: unknown}} Fields
 */

/**
 * @typedef {object} ExpectOptions
 * @property {number} [count] the number of pushes, by default 1
 * @property {State | "any"} [state] the state of each push, by default "accepted"
 * @property {true} [accepted] the same as `state: "accepted"`
 * @property {true} [presented] the same as `state: "presented"`
 * @property {true} [suppressed] the same as `state: "suppressed"`
 * @property {true} [refused] the same as `state: "refused"`
 * @property {string} [within] the time limit, by default "2s"; of `expectNone` the time without a push, by default "500ms"
 * @property {boolean} [exactly] true: more than `count` pushes are a failure
 * @property {string} [idle] the time without a push after which `exactly` expects no more, by default "200ms"
 * @property {number} [since] only pushes with a greater number
 */

/** @typedef {ExpectOptions & Fields} Expectation */

/**
 * A request of a sender, as the gateway recorded it.
 * @typedef {object} Push
 * @property {number} number the position in the order of arrival, from 1
 * @property {string} id the `apns-id`
 * @property {string} [token] @property {string} [topic] @property {string} [push_type]
 * @property {number} [priority] @property {number} [expiration]
 * @property {string} [collapse_id]
 * @property {{[name: string]: string}} headers the `apns-…` fields
 * @property {any} [payload]
 * @property {string} [payload_text] the body, if it is not JSON
 * @property {string} outcome "accepted", "duplicate", "refused", "dropped", "reset" or "open"
 * @property {number} [status] @property {string} [reason] @property {number} [retry_after]
 * @property {State[]} states
 * @property {string[]} presented the parts that the device presented: "alert", "badge", "sound"
 * @property {{part: string, rule: string, setting: string}[]} suppressed the parts that preferences removed
 * @property {{rule: string, at: string, message: string, refused: boolean}[]} findings
 * @property {{rule: string, at: string, message: string, severity: string}[]} lint
 * @property {{at: string, event: string, detail?: string}[]} events
 * @property {{connection: number, key_id?: string, team_id?: string, token_age?: number}} sender
 */

/**
 * @typedef {object} Failure the answer 417 to an expectation
 * @property {string} detail
 * @property {number} recorded @property {number} dropped
 * @property {Push[]} pushes
 * @property {{push: Push, cause?: string, differences: {field: string, expected: unknown, found?: unknown}[]}[]} nearest
 */

const PREFIX = "/test/v1";
const OPTIONS = ["count", "state", "within", "since", "exactly", "idle"];
const STATES = ["accepted", "presented", "suppressed", "refused"];
/** The longest value in a table. */
const LONGEST = 60;

/**
 * Starts a test gateway. Under `pushcli test-run` its gateway is used, unless there are arguments.
 *
 * @param {object} [options]
 * @param {string} [options.command] the path of pushcli, by default $PUSHCLI, then `pushcli` on the PATH
 * @param {string[]} [options.args] options of `pushcli serve --test`, as `--strict`
 * @returns {Promise<PushGateway>}
 */
export async function startGateway(options = {}) {
  const { command = process.env.PUSHCLI || "pushcli", args = [] } = options;
  const { PUSHGATEWAY_TEST_URL: http, APNS_URL: apns, APNS_CA: ca } = process.env;
  if (http && args.length === 0) {
    if (!apns || !ca) throw new Error("PUSHGATEWAY_TEST_URL is set without APNS_URL and APNS_CA: set all three, or none");
    return new PushGateway({ apns, http, ca });
  }
  const server = new Server(command, args);
  return new PushGateway(await server.ready(), server);
}

/** A process of `pushcli serve --test`, which ends with its standard input. */
class Server {
  #child;
  #log = "";
  #closed;

  /** @param {string} command @param {string[]} args */
  constructor(command, args) {
    const child = spawn(command, ["serve", "--test", "--json", ...args], { stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text) => { this.#log = (this.#log + text).slice(-8192); });
    child.stdin.on("error", () => {}); // The end of the process is reported by `close`.
    this.#closed = new Promise((resolve, reject) => {
      child.once("error", (error) => reject(
        new Error(`${command} can't be started: install pushcli, or set PUSHCLI to its path`, { cause: error })));
      child.once("close", (code, signal) => resolve(code ?? signal));
    });
    this.#closed.catch(() => {});
  }

  /**
   * Returns the line that the gateway prints when it is ready.
   * @returns {Promise<{apns: string, http: string, ca: string}>}
   */
  async ready() {
    const line = new Promise((resolve) => {
      let text = "";
      this.#child.stdout.setEncoding("utf8").on("data", (part) => {
        text += part;
        if (!text.includes("\n")) return;
        this.#child.stdout.removeAllListeners("data").resume();
        resolve(text);
      });
    });
    const text = await Promise.race([line, this.#closed.then((end) => { throw this.#failure(end); })]);
    // A test program that does not stop the gateway ends nevertheless, and the gateway with it.
    for (const part of [this.#child, ...this.#child.stdio]) /** @type {any} */ (part)?.unref();
    return JSON.parse(text);
  }

  async stop() {
    this.#child.ref();
    this.#child.stdin.end();
    const end = await this.#closed;
    if (end !== 0) throw this.#failure(end);
  }

  /** @param {unknown} end */
  #failure(end) { return new Error(`the test gateway ended with ${end}: ${this.#log.trim() || "it printed no message"}`); }
}

/** A test gateway. */
export class PushGateway {
  #server;
  #agent = new Agent({ maxSockets: 100 });

  /** @param {{apns: string, http: string, ca: string}} ready @param {Server} [server] */
  constructor({ apns, http, ca }, server) {
    /** The URL of the provider API, for the sender. */
    this.apns = apns;
    /** The URL of the test API. */
    this.http = http;
    /** The path of the file with the certificate that the sender has to trust. */
    this.ca = ca;
    this.#server = server;
  }

  /**
   * Adds a device with a token, for one test.
   *
   * @param {{topic?: string, preferences?: object, token?: string, name?: string, channels?: string[]}} [options]
   *   `preferences` has the form of `pushcli prefs show --json`; `channels` are ids of broadcast channels
   * @returns {Promise<PushDevice>}
   */
  async device(options = {}) { return new PushDevice(this, await this.call("POST", "/devices", options)); }

  /**
   * Advances or resets the clock that all tests of the gateway share; without an argument only returns it.
   *
   * @param {{advance?: string, reset?: true}} [change] as `{ advance: "61m" }`
   * @returns {Promise<{now: string, offset: number}>}
   */
  async clock(change) { return change ? this.call("POST", "/clock", change) : this.call("GET", "/clock"); }

  /**
   * Sets the certificate of the next connections.
   *
   * @param {"valid" | "unknown-ca" | "expired" | "wrong-name"} certificate
   */
  async tls(certificate) { await this.call("PUT", "/tls", { certificate }); }

  /**
   * Returns each refusal with the reaction of the sender, and the mistakes in accepted pushes.
   *
   * @returns {Promise<{lines: {number: number, verdict: string, expected: string, text: string, token?: string,
   *   reason?: string, status?: number}[], summary: {[verdict: string]: number}, dropped: number}>}
   */
  async report() { return this.call("GET", "/report"); }

  /** Ends the gateway, if it was started here. */
  async stop() {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop();
  }

  /**
   * Sends a request to the test API.
   *
   * @param {string} method @param {string} path the path after /test/v1 @param {unknown} [body]
   * @returns {Promise<any>} the JSON of the answer, for an expectation that failed with `status` 417
   */
  async call(method, path, body) {
    const { status, text } = await this.#send(method, path, body);
    const answer = text ? JSON.parse(text) : undefined;
    if (status < 300 || status === 417) return answer;
    throw new Error(`${method} ${PREFIX}${path}: ${status} ${answer?.detail ?? ""}`);
  }

  /**
   * @param {string} method @param {string} path @param {unknown} body
   * @returns {Promise<{status: number, text: string}>}
   */
  #send(method, path, body) {
    const data = body === undefined ? "" : JSON.stringify(body);
    const headers = data ? { "content-type": "application/json", "content-length": Buffer.byteLength(data) } : {};
    return new Promise((resolve, reject) => {
      const failed = (/** @type {Error} */ error) => reject(
        new Error(`no answer from the test gateway at ${this.http}: ${error.message}`, { cause: error }));
      const sent = request(this.http + PREFIX + path, { method, headers, agent: this.#agent }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part) => { text += part; }).on("error", failed);
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.on("error", failed).end(data);
    });
  }
}

/** A device of a test gateway. Its token is the namespace of one test. */
export class PushDevice {
  #gateway;

  /** @param {PushGateway} gateway @param {{token: string, topic: string, device: string}} device */
  constructor(gateway, { token, topic, device }) {
    /** The device token, for the sender. */
    this.token = token;
    this.topic = topic;
    /** The name of the device and of its user. */
    this.name = device;
    this.#gateway = gateway;
  }

  /**
   * Returns the expected pushes as soon as they are there: `expect({ title: "Train", presented: true })`.
   *
   * @param {Expectation} [expectation] fields and options; by default one accepted push
   * @returns {Promise<Push[]>}
   * @throws {AssertionError} with the nearest pushes
   */
  async expect(expectation = {}) {
    const { pushes, message } = await this.#result(body(expectation));
    if (message) throw new AssertionError({ message, operator: "fail", stackStartFn: this.expect });
    return pushes;
  }

  /**
   * Returns when no push with the fields has come for 500 ms. Without a state, a refused push is a failure, too.
   *
   * @param {Expectation} [expectation]
   * @throws {AssertionError} with the pushes
   */
  async expectNone(expectation = {}) {
    const { message } = await this.#result({ state: "any", within: "500ms", ...body(expectation), count: 0 });
    if (message) throw new AssertionError({ message, operator: "fail", stackStartFn: this.expectNone });
  }

  /**
   * Returns the expected pushes, or the message of the failure.
   * @param {object} members
   * @returns {Promise<{pushes: Push[], message?: string}>}
   */
  async #result(members) {
    const answer = await this.#gateway.call("POST", "/expect", { ...members, token: this.token });
    if (answer.status !== 417) return answer;
    const { recorded } = await this.#gateway.call("GET", "");
    return { pushes: answer.pushes, message: failureText(answer, recorded) };
  }

  /**
   * Lists the recorded pushes to the device, the oldest first.
   *
   * @param {{state?: State | "any", since?: number, limit?: number} & Fields} [selection] fields and options
   * @returns {Promise<Push[]>}
   */
  async pushes(selection = {}) {
    const { match, ...options } = body(selection);
    const query = new URLSearchParams({ .../** @type {any} */ (options), .../** @type {any} */ (match), token: this.token });
    return (await this.#gateway.call("GET", `/pushes?${query}`)).pushes;
  }

  /**
   * Answers a push as its user.
   *
   * @param {string} action the name of an action, as "approve"
   * @param {{id?: string}} [options] `id`: the `apns-id`, by default of the last delivered push
   * @returns {Promise<{id: string, action: string}>} the answer that counts
   */
  async answer(action, options = {}) {
    return this.#gateway.call("POST", `/devices/${this.token}/answer`, { action, ...options });
  }

  /**
   * Sets the state of the token, from which the answers to its next pushes follow.
   *
   * @param {"registered" | "unregistered" | "other-environment" | "throttled" | "unavailable" | "accepted-and-dropped"} state
   * @param {{count?: number, for?: string, "retry-after"?: number}} [options] only for so many pushes, or for a time as "2s";
   *   "retry-after": the seconds in this field of the answers
   */
  async state(state, options = {}) { await this.#gateway.call("PUT", `/tokens/${this.token}`, { state, ...options }); }

  /**
   * Sets the faults of the requests to the token, in place of its earlier faults and its state; without arguments they end.
   *
   * @param {{[key: string]: unknown}[]} faults with the keys of a scenario file: `{ reason: "ServiceUnavailable", count: 2 }`
   */
  async faults(...faults) { await this.#gateway.call("PUT", `/tokens/${this.token}/faults`, { faults }); }

  /** Removes the device: pushes to its token get 410 Unregistered. */
  async delete() { await this.#gateway.call("DELETE", `/devices/${this.token}`); }
}

/**
 * Separates fields from options.
 * @param {Fields} members
 * @returns {{match: Fields, [option: string]: unknown}}
 */
function body(members) {
  /** @type {{match: Fields, [option: string]: unknown}} */
  const body = { match: {} };
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) throw new TypeError(`${name} is undefined: expected a value, or null for a missing field`);
    if (STATES.includes(name)) {
      if (value !== true || "state" in body) throw new TypeError(`${name}: expected true, and only one state`);
      body.state = name;
    } else if (OPTIONS.includes(name) || name === "limit") {
      body[name] = value;
    } else if (types.isRegExp(value)) {
      if (value.flags) throw new TypeError(`${name}: the regular expression ${value} has flags: omit them`);
      body.match[`${fieldName(name)}~`] = value.source;
    } else {
      body.match[fieldName(name)] = value;
    }
  }
  return body;
}

/**
 * Returns the name of a field in the test API: of `pushType` it is "push-type".
 * @param {string} name
 */
function fieldName(name) {
  return name.startsWith("payload.") ? name : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Describes a failed expectation: one line, and the pushes as a table, field by field.
 * @param {Failure} failure @param {number} recorded the number of all recorded pushes
 */
function failureText(failure, recorded) {
  const rows = [["push", "field", "expected", "found"]];
  for (const push of failure.pushes.slice(0, 3)) rows.push([`${push.number}`, "matches", "", title(push)]);
  for (const { push, differences, cause } of failure.nearest) {
    const lines = differences.map(({ field, expected, found }) => [field, valueText(expected), valueText(found)]);
    if (cause) lines.push(["cause", "", printable(cause)]);
    lines.forEach((line, index) => rows.push([index === 0 ? `${push.number}` : "", ...line]));
  }
  const lines = [failure.detail];
  if (rows.length > 1) lines.push(...table(rows));
  if (failure.recorded === 0 && recorded === 0) {
    lines.push("The gateway has recorded no push at all: check the URL of the sender, and the certificate that it trusts.");
  } else if (failure.recorded === 0) {
    lines.push(`The gateway has recorded ${recorded} other pushes: check the device token of the sender.`);
  }
  if (failure.dropped > 0) lines.push(`${failure.dropped} older pushes have left the record.`);
  return lines.join("\n");
}

/** @param {string[][]} rows */
function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column])).join("  ")}`.trimEnd());
}

/**
 * Returns the title of a push, or its payload.
 * @param {Push} push
 */
function title({ payload, payload_text }) {
  const alert = payload?.aps?.alert;
  return valueText(alert?.title ?? alert?.body ?? alert ?? payload ?? payload_text);
}

/** @param {unknown} value */
function valueText(value) {
  if (value === undefined) return "(missing)";
  const text = JSON.stringify(value);
  return printable(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

/**
 * Writes control and format characters of a text as escapes.
 * @param {string} text
 */
function printable(text) {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
