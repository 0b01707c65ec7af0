// The views and the requests of the console with stand-ins for the browser: node --test Tests/Web
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { settled, standInDocument, standInNetwork } from "./page.mjs";

const create = standInDocument();
const folder = new URL("../../Sources/CWebPhone/console/", import.meta.url);
const load = (name) => import(new URL(name, folder));
await Promise.all(["view-activity.js", "view-reports.js"].map(load));
const { api, condition } = await load("api.js");

let requests;
beforeEach(() => { requests = standInNetwork(); });

const last = () => requests.at(-1);
const row = (number) => ({ number, at: "2026-11-27T18:00:00.000Z", event: "accepted", id: "ID", topic: "com.example.news" });

/** An activity with one row of a filter in its list, and older rows at the gateway. */
async function activity(filter) {
  const view = create("console-activity");
  view.app = {};
  view.connectedCallback();
  await last().answer([]);
  await show(view, filter);
  return view;
}

/** Opens the activity with a filter, and answers its first requests. */
async function show(view, filter) {
  view.open({ values: new URLSearchParams({ q: filter }) });
  await last().answer({ after: 100 });
  await last().answer({ rows: [row(101)], next: 101 });
}

const numbers = (view) => view.rows.map(({ number }) => number);

test("older rows are put before the others", async () => {
  const view = await activity("app:a");
  const end = view.more.click();
  assert.equal(last().path, "/admin/v1/log?app=a&before=101&limit=1000");
  last().answer([row(7), row(8)]);
  await end;
  assert.deepEqual([numbers(view), view.more.disabled, view.more.hidden], [[7, 8, 101], false, true]);
});

test("older rows are not put before a list that has lost its oldest rows", async () => {
  const view = await activity("app:a");
  const end = view.more.click();
  const [following, older] = requests.slice(-2);
  await following.answer({ rows: Array.from({ length: 20_000 }, (_, index) => row(102 + index)), next: 20_101 });
  older.answer([row(7), row(8)]);
  await end;
  assert.deepEqual([numbers(view)[0], view.rows.length, view.more.hidden], [5102, 15_000, false]);
});

test("older rows of an earlier filter are not in the list of the next one", async () => {
  const view = await activity("app:a");
  const end = view.more.click();
  const older = last();
  await show(view, "app:b");
  older.answer([row(7), row(8)]);
  await end;
  assert.deepEqual([numbers(view), view.more.disabled, view.more.hidden], [[101], false, false]);
  view.more.click();
  assert.equal(last().path, "/admin/v1/log?app=b&before=101&limit=1000");
});

test("a failure to read older rows of an earlier filter is not shown with the next one", async () => {
  const view = await activity("app:a");
  const end = view.more.click();
  const older = last();
  await show(view, "app:b");
  older.answer({ detail: "the log can't be read" }, 500);
  await end;
  assert.equal(view.problem.textContent, "");
  assert.match(view.status.textContent, /^Live/);
});

test("a second click on Load Older reads no page twice", async () => {
  const view = create("console-reports");
  view.app = {};
  const page = (first) => Array.from({ length: 500 }, (_, index) => ({ number: first + index, at: "2026-11-27T18:00:00.000Z", id: "ID" }));
  view.open({ values: new URLSearchParams() });
  await last().answer(page(1001));
  const more = () => view.all.find((one) => one.type === "button" && one.textContent === "Load Older");
  const clicks = [more().click(), more().click()];
  assert.deepEqual(requests.slice(1).map(({ path }) => path), ["/admin/v1/ads/reports?limit=500&before=1001"]);
  last().answer(page(501));
  await Promise.all(clicks);
  assert.match(view.textContent, /1000 reports/);
  more().click();
  assert.equal(last().path, "/admin/v1/ads/reports?limit=500&before=501");
});

test("the health is its problems, and unknown in an answer without a list of them", async () => {
  const words = async (content, status) => {
    const health = api.health();
    if (content === null) last().fail(); else last().answer(content, status);
    const { isGood, words: said } = condition(await health);
    return [isGood, said];
  };
  assert.deepEqual(await words({ status: "ready", problems: [] }), [true, "Ready"]);
  const problem = { part: "mailbox", problem: "the disk is full", since: 1_000_000_000 };
  assert.deepEqual(await words({ problems: [problem] }, 503), [false, "1 problem: mailbox: the disk is full"]);
  assert.deepEqual(await words({ problems: [problem, { ...problem, part: "database" }] }, 503), [false, "2 problems: mailbox: the disk is full; database: the disk is full"]);
  assert.deepEqual(await words({ detail: "the gateway is overloaded" }, 503), [false, "Unknown: The gateway is overloaded."]);
  assert.deepEqual(await words("<html>", 502), [false, "Unknown: The gateway answered with 502 and without its health."]);
  assert.deepEqual(await words("null"), [false, "Unknown: The gateway answered with 200 and without its health."]);
  assert.deepEqual(await words({ problems: "none", detail: 7 }), [false, "Unknown: The gateway answered with 200 and without its health."]);
  assert.deepEqual(await words(null), [false, "Unknown: The gateway does not answer."]);
});

/** Signs in with a code, and loses the first answer. Returns the end of it; the second attempt is the last request. */
async function signInAgain(t) {
  // The pause before the second attempt ends at once.
  t.mock.method(globalThis, "setTimeout", (body) => setImmediate(body));
  const end = api.signIn("CODE").catch((error) => error);
  await last().fail();
  await settled();
  assert.deepEqual(requests.map(({ method, body }) => [method, body]), [["POST", '{"code":"CODE"}'], ["POST", '{"code":"CODE"}']]);
  return () => end;
}

const used = { detail: "the link was used" };

test("a repeated sign-in with a used code returns the session that the first attempt began", async (t) => {
  const end = await signInAgain(t);
  await last().answer(used, 410);
  assert.deepEqual([last().method, last().path], ["GET", "/console/session"]);
  last().answer({ who: "ada", role: "reader" });
  assert.deepEqual(await end(), { who: "ada", role: "reader" });
});

test("a repeated sign-in without a session has the refusal of the code", async (t) => {
  const end = await signInAgain(t);
  await last().answer(used, 410);
  last().answer({ detail: "there is no session" }, 401);
  const error = await end();
  assert.deepEqual([error.status, error.message], [410, "The link was used."]);
});

test("a refusal of the first attempt does not read the session", async () => {
  const end = api.signIn("CODE");
  last().answer(used, 410);
  await assert.rejects(end, /The link was used/);
  assert.equal(requests.length, 1);
});
