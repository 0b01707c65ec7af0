// The notification of an alert outside of the page: its content, and the answer of each button. Pure.

import { answer, buttons } from "./alerts.js";
import { fileSize, plain } from "./words.js";

/** Names the attachment of a push, as the page does; null without one. */
const attached = ({ attachment }) => attachment && `Attachment: ${attachment.name} (${fileSize(attachment.size)})`;

/** The name under which a push and its replacements are shown, by a page or by the worker. */
const tag = (push) => (push.collapse ? `${push.topic}/${push.collapse}` : push.id);

/**
 * Returns the title and the options of an alert's notification.
 *
 * The worker gives the answers, by action: the empty action is a click on the notification. A click answers no question.
 * `most` is the number of buttons that the browser shows.
 */
export function notice(alert, most) {
  const { push, ordinal } = alert;
  const { title, subtitle, body, actions } = push.alert;
  const offered = (actions.length ? actions : buttons(alert)).slice(0, most);
  const answers = Object.fromEntries(offered.map(({ id }) => [id, answer([alert], id)]));
  if (!actions.length) answers[""] = answer([alert], buttons(alert).at(-1).id);
  return {
    title: plain(title || push.app.name),
    options: {
      body: plain([subtitle, body, attached(push)].filter(Boolean).join("\n")), tag: tag(push), icon: "/phone/icon.svg", silent: true,
      timestamp: push.received, data: { ordinal, id: push.id, answers },
      actions: offered.map((one) => ({ action: one.id, title: plain(one.title) })),
    },
  };
}

/** Returns the title and the options of the notification of a push that no page has: with its sound, and with answers by the id of the push. */
export function closedNotice(push, most) {
  const { title, options } = notice({ push, ordinal: 0 }, most);
  const answers = Object.entries(options.data.answers)
    .map(([name, { answers: [{ id, action }], isRead }]) => [name, { type: "settled", id, action, isRead }]);
  const isSilent = push.sound === null;
  return {
    title,
    options: {
      ...options, silent: isSilent, renotify: !isSilent, timestamp: push.received || Date.now(),
      data: { id: push.id, answers: Object.fromEntries(answers) },
    },
  };
}
