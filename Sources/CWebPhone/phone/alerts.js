// The alert on screen: its group, its buttons, and the answers that a button gives. Pure, by the rules A1 to A7 and X1 to X5.

import { standsAlone } from "./state.js";

/** The time in milliseconds for which an alert that has just appeared ignores keys and clicks. */
export const attentionTime = 500;

/** The action of the button that opens the actions of a question. */
export const options = "options";

/** Returns the alerts that are shown together: the first one and all others of its app, unless one stands alone. */
export function group(alerts) {
  const [first] = alerts;
  if (!first) return [];
  if (standsAlone(first)) return [first];
  return alerts.filter((alert) => !standsAlone(alert) && alert.push.topic === first.push.topic);
}

/** Returns the buttons of one alert: Close and View, Close and Options, a single action and Close, or OK alone. */
export function buttons(alert) {
  const { buttons: titles, actions: [action, ...others] } = alert.push.alert;
  if (titles.length === 1) return [{ id: "ok", title: titles[0] }];
  if (!action) return [{ id: "close", title: titles[0] ?? "Close" }, { id: "view", title: titles[1] ?? "View" }];
  const close = { id: "close", title: "Close" };
  if (others.length) return [close, { id: options, title: titles[1] ?? "Options" }];
  // A single action needs no sheet. A destructive one is on the left (D1, D2).
  return action.isDestructive ? [action, close] : [close, action];
}

/** Returns the buttons of a group. */
export function choices(members) {
  if (members.length > 1) return [{ id: "close", title: "Close All" }, { id: "view", title: "View" }];
  return buttons(members[0]);
}

/** The answer that closing an alert gives. */
export const cancellation = (alert) => (alert.push.alert.buttons.length === 1 ? "ok" : "close");

/** The answer to each alert of a group after View. */
const viewing = (alert) => (buttons(alert).length === 1 ? "ok" : "view");

/** Returns the change of a button, only for alerts that were on screen when it was pressed. */
export function answer(members, id) {
  const isGroup = members.length > 1;
  const action = (alert) => {
    if (id === "close") return cancellation(alert);
    return id === "view" && isGroup ? viewing(alert) : id;
  };
  const answers = members.map((alert) => ({ ordinal: alert.ordinal, id: alert.push.id, action: action(alert) }));
  return { type: "answered", answers, isRead: !isGroup || id === "view" };
}

/** Returns the buttons of an action sheet: destructive ones first (X3), Cancel apart. */
export function sheetChoices(alert) {
  const { actions } = alert.push.alert;
  return [...actions.filter((one) => one.isDestructive), ...actions.filter((one) => !one.isDestructive)];
}

/** The distance in pixels between a sheet, its button and the edges of the page. */
const gap = 8;

/**
 * Returns the position of an action sheet on a wide page: under the button that opened it, or above the button if the page has no room
 * under it. `button` has the edges of the button, `sheet` and `page` have a width and a height.
 */
export function sheetPosition(button, sheet, page) {
  const within = (value, most) => Math.max(gap, Math.min(value, most - gap));
  const under = button.bottom + gap;
  const top = under + sheet.height <= page.height - gap ? under : button.top - gap - sheet.height;
  return { left: within((button.left + button.right - sheet.width) / 2, page.width - sheet.width), top: within(top, page.height - sheet.height) };
}

/** Returns true if more alerts are queued than are on screen, and Close All is offered for all of them. */
export const offersCloseAll = (alerts) => alerts.length > group(alerts).length && (alerts.length > 3 || group(alerts).length > 1);

/** Returns the choices of Close All, each with the alerts that it closes. */
export function closeChoices(alerts) {
  const plain = alerts.filter((alert) => !standsAlone(alert));
  const own = plain.filter((alert) => alert.push.topic === alerts[0]?.push.topic);
  const list = [];
  if (alerts.length > plain.length) {
    list.push({ id: "all", title: `Close ${alerts.length} + Questions`, isDestructive: true, alerts });
  }
  if (own.length && own.length < plain.length) {
    list.push({ id: "group", title: `Close ${own.length} of ${alerts[0].push.app.name}`, alerts: own });
  }
  if (plain.length) list.push({ id: "plain", title: `Close All ${plain.length}`, alerts: plain });
  return list;
}

/** Returns the change that closes alerts without marking them read. */
export function closeAll(alerts) {
  const answers = alerts.map((alert) => ({ ordinal: alert.ordinal, id: alert.push.id, action: cancellation(alert) }));
  return { type: "answered", answers, isRead: false };
}

/** The choices of Later. */
export const snoozeTimes = [
  { id: "tenMinutes", title: "10 Minutes" }, { id: "hour", title: "1 Hour" }, { id: "tomorrow", title: "Tomorrow 8:00" },
];

/** Returns the time at which an alert is shown again, in milliseconds since 1970. */
export function snoozeEnd(id, now) {
  if (id === "tenMinutes") return now + 600_000;
  if (id === "hour") return now + 3_600_000;
  const day = new Date(now);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1, 8).getTime();
}
