// The logic of the console, without a browser: node --test Tests/Web
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const folder = new URL("../../Sources/CWebPhone/console/", import.meta.url);
const load = (name) => import(new URL(name, folder));

const { events, format, matches, parse, query, rules, sinceTime, terms } = await load("filters.js");
const { csv, csvHead, kind, ndjson, span, steps, summary, verdict, why } = await load("log.js");
const { reveal, visible } = await load("window.js");
const { path, sentence } = await load("api.js");

const id = "CC35800E-D44B-47A8-B2BD-1AB4764FDBD5";

/** A row of the log, as the gateway sends it. */
const row = (event, milliseconds, more = {}) => ({
  number: milliseconds, at: new Date(1_000_000_000_000 + milliseconds).toISOString(), event, id, device: "phone", topic: "com.example.news", ...more,
});
const removed = (...list) => ({
  detail: list.map(([part, rule, setting]) => `${part} ${rule} ${setting}`).join("; "),
  details: { removed: list.map(([part, rule, setting]) => ({ part, rule, setting })) },
});

test("a filter is read in any order, and written in one", () => {
  const filter = parse('app:com.example.news rule:n7,N4 event:suppressed rule:S4 "two words" device:"my \\"phone\\"" since:2h');
  assert.deepEqual(filter.rule, ["N7", "N4", "S4"]);
  assert.deepEqual(filter.event, ["suppressed"]);
  assert.deepEqual([filter.app, filter.device, filter.since, filter.text], ["com.example.news", 'my "phone"', "2h", "two words"]);
  assert.deepEqual(filter.problems, []);
  const text = 'event:suppressed rule:N7,N4,S4 app:com.example.news device:"my \\"phone\\"" since:2h text:"two words"';
  assert.equal(format(filter), text);
  assert.deepEqual(parse(text), filter);
});

test("the filter has each event of the delivery log", async () => {
  const source = await readFile(new URL("../../Sources/PushStorage/SQLite/Log/DeliveryEvent.swift", import.meta.url), "utf8");
  const named = [...source.matchAll(/^ {2}case (.*)/gm)].flatMap(([, names]) => names.split(", "));
  assert.deepEqual([...events].sort(), named.sort());
});

test("words without a name are searched for, and a UUID is an id", () => {
  assert.equal(parse("storm warning").text, "storm warning");
  assert.equal(parse(id).id, id);
  assert.equal(format(parse("")), "");
});

test("a filter that is wrong is said in words", () => {
  assert.match(parse("color:red").problems[0], /Unknown filter “color”/);
  assert.match(parse("event:seen").problems[0], /Unknown event “seen”/);
  assert.match(parse("id:1").problems[0], /UUID/);
  assert.match(parse("since:soon").problems[0], /since/);
  assert.deepEqual(parse("event:refused since:2026-11-27 since:7d").problems, []);
});

test("each term can be removed", () => {
  const filter = parse("event:refused,suppressed app:a");
  assert.deepEqual(terms(filter), [
    { name: "event", value: "refused", rest: "event:suppressed app:a" }, { name: "event", value: "suppressed", rest: "event:refused app:a" },
    { name: "app", value: "a", rest: "event:refused,suppressed" },
  ]);
});

test("a time is a span or a date", () => {
  const now = Date.parse("2026-11-27T18:00:00Z");
  assert.equal(sinceTime("30s", now), now - 30_000);
  assert.equal(sinceTime("2h", now), now - 7_200_000);
  assert.equal(sinceTime("7d", now), now - 7 * 86_400_000);
  assert.equal(sinceTime("2026-11-27T17:00Z", now), now - 3_600_000);
  assert.equal(sinceTime("2026-11-27", now), new Date(2026, 10, 27).getTime());
  for (const text of ["", "1", "1y", "-1h", "99999999999s", "yesterday"]) assert.equal(sinceTime(text, now), null, text);
});

test("the gateway finds all but rules, whose events are asked for", () => {
  assert.deepEqual(query(parse("app:a device:b since:1h"), 3_600_000), { app: "a", device: "b", since: "0" });
  assert.deepEqual(query(parse("rule:N7"), 0), { event: "suppressed,refused,reported,ignored" });
  assert.deepEqual(query(parse("rule:N7 event:suppressed"), 0), { event: "suppressed" });
  assert.ok(query(parse("rule:N7"), 0).event.split(",").every((name) => events.includes(name)));
});

test("the rules of a row are those of removed parts and of a refusal, also without details", () => {
  const quiet = row("suppressed", 1, removed(["sound", "N7", "quiet/0"], ["alert", "N7", "quiet/0"]));
  assert.deepEqual(rules(quiet), ["N7"]);
  assert.deepEqual(rules(row("refused", 1, { details: { rule: "B1", reason: "Forbidden" } })), ["B1"]);
  assert.deepEqual(rules({ detail: "badge N4 badge; alert S4 silent" }), ["N4", "S4"]);
  assert.deepEqual(rules({ detail: "B1 /aps/badge: a badge is a whole number" }), ["B1"]);
  assert.deepEqual(rules({ detail: "403 InvalidProviderToken" }), []);
  assert.ok(matches(parse("rule:N7"), quiet) && !matches(parse("rule:N4"), quiet) && matches(parse(""), quiet));
});

const shown = [row("accepted", 0, { status: "Received by APNs" }), row("stored", 10), row("transmitted", 11, { detail: "badge alert", details: { asked: ["badge", "alert"] } })];

test("the steps of a push are in order, with their times after the first, and each once", () => {
  const late = row("suppressed", 11.5, { ...removed(["alert", "N5", "apps/com.example.news/alert"]), number: 12 });
  const list = steps([row("acknowledged", 1400), late, ...shown.toReversed(), shown[0]]);
  assert.deepEqual(list.map(({ title }) => title), ["Accepted", "Stored", "Sent", "Not shown", "On the device"]);
  assert.deepEqual(list.map(({ after }) => after), ["", "+10 ms", "+11 ms", "+11 ms", "+1.4 s"]);
  assert.equal(list[0].status, "Received by APNs");
  assert.deepEqual(list[3].why, [{ part: "alert", rule: "N5", path: "apps/com.example.news/alert", words: "it is off for the app" }]);
  assert.equal(list[3].detail, "");
  assert.deepEqual(steps([]), []);
});

test("why a push was not shown is said with its rule and setting, also without details", () => {
  const quiet = row("suppressed", 1, removed(["sound", "N7", "quiet/0"]));
  assert.deepEqual(why(quiet), [{ part: "sound", rule: "N7", path: "quiet/0", words: "quiet hours" }]);
  assert.deepEqual(why({ event: "suppressed", detail: "sound N7 quiet/0" }), [{ part: "sound", rule: "N7", path: "", words: "quiet hours" }]);
  assert.equal(summary(quiet), "no sound: quiet hours (N7)");
  assert.equal(summary({ event: "suppressed", detail: "of a later version" }), "of a later version");
  assert.deepEqual(why(row("transmitted", 1)), []);
});

test("the result of a push is a sentence", () => {
  const words = (...rows) => verdict(rows).words;
  const none = row("suppressed", 12, removed(["badge", "N4", "badge"], ["alert", "N4", "alert"]));
  const silent = row("suppressed", 12, removed(["alert", "N4", "alert"]));
  assert.equal(words(), "The log has no rows about this push.");
  assert.equal(words(shown[0], shown[1]), "This push is pending.");
  assert.match(words(...shown), /has not acknowledged/);
  assert.equal(words(...shown, row("acknowledged", 20)), "This push was delivered as its sender asked.");
  assert.equal(words(...shown, silent), "This push was delivered without alert.");
  assert.equal(words(...shown, none), "No part of this push was shown.");
  assert.equal(words(row("refused", 1)), "The gateway refused this push.");
  assert.equal(words(...shown, row("retracted", 30)), "This push was retracted.");
  assert.equal(kind("refused"), "bad");
  assert.equal(kind("of a later version"), "plain");
});

test("spans of time have the unit that fits", () => {
  assert.deepEqual([0, 999, 1400, 61_000, 7_200_000].map(span), ["0 ms", "999 ms", "1.4 s", "1 min 1 s", "2.0 h"]);
});

test("a span of time has fewer than 60 seconds, and fewer than 60 minutes", () => {
  const spans = [0, 999, 999.6, 1000, 59_949, 59_960, 60_000, 119_499, 119_600, 3_599_499, 3_599_600, 3_600_000, 5_400_000];
  assert.deepEqual(spans.map(span), [
    "0 ms", "999 ms", "1.0 s", "1.0 s", "59.9 s", "1 min 0 s", "1 min 0 s", "1 min 59 s", "2 min 0 s", "59 min 59 s", "1.0 h", "1.0 h", "1.5 h",
  ]);
});

test("files have each row once, and a spreadsheet reads no text as a formula", () => {
  const list = [row("accepted", 0, { text: '=HYPERLINK("x")' }), row("refused", 1, { detail: "a, b\nc" })];
  const lines = csv(list).split("\r\n");
  assert.equal(csvHead, "at,event,id,unique_id,status,device,topic,detail,trace_id,text,gateway\r\n");
  assert.equal(lines[0], `2001-09-09T01:46:40.000Z,accepted,${id},,,phone,com.example.news,,,"'=HYPERLINK(""x"")",`);
  assert.match(lines[1], /"a, b\nc"/);
  assert.deepEqual(ndjson(list).trim().split("\n").map((line) => JSON.parse(line)), JSON.parse(JSON.stringify(list)));
});

test("the rows on screen are drawn, with half a screen around them", () => {
  assert.deepEqual(visible(10_000, 40, 0, 400), [0, 15]);
  assert.deepEqual(visible(10_000, 40, 4000, 400), [95, 115]);
  assert.deepEqual(visible(10_000, 40, 400_000, 400), [9995, 10_000]);
  assert.deepEqual(visible(3, 40, 0, 400), [0, 3]);
  assert.deepEqual(visible(0, 40, 0, 400), [0, 0]);
  assert.deepEqual(visible(10, 0, 0, 400), [0, 0]);
  assert.deepEqual(visible(10, 40, 0, 0), [0, 0]);
  assert.deepEqual([reveal(0, 40, 100, 400), reveal(5, 40, 100, 400), reveal(20, 40, 100, 400)], [0, 100, 440]);
});

test("a name is one part of a path", () => {
  assert.equal(path("devices", "a/../b?c#d", "registrations"), "/admin/v1/devices/a%2F..%2Fb%3Fc%23d/registrations");
  assert.equal(sentence("there is no device x"), "There is no device x.");
  assert.equal(sentence("Done."), "Done.");
});

const { asked, expiration, fields, formValues, lineAt, preview, read, templates, withField, write } = await load("payload.js");

test("the form and the payload are the same values, and other members stay", () => {
  const payload = { aps: { alert: "It rains.", badge: 2, sound: { name: "chime", volume: 0.5 } }, custom: [1] };
  const values = formValues(payload);
  assert.deepEqual([values.title, values.body, values.badge, values.sound, values.url], ["", "It rains.", "2", '{"name":"chime","volume":0.5}', ""]);
  let changed = withField(payload, "title", "Weather");
  assert.deepEqual(changed, { aps: { alert: { body: "It rains.", title: "Weather" }, badge: 2, sound: { name: "chime", volume: 0.5 } }, custom: [1] });
  assert.deepEqual(payload.aps.alert, "It rains.");
  changed = withField(withField(changed, "title", ""), "body", "");
  assert.deepEqual(changed.aps, { badge: 2, sound: { name: "chime", volume: 0.5 } });
  assert.deepEqual(withField(changed, "badge", "").aps, { sound: { name: "chime", volume: 0.5 } });
  assert.deepEqual(withField({}, "url", "https://example.org"), { url: "https://example.org" });
  assert.deepEqual(Object.keys(withField({ aps: { badge: 1, sound: "a" } }, "badge", "7").aps), ["badge", "sound"]);
});

test("a number is a number, and any other badge stays what was typed", () => {
  assert.deepEqual(withField({}, "badge", "12"), { aps: { badge: 12 } });
  assert.deepEqual(withField({}, "badge", "-1"), { aps: { badge: -1 } });
  assert.deepEqual(withField({}, "badge", "many"), { aps: { badge: "many" } });
});

test("values of any kind are read without an error", () => {
  for (const value of [null, {}, { aps: null }, { aps: [] }, { aps: "x" }, { aps: { alert: null } }, { aps: { alert: [1] } }, { aps: { alert: { title: 1 } } }]) {
    assert.equal(Object.keys(formValues(value)).length, fields.length);
    assert.equal(preview(value), null);
    assert.ok(Array.isArray(asked(value)));
    for (const { name } of fields) assert.equal(formValues(withField(value ?? {}, name, "x"))[name], "x");
  }
  assert.deepEqual([read("{"), read("[]"), read("null"), read('{"aps":{}}')], [null, null, null, { aps: {} }]);
});

test("the preview has the texts of the alert, and the parts are those that the payload asks for", () => {
  assert.deepEqual(preview({ aps: { alert: "Text" } }), { title: "", subtitle: "", body: "Text", buttons: ["Close", "View"] });
  const shown = (alert) => preview({ aps: { alert } });
  for (const [key, titles] of [["Reply", ["Close", "Reply"]], ["", ["OK"]], [null, ["OK"]], [7, ["Close", "View"]]]) {
    assert.deepEqual(shown({ title: "T", "action-loc-key": key }).buttons, titles);
  }
  assert.equal(shown({ "title-loc-key": "GATE %2$@, %@ and %@: %%", "title-loc-args": ["A", "B", 3] }).title, "GATE B, A and B: %");
  assert.equal(shown({ "loc-key": "%@ %@ %9$@", "loc-args": ["A"] }).body, "A %@ %9$@");
  assert.equal(shown({ title: { "loc-key": "SCORE %@", "loc-args": ["3"] } }).title, "SCORE 3");
  assert.equal(shown({ title: "Plain", "title-loc-key": "KEY" }).title, "Plain");
  assert.deepEqual(asked({ aps: { alert: { "loc-key": "KEY" } } }), ["alert"]);
  assert.deepEqual(preview(templates.Alert).title, "Train in 5 Minutes");
  assert.deepEqual(asked(templates.Alert), ["sound", "alert"]);
  assert.deepEqual(asked(templates["Badge Only"]), ["badge"]);
  assert.deepEqual(asked(templates["Silent Update"]), []);
});

test("a finding is at the line of its value", () => {
  const text = write({ aps: { alert: { title: 'a "quoted" {title}', body: "x" }, badge: -1 }, list: [1, { "a/b": 2 }], "": 3 });
  const line = (pointer) => text.split("\n")[lineAt(text, pointer) - 1].trim();
  assert.match(line("/aps/alert/title"), /^"title"/);
  assert.match(line("/aps/badge"), /^"badge": -1/);
  assert.match(line("/list/1/a~1b"), /^"a\/b"/);
  assert.match(line("/aps/alert"), /^"alert"/);
  assert.match(line("/"), /^"": 3/);
  // A member that is missing is at the object that could have it.
  assert.match(line("/aps/alert/subtitle"), /^"alert"/);
  assert.equal(lineAt("{", "/aps"), 1);
  assert.equal(lineAt('{"aps":', "/aps/x"), 1);
  assert.equal(lineAt("[".repeat(100_000), "/0/0"), 1);
});

test("an expiration is a time, a span, or none", () => {
  assert.deepEqual([expiration("", 0), expiration("0", 0), expiration("1h", 5000), expiration("1700000000", 0)], [undefined, 0, 3605, 1_700_000_000]);
  for (const text of ["soon", "-1", "1y", "1.5h"]) assert.equal(expiration(text, 0), null, text);
});

const { charts, earlier, figure, figures, line, parse: parseMetrics, quantile, rate, remember, roundTop, shownTime } = await load("metrics.js");

const metrics = (accepted, buckets) => `# HELP pushgateway_requests_accepted Pushes
pushgateway_requests_accepted_total{as="stored"} ${accepted}
pushgateway_requests_accepted_total{as="broadcast"} 1
pushgateway_policy_refused_total{rule="B1"} 2
pushgateway_policy_refused_total{rule="S1"} 0
pushgateway_limits_reached_total{limit="rate"} 3
pushgateway_connections{peer="remote"} 4
pushgateway_connections{peer="loopback"} 5
pushgateway_certificate_expiry_timestamp_seconds{certificate="server"} 1.8e9
pushgateway_build_info{version="0.1"} 1
${buckets.map(([le, value]) => `pushgateway_transmit_seconds_bucket{from="live",le="${le}"} ${value}`).join("\n")}
# EOF
`;
const buckets = (...values) => [["0.001", values[0]], ["0.01", values[1]], ["+Inf", values[2]]];

test("readings that the gateway has kept are figures like those of the metrics", () => {
  const kept = { at: "2026-11-28T10:00:00.000Z", accepted: 11, delivered: 10, refused: 2, pending: 3, connections: 9, bounds: [0.001, 0.01], counts: [4, 2, 1] };
  const found = earlier(kept);
  assert.deepEqual(found, { at: Date.parse(kept.at), accepted: 11, delivered: 10, refused: 2, pending: 3, connections: 9, latency: [[0.001, 4], [0.01, 6], [Infinity, 7]] });
  const later = { ...found, ...figures(metrics(20, buckets(6, 10, 11)), found.at + 60_000) };
  assert.equal(rate(found, later, "accepted"), 10);
  assert.equal(quantile(found.latency, later.latency, 0.5), 0.001);
});

test("metrics are read, with labels of any text, and other lines are ignored", () => {
  assert.deepEqual(parseMetrics('pushgateway_a{b="x\\"y\\\\z",c="1"} 2\nnot a line\n\npushgateway_d NaN\npushgateway_e +Inf\n'), [
    { name: "a", labels: { b: 'x"y\\z', c: "1" }, value: 2 }, { name: "e", labels: {}, value: Infinity },
  ]);
  const found = figures(metrics(10, buckets(1, 2, 3)), 5);
  assert.deepEqual([found.accepted, found.connections, found.refusedBy, found.limits, found.version], [11, 9, { B1: 2 }, { rate: 3 }, "0.1"]);
  assert.deepEqual(found.latency, [[0.001, 1], [0.01, 2], [Infinity, 3]]);
  assert.equal(figures("", 0).accepted, 0);
});

test("a rate is the change in a minute, also after the gateway began again", () => {
  const of = (at, accepted) => ({ at, accepted });
  assert.equal(rate(of(0, 10), of(30_000, 40), "accepted"), 60);
  assert.equal(rate(of(0, 10), of(60_000, 4), "accepted"), 4);
  assert.equal(rate(of(0, 10), of(0, 40), "accepted"), 0);
});

test("a quantile is that of the observations between two readings", () => {
  const [before, after] = [figures(metrics(0, buckets(0, 10, 10)), 0), figures(metrics(0, buckets(10, 20, 20)), 1)].map((one) => one.latency);
  assert.equal(quantile(before, after, 0.5), 0.0005);
  assert.equal(quantile(before, before, 0.5), null);
  assert.equal(quantile([], after, 0.99).toFixed(5), "0.00982");
  assert.equal(quantile([], figures(metrics(0, buckets(0, 0, 4)), 0).latency, 0.5), 0.01);
  assert.equal(quantile([], [], 0.5), null);
});

test("the history has an hour, and a chart for each figure", () => {
  let history = [];
  for (let at = 0; at <= 2 * shownTime; at += 600_000) history = remember(history, figures(metrics(at / 60_000, buckets(at, at, at)), at));
  assert.deepEqual([history[0].at, history.length], [shownTime, 7]);
  for (const chart of charts) for (const { points } of chart.series(history)) assert.ok(points.every((one) => Number.isFinite(one.value)), chart.title);
  assert.equal(charts[0].series(history)[0].points.at(-1).value, 1);
  assert.deepEqual(charts.flatMap((chart) => chart.series([]).flatMap(({ points }) => points)), []);
});

test("a line is in its box", () => {
  const now = 10 * shownTime;
  assert.equal(line([{ at: now - shownTime, value: 0 }, { at: now, value: 5 }], now, 10, 300, 80), "M0.0 80.0L300.0 40.0");
  assert.equal(line([], now, 10, 300, 80), "");
  assert.equal(line([{ at: 0, value: 0 }], now, 0, 300, 80), "M0.0 80.0");
  assert.deepEqual([0, 1, 3, 70, 100, 101].map(roundTop), [1, 1, 5, 100, 100, 200]);
  assert.deepEqual([0, 0.125, 12.34, 1234.5].map(figure), ["0", "0.13", "12.3", "1235"]);
});

const { given, lists, members, search } = await load("manage.js");
const { scenarios } = await load("typed.js");

/** A row of each list, as the gateway sends it. */
const rowsOf = {
  devices: { device: "B09BA7C2", name: "my phone", person: "ada", apps: ["com.example.news"], registrations: [{ topic: "com.example.news", environments: ["development"] }], waiting: 0, streams: 1 },
  persons: { name: "ada", devices: ["my phone", "tablet"] },
  apps: { topic: "com.example.news", name: "News", icon: "N", policy_mode: "enforce", strict: false, ads: "off", marketing: false, team_id: "DEVTEAM001" },
  groups: { name: "oncall", members: 2, topics: ["com.example.news"] },
  channels: { id: "3pCzY5mgVQJ1bQ8WAm0LQQ==", topic: "com.example.news", environment: "development", message_storage_policy: 1, subscriptions: 2, connected: 1, published: 7, stored: true },
  senders: { name: "backup", app: "com.example.news", recipients: ["phone"], rate: 60, created: "2026-11-27T18:00:00.000Z" },
  hooks: { name: "monitor", app: "com.example.news", recipients: ["phone"], rate: 60, created: "2026-11-27T18:00:00.000Z", kind: "json", fields: { title: "/monitor/name" } },
  expectations: { sender: "backup", every: 86_400, grace: 3600, due: "2026-11-27T18:00:00.000Z", late: false },
  "event-targets": { name: "shop", url: "http://127.0.0.1:8080", created: "2026-11-27T18:00:00.000Z" },
  scheduled: { id: "CC35800E", at: "2026-11-27T18:00:00.000Z", device: "phone", topic: "com.example.news", accepted: "2026-11-27T17:00:00.000Z", place: "12/CC35800E" },
  invitations: { id: "0123456789abcdef", role: "device", expires: "2026-11-27T18:00:00.000Z", uses: 1 },
  teams: { team_id: "DEVTEAM001" }, keys: { key_id: "ABC123DEFG", team_id: "DEVTEAM001", environment: "both" },
  certificates: { id: "0123456789abcdef", topic: "com.example.news", topics: ["com.example.news", "com.example.news.voip"], environments: ["development"], expires: "2027-11-27T18:00:00.000Z" },
  tokens: { name: "ada", role: "reader", created: "2026-11-27T18:00:00.000Z", expires: "2026-12-27T18:00:00.000Z" },
  faults: { rule: { name: "slow", delay: 2 }, does: "2s late", hits: 0, active: true },
};
/** The object whose path an action changes. */
const named = { persons: "ada", hooks: "monitor", expectations: "backup", "event-targets": "shop", teams: "DEVTEAM001", faults: "slow", groups: "oncall", devices: "my%20phone", channels: "3pCzY5mgVQJ1bQ8WAm0LQQ%3D%3D" };

test("each list has columns of its rows, a key, and actions with a role", () => {
  assert.deepEqual(Object.keys(rowsOf), Object.keys(lists));
  for (const [name, list] of Object.entries(lists)) {
    const one = rowsOf[name];
    assert.equal(typeof list.key(one), "string", name);
    for (const [title, value] of list.columns) assert.notEqual(value(one), undefined, `${name}: ${title}`);
    for (const action of [list.create, ...(list.others ?? []), ...list.actions].filter(Boolean)) {
      assert.ok(["operator", "admin"].includes(action.role), name);
      const values = Object.fromEntries((action.fields ?? []).map((field) => [field.name, field.isLong ? "" : field.options?.at(-1) ?? (field.isNumber ? "1" : ["every", "grace", "combine"].includes(field.name) ? "10m" : "x")]));
      const [method, where] = action.request(one, values);
      assert.ok(["POST", "DELETE"].includes(method) && where.startsWith("/admin/v1/"), name);
      // What can't be undone is asked for first.
      if (action.removes) assert.ok(action.confirm || action.undo, `${name}: ${action.title}`);
      if (action.undo) assert.ok(["POST", "DELETE"].includes(action.undo(one, values, [])[0]));
      if (action.removes && named[name]) assert.equal(where, `${path(...(list.where ?? [name]))}/${named[name]}`);
    }
  }
});

test("the requests of actions have the members of the API, and none without a value", () => {
  const body = (action, row, values) => action.request(row, values)[2];
  assert.deepEqual(body(lists.devices.create, {}, { person: "", role: "device", days: "2" }), { role: "device", valid_seconds: 172_800 });
  assert.deepEqual(body(lists.keys.create, {}, { team: "T", environment: "", topics: "a, b" }), { team: "T", topics: ["a", "b"] });
  const sender = { name: "n", app: "a", recipients: "phone,tablet", rate: "60" };
  assert.deepEqual(body(lists.senders.create, {}, { ...sender, combine: "" }), { name: "n", app: "a", recipients: ["phone", "tablet"], rate: 60 });
  assert.equal(body(lists.senders.create, {}, { ...sender, combine: "10m" }).combine, 600);
  assert.deepEqual(body(lists.faults.create, {}, { name: "slow", reason: "", delay: "2", rate: "", app: "", for: "300" }), [{ name: "slow", delay: 2, for: 300 }]);
  assert.deepEqual(body(lists.channels.create, {}, { topic: "a", stored: "nothing", environment: "" }), { topic: "a", message_storage_policy: 0, count: 1 });
  assert.deepEqual(body(lists.certificates.create, {}, { topic: "a", kinds: "voip", environment: "", days: "365" }), { topic: "a", topics: [], kinds: ["voip"], days: 365 });
  assert.deepEqual(body(lists.certificates.actions[0], rowsOf.certificates, {}), { id: "0123456789abcdef" });
  const category = lists.apps.actions.find((one) => one.title === "Set Category …");
  assert.deepEqual(body(category, rowsOf.apps, { category: "DEPLOY", actions: "yes=Yes, drop=Drop It!, later" }).actions, [
    { id: "yes", title: "Yes", destructive: false }, { id: "drop", title: "Drop It", destructive: true }, { id: "later", title: "later", destructive: false },
  ]);
  assert.deepEqual(given({ a: "", b: [], c: 0, d: undefined, e: "x" }), { c: 0, e: "x" });
});

test("a webhook has a kind, and JSON pointers that are typed in lines", () => {
  const { create: { request: of, secret }, where, query: parameters } = lists.hooks;
  const body = (values) => of({}, { name: "n", app: "a", recipients: "phone", rate: "60", ...values })[2];
  assert.deepEqual([where, parameters], [["senders"], { hooks: "all" }]);
  assert.deepEqual(body({ kind: "github", fields: "" }), { name: "n", app: "a", recipients: ["phone"], rate: 60, kind: "github" });
  assert.deepEqual(body({ kind: "json", fields: "title=/a b/c=d\n body=\n" }).fields, { title: "/a b/c=d", body: "" });
  for (const fields of ["title", "=/a", "a=/b\na=/c"]) assert.throws(() => body({ kind: "json", fields }), /Fields: expected each name once/, fields);
  assert.deepEqual(secret({ name: "n n", token: "T", kind: "json" }, "http://localhost:2198"), [{ title: "Token", value: "T" }, { title: "Address", value: "http://localhost:2198/hooks/n%20n" }]);
  assert.equal(secret({ name: "n", token: "T" }, "")[1].value, "/send/n");
});

test("the message that a body of a webhook would become is written in words", () => {
  const [{ result }] = lists.hooks.actions;
  const words = (record) => result(record).map(({ value }) => value);
  assert.deepEqual(words({ result: "ignored", event: "push" }), ["ignored, since this event makes no message: push"]);
  assert.deepEqual(words({ result: "resolved", collapse_id: "S" }), ["retracts the last message about the subject S"]);
  const recipients = [{ recipient: "phone", devices: [{ device: "phone", presented: [], removed: ["alert: off"] }] }, { recipient: "tablet", devices: [], refused: "not registered" }];
  assert.deepEqual(words({ result: "message", payload: "{}", recipients }), ["a message", "{}", "phone would present nothing; alert: off\ntablet: not registered"]);
});

test("heartbeats have times with units, and a tenth of the interval as grace", () => {
  const { columns, create: { request: of, fields: [senders] }, actions: [, remove] } = lists.expectations;
  const body = (every, grace = "") => of({}, { sender: "backup", every, grace })[2];
  assert.deepEqual(body("24h", "30m"), { sender: "backup", every: 86_400, grace: 1800 });
  assert.deepEqual([body("15s").grace, body("10m").grace, body("7d").every], [1, 60, 604_800]);
  for (const text of ["", "24", "1.5h", "1w", "-1h", "toString"]) assert.throws(() => body(text), /Every: expected a time/, text);
  assert.throws(() => body("1h", "soon"), /Grace: expected a time/);
  const shown = (row) => columns.map(([, value]) => value(row));
  assert.deepEqual(shown(rowsOf.expectations), ["backup", "1d", "1h", "never", "2026-11-27 18:00", "ok"]);
  assert.deepEqual(shown({ ...rowsOf.expectations, every: 90, grace: 0, late: true }).slice(1, 3), ["90s", "0s"]);
  // A webhook has no heartbeats.
  assert.deepEqual([rowsOf.senders, rowsOf.hooks].map(senders.of), ["backup", ""]);
  assert.deepEqual(remove.undo(rowsOf.expectations), ["POST", "/admin/v1/expectations", { sender: "backup", every: 86_400, grace: 3600 }]);
});

test("an event target is for all apps and events, or for some, and has its state in words", () => {
  const { role, columns, create, actions } = lists["event-targets"];
  assert.equal(role, "admin");
  const body = (values) => create.request({}, { name: "shop", url: "u", apps: "", events: "", ca: "", ...values })[2];
  assert.deepEqual(body({}), { name: "shop", url: "u" });
  assert.deepEqual(body({ apps: "a, b", events: "viewed,expired", ca: "PEM" }), { name: "shop", url: "u", apps: ["a", "b"], events: ["viewed", "expired"], ca: "PEM" });
  assert.deepEqual(create.secret({ secret: "whsec_x" }), [{ title: "Secret", value: "whsec_x" }]);
  const state = (more) => columns.at(-1)[1]({ ...rowsOf["event-targets"], ...more });
  assert.deepEqual([state({}), state({ disabled: "2026-11-27T18:00:00.000Z" }), state({ late: "2026-11-27T18:00:00.000Z", error: "it answered 500" })],
    ["ok", "disabled by 410", "fails since 2026-11-27 18:00: it answered 500"]);
  const find = (title) => actions.find((one) => one.title === title);
  assert.deepEqual([rowsOf["event-targets"], { disabled: "2026-11-27T18:00:00.000Z" }].map((row) => Boolean(find("Resume").when(row))), [false, true]);
  const result = (record) => find("Test").result(record)[0].value;
  assert.deepEqual([result({ status: 204, answer: "", milliseconds: 3 }), result({ error: "no connection", milliseconds: 3 })], ["the answer 204 after 3 ms", "no connection"]);
});

test("a change of a category is undone with its actions from before, or by its removal", () => {
  const { apps: { actions } } = lists;
  const before = [{ category: "DEPLOY", actions: [{ id: "yes", title: "Yes", destructive: false }] }];
  for (const title of ["Set Category …", "Remove Category …"]) {
    const { before: where, undo } = actions.find((one) => one.title === title);
    assert.equal(where(rowsOf.apps), "/admin/v1/apps/com.example.news/categories");
    assert.deepEqual(undo(rowsOf.apps, { category: "DEPLOY" }, before), ["POST", "/admin/v1/apps/com.example.news/categories", before[0]]);
    assert.deepEqual(undo(rowsOf.apps, { category: "NEW" }, before), ["DELETE", "/admin/v1/apps/com.example.news/categories/NEW"]);
  }
});

test("a scenario sets its faults for an app and a time, and rules that are typed keep their own", () => {
  const [set] = lists.faults.others;
  const rules = (values) => set.request({}, { scenario: "", app: "", for: "", rules: "", ...values })[2];
  assert.deepEqual(rules({ scenario: "An outage", app: "a", for: "60" }), [{ app: "a", for: 60, name: "outage", reason: "ServiceUnavailable" }]);
  assert.deepEqual(rules({ rules: '{"faults":[{"name":"x","delay":2,"for":5}]}', app: "a", for: "60" }), [{ app: "a", for: 5, name: "x", delay: 2 }]);
  for (const text of ["{", "1", "{}"]) assert.throws(() => rules({ rules: text }), /expected a JSON list/);
  for (const list of Object.values(scenarios)) assert.equal(new Set(list.map(({ name }) => name)).size, list.length);
});

test("an invitation has a link for the other machine, which is drawn, and one for this machine, which is not", () => {
  const [made, { secret }] = [{ invitation: "CODE" }, lists.invitations.create];
  assert.deepEqual(secret(made, "http://localhost:2198", { host: "push.example:2197" }).map(({ value, isDrawn = false }) => [value, isDrawn]), [
    ["https://push.example:2197/join#CODE", true], ["CODE@push.example:2197", false],
  ]);
  assert.deepEqual(secret(made, "http://localhost:2198", { host: "" })[0], { title: "Link for a browser", value: "http://localhost:2198/join#CODE", isDrawn: false });
});

test("a search finds rows by all of its words", () => {
  const rows = [rowsOf.devices, { ...rowsOf.devices, name: "tablet", person: "Bob" }];
  const find = (words) => search(rows, lists.devices.columns, words).map((one) => one.name);
  assert.deepEqual(find(""), ["my phone", "tablet"]);
  assert.deepEqual(find("BOB news"), ["tablet"]);
  assert.deepEqual(find("ada tablet"), []);
});

test("members of an object are words", () => {
  assert.deepEqual(members({ last_seen: "x", apps: ["a", "b"], registrations: [{ topic: "t", environments: ["development"] }], rule: { a: 1 }, silent: false }), [
    ["Last seen", "x"], ["Apps", "a, b"], ["Registrations", "t development"], ["Rule", '{"a":1}'], ["Silent", "false"],
  ]);
});

const { modules, outline } = await load("qr.js");

/** The code of "https://push.example", by another encoder (segno 1.6, with the padding of the standard). */
const drawn = `#######....##..#..#######
#.....#.#.#.##.##.#.....#
#.###.#..##...#...#.###.#
#.###.#..#.#..#...#.###.#
#.###.#.#..#####..#.###.#
#.....#..#.######.#.....#
#######.#.#.#.#.#.#######
..........##.#.#.........
#.#.#.#...####..#...#..#.
##.##..###...#..#.#.....#
......#....#....###.#.###
...#.#...###.###...#...#.
#.#.#.#.##....##.###.#.##
.###.#.#..##....#.#..#..#
#.###.#..#...#....##..###
.###.......#...##.#.#..#.
#..#.##..##.#...######...
........##.###.##...##.##
#######..####.###.#.##.##
#.....#..#..###.#...##.#.
#.###.#.#.##..#.######.##
#.###.#....#..###..####..
#.###.#.##...#.#....#...#
#.....#....#...####.##.#.
#######.###.#...#.##...##`;

test("a QR code is that of another encoder, for each size, or there is none", () => {
  const text = (grid) => grid.map((row) => row.map((isDark) => (isDark ? "#" : ".")).join("")).join("\n");
  assert.equal(text(modules("https://push.example")), drawn);
  const sizes = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213];
  assert.deepEqual(sizes.map((size) => modules("x".repeat(size)).length), sizes.map((_, index) => 21 + 4 * index));
  assert.equal(modules("x".repeat(214)), null);
  assert.equal(modules("ü".repeat(107)), null);
  assert.equal(outline([[true, false], [false, true]]), "M4 4h1v1h-1zM5 5h1v1h-1z");
});

const { differences, keyOf, nameOf, ordered, outcome, overview, result, titleOf } = await load("tests.js");

test("tests have the name of their device or their token, and those that failed come first", () => {
  const token = "ab".repeat(32);
  const expected = (fulfilled) => ({ fulfilled });
  const tests = [
    { token, pushes: 2, failed: 0, expectations: [expected(true)] }, { token: "cd", device: "phone-1", pushes: 1, failed: 1, expectations: [expected(true), expected(false)] },
    { pushes: 0, failed: 0, expectations: [] },
  ];
  assert.deepEqual(ordered(tests).map(nameOf), ["phone-1", "abababababababab…", "without a token"]);
  assert.deepEqual(tests.map(keyOf), [token, "cd", "-"]);
  assert.deepEqual(tests.map(result).map(({ kind: color, words }) => [color, words]), [
    ["good", "1 expectation fulfilled"], ["bad", "1 of 2 expectations failed"], ["plain", "no expectation"],
  ]);
  assert.equal(overview(tests), "3 tests, 1 with failed expectations, 3 pushes");
});

test("the differences of the nearest push are words, also without a value", () => {
  const list = [{ field: "title", expected: "Train", found: "Bus" }, { field: "badge", expected: 3 }, { field: "sound", expected: null, found: { name: "x" } }];
  assert.deepEqual(differences({ differences: list }), [["title", "Train", "Bus"], ["badge", "3", "no value"], ["sound", "null", '{"name":"x"}']]);
});

test("a recorded push has a title and an outcome, of any payload", () => {
  const push = (payload) => titleOf({ payload, method: "POST", path: "/3/device/x" });
  assert.deepEqual([push({ aps: { alert: "A" } }), push({ aps: { alert: { body: "B" } } }), push({ aps: { badge: 1 } }), push(undefined), push([])],
    ["A", "B", "without an alert", "POST /3/device/x", "POST /3/device/x"]);
  const of = (values) => { const { kind: color, words } = outcome({ outcome: "accepted", presented: [], suppressed: [], ...values }); return [color, words]; };
  assert.deepEqual(of({ outcome: "refused", status: 410, reason: "Unregistered" }), ["bad", "410 Unregistered"]);
  assert.deepEqual(of({ presented: ["badge"], suppressed: [{ part: "alert", rule: "N5" }] }), ["late", "presented badge; no alert (N5)"]);
  assert.deepEqual([of({}), of({ presented: ["alert"] }), of({ outcome: "reset" })], [["plain", "accepted"], ["good", "presented alert"], ["bad", "reset"]]);
});

const replay = await load("replay.js");

test("a replay is in its address, and its request has the members of the API", () => {
  const wanted = { device: "my phone", since: "7d", app: "com.example.news", settings: ["quiet=22:00-07:00", "badge=off"] };
  const place = replay.address(wanted);
  assert.deepEqual(replay.asked(new URLSearchParams(place.split("?")[1])), wanted);
  assert.deepEqual(replay.body(wanted), { seconds: 604_800, settings: wanted.settings, app: "com.example.news" });
  assert.deepEqual(replay.asked(new URLSearchParams("since=toString&set=%20%0A")), { device: "", since: "7d", app: "", settings: [] });
  assert.deepEqual(replay.body({ ...wanted, app: "" }).app, undefined);
});

test("the bars of a replay are in their box, two for each period", () => {
  const found = replay.bars([{ before: 10, after: 5 }, { before: 0, after: 0 }], 10, 100, 40);
  assert.deepEqual(found.map(({ kind: name, y, height }) => [name, y, height]), [["before", 0, 40], ["after", 20, 20], ["before", 40, 0], ["after", 40, 0]]);
  assert.ok(found.every(({ x, width }) => x >= 0 && x + width <= 100));
  assert.deepEqual(replay.bars([], 0, 100, 40), []);
});

test("a replay is a sentence, also if the log has more", () => {
  const times = [{ before: 2, after: 0 }, { before: 1, after: 1 }];
  assert.equal(replay.summary({ pushes: 3, less: 2, more: 0, held: 1, cut: false, times }), "3 pushes: 3 alerts before, 1 after; 2 with less, 0 with more, 1 in a summary.");
  assert.match(replay.summary({ pushes: 1, less: 0, more: 0, held: 0, cut: true, times }), /^1 push: .* The log has more pushes/);
  assert.deepEqual([replay.parts([]), replay.parts(["badge", "alert"], true)], ["no part", "badge, alert, in a summary"]);
});

const { chosen, counts, reviewed, verdict: adVerdict } = await load("reports.js");

test("a filter selects the reports without a review, or with one review, the newest first", () => {
  const reports = [{ number: 1, review: "right" }, { number: 2 }, { number: 3, review: "wrong" }, { number: 4 }];
  const numbers = (filter) => chosen(reports, filter).map((one) => one.number);
  assert.deepEqual([numbers("open"), numbers("right"), numbers("wrong"), numbers("all")], [[4, 2], [1], [3], [4, 3, 2, 1]]);
  assert.equal(counts(reports), "4 reports: 1 right, 1 wrong, 2 not reviewed");
  assert.equal(counts(reviewed(reports, 2, "right")), "4 reports: 2 right, 1 wrong, 1 not reviewed");
  assert.equal(counts(reviewed(reports, 1, undefined)), "4 reports: 0 right, 1 wrong, 3 not reviewed");
  assert.deepEqual([adVerdict("hold"), adVerdict(undefined)], ["The detector holds it now.", "The device reported no text."]);
});
