// The state of the device, and the changes that lead from one state to the next. Pure, without I/O: the journal stores the
// changes, and each tab applies them in the same order.

import { plain } from "./words.js";

/** The limits of the history. The limits of entries, alerts, answers and dropped pushes are the same in `PhoneState.swift`. */
export const limits = { entries: 10_000, alerts: 200, snoozed: 200, pending: 1000, dropped: 1e9, text: 20_000 };

/** The topic of summaries, which the gateway itself sends: not an app of the home screen. */
export const digestTopic = "summary";

export function newState() {
  return {
    apps: [], // {topic, name, icon, badge}, in the order of the home screen
    entries: [], // {ordinal, push, isRead, answer}, oldest first
    alerts: [], // {ordinal, push, isPresented}, oldest first; the first is on screen
    snoozed: [], // {ordinal, push, until}: alerts that are shown again at a time, in milliseconds since 1970
    cursor: 0, epoch: null, isRenumbered: false, nextOrdinal: 1,
    settled: [], // {id, isRead}: pushes that were answered before they are in the history
    pending: [], // {id, action}: answers that the gateway has not confirmed
    dropped: 0, preferences: {},
    device: { name: "", isSilent: false, focus: "", volume: 100, notices: false, closed: false },
  };
}

// Reading pushes

const text = (value) => (typeof value === "string" ? value.slice(0, limits.text) : "");
/** A text that is shown; empty if it has no visible character. */
const words = (value) => {
  const shown = plain(text(value));
  return /[^\s\u200c\u200d\ufe0e\ufe0f]/.test(shown) ? shown : "";
};
const number = (value) => (Number.isSafeInteger(value) && value >= 0 ? value : null);

/** Returns true for a link that may be opened: http or https, in printable ASCII. */
export function isLink(value) {
  return typeof value === "string" && value.length <= 2000 && /^https?:\/\/[\x21-\x7e]+$/.test(value);
}

function readAlert(alert) {
  if (!alert || typeof alert !== "object") return null;
  const titles = Array.isArray(alert.buttons) ? alert.buttons.filter((one) => typeof one === "string").slice(0, 2) : [];
  const buttons = titles.map((one, index) => words(one) || (titles.length === 1 ? "OK" : ["Close", "View"][index]));
  const actions = Array.isArray(alert.actions)
    ? alert.actions.filter((one) => one && typeof one.id === "string" && typeof one.title === "string").slice(0, 4)
      .map((one) => ({ id: one.id, title: words(one.title) || one.id, isDestructive: one.destructive === true }))
    : [];
  return { title: words(alert.title), subtitle: words(alert.subtitle), body: words(alert.body), buttons, actions };
}

/** Reads the description of an attachment in a payload; null for a member of another form, which belongs to the app. */
export function readAttachment(given) {
  if (typeof given?.id !== "string" || !/^[0-9a-f]{32}$/.test(given.id)) return null;
  // The gateway sends names without paths and control characters.
  const name = words(given.name).replace(/[\p{C}/\\]/gu, "").slice(0, 128) || "attachment";
  const size = number(given.size);
  return size === null ? null : { id: given.id, name, size };
}

/** Reads a `push` line. Returns null if it lacks a member that identifies a push. */
export function readPush(line, source = "") {
  const seq = number(line.seq);
  if (seq === null || typeof line.id !== "string" || typeof line.topic !== "string") return null;
  const shown = line.presentation && typeof line.presentation === "object" ? line.presentation : {};
  const payload = line.payload && typeof line.payload === "object" ? line.payload : {};
  const aps = payload.aps && typeof payload.aps === "object" ? payload.aps : {};
  const links = Object.entries(payload).filter(([name, value]) => name !== "aps" && isLink(value));
  const named = Object.fromEntries(links);
  const first = links.map(([name]) => name).sort()[0];
  const mark = source.indexOf(',"payload":');
  return {
    seq, id: line.id, topic: line.topic,
    app: {
      topic: line.topic, name: words(line.app?.name) || line.topic, icon: words(line.app?.icon).slice(0, 8),
      marketing: line.app?.marketing === true,
    },
    received: Date.parse(line.received) || 0,
    collapse: text(line.collapse), thread: text(aps["thread-id"]),
    level: typeof aps["interruption-level"] === "string" ? aps["interruption-level"] : "active",
    volume: Math.min(Math.max(Number(aps.sound?.volume ?? 1) || 0, 0), 1),
    asked: ["badge", "sound", "alert"].filter((part) => aps[part] !== undefined && aps[part] !== null),
    link: named.url ?? named.link ?? named[first] ?? null, attachment: readAttachment(payload.attachment),
    badge: number(shown.badge), sound: typeof shown.sound === "string" ? shown.sound : null,
    alert: readAlert(shown.alert), center: readAlert(shown.center ?? shown.centre),
    budget: number(shown.budget), newCategory: typeof shown.new_category === "string" ? shown.new_category : null,
    held: shown.held && typeof shown.held === "object" ? { by: text(shown.held.by), until: number(shown.held.until) } : null,
    payload: mark < 0 ? JSON.stringify(payload) : source.slice(mark + 11, -1),
  };
}

/** The texts of a push in the center; null for a push without texts. */
export const listed = (push) => push.alert ?? push.center;

/** The line that names a push in lists. */
export function headline(push) {
  const alert = listed(push);
  const words = alert && (alert.title || alert.subtitle || alert.body);
  if (words) return words;
  if (push.badge !== null) return push.badge === 0 ? "Badge removed" : `Badge ${push.badge}`;
  return push.sound ? `Sound ${push.sound}` : "Notification";
}

/** Returns true if a push shows or plays a part. */
const isShown = (push) => push.badge !== null || push.sound !== null || push.alert !== null || push.center !== null;

const isSame = (one, other) => one.id === other.id && one.topic === other.topic && one.received === other.received;

// Lines of the gateway

/** Returns the changes that a line causes, in order. `names` the pushes that an earlier line of the same batch brought. */
export function changesBy(line, state, source) {
  switch (line.type) {
    case "welcome": return welcome(line, state);
    case "push": {
      const push = readPush(line, source);
      if (!push) return number(line.seq) > 0 ? [{ type: "passed", seq: line.seq }] : [];
      if (push.seq > 0 && push.seq <= state.cursor) return [];
      const isKnown = state.isRenumbered && push.seq > 0 && state.entries.some((entry) => isSame(entry.push, push));
      return [isKnown ? { type: "passed", seq: push.seq } : { type: "received", push }];
    }
    case "gap": return [{ type: "gap", dropped: number(line.dropped) ?? 0, seq: number(line.to) ?? 0 }];
    case "retract": return retract(line, state);
    case "answered": {
      const own = state.pending.some((answer) => answer.id === line.id);
      return own ? [{ type: "taken", id: line.id, action: text(line.action) || null }] : [];
    }
    case "preferences": return [{ type: "preferences", preferences: line.preferences ?? {} }];
    default: return [];
  }
}

function welcome(line, state) {
  const changes = [];
  const epoch = text(line.epoch) || null;
  if (epoch !== state.epoch) changes.push({ type: "renumbered", epoch });
  const apps = (Array.isArray(line.apps) ? line.apps : []).filter((app) => typeof app?.topic === "string")
    .map((app) => ({ topic: app.topic, name: words(app.name) || app.topic, icon: words(app.icon).slice(0, 8), marketing: app.marketing === true, ...standing(app.standing) }));
  changes.push({ type: "apps", apps }, { type: "preferences", preferences: line.preferences ?? {} });
  if (text(line.device) !== state.device.name) changes.push({ type: "device", name: text(line.device) });
  return changes;
}

/** Returns the standing of an app as a member; an empty object without a standing. */
function standing(given) {
  if (typeof given !== "object" || !given) return {};
  const count = (name) => number(given[name]) ?? 0;
  return {
    standing: {
      presented: count("presented"), viewed: count("viewed"), closed: count("closed"), reported: count("reported"),
      unsubscribed: count("unsubscribed"), until: text(given.summary_until).slice(0, 10),
    },
  };
}

function retract(line, state) {
  if (typeof line.id !== "string") return [];
  if (typeof line.topic === "string") return [{ type: "takenBack", id: line.id, topic: line.topic }];
  const isQueued = [...state.alerts, ...state.snoozed].some((alert) => alert.push.id === line.id);
  if (line.device === state.device.name && !line.person && !isQueued) return [];
  // View, Close and OK do not answer the question of an alert.
  const isAnswer = typeof line.action === "string" && !["view", "close", "ok"].includes(line.action);
  const answer = isAnswer ? { action: text(line.action), person: text(line.person), device: text(line.device) } : null;
  return [{ type: "retracted", id: line.id, answer }];
}

// Applying changes

const appliers = {
  received: receive,
  passed(state, { seq }) { state.cursor = Math.max(state.cursor, seq); },
  renumbered(state, { epoch }) { Object.assign(state, { cursor: 0, epoch, isRenumbered: true }); },
  presented(state, { ordinals }) {
    state.alerts = state.alerts.map((alert) => (ordinals.includes(alert.ordinal) ? { ...alert, isPresented: true } : alert));
  },
  // `answers` has {ordinal, id, action}. `isRead` is false for alerts that were closed together.
  // The first answer of this browser counts: of one tab, or of a notification outside of the page.
  answered(state, { answers, isRead }) {
    const queued = new Set(state.alerts.map((alert) => alert.ordinal));
    const taken = answers.filter(({ ordinal }) => queued.has(ordinal));
    const gone = new Set(taken.map(({ ordinal }) => ordinal));
    state.alerts = state.alerts.filter((alert) => !gone.has(alert.ordinal));
    if (isRead) markRead(state, gone);
    state.pending = [...state.pending, ...taken.map(({ id, action }) => ({ id, action }))].slice(-limits.pending);
  },
  // An answer on a notification that the worker has shown while the page was closed.
  settled(state, { id, action, isRead }) {
    const alert = state.alerts.find(({ push }) => push.id === id);
    if (alert) return appliers.answered(state, { answers: [{ ordinal: alert.ordinal, id, action }], isRead });
    if (state.entries.some(({ push }) => push.id === id) || state.settled.some((one) => one.id === id)) return undefined;
    state.settled = [...state.settled, { id, isRead }].slice(-limits.alerts);
    state.pending = [...state.pending, { id, action }].slice(-limits.pending);
    return undefined;
  },
  // An entry without a queued alert gets one at that time.
  snoozed(state, { ordinals, until }) {
    for (const ordinal of ordinals) {
      const one = state.alerts.find((alert) => alert.ordinal === ordinal) ?? state.entries.find((entry) => entry.ordinal === ordinal);
      if (!one || !listed(one.push)) continue;
      const push = one.push.alert ? one.push : { ...one.push, alert: one.push.center };
      forget(state, "snoozed", (alert) => alert.ordinal === ordinal);
      state.snoozed = [...state.snoozed, { ordinal, push, until }].slice(-limits.snoozed);
      forget(state, "alerts", (alert) => alert.ordinal === ordinal);
    }
  },
  woken(state, { ordinals }) {
    for (const { ordinal, push } of state.snoozed.filter((alert) => ordinals.includes(alert.ordinal))) {
      queue(state, { ordinal, push, isPresented: false }, new Set());
    }
    forget(state, "snoozed", (alert) => ordinals.includes(alert.ordinal));
  },
  taken(state, { id }) { state.pending = state.pending.filter((answer) => answer.id !== id); },
  retracted(state, { id, answer }) {
    state.alerts = state.alerts.filter((alert) => alert.push.id !== id);
    forget(state, "snoozed", (alert) => alert.push.id === id);
    state.entries = state.entries.map((entry) => (
      entry.push.id === id ? { ...entry, isRead: true, answer: answer ?? entry.answer } : entry));
  },
  takenBack(state, { id, topic }) {
    const isGone = ({ push }) => push.id === id && push.topic === topic;
    state.alerts = state.alerts.filter((alert) => !isGone(alert));
    forget(state, "snoozed", isGone);
    state.entries = state.entries.filter((entry) => !isGone(entry));
  },
  read(state, { ordinals }) { markRead(state, new Set(ordinals)); },
  cleared(state, { ordinals }) {
    const gone = new Set(ordinals);
    state.entries = state.entries.filter((entry) => !gone.has(entry.ordinal));
    forget(state, "snoozed", (alert) => gone.has(alert.ordinal));
  },
  restored(state, { entries }) {
    const known = new Set(state.entries.map((entry) => entry.ordinal));
    state.entries = [...state.entries, ...entries.filter((entry) => !known.has(entry.ordinal))]
      .sort((one, other) => one.ordinal - other.ordinal).slice(-limits.entries);
  },
  apps(state, { apps }) {
    const badges = new Map(state.apps.map((app) => [app.topic, app.badge]));
    state.apps = apps.map((app) => ({ ...app, badge: badges.get(app.topic) ?? 0 }));
  },
  preferences(state, { preferences }) { state.preferences = preferences; },
  device(state, change) { state.device = { ...state.device, ...change, type: undefined }; },
  gap(state, { dropped, seq }) {
    state.dropped = Math.min(state.dropped + dropped, limits.dropped);
    state.cursor = Math.max(state.cursor, seq);
  },
  gapNoted(state) { state.dropped = 0; },
};

/**
 * Applies a change to a state. A change of a removed entry or alert has no effect. Entries and alerts are replaced as a
 * whole, so that a change and an entry may be kept without a copy.
 */
export function apply(state, change) {
  if (Object.hasOwn(appliers, change.type)) appliers[change.type](state, change);
  return state;
}

/** Removes the elements of a list for which a condition is true. */
function forget(state, list, isGone) {
  if (state[list].some(isGone)) state[list] = state[list].filter((one) => !isGone(one));
}

/** Returns the snoozed alerts that have reached their time. */
export const dueSnoozed = (state, now) => state.snoozed.filter(({ until }) => until <= now);

function markRead(state, ordinals) {
  state.entries = state.entries.map((entry) => (ordinals.has(entry.ordinal) ? { ...entry, isRead: true } : entry));
}

function receive(state, { push }) {
  if (push.seq > 0 && push.seq <= state.cursor) return;
  state.cursor = Math.max(state.cursor, push.seq);
  const ordinal = state.nextOrdinal++;
  if (push.topic !== digestTopic) install(state, push.app, push.badge);
  if (!isShown(push)) return;
  const replaced = new Set();
  if (push.collapse) {
    for (const one of [...state.entries, ...state.alerts]) {
      if (one.push.collapse === push.collapse && one.push.topic === push.topic) replaced.add(one.ordinal);
    }
  }
  if (replaced.size) state.entries = state.entries.filter((entry) => !replaced.has(entry.ordinal));
  forget(state, "snoozed", (alert) => replaced.has(alert.ordinal));
  const settled = state.settled.find(({ id }) => id === push.id);
  forget(state, "settled", (one) => one === settled);
  state.entries.push({ ordinal, push, isRead: settled?.isRead ?? false, answer: null });
  if (state.entries.length > limits.entries) state.entries.splice(0, state.entries.length - limits.entries);
  queue(state, { ordinal, push: settled ? { ...push, alert: null } : push, isPresented: false }, replaced);
}

/** Appends an alert to the queue, or puts it at the position of the alert that it replaces. */
function queue(state, alert, replaced) {
  const index = state.alerts.findIndex((one) => replaced.has(one.ordinal));
  if (alert.push.alert && index >= 0) state.alerts[index] = alert;
  state.alerts = state.alerts.filter((one) => !replaced.has(one.ordinal));
  if (!alert.push.alert || index >= 0) return;
  state.alerts.push(alert);
  if (state.alerts.length <= limits.alerts) return;
  // The alert on screen stays until the user presses a button; alerts that stand alone stay, too, as far as possible.
  const surplus = state.alerts.findIndex((one, place) => place > 0 && !standsAlone(one));
  state.alerts.splice(Math.max(surplus, 1), 1);
}

function install(state, app, badge) {
  let known = state.apps.find((one) => one.topic === app.topic);
  if (!known) state.apps.push((known = { ...app, badge: 0 }));
  Object.assign(known, { name: app.name, icon: app.icon, marketing: app.marketing === true });
  if (badge !== null) known.badge = badge;
}

/** Returns true for an alert that is always shown alone: a question, or an urgent alert. */
export function standsAlone({ push }) {
  return (push.alert?.actions.length ?? 0) > 0 || push.level === "time-sensitive" || push.level === "critical";
}

/** Returns the new category of a push about which the user has not decided; null for any other push. */
export function undecidedCategory(state, push) {
  const choices = state.preferences.apps?.[push.topic]?.categories?.[push.newCategory];
  const isDecided = choices && (choices.permission != null || choices.alert === true || choices.sound === true);
  return push.newCategory && !isDecided ? push.newCategory : null;
}

/** Returns true if the app of a push sends marketing, and the user has not unsubscribed from it. */
export const offersUnsubscribing = (state, push) =>
  (push.app.marketing || state.apps.some((app) => app.topic === push.topic && app.marketing))
  && state.preferences.apps?.[push.topic]?.marketing !== false;

export const unreadCount = (state) => state.entries.reduce((sum, { isRead, push }) => sum + (!isRead && listed(push) ? 1 : 0), 0);

export const badgeSum = (state) => state.apps.reduce((sum, app) => sum + app.badge, 0);
