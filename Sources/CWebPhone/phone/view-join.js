// The first visit: a name, the invitation that is already filled in, and one button.

import { button, el, View } from "./dom.js";
import { gateway } from "./gateway.js";

class Join extends View {
  update() {
    if (this.form) return;
    const { invitation, isRefused, isUnreachable } = this.phone;
    if (isUnreachable) {
      this.show(el("h1", {}, "The Gateway Does Not Answer"),
        el("p", {}, "It is stopped, or this machine has no network. This browser can become a device when the gateway runs."),
        button("Try Again", () => location.reload(), { className: "primary" }));
      return;
    }
    const error = el("p.error", { role: "alert" });
    const name = el("input", { type: "text", id: "device-name", value: suggestion(), required: true, maxLength: 64, autocomplete: "off" });
    const code = el("input", { type: "text", id: "invitation", value: invitation, dir: "ltr", autocomplete: "off", spellcheck: false });
    const join = el("button.primary", {}, "Use This Browser");
    this.form = el("form.card", {
      onsubmit: async (event) => {
        event.preventDefault();
        error.textContent = "";
        join.disabled = true;
        try {
          await gateway.join(name.value.trim(), code.value.trim());
          history.replaceState(null, "", "/phone");
          await this.phone.begin();
        } catch (problem) {
          error.textContent = sentence(problem.message);
          if (problem.status === 403) code.select();
        } finally {
          join.disabled = false;
        }
      },
    }, el("label", { for: "device-name" }, "Name of this device"), name, el("label", { for: "invitation" }, "Invitation"), code,
    el("p.help", { id: "code-help" }, "On the gateway's machine, pushcli open prints a link for it, and pushcli devices invite a link and a code for other machines. "
      + "In a browser on the gateway's own machine it may be empty."), error, join);
    code.setAttribute("aria-describedby", "code-help");
    this.show(el("img", { src: "/phone/icon.svg", alt: "", width: 72, height: 72 }), el("h1", {}, "Receive Pushes Here"),
      isRefused ? el("p", {}, "The gateway no longer accepts this device: it was removed or signed out, or has another secret. "
        + "A new invitation makes this browser a device again, with an empty history.")
        : el("p", {}, "This browser becomes a device: pushes of your apps appear here."), this.form);
    (invitation ? join : name).focus();
  }
}

/** Returns a message of the gateway as a sentence. */
const sentence = (words) => `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;

/** A name for the device: the names of the browser and of the system. */
function suggestion() {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0].replace("Edg", "Edge") ?? "Browser";
  const system = /Android|iPhone|iPad|Windows|Mac|Linux/.exec(agent)?.[0];
  return (system ? `${browser}-${system}` : browser).toLowerCase();
}

customElements.define("push-join", Join);
