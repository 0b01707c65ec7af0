// The logic of the device in a browser, without a browser: node --test Tests/Web
import assert from "node:assert/strict";
import { test } from "node:test";

const folder = new URL("../../Sources/CWebPhone/phone/", import.meta.url);
const load = (name) => import(new URL(name, folder));

const { EventParser, Backoff, place, readLine } = await load("lines.js");
const { apply, badgeSum, changesBy, dueSnoozed, headline, isLink, limits, newState, offersUnsubscribing, readPush, undecidedCategory, unreadCount } = await load("state.js");
const alerts = await load("alerts.js");
const { finder, offsets, range, rows } = await load("center.js");
const { answerWords, day, days, exact, fileSize, history, hue, moment, plain, reasons } = await load("words.js");
const { assignment, caption, deviceChange, groups, override, quietUntil } = await load("preferences.js");
const { bindings, commandOf } = await load("keys.js");
const { notice } = await load("notices.js");
const { Steps } = await load("undo.js");

/** A line of a push, as the gateway sends it. */
function line(seq, presentation = {}, more = {}) {
  return {
    type: "push", seq, id: `ID-${seq}`, topic: "com.example.news", app: { name: "News", icon: "N" },
    received: "2026-01-02T03:04:05.000Z", presentation, payload: { aps: {} }, ...more,
  };
}

const alert = (title, more = {}) => ({ alert: { title, subtitle: "", body: "", buttons: ["Close", "View"], ...more } });

/** Freezes a value with all its members: a change is kept without a copy. */
function frozen(value) {
  if (value && typeof value === "object") Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

/** Applies lines of the gateway one after another. */
function take(state, ...lines) {
  for (const one of lines) for (const change of changesBy(one, state, JSON.stringify(one))) apply(state, frozen(change));
  return state;
}

const filled = (...lines) => take(newState(), ...lines);

test("events are read in any pieces", () => {
  const text = 'id: e:1\ndata: {"type":"push"}\n\ndata: a\ndata: b\n\n: comment\n\nid: 2\n\ndata:c\n\n';
  const whole = new EventParser().push(text);
  assert.deepEqual(whole, [{ id: "e:1", data: '{"type":"push"}' }, { id: null, data: "a\nb" }, { id: null, data: "c" }]);
  for (let size = 1; size < 9; size += 1) {
    const parser = new EventParser();
    const events = [];
    for (let start = 0; start < text.length; start += size) events.push(...parser.push(text.slice(start, start + size)));
    assert.deepEqual(events, whole);
  }
});

test("a line without an end is given up", () => {
  assert.throws(() => new EventParser().push("x".repeat((4 << 20) + 1)));
});

test("lines that are no objects with a type are ignored", () => {
  for (const text of ["", "null", "[]", "1", '"a"', "{", '{"type":1}']) assert.equal(readLine(text), null);
  assert.deepEqual(readLine('{"type":"new"}'), { type: "new" });
  assert.deepEqual(changesBy({ type: "new" }, newState(), ""), []);
  assert.deepEqual(changesBy({ type: "constructor" }, newState(), ""), []);
  assert.deepEqual(apply(newState(), { type: "toString" }), newState());
});

test("the position has the numbering, if there is one", () => {
  assert.equal(place(null, 0), null);
  assert.equal(place(null, 7), "7");
  assert.equal(place("abc", 7), "abc:7");
});

test("pauses double up to a minute and start again", () => {
  const backoff = new Backoff(() => 1);
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7, 8].map(() => backoff.next()), [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  backoff.reset();
  assert.equal(backoff.next(), 1000);
  assert.equal(new Backoff(() => 0).next(), Backoff.shortest);
});

test("a push is in the center, on the icon and in the queue, once", () => {
  const state = filled(line(1, { badge: 3, sound: "bell", ...alert("Title") }));
  take(state, line(1, { badge: 9, ...alert("Title") }));
  assert.equal(state.cursor, 1);
  assert.equal(state.entries.length, 1);
  assert.equal(state.alerts.length, 1);
  assert.equal(badgeSum(state), 3);
  assert.equal(unreadCount(state), 1);
  take(state, line(2, { badge: 0 }));
  assert.equal(badgeSum(state), 0);
  assert.equal(headline(state.entries[1].push), "Badge removed");
});

test("a push that was not stored is shown, and one that shows nothing is only counted", () => {
  const state = filled(line(5, {}), line(0, alert("Now")), line(0, alert("Again")));
  assert.equal(state.cursor, 5);
  assert.deepEqual(state.entries.map(({ push }) => push.alert.title), ["Now", "Again"]);
});

test("a collapsed push takes the place of the earlier one", () => {
  const state = filled(line(1, alert("One"), { collapse: "a" }), line(2, alert("Two")), line(3, alert("Three"), { collapse: "a" }));
  assert.deepEqual(state.entries.map(({ push }) => push.alert.title), ["Two", "Three"]);
  assert.deepEqual(state.alerts.map(({ push }) => push.alert.title), ["Three", "Two"]);
});

test("the history and the queue have limits", () => {
  const state = newState();
  for (let seq = 1; seq <= limits.entries + 3; seq += 1) take(state, line(seq, alert(`Title ${seq}`)));
  assert.equal(state.entries.length, limits.entries);
  assert.equal(state.entries[0].push.seq, 4);
  assert.equal(state.alerts.length, limits.alerts);
  assert.equal(state.alerts[0].push.seq, 1, "the alert on screen stays");
});

test("a new numbering brings known pushes again without showing them again", () => {
  const state = filled({ type: "welcome", apps: [], epoch: "a" }, line(9, alert("One")));
  take(state, { type: "welcome", apps: [], epoch: "b" });
  assert.equal(state.cursor, 0);
  take(state, line(4, alert("One"), { id: "ID-9" }), line(5, alert("Two")));
  assert.deepEqual(state.entries.map(({ push }) => push.alert.title), ["One", "Two"]);
  assert.equal(state.cursor, 5);
});

test("an answer is kept until the gateway confirms it", () => {
  const state = filled(line(1, alert("One")));
  apply(state, alerts.answer(alerts.group(state.alerts), "view"));
  assert.deepEqual([state.alerts.length, state.entries[0].isRead], [0, true]);
  assert.deepEqual(state.pending, [{ id: "ID-1", action: "view" }]);
  take(state, { type: "answered", id: "ID-2" });
  assert.equal(state.pending.length, 1);
  take(state, { type: "answered", id: "ID-1", action: "close" });
  assert.equal(state.pending.length, 0);
});

test("the first answer of a browser counts", () => {
  const state = filled(line(1, alert("One")), line(2, alert("Two")));
  const [first] = state.alerts;
  apply(state, alerts.answer([first], "view"));
  apply(state, alerts.answer([first], "close"));
  assert.deepEqual(state.pending, [{ id: "ID-1", action: "view" }]);
  assert.deepEqual(state.alerts.map(({ push }) => push.id), ["ID-2"]);
});

test("an answer on a notification of the worker holds for the push that arrives later", () => {
  const state = filled(line(1, alert("One")));
  for (let times = 0; times < 2; times += 1) apply(state, frozen({ type: "settled", id: "ID-2", action: "view", isRead: true }));
  assert.deepEqual(state.pending, [{ id: "ID-2", action: "view" }]);
  take(state, line(2, alert("Two")), line(3, alert("Three")));
  assert.deepEqual(state.alerts.map(({ push }) => push.id), ["ID-1", "ID-3"]);
  assert.deepEqual(state.entries.map(({ push, isRead }) => [push.id, isRead]), [["ID-1", false], ["ID-2", true], ["ID-3", false]]);
  assert.deepEqual(state.settled, []);
  // The page may have the push already: then its alert is answered.
  apply(state, frozen({ type: "settled", id: "ID-3", action: "close", isRead: false }));
  apply(state, frozen({ type: "settled", id: "ID-3", action: "view", isRead: true }));
  assert.deepEqual(state.alerts.map(({ push }) => push.id), ["ID-1"]);
  assert.deepEqual(state.pending.at(-1), { id: "ID-3", action: "close" });
});

test("the notifications of a closed page are a setting of the device", () => {
  const state = filled();
  const [own] = groups(state)[0].rows.filter(({ name }) => name === "device.closed");
  assert.equal(own.value, "off");
  apply(state, deviceChange(own, "on"));
  assert.equal(groups(state)[0].rows.find(({ name }) => name === "device.closed").value, "on");
});

test("entries and alerts are replaced, never changed in place", () => {
  const state = filled(line(1, alert("One")), line(2, alert("Two")), line(3, alert("Three")));
  const [entries, queued] = [state.entries.map(frozen), state.alerts.map(frozen)];
  apply(state, { type: "presented", ordinals: [1] });
  apply(state, { type: "read", ordinals: [1] });
  take(state, { type: "retract", id: "ID-2", action: "approve", person: "ann" });
  assert.deepEqual([state.alerts[0].isPresented, state.entries[0].isRead, state.entries[1].isRead], [true, true, true]);
  assert.deepEqual([queued[0].isPresented, entries[0].isRead, entries[1].answer], [false, false, null]);
  assert.equal(state.entries[2], entries[2], "an entry without a change is the same");
});

test("a retracted push leaves the screen, and one that its sender retracted leaves the center, too", () => {
  const state = filled(line(1, alert("One")), line(2, alert("Two")), line(3, alert("Three")));
  take(state, { type: "retract", id: "ID-1", action: "approve", person: "ann" }, { type: "retract", id: "ID-2", topic: "com.example.news" });
  assert.deepEqual(state.alerts.map(({ push }) => push.id), ["ID-3"]);
  assert.deepEqual(state.entries.map(({ push }) => push.id), ["ID-1", "ID-3"]);
  assert.equal(answerWords(state.entries[0]), "Answered “approve” by ann");
  take(state, { type: "retract", id: "ID-3", action: "close", device: "phone" });
  assert.equal(state.entries[1].answer, null, "Close is no answer to a question");
});

test("evicted pushes are counted until the person notes them", () => {
  const state = filled({ type: "gap", from: 1, to: 40, dropped: 40 }, { type: "gap", dropped: "x" });
  assert.deepEqual([state.dropped, state.cursor], [40, 40]);
  apply(state, { type: "gapNoted" });
  assert.equal(state.dropped, 0);
});

test("cleared entries return in their order", () => {
  const state = filled(line(1, alert("1")), line(2, alert("2")), line(3, alert("3")));
  const entries = [state.entries[1]];
  apply(state, { type: "cleared", ordinals: [2] });
  apply(state, { type: "restored", entries });
  apply(state, { type: "restored", entries });
  assert.deepEqual(state.entries.map(({ ordinal }) => ordinal), [1, 2, 3]);
});

test("apps keep their badges, and unregistered ones leave the home screen", () => {
  const state = filled(line(1, { badge: 2 }), { type: "welcome", apps: [{ topic: "com.example.news", name: "Newer" }, { topic: 5 }] });
  assert.deepEqual(state.apps, [{ topic: "com.example.news", name: "Newer", icon: "", marketing: false, badge: 2 }]);
  take(state, { type: "welcome", apps: [] });
  assert.deepEqual(state.apps, []);
});

test("the standing of an app is a row of its settings", () => {
  const standing = { presented: 1000, viewed: 100, closed: 700, reported: 4, unsubscribed: 2, summary_until: "2026-12-25T08:00:00Z" };
  const state = filled({ type: "welcome", apps: [{ topic: "t", name: "T", standing }, { topic: "u", standing: { presented: -1 } }, { topic: "v", standing: 5 }] });
  const rows = groups(state).flatMap((group) => group.rows).filter(({ name }) => name === "standing");
  assert.deepEqual(rows.map(({ app, value }) => [app, value]), [["t", "In the summary until 2026-12-25"], ["u", "0 alerts, 0 reported"]]);
  assert.match(rows[0].help, /1000 alerts in 28 days: 100 viewed, 700 closed, 4 reported, 2 unsubscribed/);
});

test("values of wrong types do not reach the screen", () => {
  assert.equal(readPush({ type: "push", seq: -1, id: "a", topic: "b" }), null);
  assert.equal(readPush({ type: "push", seq: 1, id: 5, topic: "b" }), null);
  assert.deepEqual(changesBy({ type: "push", seq: 8, id: null }, newState(), ""), [{ type: "passed", seq: 8 }]);
  const push = readPush(line(1, {
    badge: "7", sound: 3, alert: { title: {}, body: "b".repeat(50_000), buttons: [1, "A", "B", "C"], actions: [null, { id: "x" }] },
  }, { payload: { url: "javascript:alert(1)", link: "https://a b", other: "https://example.com/ok", aps: null } }));
  assert.deepEqual([push.badge, push.sound, push.alert.title, push.alert.body.length], [null, null, "", 20_000]);
  assert.deepEqual([push.alert.buttons, push.alert.actions, push.link], [["A", "B"], [], "https://example.com/ok"]);
});

test("only a complete description in a payload is an attachment", () => {
  const id = "0123456789abcdef".repeat(2);
  const read = (attachment) => readPush(line(1, alert("T"), { payload: { attachment } })).attachment;
  assert.deepEqual(read({ id, name: "report.txt", type: "text/plain", size: 12_345 }), { id, name: "report.txt", size: 12_345 });
  assert.deepEqual(read({ id, name: "..\u202e/a\nb", size: 0 }), { id, name: "..ab", size: 0 });
  assert.equal(read({ id, name: {}, size: 1 }).name, "attachment");
  for (const other of [null, "https://a.example", [], { id: "../device", name: "a", size: 1 }, { id: [id], name: "a", size: 1 },
    { id, name: "a", size: -1 }, { id, name: "a" }]) assert.equal(read(other), null);
  assert.deepEqual([0, 999, 1000, 12_345, 1 << 20].map(fileSize), ["0 bytes", "999 bytes", "1 KB", "12 KB", "1 MB"]);
});

test("a text of which nothing is visible is none", () => {
  for (const blank of ["\u200b\u200b", " \n", "\u202e", "\u3164", "\u200d\ufe0f"]) {
    const push = readPush(line(1, alert(blank, { body: "Body", buttons: [blank, blank], actions: [{ id: "yes", title: blank }] }), { app: { name: blank, icon: blank } }));
    assert.equal(headline(push), "Body");
    assert.deepEqual([push.app.name, push.app.icon, push.alert.buttons, push.alert.actions[0].title], ["com.example.news", "", ["Close", "View"], "yes"]);
    assert.deepEqual(readPush(line(1, alert("T", { buttons: [blank] }))).alert.buttons, ["OK"]);
    assert.equal(headline(readPush(line(1, { badge: 2, ...alert(blank) }))), "Badge 2");
  }
});

test("only http and https are links", () => {
  for (const text of ["https://example.com", "http://localhost:80/a?b#c"]) assert.ok(isLink(text));
  for (const text of ["javascript:alert(1)", " https://a", "https://a\n", "https://", "ftp://a", "data:text/html,a", null, 3,
    `https://${"a".repeat(2000)}`, "HTTPS://é"]) assert.ok(!isLink(text), String(text));
});

test("alerts of one app are shown together; questions and urgent ones alone", () => {
  const question = { actions: [{ id: "yes", title: "Yes" }, { id: "no", title: "No", destructive: true }] };
  const state = filled(line(1, alert("1")), line(2, alert("2", question)), line(3, alert("3")),
    line(4, alert("4"), { topic: "com.example.mail", app: { name: "Mail" } }),
    line(5, alert("5"), { payload: { aps: { "interruption-level": "critical" } } }));
  const members = alerts.group(state.alerts);
  assert.deepEqual(members.map(({ ordinal }) => ordinal), [1, 3]);
  assert.deepEqual(alerts.choices(members).map(({ title }) => title), ["Close All", "View"]);
  assert.equal(alerts.answer(members, "close").isRead, false);
  const rest = state.alerts.slice(1);
  assert.deepEqual(alerts.group(rest).map(({ ordinal }) => ordinal), [2]);
  assert.deepEqual(alerts.choices(alerts.group(rest)).map(({ id }) => id), ["close", "options"]);
  assert.deepEqual(alerts.sheetChoices(rest[0]).map(({ id }) => id), ["no", "yes"]);
  assert.deepEqual(alerts.closeChoices(state.alerts).map(({ id, alerts: list }) => [id, list.length]), [["all", 5], ["group", 2], ["plain", 3]]);
  assert.ok(alerts.offersCloseAll(state.alerts));
  assert.ok(!alerts.offersCloseAll(state.alerts.slice(0, 1)));
});

test("a snoozed alert is shown again after its time, with its actions", () => {
  const question = { actions: [{ id: "yes", title: "Yes" }] };
  const state = filled(line(1, alert("1", question)), line(2, alert("2")));
  apply(state, frozen({ type: "snoozed", ordinals: [1], until: 5000 }));
  assert.deepEqual(state.alerts.map(({ ordinal }) => ordinal), [2]);
  assert.deepEqual(state.entries.map(({ isRead }) => isRead), [false, false]);
  assert.deepEqual(dueSnoozed(state, 4999), []);
  assert.deepEqual(dueSnoozed(state, 5000).map(({ ordinal }) => ordinal), [1]);
  for (let times = 0; times < 2; times += 1) apply(state, frozen({ type: "woken", ordinals: [1] }));
  assert.deepEqual(state.alerts.map(({ ordinal, isPresented }) => [ordinal, isPresented]), [[2, false], [1, false]]);
  assert.deepEqual(alerts.sheetChoices(state.alerts[1]).map(({ id }) => id), ["yes"]);
  assert.deepEqual(state.snoozed, []);
});

test("an entry that was only kept in the center can be shown as an alert", () => {
  const state = filled(line(1, { center: alert("1").alert }), line(2, { badge: 1 }));
  apply(state, { type: "snoozed", ordinals: [1, 2, 3], until: 0 });
  apply(state, { type: "woken", ordinals: [1, 2, 3] });
  assert.deepEqual(state.alerts.map(({ ordinal }) => ordinal), [1]);
  assert.deepEqual(alerts.choices(alerts.group(state.alerts)).map(({ id }) => id), ["close", "view"]);
});

test("a snoozed alert that ended is not shown again", () => {
  const first = line(1, alert("1"), { collapse: "score" });
  for (const end of [
    (state) => take(state, { type: "retract", id: "ID-1" }),
    (state) => take(state, { type: "retract", id: "ID-1", topic: "com.example.news" }),
    (state) => take(state, line(2, { badge: 1 }, { collapse: "score" })),
    (state) => apply(state, { type: "cleared", ordinals: [1] }),
  ]) {
    const state = filled(first);
    apply(state, { type: "snoozed", ordinals: [1], until: 5 });
    assert.equal(state.snoozed.length, 1);
    assert.deepEqual(end(state).snoozed, []);
  }
  const state = newState();
  for (let seq = 1; seq <= limits.snoozed + 5; seq += 1) {
    take(state, line(seq, alert(`${seq}`)));
    apply(state, { type: "snoozed", ordinals: [seq], until: seq });
  }
  assert.equal(state.snoozed.length, limits.snoozed);
});

test("Later ends after ten minutes, an hour, or tomorrow at eight", () => {
  const now = new Date(2026, 0, 31, 23, 5).getTime();
  const ends = alerts.snoozeTimes.map(({ id }) => alerts.snoozeEnd(id, now));
  assert.deepEqual(ends, [now + 600_000, now + 3_600_000, new Date(2026, 1, 1, 8).getTime()]);
});

test("an alert with one button is answered with ok", () => {
  const state = filled(line(1, alert("1", { buttons: ["OK"] })), line(2, alert("2")));
  const [first] = state.alerts;
  assert.deepEqual(alerts.buttons(first), [{ id: "ok", title: "OK" }]);
  assert.deepEqual(alerts.answer([first], "ok").answers[0].action, "ok");
  assert.deepEqual(alerts.answer(state.alerts, "view").answers.map(({ action }) => action), ["ok", "view"]);
  assert.deepEqual(alerts.closeAll(state.alerts).answers.map(({ action }) => action), ["ok", "close"]);
});

test("a notification outside of the page has the buttons of its alert, and their answers", () => {
  const state = filled(line(1, alert("A\u202e", { subtitle: "S", body: "B" })), line(2, alert("2", { buttons: ["OK"] })),
    line(3, alert("3", { actions: [{ id: "yes", title: "Yes" }, { id: "no", title: "No" }, { id: "later", title: "Later" }] })), line(4, alert("")));
  const [plain, single, question, untitled] = state.alerts.map((one) => notice(one, 2));
  const answers = (one) => Object.fromEntries(Object.entries(one.options.data.answers).map(([action, change]) => [action, change.answers[0].action]));
  assert.deepEqual([plain.title, plain.options.body, untitled.title], ["A", "S\nB", "News"]);
  assert.deepEqual(plain.options.actions, [{ action: "close", title: "Close" }, { action: "view", title: "View" }]);
  assert.deepEqual(answers(plain), { close: "close", view: "view", "": "view" });
  assert.deepEqual(answers(single), { ok: "ok", "": "ok" });
  assert.deepEqual(answers(question), { yes: "yes", no: "no" }, "a click answers no question");
  assert.deepEqual(plain.options.data.answers.close, { type: "answered", answers: [{ ordinal: 1, id: "ID-1", action: "close" }], isRead: true });
});

test("steps are undone and done again, newest first, at most twenty", async () => {
  const steps = new Steps();
  const done = [];
  for (let number = 0; number < 22; number += 1) steps.add({ title: `${number}`, undo: () => done.push(`-${number}`), redo: () => done.push(`+${number}`) });
  assert.equal(steps.redoTitle, undefined);
  assert.deepEqual([await steps.undo(), await steps.undo(), await steps.redo()], ["21", "20", "20"]);
  assert.deepEqual([done, steps.undoTitle, steps.redoTitle], [["-21", "-20", "+20"], "20", "21"]);
  steps.add({ title: "new", undo() {}, redo() {} });
  assert.equal(await steps.redo(), undefined, "a new step ends the ones to do again");
  for (let count = 0; count < 20; count += 1) assert.ok(await steps.undo());
  assert.equal(await steps.undo(), undefined);
});

test("the center groups by app and by day, and finds by text and scope", () => {
  const state = filled(line(1, alert("Storm")), line(2, alert("Mail"), { topic: "m", app: { name: "Mail" } }), line(3, alert("Sun")),
    line(4, alert("A"), { payload: { aps: { "thread-id": "t" } } }), line(5, alert("B")), line(6, alert("C"), { payload: { aps: { "thread-id": "t" } } }));
  const keys = (list) => list.map(({ key }) => key);
  assert.deepEqual(keys(rows(state, {}, "app")), ["com.example.news", 6, 4, 5, 3, 1, "m", 2]);
  assert.deepEqual(keys(rows(state, {}, "day", () => "Today")), ["Today", 6, 5, 4, 3, 2, 1]);
  assert.deepEqual(keys(rows(state, { text: "STORM" }, "app")), ["com.example.news", 1]);
  assert.deepEqual(keys(rows(state, { scope: "app:m" }, "app")), ["m", 2]);
  apply(state, { type: "read", ordinals: [2] });
  assert.ok(!finder({ scope: "unread" })(state.entries[1]));
  assert.deepEqual(rows(state, { scope: "level:critical" }, "app"), []);
});

test("the visible rows of a list are those between two offsets", () => {
  const places = offsets([{ kind: "group" }, { kind: "entry" }, { kind: "entry" }], { group: 10, entry: 20 });
  assert.deepEqual(places, [0, 10, 30, 50]);
  assert.deepEqual(range(places, -100, 5), [0, 1]);
  assert.deepEqual(range(places, 10, 30), [1, 3]);
  assert.deepEqual(range(places, 1000, 2000), [3, 3]);
  assert.deepEqual(range([0], 0, 100), [0, 0]);
});

test("texts lose what hides or reorders other text", () => {
  assert.equal(plain("a\u202eb\u0000c\u2066d\te\nf"), "abcd\te\nf");
  for (const mark of "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") assert.equal(plain(`a${mark}b`), "ab");
  for (const invisible of ["\u200b", "\u2060", "\u00ad", "\ufeff", "\u3164", "\u{e0041}", "\ufffa", "\u034f"]) assert.equal(plain(`a${invisible}b`), "ab");
  const whole = ["👨‍👩‍👧", "❤️", "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "क्षि", "שָׁלוֹם", "Ça ä̈"];
  for (const text of whole) assert.equal(plain(text), text);
  assert.equal(plain(`e${"\u0301".repeat(500)}!`), `e${"\u0301".repeat(15)}!`, "marks do not cover other lines");
  assert.equal(plain("\u{1f3f4}" + "\u{e0067}".repeat(5000)).length, 2 + 2 * 8);
  assert.equal(hue("com.example.news"), hue("com.example.news"));
  assert.ok(hue("") >= 0 && hue("x") < 360);
});

test("times are relative under an hour", () => {
  const now = Date.parse("2026-03-04T12:00:00");
  assert.equal(moment(now + 5000, now), "now");
  assert.equal(moment(now - 59 * 60_000, now), "59 min ago");
  assert.match(moment(now - 2 * 3_600_000, now, "en-US"), /10:00/);
  assert.equal(exact(new Date(now).toISOString(), "en-US"), exact(now, "en-US"));
  assert.equal(exact("never", "en-US"), "");
  assert.equal(day(now, now), "Today");
  assert.equal(day(now - 86_400_000, now), "Yesterday");
  assert.match(day(now - 3 * 86_400_000, now, "en-US"), /Sunday, March 1/);
  const headings = days(now, "en-US");
  for (const time of [now, now - 86_400_000, now - 3 * 86_400_000, now - 3 * 86_400_000 - 3_600_000]) {
    assert.equal(headings(time), day(time, now, "en-US"));
  }
  // A day of 25 hours, where there is one.
  const monday = Date.parse("2026-10-26T12:00:00");
  assert.equal(day(Date.parse("2026-10-25T00:30:00"), monday), "Yesterday");
});

test("the reason of a removed part names the setting that shows it", () => {
  const [first, second] = reasons("sound S4 silent; alert N6 apps/com.example.news/categories/A/B/alert");
  assert.deepEqual(first.setting, { name: "device.silent", app: null, category: null });
  assert.deepEqual(second.setting, { name: "alert", app: "com.example.news", category: "A/B" });
  assert.deepEqual(reasons("alert A8 apps/x/alert_budget")[0].setting, { name: "budget", app: "x", category: null });
  assert.equal(reasons("alert A8 budget")[0].setting, null);
  assert.deepEqual(reasons("nonsense"), []);
});

test("the steps of a push have times after the first", () => {
  const steps = history([
    { number: 2, at: "2026-01-01T00:00:00.002Z", event: "stored" }, { number: 1, at: "2026-01-01T00:00:00.000Z", event: "accepted" },
    { number: 3, at: "2026-01-01T00:01:30.000Z", event: "suppressed", detail: "sound N7 quiet/0" },
  ]);
  assert.deepEqual(steps.map(({ title }) => title), ["Accepted", "Stored", "Not shown"]);
  assert.deepEqual(steps.slice(1).map(({ time }) => time), ["+2 ms", "+2 min"]);
  assert.equal(steps[2].reasons[0].words, "quiet hours");
  const after = (milliseconds) => history([0, milliseconds].map((time, number) => ({ number, at: new Date(time).toISOString(), event: "stored" })))[1].time;
  assert.deepEqual([59_949, 59_960, 3_569_999, 3_599_000].map(after), ["+59.9 s", "+1 min", "+59 min", "+1 h"]);
  assert.deepEqual(history([]), []);
});

test("each preference is a row, with its value and its assignment", () => {
  const state = newState();
  state.apps = [{ topic: "t", name: "T", icon: "", badge: 0 }];
  state.preferences = {
    alert: false, quiet: ["22:00-07:00"], focus: { work: [] },
    apps: { t: { alert_budget: null, delivery: "summary", categories: { C: { sound: true } } } },
  };
  const all = groups(state).flatMap((group) => group.rows);
  const row = (name, app = null, category = null) => all.find((one) => one.name === name && one.app === app && one.category === category);
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
  assert.deepEqual([row("alert").value, row("quiet").value, row("focus.work").value], ["off", "22:00-07:00", "none"]);
  assert.deepEqual([row("budget", "t").value, row("delivery", "t").value, row("sound", "t", "C").value], ["unlimited", "summary", "on"]);
  assert.deepEqual(assignment(row("sound", "t", "C"), "off"), { settings: ["sound=off"], app: "t", category: "C" });
  assert.deepEqual(deviceChange(row("device.focus"), "off"), { type: "device", focus: "" });
  assert.equal(override(row("alert", "t"), state), "Off for everything");
  const words = ["device.silent", "device.focus", "device.volume", "log-text"].map((name) => row(name)).map((one) => caption(one, one.value));
  assert.deepEqual(words, ["Off", "Off", "100 %", "Devices"]);
  assert.deepEqual([caption(row("provisional", "t"), "keep"), caption(row("device.focus"), "on"), caption(row("device.focus"), "off")], ["Off", "on", "Off"]);
  assert.equal(caption(row("quiet"), "off"), "off", "a text is as it is typed");
});

test("a text that is not saved stays until it is", async () => {
  const stored = new Map([["//quiet", "22:0"]]);
  const journal = { texts: async () => [...stored], keepText: (id, text) => (text === undefined ? stored.delete(id) : stored.set(id, text)) };
  const { drafts } = await load("drafts.js");
  await drafts.open(journal);
  assert.deepEqual([drafts.get("//quiet"), drafts.get("toString"), drafts.get("__proto__")], ["22:0", undefined, undefined]);
  drafts.set("__proto__", "text");
  drafts.delete("//quiet");
  drafts.delete("topic");
  assert.equal(drafts.get("//quiet"), undefined);
  assert.deepEqual([...stored], [["__proto__", "text"]]);
  // The history is deleted: with it the texts.
  stored.clear();
  await drafts.open(journal);
  assert.equal(drafts.get("__proto__"), undefined);
});

test("quiet hours end in the morning, on the days of their evening", () => {
  const at = (text) => quietUntil(["22:00-07:00 mon-fri", "12:00-13:00 sat,sun"], new Date(text));
  assert.equal(at("2026-03-02T23:00:00"), "7:00"); // Monday
  assert.equal(at("2026-03-07T06:00:00"), "7:00"); // Saturday morning belongs to Friday
  assert.equal(at("2026-03-02T06:00:00"), ""); // Monday morning belongs to Sunday
  assert.equal(at("2026-03-07T12:30:00"), "13:00");
  assert.equal(at("2026-03-07T23:00:00"), "");
});

test("quiet hours that touch or overlap end with the last of them", () => {
  const at = (windows, text) => quietUntil(windows, new Date(text));
  assert.equal(at(["22:00-07:00", "7:00-9:30 mon"], "2026-03-01T23:00:00"), "9:30"); // Sunday
  assert.equal(at(["22:00-07:00", "7:00-9:30 mon"], "2026-03-02T23:00:00"), "7:00");
  assert.equal(at(["12:00-14:00", "13:00-15:00", "15:00-15:30"], "2026-03-02T12:30:00"), "15:30");
  assert.equal(at(["0:00-12:00", "12:00-0:00"], "2026-03-02T12:30:00").length > 0, true); // always
});

test("an app that sends marketing offers to unsubscribe until it is off", () => {
  const state = filled(line(1, alert("Sale"), { app: { name: "News", icon: "N", marketing: true } }));
  const [{ push }] = state.entries;
  assert.equal(offersUnsubscribing(state, push), true);
  assert.equal(offersUnsubscribing(filled(line(1, alert("News"))), readPush(line(1, alert("News")))), false);
  take(state, { type: "preferences", preferences: { apps: { "com.example.news": { marketing: false } } } });
  assert.equal(offersUnsubscribing(state, push), false);
  const list = bindings({ screen: "center", hasEntry: true, hasMarketing: true, isConnected: true });
  assert.equal(commandOf(list, "x"), "unsubscribe");
});

test("a new category asks for a permission until there is one", () => {
  const { alert: center } = alert("Offer");
  const state = filled(line(1, { centre: center, new_category: "OFFERS" }));
  const [{ push }] = state.entries;
  assert.equal(undecidedCategory(state, push), "OFFERS");
  assert.equal(undecidedCategory(state, readPush(line(2, alert("News")))), null);
  const categories = (value) => ({ type: "preferences", preferences: { apps: { "com.example.news": { categories: { OFFERS: value } } } } });
  take(state, categories({ badge: false }));
  assert.equal(undecidedCategory(state, push), "OFFERS");
  take(state, categories({ permission: "quiet" }));
  assert.equal(undecidedCategory(state, push), null);
});

test("keys are those that are possible now", () => {
  const list = bindings({ screen: "center", hasEntry: true, isUnread: true, hasLink: false, undo: "Clear News", isConnected: true, dropped: 0 });
  assert.equal(commandOf(list, "d"), "clear");
  assert.equal(commandOf(list, "u"), "undo");
  assert.equal(commandOf(list, "o"), undefined);
  assert.equal(commandOf(list, "w"), "why");
  assert.equal(commandOf(bindings({ screen: "home", isConnected: false, dropped: 1 }), "r"), "retry");
  const keys = list.flatMap((one) => one.keys);
  assert.equal(new Set(keys).size, keys.length);
});
