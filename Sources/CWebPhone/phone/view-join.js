// The first visit: a name, the invitation that is already filled in, and one button.

import { el, View } from "./dom.js";
import { gateway } from "./gateway.js";

class Join extends View {
  update() {
    if (this.form) return;
    const { invitation, isRefused } = this.phone;
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
          error.textContent = problem.message;
        } finally {
          join.disabled = false;
        }
      },
    }, el("label", { for: "device-name" }, "Name of this device"), name, el("label", { for: "invitation" }, "Invitation"), code,
    el("p.help", { id: "code-help" }, "From pushcli open or pushcli devices invite. On the gateway's own machine it may be empty."), error, join);
    code.setAttribute("aria-describedby", "code-help");
    this.show(el("img", { src: "/phone/icon.svg", alt: "", width: 72, height: 72 }), el("h1", {}, "Receive Pushes Here"),
      isRefused ? el("p", {}, "This device was removed or has another secret. A new invitation makes the browser a device again.")
        : el("p", {}, "This browser becomes a device: pushes of your apps appear here."), this.form);
    (invitation ? join : name).focus();
  }
}

/** A name for the device: that of the browser and of the system. */
function suggestion() {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0].replace("Edg", "Edge") ?? "Browser";
  const system = /Android|iPhone|iPad|Windows|Mac|Linux/.exec(agent)?.[0];
  return (system ? `${browser}-${system}` : browser).toLowerCase();
}

customElements.define("push-join", Join);
