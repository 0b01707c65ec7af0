// A stand-in for the document of a browser: the elements, the focus and the scroll positions that lists use.

const elements = new Map();

/** An element. Each has the same height, and scrolls over the heights of its children. */
class Element {
  children = [];
  parent = null;
  className = "";
  style = { setProperty(name, value) { this[name] = value; } };
  attributes = new Map();
  #listeners = new Map();
  #top = 0;
  #text = "";

  constructor(tag) { this.localName = tag; }

  clientHeight = 800;

  offsetHeight = 36;

  get isConnected() { return this === document.body || (this.parent?.isConnected ?? false); }

  get textContent() { return this.#text + this.children.map((one) => (typeof one === "string" ? one : one.textContent)).join(""); }

  set textContent(value) { [this.#text, this.children] = [value, []]; }

  get scrollTop() {
    const height = this.children.reduce((sum, one) => sum + (parseFloat(one.style?.height) || one.offsetHeight || 0), 0);
    return Math.max(0, Math.min(this.#top, height - this.clientHeight));
  }

  set scrollTop(value) {
    this.#top = value;
    this.#top = this.scrollTop;
    this.dispatch("scroll");
  }

  classList = {
    toggle: (name, isSet) => {
      const names = this.className.split(" ").filter((one) => one && one !== name);
      this.className = [...names, ...(isSet ? [name] : [])].join(" ");
    },
  };

  setAttribute(name, value) { this.attributes.set(name, String(value)); }

  getAttribute(name) { return this.attributes.get(name) ?? null; }

  addEventListener(name, listener) { this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]); }

  dispatch(name, event = {}) { for (const listener of this.#listeners.get(name) ?? []) listener({ preventDefault() {}, target: this, ...event }); }

  append(...children) { for (const child of children) this.insertBefore(child, null); }

  insertBefore(child, next) {
    child.remove?.();
    const index = next === null ? this.children.length : this.children.indexOf(next);
    if (index < 0) throw new Error("the next element is not a child");
    this.children.splice(index, 0, child);
    if (typeof child !== "string") child.parent = this;
    return child;
  }

  remove() {
    if (!this.parent) return;
    if (this.contains(document.activeElement)) document.activeElement = document.body;
    this.parent.children = this.parent.children.filter((one) => one !== this);
    this.parent = null;
  }

  replaceChildren(...children) {
    for (const child of [...this.children]) child.remove?.();
    this.#text = "";
    this.children = [];
    this.append(...children);
  }

  contains(other) { return other === this || (other?.parent ? this.contains(other.parent) : false); }

  focus() {
    if (!this.isConnected || document.activeElement === this) return;
    document.activeElement = this;
    this.dispatch("focus");
  }

  showModal() { this.open = true; }

  close() { this.dispatch("close"); }

  /** All elements in this one. */
  get all() { return this.children.filter((one) => typeof one !== "string").flatMap((one) => [one, ...one.all]); }

  querySelector(tag) { return this.all.find((one) => one.localName === tag) ?? null; }

  /** The elements in this one with a class. */
  withClass(name) { return this.all.filter((one) => one.className.split(" ").includes(name)); }
}

/** Makes the stand-ins global, with pixels of the screen in each pixel of the page. */
export function install(devicePixelRatio = 1) {
  const createElement = (tag) => new (elements.get(tag) ?? Element)(tag);
  globalThis.HTMLElement = Element;
  globalThis.document = { createElement, body: new Element("body"), documentElement: new Element("html") };
  document.activeElement = document.body;
  Object.assign(globalThis, {
    devicePixelRatio, customElements: { define: (tag, kind) => elements.set(tag, kind) }, location: { protocol: "http:", origin: "http://localhost:2198" },
    ResizeObserver: class { observe() {} disconnect() {} }, getComputedStyle: () => ({ getPropertyValue: () => "2.25rem", fontSize: "16px" }),
  });
}
