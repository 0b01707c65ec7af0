// A stand-in for the document and for the network of a page: the part of them that the views of the console use. Elements have no
// layout, and each request is answered by the test.

class Element {
  children = [];
  style = { setProperty() {} };
  classList = { toggle() {} };
  dataset = {};
  #listeners = new Map();

  append(...children) { this.children.push(...children); }

  replaceChildren(...children) { this.children = children; }

  setAttribute(name, value) { if (name.startsWith("data-")) this.dataset[name.slice(5)] = value; }

  addEventListener(name, listener) { this.#listeners.set(name, listener); }

  contains() { return false; }

  get options() { return this.children; }

  get textContent() { return this.children.map((child) => child.textContent ?? child).join(""); }

  set textContent(text) { this.children = [text]; }

  /** All elements in this one. */
  get all() { return this.children.filter((child) => child instanceof Element).flatMap((child) => [child, ...child.all]); }

  /** Clicks on an element, and returns the end of its listener. */
  click() { return this.#listeners.get("click")({ preventDefault() {} }); }
}

/** Replaces the document. Returns a function that creates an element. */
export function standInDocument() {
  const registered = new Map();
  const createElement = (name) => new (registered.get(name) ?? Element)();
  Object.assign(globalThis, {
    HTMLElement: Element, customElements: { define: (name, type) => registered.set(name, type) },
    ResizeObserver: class { observe() {} }, location: { hash: "" },
    document: { createElement, visibilityState: "visible", activeElement: null, addEventListener() {}, getElementById: () => null },
  });
  return createElement;
}

/** Lets all tasks run that wait for nothing else. */
export const settled = () => new Promise((resolve) => { setImmediate(resolve); });

/**
 * Replaces `fetch`. Returns the requests in their order: {method, path, body, answer, fail}. `answer` and `fail` end the request, and
 * return when the page has seen it.
 */
export function standInNetwork() {
  const requests = [];
  globalThis.fetch = (path, { method = "GET", body, signal } = {}) => new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
    requests.push({
      method, path, body,
      answer: (content, status = 200) => {
        const text = typeof content === "string" ? content : JSON.stringify(content);
        resolve({ ok: status < 300, status, text: async () => text, json: async () => JSON.parse(text) });
        return settled();
      },
      fail: () => {
        reject(new TypeError("there is no network"));
        return settled();
      },
    });
  });
  return requests;
}
