// Web Push endpoints of the device in a browser, without a browser: node --test Tests/Web
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { memoryDatabases } from "./database.mjs";
import { bytes, example, exampleKeys } from "./example.mjs";

const folder = new URL("../../Sources/CWebPhone/phone/", import.meta.url);
const { addEndpoint, allKeys, decrypt, keysOf, open, opened, read, removeEndpoint, tagOf } = await import(new URL("webpush.js", folder));
const { readPush } = await import(new URL("state.js", folder));

beforeEach(() => { globalThis.indexedDB = memoryDatabases(); });

test("the example of RFC 8291 is decrypted, and nothing that was changed", async () => {
  const [keys, body] = [await exampleKeys(), bytes(example.body)];
  assert.equal(new TextDecoder().decode(await decrypt(body, keys)), example.text);
  assert.equal(await decrypt(body, { ...keys, auth: new Uint8Array(16) }), null);
  for (const place of [0, 19, 20, 21, 40, body.length - 1]) {
    const changed = Uint8Array.from(body);
    changed[place] ^= 1;
    // The record size alone is not authenticated, and larger ones are the same message.
    if (place !== 19) assert.equal(await decrypt(changed, keys), null, `byte ${place}`);
  }
  for (const size of [0, 20, 86, 102]) assert.equal(await decrypt(body.slice(0, size), keys), null);
});

test("messages of all forms are read, and bytes that are no text are not", () => {
  const message = (value) => read(new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)));
  const fields = (value) => { const { title, body, link, badge, isSilent } = message(value); return [title, body, link, badge, isSilent]; };
  assert.deepEqual(fields("Backup done"), [null, "Backup done", null, null, false]);
  assert.deepEqual(fields(""), [null, "New message", null, null, false]);
  assert.deepEqual(fields({ other: 1 }), [null, '{"other":1}', null, null, false]);
  assert.deepEqual(fields({ web_push: 8030, notification: { title: "A", navigate: "https://a.example/x", silent: true }, app_badge: 3 }), ["A", null, "https://a.example/x", 3, true]);
  assert.deepEqual(fields({ title: "A", options: { body: "B", data: { url: "http://a.example" } } }), ["A", "B", "http://a.example", null, false]);
  assert.deepEqual(fields({ title: "A", message: "B", url: "/relative", app_badge: "3" }), ["A", "B", null, null, false]);
  assert.deepEqual(fields("[1]"), [null, "[1]", null, null, false]);
  assert.equal(read(Uint8Array.of(0xff)), null);
});

const line = (presentation, aps = {}) => ({
  type: "push", seq: 7, id: "x", topic: "com.example.news", app: { name: "News" }, received: "2026-11-27T18:00:00.000Z", presentation,
  payload: { aps: { alert: { body: "Encrypted message" }, "interruption-level": "active", sound: "default", ...aps }, web_push: { content: example.body, endpoint: "0123456789abcdef" } },
});
const message = { title: "A", body: "B", link: "https://a.example", badge: 3, isSilent: false };
const placeholder = { body: "Encrypted message", buttons: ["Close", "View"] };

test("parts that the gateway removed stay removed, and the preferences decide about the badge", () => {
  const parts = (presentation, preferences, more = {}) => opened(line(presentation), { ...message, ...more }, preferences).presentation;
  assert.deepEqual(parts({ alert: placeholder, sound: "default" }, { badge: true }), { badge: 3, sound: "default", alert: { ...placeholder, title: "A", subtitle: "", body: "B" } });
  assert.deepEqual(parts({ centre: placeholder, held: { by: "summary" } }, { badge: true }), { badge: 3, centre: { ...placeholder, title: "A", subtitle: "", body: "B" }, held: { by: "summary" } });
  assert.deepEqual(parts({}, { badge: true }), { badge: 3 });
  for (const preferences of [{}, null, { badge: false }, { notifications: false }, { apps: { "com.example.news": { badge: false } } }]) assert.equal(parts({}, preferences).badge, undefined);
  assert.equal(parts({}, { badge: true }, { badge: -1 }).badge, undefined);
  assert.equal(parts({ alert: placeholder, sound: "default" }, {}, { isSilent: true }).sound, undefined);
  assert.deepEqual(parts({ alert: placeholder, sound: "default" }, { badge: true }, { title: null, body: null }), { badge: 3 });
});

test("a line is opened with its keys, and stays as it is without them", async () => {
  const entry = { line: line({ alert: placeholder, sound: "default" }), data: "" };
  const keys = await exampleKeys();
  const found = await open(entry, {}, async () => keys);
  const push = readPush(found.line, found.data);
  assert.equal(push.alert.body, example.text);
  assert.deepEqual(push.alert.buttons, ["Close", "View"]);
  assert.deepEqual(JSON.parse(push.payload), { aps: { "interruption-level": "active", alert: { body: example.text }, sound: "default" } });
  for (const find of [async () => undefined, async () => ({ ...keys, app: "com.example.other" }), async () => { throw new Error("no database"); }]) {
    assert.equal(await open(entry, {}, find), entry);
  }
  const usual = { line: { type: "push", payload: { aps: {}, web_push: 1 } }, data: "" };
  assert.equal(await open(usual, {}, async () => keys), usual);
  const broken = { line: line({}), data: "" };
  broken.line.payload.web_push.content = "ü";
  assert.equal(await open(broken, {}, async () => keys), broken);
});

test("the tag of an endpoint is the beginning of the hash of its id", async () => {
  assert.equal(await tagOf("abc"), "ba7816bf8f01cfea");
});

test("a new endpoint has keys here, without the private one in the subscription, and none after its removal", async () => {
  const log = [];
  const gateway = {
    addEndpoint: async (body) => { log.push(body); return { name: body.name, id: "abc", url: "https://a.example/webpush/abc" }; },
    removeEndpoint: async (name) => { log.push(name); },
  };
  const subscription = await addEndpoint(gateway, { name: "blog", app: "com.example.news", origin: "https://a.example", vapid: "" });
  assert.deepEqual(log, [{ name: "blog", app: "com.example.news", origin: "https://a.example" }]);
  assert.equal(subscription.endpoint, "https://a.example/webpush/abc");
  assert.deepEqual([bytes(subscription.keys.p256dh).length, bytes(subscription.keys.auth).length], [65, 16]);
  const kept = await keysOf("ba7816bf8f01cfea");
  assert.deepEqual([kept.name, kept.app, kept.privateKey.extractable], ["blog", "com.example.news", false]);
  await removeEndpoint(gateway, "blog");
  assert.deepEqual(await allKeys(), []);
});

test("an endpoint without a place for its keys is removed again", async () => {
  const log = [];
  const gateway = { addEndpoint: async () => ({ id: "abc", url: "" }), removeEndpoint: async (name) => log.push(name) };
  globalThis.indexedDB = { open: () => { throw new Error("no room"); } };
  await assert.rejects(addEndpoint(gateway, { name: "blog", app: "a", origin: "https://a.example" }), /no room/);
  assert.deepEqual(log, ["blog"]);
});
