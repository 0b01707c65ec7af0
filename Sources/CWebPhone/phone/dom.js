// Building and updating elements. Texts of senders are set as text only, not as HTML.

import { fileSize, hue, plain } from "./words.js";

/** Creates an element. Properties with a hyphen, `role` and `for` become attributes, functions listeners. */
export function el(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else if (key.includes("-") || key === "role" || key === "for") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

export const button = (title, onclick, properties = {}) => el("button", { type: "button", onclick, ...properties }, title);

/** The icon of an app: its emoji or letters on a gradient with the hue of the topic. */
export function icon(app, className = "") {
  const letters = app.icon || [...app.name].slice(0, 2).join("");
  const element = el(`span.icon${className && `.${className}`}`, { "aria-hidden": "true" }, letters);
  element.style.setProperty("--hue", hue(app.topic));
  return element;
}

/** A link of a sender, which opens in another tab without access to this page. */
export const link = (address) => el("a", { href: address, target: "_blank", rel: "noopener noreferrer", dir: "ltr" }, address);

/** A link that saves the attachment of a push; the session of the page authorizes the request. */
export const file = ({ attachment }) => attachment && el("p.file", {}, "Attachment: ",
  el("a", { href: `/v1/device/attachments/${attachment.id}`, download: attachment.name, dir: "auto" }, plain(attachment.name)), ` (${fileSize(attachment.size)})`);

/** The text of a sender. The browser takes its direction from its letters. */
export const said = (name, text) => el(name, { dir: "auto" }, text);

/** Returns true if a field for text has the focus. */
export function isTyping(element = document.activeElement) {
  return element?.matches?.("textarea, select, input:not([type=checkbox])") ?? false;
}

/** Returns the modal dialog that gets a key: the one with the focus, or the last one in the page. Null without one. */
export function frontDialog(target) {
  return target?.closest?.("dialog:modal") ?? [...document.querySelectorAll("dialog:modal")].at(-1) ?? null;
}

/** A view of the phone. `update` is called when the state or the address has changed. */
export class View extends HTMLElement {
  phone = null;

  update() {}

  show(...children) { this.replaceChildren(...children.flat().filter(Boolean)); }
}
