// The elements and functions that all pages of the console share.

import { button, el, said } from "../phone/dom.js";
import { exact, plain } from "../phone/words.js";

/** A page. `open` is called for each address of the page, `leave` before another page is shown. */
export class Page extends HTMLElement {
  app = null;

  open() {}

  leave() {}

  /** Handles a key; returns true if it has a meaning here. */
  key() { return false; }

  show(...children) { this.replaceChildren(...children.flat(Infinity).filter(Boolean)); }
}

/** A text of a sender or a user, in an element of its own direction. */
export const text = (name, value, more = {}) => Object.assign(said(name, plain(value ?? "")), more);

/** A time as the clock shows it, with milliseconds; its title has the date. */
export function clockTime(at) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return el("span", {}, "");
  const two = (number, size = 2) => String(number).padStart(size, "0");
  const words = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${two(time.getMilliseconds(), 3)}`;
  const isToday = time >= new Date().setHours(0, 0, 0, 0);
  return el("time", { dateTime: at, title: exact(time.getTime()) }, isToday ? words : `${two(time.getMonth() + 1)}-${two(time.getDate())} ${words}`);
}

/** A list of names with values. Values without text are left out. */
export const facts = (pairs) => el("dl.facts", {}, pairs.filter(([, value]) => value).map(([name, value]) => [
  el("dt", {}, name), el("dd", {}, typeof value === "string" ? text("span", value) : value)]));

/** A button that copies a text. */
export const copy = (app, value, title = "Copy") => button(title, async () => {
  await navigator.clipboard?.writeText(value).catch(() => {});
  app.toast("Copied");
}, { className: "small" });

/** Shows an error where it arose, with a button for another attempt. */
export const failure = (error, retry) => el("p.error", { role: "alert" }, error.message, " ", retry ? button("Try Again", retry, { className: "small" }) : "");

/** Saves a file that the page has made. */
export function save(name, parts, type) {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = el("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Creates an element of a picture. */
export function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
