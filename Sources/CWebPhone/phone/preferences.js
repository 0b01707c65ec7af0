// The settings as a table of rows: one for each preference of the gateway and each setting of this device. Pure.

const onOff = { kind: "switch", read: (value) => (value ?? true ? "on" : "off") };
const offOn = { kind: "switch", read: (value) => (value ? "on" : "off") };
const choice = (values, read) => ({ kind: "choice", values, read });
const words = (read, hint) => ({ kind: "text", read, hint });

/** The preferences for everything: name in assignments, key in JSON, title, kind, explanation. */
const everything = [
  ["notifications", "notifications", "Allow Notifications", onOff, "Off refuses every push: no badge, no sound, no alert."],
  ["badge", "badge", "Badges", onOff, "The number on the icon of an app."],
  ["sound", "sound", "Sounds", onOff, "Whether a push may play a sound."],
  ["alert", "alert", "Alerts", onOff, "Whether a push may open an alert with its text."],
  ["quiet", "quiet", "Quiet Hours", words((value) => (value?.length ? value.join("; ") : "off"), "22:00-07:00 mon-fri"),
    "Times in which no alert is shown and no sound is played, such as 22:00-07:00 mon-fri; off for none."],
  ["summary", "summary", "Summary at", words((value) => value ?? "default", "08:00,18:00"),
    "Times at which deferred pushes come as a summary, up to 12 a day."],
  ["marketing", "marketing", "Marketing", offOn, "Whether pushes that their sender declares as marketing may alert."],
  ["log-text", "log_text", "Texts in the Log", choice(["off", "devices", "senders"], (value) => value ?? "devices"),
    "Clients that can find pushes by text in the log: none, your devices, or also senders."],
];

/** The preferences for an app. */
const ofApp = [
  ["notifications", "notifications", "Allow Notifications", onOff, "Off refuses every push of this app."],
  ["badge", "badge", "Badges", onOff, "The number on its icon."],
  ["sound", "sound", "Sounds", onOff, "Whether its pushes may play a sound."],
  ["alert", "alert", "Alerts", onOff, "Whether its pushes may open an alert."],
  ["delivery", "delivery", "Deliver", choice(["now", "summary"], (value) => value ?? "now"),
    "Now shows pushes at once; summary defers them to the times of the summary."],
  ["time-sensitive", "time_sensitive", "Time-Sensitive Breaks Through", offOn,
    "Time-sensitive pushes come through quiet hours and a Focus."],
  ["critical", "critical", "Critical Breaks Through", offOn,
    "Critical pushes come through everything and sound while it is silent."],
  ["advertising", "advertising", "Advertising", choice(["allow", "refuse"], (value) => (value ? "allow" : "refuse")),
    "Whether alerts of this app may contain advertisements."],
  ["marketing", "marketing", "Marketing",
    choice(["inherit", "on", "off"], (value) => (value === true ? "on" : value === false ? "off" : "inherit")),
    "Whether its pushes that are declared as marketing may alert; off unsubscribes from them."],
  ["budget", "alert_budget", "Alerts an Hour",
    words((value) => (value === undefined ? "default" : value === null ? "unlimited" : String(value)), "default"),
    "Further alerts within the hour go to the center; default is 20 an hour."],
  ["provisional", "provisional", "Deliver Quietly", choice(["on", "keep"], (value) => (value ? "on" : "keep")),
    "Pushes of this app come without sound and alert until you keep it."],
];

const ofCategory = ["badge", "sound", "alert"].map((name) => [
  name, name, { badge: "Badges", sound: "Sounds", alert: "Alerts" }[name],
  choice(["inherit", "on", "off"], (value) => (value === true ? "on" : value === false ? "off" : "inherit")),
  "Inherit takes the setting of the app.",
]).concat([[
  "permission", "permission", "Permission", choice(["new", "show", "quiet", "off"], (value) => value ?? "new"),
  "Show, quiet or off; new is quiet where the new categories of the app start so.",
]]);

const captions = {
  new: "New", show: "Show", quiet: "Quiet", on: "On", off: "Off", keep: "Off", inherit: "Inherit", now: "Now", summary: "In the Summary", allow: "Allow", refuse: "Refuse",
  devices: "Devices", senders: "Senders",
};

/** The words of a value. The name of a Focus is the user's. */
export function caption({ name, kind }, value) {
  if (name === "device.volume") return `${value} %`;
  return kind !== "text" && (value === "off" || name !== "device.focus") && Object.hasOwn(captions, value) ? captions[value] : value;
}

/** The identifier of a row, also in addresses. */
export const rowID = (name, app = null, category = null) => [app ?? "", category ?? "", name].join("/");

function row([name, key, title, type, help], values, app = null, category = null) {
  const value = type.read(values?.[key]);
  const known = type.values ? (type.values.includes(value) ? type.values : [value, ...type.values]) : ["off", "on"];
  return {
    id: rowID(name, app, category), name, app, category, title, help, kind: type.kind,
    value, values: known, hint: type.hint ?? "",
  };
}

/** The row with the standing of an app, which can't be changed. */
function standing({ topic, standing: { presented, viewed, closed, reported, unsubscribed, until } }) {
  const value = until ? `In the summary until ${until}` : `${presented} alerts, ${reported} reported`;
  const use = `${presented} alerts in 28 days: ${viewed} viewed, ${closed} closed, ${reported} reported, ${unsubscribed} unsubscribed.`;
  return {
    id: rowID("standing", topic), name: "standing", app: topic, category: null, title: "Standing", kind: "fact", value, values: [value], hint: "",
    help: until ? `Recipients reported the app. ${use}` : use,
  };
}

/** Returns all groups of rows: this device, everything, then each app with its categories. */
export function groups(state) {
  const { preferences, device } = state;
  const focuses = Object.keys(preferences.focus ?? {}).sort();
  const named = focuses.map((name) => row([
    `focus.${name}`, name, `Focus “${name}” Lets Through`, words((topics) => (topics?.length ? topics.join(",") : "none"), "topics"),
    "Topics of the apps that may interrupt in this Focus; none permits no app, off deletes the Focus.",
  ], preferences.focus));
  const active = device.focus && !focuses.includes(device.focus) ? [device.focus] : [];
  const own = [
    { name: "device.silent", title: "Silent", kind: "switch", value: device.isSilent ? "on" : "off", values: ["off", "on"],
      help: "No sounds on this device, except critical ones that are allowed." },
    { name: "device.focus", title: "Focus", kind: "choice", value: device.focus || "off", values: ["off", ...active, ...focuses],
      help: "While a Focus is on, only the apps that it lets through may interrupt." },
    { name: "device.volume", title: "Volume", kind: "choice", value: String(device.volume), values: ["0", "25", "50", "75", "100"],
      help: "How loud sounds are here. A sender can only lower it." },
    { name: "device.notices", title: "Notifications While Hidden", kind: "switch", value: device.notices ? "on" : "off",
      values: ["off", "on"], help: "Alerts outside of this page while it is hidden. The browser asks for permission." },
    { name: "device.closed", title: "Notifications While Closed", kind: "switch", value: device.closed ? "on" : "off",
      values: ["off", "on"],
      help: "Alerts while this page is closed, encrypted, through the push service of the browser. It sees their sizes and times only." },
  ].map((one) => ({ ...one, id: rowID(one.name), app: null, category: null, hint: "" }));
  const apps = state.apps.map((app) => {
    const values = preferences.apps?.[app.topic] ?? {};
    const categories = Object.entries(values.categories ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
    return {
      title: app.name, app, rows: [
        ...ofApp.map((one) => row(one, values, app.topic)),
        ...categories.flatMap(([name, category]) =>
          ofCategory.map((one) => ({ ...row(one, category, app.topic, name), title: `${name}: ${one[2]}` }))),
        ...(app.standing ? [standing(app)] : []),
      ],
    };
  });
  return [
    { title: "This Device", rows: own },
    { title: "Everything", rows: [...everything.map((one) => row(one, preferences)), ...named] },
    ...apps,
  ];
}

/** Returns the request body that assigns a value to a preference. */
export function assignment(row, value) {
  const body = { settings: [`${row.name}=${value}`] };
  if (row.app) body.app = row.app;
  if (row.category) body.category = row.category;
  return body;
}

/** Returns the change of a setting of this device. */
export function deviceChange(row, value) {
  switch (row.name) {
    case "device.silent": return { type: "device", isSilent: value === "on" };
    case "device.focus": return { type: "device", focus: value === "off" ? "" : value };
    case "device.volume": return { type: "device", volume: Number(value) };
    case "device.closed": return { type: "device", closed: value === "on" };
    default: return { type: "device", notices: value === "on" };
  }
}

/** Returns why a setting has no effect now, such as “Notifications are off”; an empty text if it has. */
export function override(row, state, now = new Date()) {
  const { preferences, device } = state;
  const app = row.app && preferences.apps?.[row.app];
  if (row.name.startsWith("device.")) return "";
  if (preferences.notifications === false && row.name !== "notifications") return "Notifications are off for everything";
  if (app?.notifications === false && row.name !== "notifications") return "Notifications of this app are off";
  if (row.app && ["badge", "sound", "alert"].includes(row.name) && preferences[row.name] === false) return "Off for everything";
  if (!["alert", "sound"].includes(row.name) || row.value === "off") return "";
  const until = quietUntil(preferences.quiet ?? [], now);
  if (until) return `Quiet hours until ${until}`;
  if (device.focus) return `The Focus “${device.focus}” is on`;
  return row.name === "sound" && device.isSilent ? "This device is silent" : "";
}

const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/**
 * Returns the end of the quiet hours at a time, `7:00`; an empty text outside of them. Of windows that touch or overlap it is the
 * last end, at most `left` windows later. Quiet hours of another time zone are left out.
 */
export function quietUntil(windows, now, until = "", left = 9) {
  const minute = now.getHours() * 60 + now.getMinutes();
  for (const window of windows) {
    const match = /^(\d\d?):(\d\d)-(\d\d?):(\d\d)(?: ([a-z,-]+))?(?: (\S+))?$/i.exec(window);
    if (!match || (match[6] && match[6] !== Intl.DateTimeFormat().resolvedOptions().timeZone)) continue;
    const [start, end] = [match[1] * 60 + Number(match[2]), match[3] * 60 + Number(match[4])];
    const isMorning = end <= start && minute < end;
    const isIn = end > start ? minute >= start && minute < end : minute >= start || isMorning;
    const today = days[(now.getDay() + (isMorning ? 6 : 0)) % 7];
    if (!left || !isIn || (match[5] && !holds(match[5].toLowerCase(), today))) continue;
    const next = new Date(now);
    next.setHours(match[3], match[4], 0);
    if (end <= minute) next.setDate(next.getDate() + 1);
    return quietUntil(windows, next, `${Number(match[3])}:${match[4]}`, left - 1);
  }
  return until;
}

function holds(list, day) {
  return list.split(",").some((one) => {
    const [first, last = first] = one.split("-");
    const [start, end, place] = [first, last, day].map((name) => (days.indexOf(name) + 6) % 7);
    return start <= end ? place >= start && place <= end : place >= start || place <= end;
  });
}
