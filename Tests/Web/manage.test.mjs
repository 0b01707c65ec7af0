// The pages of objects in the lists of the console, with stand-ins for the document and the gateway: node --test Tests/Web
import assert from "node:assert/strict";
import { test } from "node:test";
import { install } from "./document.mjs";

install();
const load = (name) => import(new URL(`../../Sources/CWebPhone/console/${name}`, import.meta.url));
const { lists } = await load("manage.js");
const { restored, tables } = await load("preferences.js");
await load("view-list.js");
await load("view-status.js");

/** Lets the requests of a page end, which are answered at once. */
async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
}

/** The page of an object. `answers` has the answers of the gateway by their requests; the answer to another request is an empty object. */
async function pageOf(name, key, answers, may = () => true) {
  const page = document.createElement("console-list");
  const requests = [];
  const toasts = [];
  const addresses = [];
  globalThis.fetch = async (where, { method, body }) => {
    const asked = `${method} ${where.split("?")[0]}`;
    requests.push(body ? [asked, JSON.parse(body)] : [asked]);
    return new Response(JSON.stringify(answers[asked] ?? {}), { status: 200 });
  };
  page.app = Object.assign(document.createElement("push-console"), {
    may, toast: (words, undo) => toasts.push({ words, undo }), go: (hash) => addresses.push(hash), replace: (hash) => addresses.push(hash),
  });
  document.body.replaceChildren(page, page.app);
  page.open({ name, parts: key === undefined ? [] : [key], values: new URLSearchParams() });
  await settled();
  const of = (tag) => page.all.filter((one) => one.localName === tag);
  return {
    page, requests, toasts, addresses, answers, of,
    get buttons() { return of("button").map((one) => one.textContent); },
    /** The table with a title: its rows, each with its texts. */
    table: (title) => of("table").find((one) => one.getAttribute("aria-label") === title)?.querySelector("tbody").children.map((row) => row.children.map((cell) => cell.textContent)),
    field: (id) => page.app.all.find((one) => one.id === `field-${id}`),
    /** Carries out an action, with the values of its form. */
    async act(title, values = {}) {
      of("button").find((one) => one.textContent === title).dispatch("click");
      await settled();
      for (const [id, value] of Object.entries(values)) this.field(id).value = value;
      page.app.querySelector("form").dispatch("submit");
      await settled();
    },
    async undo() {
      await toasts.at(-1).undo();
      await settled();
    },
  };
}

const isReader = (role) => role === "reader";
const action = (name, title) => lists[name].actions.find((one) => one.title === title);

const person = { name: "ada", devices: ["my phone", "tablet"] };
const switches = { notifications: true, badge: true, sound: true, alert: true };
const preferences = {
  ...switches, sound: false, quiet: ["22:00-07:00"], focus: { work: ["com.example.mail"] },
  apps: {
    "com.example.mail": { ...switches, categories: {} },
    "com.example.news": { ...switches, delivery: "summary", categories: { SPORT: { alert: false } } },
  },
};
const ada = () => ({ "GET /admin/v1/persons": [person], "GET /admin/v1/persons/ada": person, "GET /admin/v1/devices/my%20phone/preferences": preferences });

test("the preferences of a user are a table, with one more for each app that differs from the defaults", () => {
  const [everything, ...apps] = tables(preferences);
  assert.deepEqual(everything.rows, [
    ["Allow Notifications", "On"], ["Badges", "On"], ["Sounds", "Off"], ["Alerts", "On"], ["Quiet Hours", "22:00-07:00"], ["Summary at", "default"],
    ["Marketing", "Off"], ["Texts in the Log", "Devices"], ["Focus “work” Lets Through", "com.example.mail"],
  ]);
  assert.deepEqual(apps.map(({ title, rows }) => [title, rows]), [["com.example.news", [["Deliver", "In the Summary"], ["SPORT: Alerts", "Off"]]]]);
});

test("a change of preferences is undone with all settings of its scope, except the one of the user alone", () => {
  const before = (more) => restored(preferences, { app: "", category: "", settings: "", ...more });
  assert.deepEqual(before({ settings: "sound=on\n focus.sleep=none\nfocus.work=off" }), [
    "marketing=off", "notifications=on", "badge=on", "sound=off", "alert=on", "quiet=22:00-07:00", "summary=default", "focus.work=com.example.mail", "focus.sleep=off",
  ]);
  assert.deepEqual(before({ app: "com.example.news", settings: "marketing=off" }), [
    "marketing=inherit", "notifications=on", "badge=on", "sound=on", "alert=on", "delivery=summary", "time-sensitive=off", "critical=off",
    "advertising=refuse", "budget=default", "provisional=keep",
  ]);
  assert.deepEqual(before({ app: "com.example.news", category: "SPORT" }), ["badge=inherit", "sound=inherit", "alert=off", "permission=new"]);
  assert.deepEqual(before({ app: "com.example.new", category: "NEW" }), ["badge=inherit", "sound=inherit", "alert=inherit", "permission=new"]);
});

test("the page of a user has the preferences, and links to the devices", async () => {
  const view = await pageOf("persons", "ada", ada());
  assert.deepEqual(view.table("Preferences")[2], ["Sounds", "Off"]);
  assert.deepEqual(view.table("com.example.news"), [["Deliver", "In the Summary"], ["SPORT: Alerts", "Off"]]);
  assert.deepEqual(view.of("a").map((one) => [one.textContent, one.href]).slice(0, 2), [["Device my phone", "#/devices/my%20phone"], ["Device tablet", "#/devices/tablet"]]);
  assert.deepEqual(view.buttons, ["Rename …", "Set Preferences …", "Remove …"]);
  assert.deepEqual((await pageOf("persons", "ada", ada(), isReader)).buttons, []);
});

test("a user without a device has no preferences to show or set", async () => {
  const view = await pageOf("persons", "bob", { "GET /admin/v1/persons": [{ name: "bob", devices: [] }], "GET /admin/v1/persons/bob": { name: "bob", devices: [] } });
  assert.deepEqual([view.buttons, view.of("table")], [["Rename …", "Remove …"], []]);
});

test("a renamed user is shown under the other name, and under the first one after Undo", async () => {
  const view = await pageOf("persons", "ada", ada());
  const renamed = { ...person, name: "Ada Lovelace" };
  Object.assign(view.answers, { "GET /admin/v1/persons": [renamed], "GET /admin/v1/persons/Ada%20Lovelace": renamed });
  await view.act("Rename …", { name: "Ada Lovelace" });
  assert.deepEqual(view.requests.find(([asked]) => asked.startsWith("POST")), ["POST /admin/v1/persons/ada/name", { name: "Ada Lovelace" }]);
  assert.deepEqual([view.of("h1")[0].textContent, view.addresses], ["Ada Lovelace", ["#/persons/Ada%20Lovelace"]]);
  view.answers["GET /admin/v1/persons"] = [person];
  await view.undo();
  assert.deepEqual(view.requests.findLast(([asked]) => asked.startsWith("POST")), ["POST /admin/v1/persons/Ada%20Lovelace/name", { name: "ada" }]);
  assert.deepEqual([view.of("h1")[0].textContent, view.addresses.at(-1)], ["ada", "#/persons/ada"]);
});

test("preferences are set for everything, an app or a category, and set back by Undo", async () => {
  const view = await pageOf("persons", "ada", ada());
  await view.act("Set Preferences …", { settings: "sound=on\n quiet=off \n", app: "", category: "" });
  const posts = () => view.requests.filter(([asked]) => asked.startsWith("POST"));
  assert.deepEqual(posts(), [["POST /admin/v1/devices/my%20phone/preferences", { settings: ["sound=on", "quiet=off"] }]]);
  await view.undo();
  assert.ok(posts()[1][1].settings.includes("sound=off") && posts()[1][1].settings.includes("quiet=22:00-07:00"));
  const { request, undo } = action("persons", "Set Preferences …");
  const values = { settings: "alert=on", app: "com.example.news", category: "SPORT" };
  assert.deepEqual(request(person, values)[2], { settings: ["alert=on"], app: "com.example.news", category: "SPORT" });
  assert.deepEqual(undo(person, values, preferences)[2], { settings: ["badge=inherit", "sound=inherit", "alert=off", "permission=new"], app: "com.example.news", category: "SPORT" });
});

const topic = "com.example.news";
const phone = { device: "B09BA7C2", name: "my phone", person: "ada", apps: [topic], registrations: [{ topic, environments: ["development"] }], waiting: 0, streams: 1 };
const channel = { id: "3pCzY5mgVQJ1bQ8WAm0LQQ==", topic, environment: "development" };
const device = () => ({
  "GET /admin/v1/devices": [phone], "GET /admin/v1/devices/my%20phone": phone, "GET /admin/v1/devices/my%20phone/channels": [channel],
  "GET /admin/v1/devices/my%20phone/registrations": [{ token: "7253", topic, environment: "development" }],
  "GET /admin/v1/channels": [channel, { ...channel, id: "BBBB", environment: "production" }, { ...channel, id: "CCCC", topic: "com.example.mail" }],
});
const subscriptions = "/admin/v1/channels/3pCzY5mgVQJ1bQ8WAm0LQQ%3D%3D/subscriptions";

test("the page of a device has its registrations with their tokens, and its subscriptions", async () => {
  const view = await pageOf("devices", "my phone", device());
  assert.deepEqual(view.table("Registrations"), [[topic, "development", "7253"]]);
  assert.deepEqual(view.table("Subscriptions"), [[channel.id, topic, "development"]]);
  assert.deepEqual(view.of("a").map((one) => one.href).slice(1, 3), ["#/replay?device=my+phone", "#/persons/ada"]);
  const none = await pageOf("devices", "my phone", { ...device(), "GET /admin/v1/devices/my%20phone/channels": [], "GET /admin/v1/devices/my%20phone/registrations": [] });
  assert.deepEqual(none.of("table"), []);
});

test("a device subscribes to a channel of its registrations, and Undo ends only a new subscription", async () => {
  const view = await pageOf("devices", "my phone", device());
  await view.act("Unsubscribe …", { channel: channel.id });
  const changes = () => view.requests.filter(([asked]) => !asked.startsWith("GET"));
  assert.deepEqual(changes(), [[`DELETE ${subscriptions}/my%20phone`]]);
  await view.undo();
  assert.deepEqual(changes()[1], [`POST ${subscriptions}`, { devices: ["my phone"] }]);
  const { request, undo, fields: [{ of }] } = action("devices", "Subscribe …");
  assert.deepEqual(request(phone, { channel: channel.id }), ["POST", subscriptions, { devices: ["my phone"] }]);
  assert.deepEqual([[], [channel]].map((before) => undo(phone, { channel: channel.id }, before)[0]), ["DELETE", "POST"]);
  assert.deepEqual(device()["GET /admin/v1/channels"].map((one) => of(one, phone)), [channel.id, "", ""]);
});

test("the form of a subscription offers the channels of the device's registrations", async () => {
  const view = await pageOf("devices", "my phone", device());
  view.of("button").find((one) => one.textContent === "Subscribe …").dispatch("click");
  await settled();
  assert.deepEqual(view.field("channel").children.map((one) => one.value), [channel.id]);
});

test("a new secret of a device is asked for, and shown once", async () => {
  const view = await pageOf("devices", "my phone", { ...device(), "POST /admin/v1/devices/my%20phone/secret": { name: "my phone", secret: "SECRET" } });
  await view.act("Rotate Secret …");
  assert.deepEqual(view.requests.filter(([asked]) => asked.startsWith("POST")), [["POST /admin/v1/devices/my%20phone/secret", {}]]);
  const shown = view.page.app.all.find((one) => one.localName === "pre");
  assert.equal(shown.textContent, "SECRET");
  const { confirm, role, undo } = action("devices", "Rotate Secret …");
  assert.deepEqual([/becomes invalid/.test(confirm), role, undo], [true, "admin", undefined]);
  const operator = await pageOf("devices", "my phone", device(), (one) => one !== "admin");
  assert.deepEqual(operator.buttons, ["Register …", "Unregister …", "Subscribe …", "Unsubscribe …"]);
});

const app = { topic, name: "News", icon: "N", policy_mode: "enforce", strict: false, ads: "off", marketing: false, team_id: "DEVTEAM001" };

test("a change of an app has its strictness, which Undo sets as before", () => {
  const { request, undo, fields } = action("apps", "Change …");
  const values = { name: "News", icon: "N", ads: "hold", policy_mode: "enforce", strict: "refuse" };
  assert.deepEqual(request(app, values), ["POST", "/admin/v1/apps", { topic, name: "News", icon: "N", ads: "hold", policy_mode: "enforce", strict: true }]);
  assert.equal(request(app, { ...values, strict: "report" })[2].strict, false);
  assert.deepEqual([app, { ...app, strict: true }].map((row) => [undo(row)[2].strict, fields.at(-1).from(row)]), [[false, "report"], [true, "refuse"]]);
});

test("new categories of an app start quiet or not, and nothing else of it changes", async () => {
  const { fields: [{ from }], undo } = action("apps", "New Categories …");
  assert.deepEqual([app, { ...app, known_categories: [] }].map(from), ["show", "quiet"]);
  // A later request with quiet makes the categories of that time known: it would not restore the earlier ones.
  assert.equal(undo, undefined);
  const view = await pageOf("apps", topic, { "GET /admin/v1/apps": [app], [`GET /admin/v1/apps/${topic}/categories`]: [] });
  await view.act("New Categories …", { new_categories: "quiet" });
  assert.deepEqual(view.requests.find(([asked]) => asked.startsWith("POST")), ["POST /admin/v1/apps", { topic, name: "News", new_categories: "quiet" }]);
  assert.equal(view.toasts.at(-1).words, "New categories of News: quiet");
  const { detailed } = lists.apps;
  assert.deepEqual([app, { ...app, known_categories: ["SPORT"] }].map((row) => detailed(row, []).new_categories), ["show", "quiet"]);
});

test("a key is imported from a text or a file, whose name has its id", async () => {
  const teams = { "GET /admin/v1/keys": [{ key_id: "ABC123DEFG", team_id: "DEVTEAM001", environment: "both" }], "GET /admin/v1/teams": [{ team_id: "DEVTEAM001" }] };
  const view = await pageOf("keys", undefined, { ...teams, "POST /admin/v1/keys": { key_id: "NEWKEY0001", team_id: "DEVTEAM001" } });
  view.of("button").find((one) => one.textContent === "Import …").dispatch("click");
  await settled();
  const choose = async (name, size) => {
    view.field("pem-file").dispatch("change", { target: { files: name ? [{ name, size, text: async () => `PEM of ${name}` }] : [] } });
    await settled();
  };
  const problem = () => view.page.app.withClass("error").map((one) => one.textContent);
  view.field("id").value = "TYPED";
  await choose("", 0);
  await choose("large.pem", 65_537);
  assert.deepEqual([view.field("pem").value, view.field("id").value], [undefined, "TYPED"]);
  assert.match(problem()[0], /large.pem has 65537 bytes: choose a text of at most 65536/);
  await choose("public.pem", 178);
  assert.deepEqual([view.field("pem").value, view.field("id").value, problem()], ["PEM of public.pem", "TYPED", []]);
  await choose("AuthKey_NEWKEY0001.p8", 258);
  assert.deepEqual([view.field("pem").value, view.field("id").value], ["PEM of AuthKey_NEWKEY0001.p8", "NEWKEY0001"]);
  for (const [name, value] of [["team", "DEVTEAM001"], ["environment", ""], ["topics", "a b"], ["related", "ABC123DEFG"]]) view.field(name).value = value;
  view.page.app.querySelector("form").dispatch("submit");
  await settled();
  assert.deepEqual(view.requests.find(([asked]) => asked.startsWith("POST")), ["POST /admin/v1/keys", {
    team: "DEVTEAM001", topics: ["a", "b"], related: "ABC123DEFG", id: "NEWKEY0001", pem: "PEM of AuthKey_NEWKEY0001.p8\n",
  }]);
  assert.equal(view.toasts.at(-1).words, "Imported NEWKEY0001");
  assert.deepEqual((await pageOf("keys", undefined, teams, (role) => role !== "admin")).buttons, []);
});

/** A reading of the figures that the gateway has kept, some minutes ago. */
const reading = (minutes, accepted) => ({
  at: new Date(Date.now() - minutes * 60_000).toISOString(), accepted, delivered: accepted, refused: 0, pending: 0, connections: 2, bounds: [0.001, 0.01], counts: [accepted, 0, 0],
});
const kept = [reading(3, 0), reading(2, 60), reading(1, 120)];

/** The names and values that the page of the status shows, with the status of the gateway. */
async function factsOf(status) {
  Object.assign(document, { visibilityState: "hidden", addEventListener() {}, removeEventListener() {}, createElementNS: (_, tag) => document.createElement(tag) });
  const end = Math.floor(Date.now() / 1000) + 45.5 * 86_400;
  const answers = {
    "/admin/v1/metrics": `pushgateway_certificate_expiry_timestamp_seconds{certificate="server"} ${end}\n`, "/admin/v1/status": JSON.stringify(status),
    "/admin/v1/metrics/history": JSON.stringify(kept), "/v1/health": JSON.stringify({ status: "ready", problems: [] }),
  };
  globalThis.fetch = async (where) => new Response(answers[where], { status: 200 });
  const page = document.createElement("console-status");
  page.app = {};
  document.body.replaceChildren(page);
  page.connectedCallback();
  page.open();
  await settled();
  const texts = (tag) => page.all.filter((one) => one.localName === tag).map((one) => one.textContent);
  const values = texts("dd");
  return Object.fromEntries(texts("dt").map((name, index) => [name, values[index]]));
}

test("the status has the days, the names and the issuer of the gateway's certificate, and the fingerprint of its CA", async () => {
  const certificate = { names: ["localhost", "push.example.com"], addresses: ["127.0.0.1"], issuer: "PushGateway local CA", expires: "2028-11-27T18:00:00.000Z" };
  const facts = await factsOf({ environment: "development", listening: [], certificate, authority: "0123456789ABCDEF" });
  assert.equal(facts["Certificate server"], "ends in 45 days");
  assert.equal(facts["Names of the certificate"], "localhost, push.example.com, 127.0.0.1");
  assert.equal(facts["Issuer of the certificate"], "PushGateway local CA");
  assert.equal(facts["Fingerprint of the CA"], "0123-4567-89AB-CDEF");
  // The charts begin with the figures that the gateway has kept: before the metrics of this visit.
  const [path] = document.body.all.filter((one) => one.localName === "path" && one.getAttribute("class") === "line line-0");
  assert.equal(path.getAttribute("d").split("L").length, 3);
  const verified = await factsOf({ environment: "development", listening: [], certificate, authority: "0".repeat(16) });
  assert.equal(verified["Fingerprint of the CA"], "none: the CAs of the system verify the certificate");
  const without = await factsOf({ environment: "development", listening: [] });
  assert.deepEqual(Object.keys(without).filter((name) => /of the/.test(name)), []);
});
