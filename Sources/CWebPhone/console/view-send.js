// Sending: the payload in a form and as JSON, a preview, the decision of a device, and the events after sending.

import { button, el, icon } from "../phone/dom.js";
import { api, path } from "./api.js";
import { failure, Page, text } from "./page.js";
import { asked, expiration, fields, formValues, lineAt, preview, read, templates, withField, write } from "./payload.js";
import { follow, stepList } from "./view-push.js";

const checkTime = 300;
const templatesPlace = "console.templates";
const sizes = [["20rem", "Small"], ["24.4rem", "Medium"], ["26.9rem", "Large"]];

/** The draft of the form, and the database that has it after a crash of the browser; null in a browser without storage. */
let [draft, database] = [{}, null];

/** Opens the database, and reads the draft of an earlier visit. */
async function readDraft() {
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  try {
    const request = indexedDB.open("console", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("drafts");
    database = await done(request);
    draft = await done(database.transaction("drafts").objectStore("drafts").get("send")) ?? {};
  } catch { /* The page works without drafts. */ }
}

function keepDraft(value) {
  draft = value;
  database?.transaction("drafts", "readwrite").objectStore("drafts").put(value, "send");
}

/** Reads a stored object; an empty one by default. */
function stored(place) {
  try {
    return JSON.parse(localStorage.getItem(place)) ?? {};
  } catch {
    return {};
  }
}

function keep(place, value) {
  // A browser without storage has no templates.
  try { localStorage.setItem(place, JSON.stringify(value)); } catch { return; }
}

class Send extends Page {
  /** The names of devices and groups, and the registrations of the chosen one. */
  #registrations = [];
  #groups = new Set();
  #environment = "development";
  #checks = 0;
  #timer = null;
  #following = null;

  get keys() { return [[["t"], "to", () => this.to?.focus()], [["p"], "payload", () => this.json?.focus()]]; }

  async open() {
    if (!database) await readDraft();
    if (this.json || !this.isConnected) return;
    this.#build(draft);
    this.#loadNames();
    this.#fill();
    if (this.to.value) this.#loadRegistrations(draft.topic);
    this.#soon();
  }

  leave() {
    clearTimeout(this.#timer);
    this.#following?.abort();
  }

  // Parts

  #field(name, title, properties = {}, help = "") {
    const id = `send-${name}`;
    const { options, isLong, ...more } = properties;
    const input = options ? el("select", { id, ...more }, options.map((one) => el("option", { value: one }, one || "—"))) : el(isLong ? "textarea" : "input", { id, ...(isLong ? { rows: 3 } : { type: "text" }), autocomplete: "off", ...more });
    if (help) input.setAttribute("aria-describedby", `${id}-help`);
    return [el("p.field", {}, el("label", { for: id }, title), input, help ? el("span.help", { id: `${id}-help` }, help) : ""), input];
  }

  #build(draft) {
    const saved = { value: "" };
    const make = (name, title, properties, help) => {
      const [row, input] = this.#field(name, title, { oninput: () => this.#soon(), ...properties }, help);
      this[name] = input;
      return row;
    };
    const to = make("to", "Device or group", { value: draft.to ?? "", dir: "auto", onchange: () => this.#loadRegistrations(this.topic.value) });
    this.to.setAttribute("list", "recipients");
    this.names = el("datalist", { id: "recipients" });
    const topic = make("topic", "App", { options: [], onchange: () => this.#soon() });
    const header = [
      make("type", "Push type", { options: ["", "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk", "widgets"], onchange: () => this.#soon() }),
      make("priority", "Priority", { options: ["", "10", "5", "1"], onchange: () => this.#soon() }),
      make("collapse", "Collapse id", { value: draft.collapse ?? "", dir: "ltr", maxLength: 64 }),
      make("expires", "Expires", { value: draft.expires ?? "", dir: "ltr" }, "1h, 2d, seconds since 1970, or 0 for one attempt"),
    ];
    this.type.value = draft.type ?? "";
    this.priority.value = draft.priority ?? "";
    this.form = Object.fromEntries(fields.map((one) => {
      const [row, input] = this.#field(one.name, one.title, { isLong: one.isLong, options: one.options, dir: "auto", oninput: () => this.#type(one.name) }, one.help);
      if (one.isNumber) input.inputMode = "numeric";
      return [one.name, { row, input }];
    }));
    this.json = el("textarea.json", { id: "send-json", rows: 18, spellcheck: false, dir: "ltr", autocomplete: "off", value: draft.json ?? write(templates.Alert), oninput: () => { this.#fill(); this.#soon(); } });
    this.json.setAttribute("aria-describedby", "findings");
    this.template = el("select", { "aria-label": "Template", onchange: () => this.#use(this.template.value) });
    this.name = el("input", { type: "text", "aria-label": "Name of the template", placeholder: "Name", maxLength: 40, ...saved });
    this.findings = el("ul.findings", { id: "findings", "aria-label": "Findings" });
    this.card = el("div.preview");
    this.size = el("select", { "aria-label": "Size of the phone", onchange: () => this.#preview() }, sizes.map(([value, title]) => el("option", { value }, title)));
    this.dark = el("input", { type: "checkbox", id: "send-dark", onchange: () => this.#preview() });
    this.decision = el("div.decision", { role: "status" });
    this.result = el("div.result");
    this.submit = el("button.primary", { title: "Ctrl+Enter" }, "Send");
    this.#listTemplates();
    this.show(el("h1", {}, "Send"), el("form.send", {
      onsubmit: (event) => { event.preventDefault(); this.#send(); },
      onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.#send(); } },
    },
    el("section", { "aria-label": "Form" }, to, this.names, topic, fields.map(({ name }) => this.form[name].row),
      el("details", {}, el("summary", {}, "Headers"), header)),
    el("section", { "aria-label": "JSON" }, el("p.row", {}, el("label", { for: "send-json" }, "Payload"), this.template), this.json, this.findings,
      el("details", {}, el("summary", {}, "Templates"), el("p.row", {}, this.name, button("Save", () => this.#saveTemplate(), { className: "small" }), button("Delete", () => this.#deleteTemplate(), { className: "small" })))),
    el("section", { "aria-label": "Preview" }, el("p.row", {}, this.size, el("label", {}, this.dark, " Dark")), this.card, this.decision,
      el("p.row", {}, this.submit), this.result)));
  }

  // Recipients

  async #loadNames() {
    try {
      const [devices, groups, status] = await Promise.all([api.get(path("devices"), { limit: 1000 }), api.get(path("groups")), api.get(path("status"))]);
      this.#groups = new Set(groups.map((one) => one.name));
      this.#environment = status.environment;
      this.names.replaceChildren(...[...devices.map((one) => one.name), ...this.#groups].map((value) => el("option", { value })));
      this.#listTopics(this.topic.value);
    } catch (error) {
      this.decision.replaceChildren(failure(error, () => this.#loadNames()));
    }
  }

  async #loadRegistrations(topic) {
    const name = this.to.value.trim();
    this.#registrations = [];
    if (name) {
      try {
        this.#registrations = await api.get(path("devices", name, "registrations"));
      } catch (error) {
        const group = error.status === 404 ? await api.get(path("groups", name)).catch(() => null) : null;
        if (group) this.#groups.add(name);
        this.#registrations = group?.registrations ?? [];
        if (!group) this.decision.replaceChildren(failure(error));
      }
    }
    if (name === this.to.value.trim()) this.#listTopics(topic);
    this.#soon();
  }

  get #usable() { return this.#registrations.filter((one) => one.environment === this.#environment); }

  #listTopics(topic) {
    const topics = this.#usable.map((one) => one.topic);
    this.topic.replaceChildren(...topics.map((value) => el("option", { value }, value)));
    if (topics.includes(topic)) this.topic.value = topic;
  }

  get #registration() { return this.#usable.find((one) => one.topic === this.topic.value); }

  // The payload, in the form and as JSON

  #fill() {
    const payload = read(this.json.value);
    const values = formValues(payload);
    for (const { name } of fields) {
      const { input } = this.form[name];
      input.disabled = payload === null;
      if (input.tagName === "SELECT" && values[name] && ![...input.options].some((one) => one.value === values[name])) input.append(el("option", { value: values[name] }, values[name]));
      if (input !== document.activeElement && input.value !== values[name]) input.value = values[name];
    }
    this.#preview();
  }

  #type(name) {
    const payload = read(this.json.value);
    if (payload) this.json.value = write(withField(payload, name, this.form[name].input.value));
    this.#preview();
    this.#soon();
  }

  #preview() {
    const payload = read(this.json.value);
    const alert = preview(payload);
    const badge = payload?.aps?.badge;
    this.card.style.colorScheme = this.dark.checked ? "dark" : "light";
    this.card.style.inlineSize = this.size.value;
    const app = { topic: this.topic.value || "com.example", name: this.topic.value || "App", icon: "" };
    this.card.replaceChildren(alert ? el("div.alert", {}, el("p.of", {}, icon({ ...app, name: app.name.split(".").at(-1) }, "small"), text("span", app.name)),
      text("b", alert.title || alert.body), alert.subtitle ? text("p", alert.subtitle) : "", alert.title ? text("p", alert.body, { className: "said" }) : "",
      el("div.buttons", {}, alert.buttons.map((title, index) => text(index ? "b" : "span", title)))) : el("p.note", {}, payload ? "This push shows no alert." : "The payload is not a JSON object."),
    badge === undefined ? "" : el("p", {}, el("span.badge", {}, text("span", typeof badge === "object" ? JSON.stringify(badge) : String(badge)))));
  }

  // Checking

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), checkTime);
    keepDraft({
      to: this.to.value, topic: this.topic.value, json: this.json.value, type: this.type.value, priority: this.priority.value, collapse: this.collapse.value, expires: this.expires.value,
    });
  }

  async #check() {
    const number = this.#checks += 1;
    const name = this.to.value.trim();
    const isDevice = name && !this.#groups.has(name) && this.#registration;
    const body = { payload: this.json.value };
    if (this.type.value) body.push_type = this.type.value;
    if (isDevice) Object.assign(body, { device: name, topic: this.topic.value });
    try {
      const found = await api.post(path("pushes", "check"), body);
      if (number === this.#checks) this.#describe(found, isDevice ? name : "");
    } catch (error) {
      if (number === this.#checks) this.decision.replaceChildren(failure(error));
    }
  }

  #describe(found, device) {
    const source = this.json.value;
    this.findings.replaceChildren(...found.findings.map((one) => {
      const line = lineAt(source, one.at);
      return el(`li.${one.severity === "error" ? "bad" : "late"}`, {}, button(`Line ${line}`, () => this.#goTo(line), { className: "small" }), " ",
        text("span", `${one.rule}: ${one.message}`), one.fix ? [" ", button(`Use “${one.fix}”`, () => this.#fix(one), { className: "small", dir: "auto" })] : one.advice ? text("span", ` — ${one.advice}`) : "");
    }));
    if (!found.findings.length) this.findings.replaceChildren(el("li.good", {}, "No findings."));
    this.decision.replaceChildren(...this.#decisionOf(found, device));
  }

  #decisionOf(found, device) {
    if (found.refused) return [el("p.bad", {}, "The gateway would refuse this push:"), el("ul", {}, found.refused.map((one) => el("li", {}, text("span", `${one.rule} at ${one.at}: ${one.message}`))))];
    if (!device) return [el("p.note", {}, this.to.value && !this.#registration ? `It is not registered for an app in ${this.#environment}.` : "Choose a device to see its decision.")];
    if (!found.presented) return [];
    const removed = new Map((found.removed ?? []).map((one) => [one.part, one]));
    return [el("h2", {}, text("span", `On ${device} now`)), el("ul.parts", {}, asked(read(this.json.value)).map((part) => {
      const lost = removed.get(part);
      if (!lost) return el("li", {}, el("b", {}, part), el("span.good", {}, "presented"));
      return el("li", {}, el("s", {}, part), el("span.late", {}, `${lost.rule}: `, text("span", lost.reason), part === "alert" && found.center ? "; it goes to the notification center" : ""), el("code", { dir: "ltr" }, lost.setting));
    }))];
  }

  #goTo(line) {
    const lines = this.json.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    this.json.focus();
    this.json.setSelectionRange(start, start + lines[line - 1].length);
  }

  /** Replaces the text of a finding with the corrected one. */
  #fix({ at, fix }) {
    const payload = read(this.json.value);
    if (!payload) return;
    const parts = at.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const owner = parts.slice(0, -1).reduce((found, key) => found?.[key], payload);
    if (!owner || !Object.hasOwn(owner, parts.at(-1))) return;
    owner[parts.at(-1)] = fix;
    this.json.value = write(payload);
    this.#fill();
    this.#soon();
  }

  // Templates

  #listTemplates() {
    const own = Object.keys(stored(templatesPlace));
    this.template.replaceChildren(el("option", { value: "" }, "Template …"), ...[...Object.keys(templates), ...own].map((value) => el("option", { value }, value)));
  }

  #use(name) {
    const before = this.json.value;
    const found = stored(templatesPlace)[name] ?? (templates[name] && write(templates[name]));
    this.template.value = "";
    if (typeof found !== "string") return;
    this.json.value = found;
    this.#fill();
    this.#soon();
    this.app.toast(`Used ${name}`, () => { this.json.value = before; this.#fill(); this.#soon(); });
  }

  #saveTemplate() {
    const name = this.name.value.trim();
    if (!name) return this.name.focus();
    keep(templatesPlace, { ...stored(templatesPlace), [name]: this.json.value });
    this.#listTemplates();
    return this.app.toast(`Saved ${name}`);
  }

  #deleteTemplate() {
    const { [this.name.value.trim()]: found, ...rest } = stored(templatesPlace);
    if (found === undefined) return this.app.toast("Unknown template: this browser has no template with this name");
    keep(templatesPlace, rest);
    this.#listTemplates();
    return this.app.toast("Deleted");
  }

  // Sending

  async #send() {
    const registration = this.#registration;
    if (!registration) {
      this.to.focus();
      return this.result.replaceChildren(el("p.error", { role: "alert" }, "Choose a device or a group, and an app for which it is registered."));
    }
    const ends = expiration(this.expires.value.trim(), Date.now());
    if (ends === null) return this.result.replaceChildren(el("p.error", { role: "alert" }, "Expires: expected 30s, 10m, 2h, 7d, seconds since 1970, or 0."));
    const body = { token: registration.token, topic: registration.topic, payload: this.json.value };
    if (this.type.value) body.push_type = this.type.value;
    if (this.priority.value) body.priority = Number(this.priority.value);
    if (this.collapse.value) body.collapse_id = this.collapse.value;
    if (ends !== undefined) body.expiration = ends;
    this.submit.disabled = true;
    try {
      this.#answered(await api.post(path("pushes"), body));
    } catch (error) {
      this.result.replaceChildren(failure(error));
    }
    this.submit.disabled = false;
    return undefined;
  }

  #answered(answer) {
    this.#following?.abort();
    if (answer.status !== 200) {
      const where = answer.rule ? `Rule ${answer.rule}${answer.at ? ` at ${answer.at}` : ""}: ` : "";
      return this.result.replaceChildren(el("p.error", { role: "alert" }, text("span", `Refused with ${answer.status} ${answer.reason ?? ""}. ${where}${answer.message ?? ""}`)));
    }
    const steps = el("div");
    this.result.replaceChildren(el("p.good", { role: "status" }, "Accepted. ", el("a", { href: `#/push/${answer.id}` }, "Link of this push")), steps);
    this.#following = new AbortController();
    const { signal } = this.#following;
    return follow(answer.id, signal, (rows) => steps.replaceChildren(stepList(rows)), true).catch((error) => signal.aborted || steps.replaceChildren(failure(error)));
  }
}

customElements.define("console-send", Send);
