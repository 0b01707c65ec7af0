// The lists of the console: their columns, the fields of their forms, and the requests of their actions. Pure.

import { path } from "./api.js";
import { restored, tables } from "./preferences.js";
import { actionsOf, day, lines, list, pointersOf, rulesOf, scenarios, secondsOf, timeOf } from "./typed.js";

/** The scheme of the gateway's address for other machines. */
const secure = "https:";
const times = (list) => (list ?? []).join(", ");
const since = (at) => (at ? at.replace("T", " ").slice(0, 16) : "never");

/** A field for a text that may be empty. */
const optional = (name, title, more = {}) => ({ name, title, ...more });
const required = (name, title, more = {}) => ({ name, title, required: true, ...more });
const lifetime = (title, value) => ({ name: "days", title, value, isNumber: true, required: true });
const roles = { name: "role", title: "Role", options: ["reader", "operator", "admin"] };

/** Returns an object without its members that have no value. */
export const given = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "" && value !== undefined && !(Array.isArray(value) && value.length === 0)));

const remove = (title, where, words) => ({ title, role: "admin", isDestructive: true, removes: true, confirm: words, request: (row) => ["DELETE", where(row)] });

const register = (where) => ({
  title: "Register …", role: "operator", fields: [required("topic", "App", { source: "apps", of: "topic" })],
  request: (row, { topic }) => ["POST", path(where, row.name, "registrations"), { topic }],
  done: (row, { topic }) => `Registered ${row.name} for ${topic}`,
  undo: (row, { topic }) => ["DELETE", path(where, row.name, "registrations", topic)],
});

const unregister = (where, topics) => ({
  title: "Unregister …", role: "operator", isDestructive: true, fields: [required("topic", "App", { from: topics })],
  request: (row, { topic }) => ["DELETE", path(where, row.name, "registrations", topic)], done: (row, { topic }) => `Unregistered ${row.name} from ${topic}`,
});

const channelsOf = (row) => path("devices", row.name, "channels");
const subscribed = (row, { channel }) => ["POST", path("channels", channel, "subscriptions"), { devices: [row.name] }];
const unsubscribed = (row, { channel }) => ["DELETE", path("channels", channel, "subscriptions", row.name)];
/** The members of both changes of a subscription. After Undo the device subscribes to the channel if it did before the change. */
const subscription = {
  role: "operator", before: channelsOf, undo: (row, values, before) => (before.some(({ id }) => id === values.channel) ? subscribed : unsubscribed)(row, values),
};
const isRegistered = (row, { topic, environment }) => row.registrations?.some((one) => one.topic === topic && one.environments.includes(environment));

const invite = {
  title: "Invite …", role: "admin",
  fields: [optional("person", "User", { help: "empty for a new user" }), { ...roles, options: ["device", ...roles.options] }, lifetime("Days", "1"),
    optional("host", "Address of the gateway", { help: "HOST:PORT as the other machine reaches it; empty for a browser on this machine", value: globalThis.location?.protocol === "https:" ? location.host : "" })],
  request: (_, { person, role, days }) => ["POST", path("invitations"), given({ person, role, valid_seconds: Number(days) * day })],
  // The code is in the fragment of the address, which browsers do not send.
  secret: (made, origin, { host }) => [
    { title: "Link for a browser", value: `${host ? `${secure}//${host}` : origin}/join#${made.invitation}`, isDrawn: Boolean(host) },
    { title: "Code for pushcli join", value: `${made.invitation}@${host || "HOST"}` }],
};

const recipientFields = [
  required("app", "App", { source: "apps", of: "topic" }), required("recipients", "Devices or groups", { help: "registered for the app; separated by commas" }),
  required("rate", "Messages in a minute, at most", { isNumber: true, value: "60" })];
const senderOf = ({ name, app, recipients, rate }) => ({ name, app, recipients: list(recipients), rate: Number(rate) });
const senderSecret = (made, origin) => [{ title: "Token", value: made.token }, { title: "Address", value: `${origin}/${made.kind ? "hooks" : "send"}/${encodeURIComponent(made.name)}` }];
const senderColumns = [["Name", (row) => row.name], ["Kind", (row) => row.kind ?? "messages"], ["App", (row) => row.app], ["Recipients", (row) => times(row.recipients)], ["Last used", (row) => since(row.last_used)]];
const rotateToken = {
  title: "Rotate Token …", role: "admin", isDestructive: true, confirm: "The present token becomes invalid at once.",
  request: (row) => ["POST", path("senders", row.name, "token"), {}], secret: (made) => [{ title: "Token", value: made.token }],
};
const removeSender = remove("Remove …", (row) => path("senders", row.name), "The token becomes invalid, and no heartbeats of the sender are expected. This can't be undone.");

const keyFields = [
  required("team", "Team", { source: "teams", of: "team_id" }), { name: "environment", title: "Environment", options: ["", "development", "production"] }, optional("topics", "Topics", { help: "separated by commas; empty for all" }),
  optional("related", "Rotated with", { source: "keys", of: "key_id", help: "for keys of topics: tokens of both keys may follow each other on a connection" })];
const keyOf = ({ team, environment, topics, related }) => ({ team, topics: list(topics), ...given({ environment, related }) });

/** The message that a body of a webhook would become, in words. */
function hookTest({ result, event, payload, collapse_id: subject, recipients = [] }) {
  if (result === "ignored") return [{ title: "Result", value: `ignored, since this event makes no message: ${event ?? ""}` }];
  if (result === "resolved") return [{ title: "Result", value: `retracts the last message about the subject ${subject}` }];
  const devices = recipients.flatMap(({ recipient, refused, devices: found = [] }) => (refused ? [`${recipient}: ${refused}`]
    : found.map(({ device, presented, removed }) => [`${device} would present ${times(presented) || "nothing"}`, ...removed].join("; "))));
  return [{ title: "Result", value: subject ? `replaces the last message about the subject ${subject}` : "a message" },
    { title: "Payload", value: payload }, { title: "Devices", value: devices.join("\n") }];
}

/** The request for heartbeats. Without a grace it is a tenth of the interval. */
function heartbeat({ sender, every, grace }) {
  const seconds = secondsOf("Every", every);
  return { sender, every: seconds, grace: grace ? secondsOf("Grace", grace) : Math.floor(seconds / 10) };
}

const targetState = ({ disabled, late, error }) => (disabled ? "disabled by 410" : late ? `fails since ${since(late)}: ${error ?? ""}` : "ok");

const categoriesOf = (row) => path("apps", row.topic, "categories");
/** Sets a category as it was before its change, or removes one that there was not. */
function restoreCategory(row, { category }, before) {
  const found = before.find((one) => one.category === category);
  return found ? ["POST", categoriesOf(row), { category, actions: found.actions }] : ["DELETE", path("apps", row.topic, "categories", category)];
}

/** Returns the path of the preferences of a user, which contains the name of a device. */
const preferencesOf = (row) => path("devices", row.devices[0], "preferences");
/** Returns a link to an object of another list: its words, its address, and the least role. */
const linkTo = (words, name, key) => [words, `#/${name}/${encodeURIComponent(key)}`, "reader"];

/** The lists by their names, in the order of the navigation. `key` identifies a row in its address. `where` and `query` are the path and the
 *  parameters of the list if its name is not its path. `details` are the paths of the object and of what its `tables` show. An action has a
 *  `secret` or a `result` to show, and a `key` if the object has another one after it; `undo` gets the answer to `before`. */
export const lists = {
  devices: {
    title: "Devices", key: (row) => row.name, details: (row) => [path("devices", row.name), path("devices", row.name, "registrations"), channelsOf(row)],
    tables: (_, __, registrations, channels) => [
      { title: "Registrations", head: ["App", "Environment", "Device token"], rows: registrations.map(({ topic, environment, token }) => [topic, environment, token]) },
      { title: "Subscriptions", head: ["Channel", "App", "Environment"], rows: channels.map(({ id, topic, environment }) => [id, topic, environment]) },
    ].filter(({ rows }) => rows.length),
    filter: (row) => `device:${JSON.stringify(row.name)}`,
    links: (row) => [["Replay with Other Preferences", `#/replay?${new URLSearchParams({ device: row.name })}`, "operator"], linkTo(`User ${row.person}`, "persons", row.person)],
    columns: [["Name", (row) => row.name], ["User", (row) => row.person], ["Apps", (row) => times(row.apps)], ["Pending", (row) => row.waiting],
      ["Last seen", (row) => (row.streams > 0 ? "connected" : since(row.last_seen))]],
    create: invite,
    actions: [register("devices"), unregister("devices", (row) => row.apps), {
      ...subscription, title: "Subscribe …", fields: [required("channel", "Channel", { source: "channels", of: (one, row) => (isRegistered(row, one) ? one.id : ""), help: "of an app that the device is registered for" })],
      request: subscribed, done: (row, { channel }) => `Subscribed ${row.name} to ${channel}`,
    }, {
      ...subscription, title: "Unsubscribe …", isDestructive: true, fields: [required("channel", "Channel", { source: channelsOf, of: "id" })], request: unsubscribed, done: (row, { channel }) => `Unsubscribed ${row.name} from ${channel}`,
    }, {
      title: "Rotate Secret …", role: "admin", isDestructive: true,
      confirm: "The present secret becomes invalid, and the streams of the device end. For a device of the gateway's machine use pushcli devices rotate, which also stores the new secret there.",
      request: (row) => ["POST", path("devices", row.name, "secret"), {}], secret: (made) => [{ title: "Secret", value: made.secret }],
    },
      remove("Remove …", (row) => path("devices", row.name), "The device loses its secret, its registrations and its pending pushes. This can't be undone.")],
  },
  persons: {
    title: "Users", key: (row) => row.name, columns: [["Name", (row) => row.name], ["Devices", (row) => times(row.devices)]],
    details: (row) => [path("persons", row.name), ...(row.devices.length ? [preferencesOf(row)] : [])], tables: (_, __, preferences) => (preferences ? tables(preferences) : []),
    links: (row) => row.devices.map((name) => linkTo(`Device ${name}`, "devices", name)),
    actions: [{
      title: "Rename …", role: "operator", fields: [required("name", "Name", { from: (row) => row.name })], request: (row, { name }) => ["POST", path("persons", row.name, "name"), { name }],
      key: ({ name }) => name, done: (row, { name }) => `${row.name} is ${name} now`, undo: (row, { name }) => ["POST", path("persons", name, "name"), { name: row.name }],
    }, {
      title: "Set Preferences …", role: "operator", when: (row) => row.devices.length > 0,
      fields: [required("settings", "Settings", { isLong: true, help: "one in each line, as sound=off or quiet=22:00-07:00; only the user can change log-text" }),
        optional("app", "App", { source: "apps", of: "topic", help: "empty for everything" }), optional("category", "Category", { help: "of the app; empty for the whole app" })],
      request: (row, { settings, app, category }) => ["POST", preferencesOf(row), { settings: lines(settings), ...given({ app, category }) }], done: (row) => `Changed the preferences of ${row.name}`,
      before: preferencesOf, undo: (row, values, before) => ["POST", preferencesOf(row), { settings: restored(before, values), ...given({ app: values.app, category: values.category }) }],
    }, remove("Remove …", (row) => path("persons", row.name), "The gateway erases the user's devices, preferences, pending pushes, reports of advertising and rows of the log. Earlier backups still have them. This can't be undone.")],
  },
  apps: {
    title: "Apps", key: (row) => row.topic, details: (row) => [path("apps", row.topic, "categories")],
    detailed: (row, found) => ({ ...row, new_categories: row.known_categories ? "quiet" : "show", categories: found.map(({ category, actions }) => `${category} (${actions.map((one) => one.title).join(", ")})`) }), filter: (row) => `app:${row.topic}`,
    columns: [["Topic", (row) => row.topic], ["Name", (row) => row.name], ["Icon", (row) => row.icon], ["Team", (row) => row.team_id ?? "all teams"], ["Advertising", (row) => row.ads], ["Violations", (row) => row.policy_mode], ["Strict", (row) => (row.strict ? "yes" : "no")]],
    create: {
      title: "Add …", role: "operator", fields: [required("topic", "Topic", { help: "the bundle id, as com.example.news" }), required("name", "Name"), optional("icon", "Icon", { help: "an emoji or two letters" }), optional("team_id", "Team", { source: "teams", of: "team_id" })],
      request: (_, values) => ["POST", path("apps"), given(values)],
    },
    actions: [{
      title: "Change …", role: "operator",
      fields: [required("name", "Name", { from: (row) => row.name }), optional("icon", "Icon", { from: (row) => row.icon }),
        { name: "ads", title: "Advertising", options: ["off", "report", "hold", "refuse"], from: (row) => row.ads }, { name: "policy_mode", title: "Violations", options: ["enforce", "report"], from: (row) => row.policy_mode },
        { name: "strict", title: "Keys of aps with a wrong type", options: ["report", "refuse"], from: (row) => (row.strict ? "refuse" : "report") }],
      request: (row, { strict, ...values }) => ["POST", path("apps"), given({ topic: row.topic, ...values, strict: strict === "refuse" })],
      done: (row) => `Changed ${row.name}`,
      undo: (row) => ["POST", path("apps"), given({ topic: row.topic, name: row.name, icon: row.icon, ads: row.ads, policy_mode: row.policy_mode, strict: row.strict })],
    }, {
      title: "New Categories …", role: "operator",
      fields: [{ name: "new_categories", title: "Pushes of a category that is new from now on", options: ["show", "quiet"], from: (row) => (row.known_categories ? "quiet" : "show"), help: "quiet: in the notification center only, until the recipient decides" }],
      request: (row, values) => ["POST", path("apps"), { topic: row.topic, name: row.name, ...values }], done: (row, { new_categories: value }) => `New categories of ${row.name}: ${value}`,
    }, {
      title: "Set Category …", role: "operator", fields: [required("category", "Category"), required("actions", "Actions", { help: "up to four, as yes=Yes, no=No; an exclamation mark at the end of a title marks a destructive action" })],
      request: (row, { category, actions }) => ["POST", path("apps", row.topic, "categories"), { category, actions: actionsOf(actions) }], done: (_, { category }) => `Set ${category}`,
      before: categoriesOf, undo: restoreCategory,
    }, {
      title: "Remove Category …", role: "operator", isDestructive: true, fields: [required("category", "Category", { source: categoriesOf, of: "category" })],
      request: (row, { category }) => ["DELETE", path("apps", row.topic, "categories", category)], done: (_, { category }) => `Removed ${category}`,
      before: categoriesOf, undo: restoreCategory,
    }, {
      title: "Broadcasts …", role: "operator", isDestructive: true, fields: [{ name: "on", title: "Broadcasts", options: ["on", "off"], help: "off deletes all channels of the app" }],
      request: (row, { on }) => ["POST", path("channels", "features"), { topic: row.topic, on: on === "on" }], done: (row, { on }) => `Broadcasts of ${row.topic} are ${on}`,
    }, remove("Remove …", (row) => path("apps", row.topic), "An app with registrations, channels or scheduled pushes stays. This can't be undone.")],
  },
  groups: {
    title: "Groups", key: (row) => row.name, details: (row) => [path("groups", row.name)], filter: (row) => `device:${JSON.stringify(row.name)}`,
    columns: [["Name", (row) => row.name], ["Members", (row) => row.members], ["Apps", (row) => times(row.topics)]],
    create: { title: "Add …", role: "operator", fields: [required("name", "Name"), optional("members", "Users", { help: "separated by commas" })], request: (_, { name, members }) => ["POST", path("groups"), { name, members: list(members) }] },
    actions: [{
      title: "Add Members …", role: "operator", fields: [required("members", "Users", { help: "separated by commas" })], request: (row, { members }) => ["POST", path("groups"), { name: row.name, members: list(members) }],
    }, {
      title: "Remove Member …", role: "operator", isDestructive: true, fields: [required("person", "User", { source: (row) => path("groups", row.name), of: ({ members: all }) => all.map((one) => one.person) })],
      request: (row, { person }) => ["DELETE", path("groups", row.name, "members", person)], done: (row, { person }) => `Removed ${person} from ${row.name}`,
      undo: (row, { person }) => ["POST", path("groups"), { name: row.name, members: [person] }],
    }, register("groups"), unregister("groups", (row) => row.topics), remove("Remove …", (row) => path("groups", row.name), "The tokens of the group become invalid. This can't be undone.")],
  },
  channels: {
    title: "Channels", key: (row) => row.id,
    columns: [["Channel", (row) => row.id], ["App", (row) => row.topic], ["Environment", (row) => row.environment], ["Subscriptions", (row) => row.subscriptions], ["Messages", (row) => row.published]],
    create: {
      title: "Create …", role: "operator", fields: [required("topic", "App", { source: "apps", of: "topic" }), { name: "stored", title: "Stored for devices that connect later", options: ["the newest message", "nothing"] }, { name: "environment", title: "Environment", options: ["", "development", "production"] }],
      request: (_, { topic, stored, environment }) => ["POST", path("channels"), given({ topic, environment, message_storage_policy: stored === "nothing" ? 0 : 1, count: 1 })],
    },
    actions: [{
      title: "Delete …", role: "operator", isDestructive: true, removes: true, confirm: "All subscriptions of the channel end, and broadcasts to it are refused. This can't be undone.", request: (row) => ["DELETE", path("channels", row.id)],
    }],
  },
  senders: {
    title: "Senders", key: (row) => row.name, columns: senderColumns,
    create: {
      title: "Add …", role: "admin",
      fields: [required("name", "Name"), ...recipientFields, optional("combine", "Time in which equal messages become one alert", { help: "such as 10m; empty if each message is an alert" })],
      request: (_, { combine, ...values }) => ["POST", path("senders"), given({ ...senderOf(values), combine: combine && secondsOf("Time", combine) })], secret: senderSecret,
    },
    actions: [rotateToken, removeSender],
  },
  hooks: {
    title: "Webhooks", key: (row) => row.name, where: ["senders"], query: { hooks: "all" }, columns: senderColumns,
    create: {
      title: "Add …", role: "admin",
      fields: [required("name", "Name"), { name: "kind", title: "Service", options: ["alertmanager", "grafana", "github", "gitlab", "healthchecks", "json"] }, ...recipientFields,
        optional("fields", "Fields", { isLong: true, help: "only for json: the name of a field of the message and a JSON pointer in each line, as title=/monitor/name" })],
      request: (_, { kind, fields, ...values }) => ["POST", path("senders"), given({ ...senderOf(values), kind, fields: fields && pointersOf(fields) })], secret: senderSecret,
    },
    actions: [{
      title: "Test …", role: "operator", fields: [required("body", "Body of a request", { isLong: true, help: "it is read only: no push is sent" })],
      request: (row, { body }) => ["POST", path("senders", row.name, "test"), { body }], result: hookTest,
    }, rotateToken, removeSender],
  },
  expectations: {
    title: "Heartbeats", key: (row) => row.sender,
    columns: [["Sender", (row) => row.sender], ["Every", (row) => timeOf(row.every)], ["Grace", (row) => timeOf(row.grace)], ["Last", (row) => since(row.last)], ["Late from", (row) => since(row.due)],
      ["State", (row) => (row.late ? "late" : "ok")]],
    create: {
      title: "Expect …", role: "operator",
      fields: [required("sender", "Sender", { source: "senders", of: (row) => (row.kind ? "" : row.name) }), required("every", "Every", { help: "as 10m, 24h or 7d; an expectation of the same sender is replaced" }),
        optional("grace", "Grace", { help: "how much later a heartbeat may be; empty for a tenth" })],
      request: (_, values) => ["POST", path("expectations"), heartbeat(values)],
    },
    actions: [{
      title: "Change …", role: "operator", fields: [required("every", "Every", { from: (row) => timeOf(row.every) }), optional("grace", "Grace", { from: (row) => timeOf(row.grace) })],
      request: (row, values) => ["POST", path("expectations"), heartbeat({ ...values, sender: row.sender })], done: (row) => `Changed ${row.sender}: the time begins again`,
      undo: ({ sender, every, grace }) => ["POST", path("expectations"), { sender, every, grace }],
    }, {
      title: "Remove", role: "operator", isDestructive: true, removes: true, request: (row) => ["DELETE", path("expectations", row.sender)], done: (row) => `No more heartbeats of ${row.sender} are expected`,
      undo: ({ sender, every, grace }) => ["POST", path("expectations"), { sender, every, grace }],
    }],
  },
  "event-targets": {
    title: "Event Targets", role: "admin", key: (row) => row.name,
    columns: [["Name", (row) => row.name], ["Address", (row) => row.url], ["Apps", (row) => (row.apps ? times(row.apps) : "all")], ["Events", (row) => (row.events ? times(row.events) : "all")], ["Last sent", (row) => since(row.last_sent)],
      ["State", targetState]],
    create: {
      title: "Add …", role: "admin",
      fields: [required("name", "Name"), required("url", "Address", { help: "the gateway posts events to this server; with TLS, except on the gateway's machine" }), optional("apps", "Apps", { help: "topics, separated by commas; empty for all" }),
        optional("events", "Events", { help: "as acknowledged, viewed, expired; empty for all" }), optional("ca", "Certificates", { isLong: true, help: "PEM, to trust for this server in addition to the CAs of the gateway's machine" })],
      request: (_, { apps, events, ...values }) => ["POST", path("event-targets"), given({ ...values, apps: list(apps), events: list(events) })], secret: (made) => [{ title: "Secret", value: made.secret }],
    },
    actions: [{
      title: "Test", role: "admin", request: (row) => ["POST", path("event-targets", row.name, "test"), {}],
      result: ({ status, answer, error, milliseconds }) => [{ title: "Result", value: status ? `the answer ${status} after ${milliseconds} ms` : error }, { title: "Answer", value: answer }],
    }, {
      title: "Resume", role: "admin", when: (row) => row.disabled, request: (row) => ["POST", path("event-targets", row.name, "resume"), {}], done: (row) => `Resumed ${row.name}`,
    }, {
      title: "Rotate Secret …", role: "admin", confirm: "For a day, each request also has a signature with the present secret.",
      request: (row) => ["POST", path("event-targets", row.name, "secret"), {}], secret: (made) => [{ title: "Secret", value: made.secret }],
    }, remove("Remove …", (row) => path("event-targets", row.name), "The server gets no more events, and its secret becomes invalid. This can't be undone.")],
  },
  scheduled: {
    title: "Scheduled", key: (row) => row.id, position: (row) => row.place,
    columns: [["Time", (row) => since(row.at)], ["Device", (row) => row.device], ["App", (row) => row.topic], ["Accepted", (row) => since(row.accepted)], ["apns-id", (row) => row.id]],
    actions: [{ title: "Cancel …", role: "operator", isDestructive: true, removes: true, confirm: "The push will not be delivered. This can't be undone.", request: (row) => ["DELETE", path("scheduled", row.id)] }],
  },
  invitations: {
    title: "Invitations", key: (row) => row.id,
    columns: [["Id", (row) => row.id], ["User", (row) => row.person ?? "a new user"], ["Role", (row) => row.role], ["Uses", (row) => row.uses], ["Expires", (row) => since(row.expires)]],
    create: invite,
    actions: [remove("Withdraw …", (row) => path("invitations", row.id), "The code becomes invalid. This can't be undone.")],
  },
  teams: {
    title: "Teams", key: (row) => row.team_id, columns: [["Team", (row) => row.team_id]],
    create: { title: "Add …", role: "operator", fields: [required("team_id", "Team", { help: "10 characters" })], request: (_, { team_id: team }) => ["POST", path("teams"), { team_id: team }] },
    actions: [{
      title: "Remove", role: "admin", isDestructive: true, removes: true, request: (row) => ["DELETE", path("teams", row.team_id)], done: (row) => `Removed ${row.team_id}`,
      undo: (row) => ["POST", path("teams"), { team_id: row.team_id }],
    }],
  },
  keys: {
    title: "Keys", key: (row) => row.key_id,
    columns: [["Key", (row) => row.key_id], ["Team", (row) => row.team_id], ["Environment", (row) => row.environment], ["Apps", (row) => (row.topics ? times(row.topics) : "all of the team")]],
    create: {
      title: "Create …", role: "admin", fields: keyFields, request: (_, values) => ["POST", path("keys"), keyOf(values)],
      secret: (made) => [{ title: "Private key", value: made.private_key, file: `AuthKey_${made.key_id}.p8` }],
    },
    others: [{
      title: "Import …", role: "admin",
      fields: [required("pem", "Key", { isLong: true, accept: ".p8,.pem", named: (file) => ({ id: /^AuthKey_(.{10})/.exec(file)?.[1] }), help: "of a sender, as PEM; the gateway stores its public half only" }),
        required("id", "Key id", { help: "10 characters, as in AuthKey_KEYID.p8" }), ...keyFields],
      request: (_, { pem, id, ...values }) => ["POST", path("keys"), { ...keyOf(values), id, pem: `${pem}\n` }], done: (_, { id }) => `Imported ${id}`,
    }],
    actions: [remove("Remove …", (row) => path("keys", row.key_id), "Pushes that are signed with the key are refused from now on. This can't be undone.")],
  },
  certificates: {
    title: "Certificates", key: (row) => row.id, isWhole: true,
    columns: [["Certificate", (row) => row.id], ["Topics", (row) => times([row.topic, ...(row.topics ?? []).filter((one) => one !== row.topic)].filter(Boolean))], ["Environments", (row) => times(row.environments)], ["Expires", (row) => (row.expires ?? "").slice(0, 10)],
      ["State", (row) => (row.revoked ? `revoked ${since(row.revoked)}` : "valid")]],
    create: {
      title: "Issue …", role: "admin", fields: [required("topic", "App", { source: "apps", of: "topic" }), optional("kinds", "Kinds", { help: "with a topic of their own, as voip, complication; separated by commas" }), { name: "environment", title: "Environment", options: ["", "development", "production"] }, lifetime("Days", "365")],
      request: (_, { topic, kinds, environment, days }) => ["POST", path("certificates"), { topic, topics: [], kinds: list(kinds), days: Number(days), ...given({ environment }) }],
      secret: (made, _, { topic }) => [{ title: "Certificate", value: made.certificate, file: `${topic}.pem` }, { title: "Private key", value: made.key, file: `${topic}.key` }],
    },
    actions: [{
      title: "Revoke …", role: "admin", isDestructive: true, confirm: "Connections with the certificate end, and it is refused from now on. This can't be undone.", request: (row) => ["POST", path("certificates", "revocations"), { id: row.id }], done: (row) => `Revoked ${row.id}`,
    }],
  },
  tokens: {
    title: "Administrators", key: (row) => row.name,
    columns: [["Name", (row) => row.name], ["Role", (row) => row.role], ["Last used", (row) => since(row.last_used)], ["Created", (row) => since(row.created)], ["Expires", (row) => since(row.expires)]],
    create: { title: "Create Token …", role: "admin", fields: [required("name", "Name"), roles, lifetime("Days", "90")], request: (_, { name, role, days }) => ["POST", path("tokens"), { name, role, days: Number(days) }], secret: (made) => [{ title: "Token", value: made.token }] },
    actions: [remove("Remove …", (row) => path("tokens", row.name), "The token, and each session of the console that it began, end at once. This can't be undone.")],
  },
  faults: {
    title: "Faults", key: (row) => row.rule.name, isWhole: true,
    columns: [["Name", (row) => row.rule.name], ["Effect", (row) => row.does], ["Hits", (row) => row.hits], ["State", (row) => (row.active ? "active" : "over")]],
    create: {
      title: "Set …", role: "operator",
      fields: [required("name", "Name"), optional("reason", "Reason", { help: "such as TooManyRequests" }), optional("delay", "Delay in seconds", { isNumber: true }), optional("rate", "Percent of requests", { isNumber: true }), optional("app", "App", { source: "apps", of: "topic" }),
        optional("for", "Seconds until it ends", { isNumber: true, value: "300" })],
      request: (_, values) => ["POST", path("faults"), [given({ ...values, ...Object.fromEntries(["delay", "rate", "for"].filter((name) => values[name]).map((name) => [name, Number(values[name])])) })]],
    },
    others: [{
      title: "Set Scenario …", role: "operator",
      fields: [{ name: "scenario", title: "Scenario", options: Object.keys(scenarios) }, optional("app", "App", { source: "apps", of: "topic" }), optional("for", "Seconds until it ends", { isNumber: true, value: "300" }),
        optional("rules", "Rules", { isLong: true, help: "in place of a scenario: a JSON list with the keys of a scenario file, and times in seconds" })],
      request: (_, { scenario, app, for: time, rules }) => ["POST", path("faults"), (rules ? rulesOf(rules) : scenarios[scenario]).map((rule) => ({ ...given({ app, for: time && Number(time) }), ...rule }))],
      done: (_, { scenario }) => `Set ${scenario || "the faults"}`,
    }, { title: "Remove All …", role: "operator", isDestructive: true, confirm: "All faults end at once.", request: () => ["DELETE", path("faults")], done: () => "Removed all faults" }],
    actions: [{
      title: "Remove", role: "operator", isDestructive: true, removes: true, request: (row) => ["DELETE", path("faults", row.rule.name)], done: (row) => `Removed ${row.rule.name}`, undo: (row) => ["POST", path("faults"), [row.rule]],
    }],
  },
};

/** Returns the rows in which each word of a search occurs. */
export function search(rows, columns, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return rows;
  return rows.filter((row) => {
    const text = columns.map(([, value]) => value(row) ?? "").join("\n").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** Returns the members of an object as names and texts for the page. */
export const members = (object) => Object.entries(object).map(([name, value]) => [
  `${name[0].toUpperCase()}${name.slice(1).replaceAll("_", " ")}`,
  Array.isArray(value) ? value.map((one) => (typeof one === "object" ? Object.values(one).flat().map((part) => (typeof part === "object" ? JSON.stringify(part) : part)).join(" ") : String(one))).join(", ")
    : typeof value === "object" && value ? JSON.stringify(value) : String(value),
]);
