// The section of the settings with the Web Push endpoints of this device.

import { button, el, said } from "./dom.js";
import { gateway } from "./gateway.js";
import { addEndpoint, allKeys, removeEndpoint } from "./webpush.js";
import { plain } from "./words.js";

/** Returns the words about an endpoint: its app, its senders, and the machine with its keys. */
export const describe = ({ name, app, vapid }, keys) => `${app}, ${vapid ? "one sender" : "any sender"}, ${keys.some((one) => one.name === name) ? "keys in this browser" : "keys on another machine: its messages can't be read here"}`;

export class Endpoints {
  #phone;
  #list = el("div");
  #made = el("div", { role: "status" });
  #error = el("p.error", { role: "alert" });
  #topics = [];

  constructor(phone) {
    this.#phone = phone;
    const field = (id, title, properties, help) => {
      const input = el("input", { type: "text", id, dir: "ltr", autocomplete: "off", maxLength: 300, ...properties });
      input.setAttribute("aria-describedby", `${id}-help`);
      return [input, [el("label", { for: id }, title), input, el("p.help", { id: `${id}-help` }, help)]];
    };
    const [name, nameRow] = field("endpoint-name", "Name", { required: true, maxLength: 64, dir: "auto" }, "Any name, such as blog.");
    const [origin, originRow] = field("endpoint-origin", "Address of the gateway for senders", { required: true, value: location.protocol === "https:" ? location.origin : "", placeholder: "https-address of the gateway" }, "Scheme, host and port at which senders reach the gateway.");
    const [vapid, vapidRow] = field("endpoint-vapid", "Only sender", {}, "Its public key (applicationServerKey). Empty: every sender with the subscription.");
    const [app, appRow] = field("endpoint-app", "App", { required: true, placeholder: "com.example.news" }, "Its topic. The device is registered for the app first, if it is not.");
    app.setAttribute("list", "endpoint-apps");
    this.apps = el("datalist", { id: "endpoint-apps" });
    this.values = () => ({ name: name.value.trim(), app: app.value.trim(), origin: origin.value.trim(), vapid: vapid.value.trim() });
    this.form = el("form.card", {
      onsubmit: async (event) => {
        event.preventDefault();
        if (await this.#add()) [name.value, vapid.value] = ["", ""];
      },
    }, nameRow, appRow, this.apps, originRow, vapidRow, el("button", {}, "Add"), this.#error);
    this.element = el("section", { "aria-label": "Web Push Endpoints" }, el("h2", {}, "Web Push Endpoints"), this.#list, this.#made, el("details", {}, el("summary", {}, "Add an endpoint"), this.form),
      el("p.help", {}, "An endpoint is an address of this device for any Web Push library. Its messages are encrypted for this browser, and the gateway can't read them. Signing out deletes the keys."));
  }

  /** Reads the endpoints, with each visit of the settings. */
  async read() {
    try {
      const [list, keys] = await Promise.all([gateway.endpoints(), allKeys().catch(() => [])]);
      this.#list.replaceChildren(list.length ? el("div.card", {}, list.map((one) => el("div.setting", {}, said("span", plain(one.name)), el("p.help", { dir: "auto" }, plain(describe(one, keys))),
        button("Remove …", () => this.#remove(one.name), { className: "plain destructive", "aria-label": `Remove the endpoint ${plain(one.name)}` })))) : "");
    } catch (error) {
      this.#list.replaceChildren(el("p.error", {}, error.message));
    }
  }

  /** Lists the apps for which the device is registered. */
  update(apps) {
    const topics = apps.map(({ topic }) => topic);
    if (topics.join() === this.#topics.join()) return;
    this.#topics = topics;
    this.apps.replaceChildren(...topics.map((value) => el("option", { value })));
  }

  async #add() {
    this.#error.textContent = "";
    const values = this.values();
    try {
      await gateway.register(values.app);
      const subscription = JSON.stringify(await addEndpoint(gateway, values));
      if (!this.#topics.includes(values.app)) this.#phone.link.reconnect();
      this.#made.replaceChildren(el("div.card", {}, el("p", {}, "The subscription for a Web Push library, which is shown only now:"), el("pre", { tabIndex: 0, dir: "ltr" }, subscription),
        button("Copy", async () => {
          await navigator.clipboard?.writeText(subscription).catch(() => {});
          this.#phone.commands.toast("Copied");
        }), button("Done", () => this.#made.replaceChildren(), { className: "plain" })));
      await this.read();
      return true;
    } catch (error) {
      this.#error.textContent = error.message;
      return false;
    }
  }

  async #remove(name) {
    if (!(await this.#phone.sheet([{ id: "remove", title: `Remove the Endpoint ${plain(name)}`, isDestructive: true }]))) return;
    try {
      await removeEndpoint(gateway, name);
    } catch (error) {
      this.#phone.commands.toast(error.message);
    }
    await this.read();
  }
}
