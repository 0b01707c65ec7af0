// Texts of fields that were typed and are not saved, by the id of their field. They stay after a reload and after a crash.

const place = "drafts";

function read() {
  try {
    return new Map(Object.entries(JSON.parse(localStorage.getItem(place)) ?? {}));
  } catch {
    return new Map();
  }
}

const write = (texts) => localStorage.setItem(place, JSON.stringify(Object.fromEntries(texts)));

export const drafts = {
  /** Returns the text of a field; undefined if it is saved. */
  get: (id) => read().get(id),
  set: (id, text) => write(read().set(id, text)),
  delete(id) {
    const texts = read();
    if (texts.delete(id)) write(texts);
  },
};
