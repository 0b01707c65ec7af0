// Encrypted messages, and a worker that the browser ends before a notification: node --test Tests/Web
import assert from "node:assert/strict";
import { test } from "node:test";
import { databases, message, start } from "./closed.mjs";
import { bytes, example, exampleKeys, seal } from "./example.mjs";

const folder = new URL("../../Sources/CWebPhone/phone/", import.meta.url);
const closed = await import(new URL("closed.js", folder));
const { keysOf } = await import(new URL("webpush.js", folder));

// Encrypted Web Push messages

const placeholder = { alert: { title: "", subtitle: "", body: "Encrypted message", buttons: ["Close", "View"] }, sound: "default" };
const tag = "0123456789abcdef";

/** The message about a push with an encrypted text, without its content. */
const encrypted = (id, preferences = { badge: true }) => message(id, placeholder, {
  preferences, payload: { aps: { "interruption-level": "active", sound: "default" }, web_push: { endpoint: tag } },
});

/** Stores the keys of an endpoint in this browser. */
async function storeKeys(keys) {
  await keysOf(tag);
  databases.databases.get("phone-endpoints").get("keys").records.set(tag, { tag, ...keys });
}

test("the worker decrypts a message with the keys of the endpoint", async () => {
  await storeKeys(await exampleKeys());
  const worker = await start();
  await worker.push(encrypted("A"), bytes(example.body));
  const one = worker.notifications.get("A");
  assert.deepEqual([one.title, one.body, one.silent], ["News", example.text, false]);
});

test("without the keys, the content or a valid record, the text is that of the gateway", async () => {
  const worker = await start();
  await worker.push(encrypted("no-keys"), bytes(example.body));
  const keys = await exampleKeys();
  await storeKeys({ ...keys, app: "com.example.other" });
  await worker.push(encrypted("other-app"), bytes(example.body));
  await storeKeys(keys);
  const changed = bytes(example.body);
  changed[changed.length - 1] ^= 1;
  await worker.push(encrypted("changed"), changed);
  await worker.push(encrypted("no-content"));
  assert.deepEqual([...worker.notifications.values()].map(({ body }) => body), Array(4).fill("Encrypted message"));
});

test("the preferences decide about the badge of a decrypted message", async () => {
  const keys = await exampleKeys();
  await storeKeys(keys);
  const worker = await start();
  const content = await seal(JSON.stringify({ title: "Backup", body: "Done", app_badge: 3, silent: true }), keys);
  await worker.push(encrypted("A"), content);
  await worker.push(encrypted("B", { badge: false }), content);
  assert.deepEqual(worker.log.filter(([name]) => name === "badge"), [["badge", 3]]);
  const one = worker.notifications.get("B");
  assert.deepEqual([one.title, one.body, one.silent], ["Backup", "Done", true]);
});

test("a decrypted badge alone shows a notification only in a browser that requires one", async () => {
  const keys = await exampleKeys();
  await storeKeys(keys);
  const content = await seal(JSON.stringify({ web_push: 8030, notification: { title: "" }, app_badge: 3 }), keys);
  for (const [agent, bodies] of [["Chrome/120", []], ["Safari/17", ["Encrypted message"]]]) {
    const worker = await start({ agent });
    await worker.push(encrypted(agent), content);
    assert.deepEqual(worker.log[0], ["badge", 3]);
    assert.deepEqual([...worker.notifications.values()].map(({ body }) => body), bodies);
  }
});

// A worker that the browser ends

const shownTags = (worker) => worker.log.filter(([name]) => name === "shown").map(([, one]) => one);

test("a push that an ended worker has claimed and not shown is shown by the next worker, once", async () => {
  const ended = await start();
  await ended.end(message("A", { sound: "default" }));
  assert.equal(ended.notifications.size, 0);
  const next = await start();
  await next.push(message("B"));
  assert.deepEqual(next.log.at(-1)[2].map(({ id }) => id), ["A", "B"]);
  for (const id of ["A", "C"]) await next.push(message(id));
  assert.deepEqual(shownTags(next), ["A", "B", "C"]);
  assert.equal(next.notifications.get("A").silent, false);
  assert.deepEqual([...await closed.claim(["A", "D"])], ["A"]);
});

test("the second copy of a push that an ended worker has claimed shows it once", async () => {
  await (await start()).end(message("A"));
  const next = await start();
  for (let times = 0; times < 2; times += 1) await next.push(message("A"));
  assert.deepEqual(shownTags(next), ["A"]);
});

test("a push that an ended worker has shown and not marked is not shown again", async () => {
  const ended = await start();
  await ended.end(message("A"), "afterShowing");
  const next = await start({ shown: ended.notifications });
  await next.push(message("B"));
  assert.deepEqual(shownTags(next), ["B"]);
  assert.deepEqual(next.log.at(-1)[2].map(({ id }) => id), ["A", "B"]);
});

test("the page has a push that an ended worker has claimed and not shown", async () => {
  await (await start()).end(message("A"));
  const next = await start();
  assert.deepEqual([...await closed.claim(["A"])], []);
  for (const id of ["A", "B"]) await next.push(message(id));
  assert.deepEqual(shownTags(next), ["B"]);
});

test("a push that is no longer pending is not shown after the page has received all others", async () => {
  await (await start()).end(message("A"));
  const next = await start();
  await closed.settle();
  for (const id of ["A", "B"]) await next.push(message(id));
  assert.deepEqual(shownTags(next), ["B"]);
});

test("a retracted push that an ended worker has claimed is not shown", async () => {
  await (await start()).end(message("A"));
  const next = await start();
  await next.push({ type: "retract", id: "A" });
  await next.push(message("A"));
  assert.deepEqual(next.log, []);
});

test("a click on a notification shows the pushes that an ended worker has claimed, without its own", async () => {
  const ended = await start();
  await ended.push(message("A"));
  await ended.end(message("B"));
  const next = await start({ shown: ended.notifications });
  await next.dispatch("notificationclick", { notification: next.notifications.get("A"), action: "close" });
  assert.deepEqual(shownTags(next), ["B"]);
  assert.deepEqual([...next.notifications.keys()], ["B"]);
});

test("a late push that can't be shown does not delay the others", async () => {
  await (await start()).end(message("A"));
  const next = await start();
  next.state.showing = () => {
    next.state.showing = null;
    throw new TypeError("there is no permission");
  };
  await assert.rejects(next.push(message("B")), /no permission/);
  assert.deepEqual(shownTags(next), ["B"]);
});
