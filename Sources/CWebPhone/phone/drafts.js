// Texts of fields that were typed and are not saved, by the id of their field. They stay after a reload and after a crash.

const texts = new Map();
let journal;

export const drafts = {
  /** Reads the texts in the database of a journal, which also gets later changes. */
  async open(from) {
    journal = from;
    texts.clear();
    for (const [id, text] of await journal.texts()) texts.set(id, text);
  },
  /** Returns the text of a field; undefined if it is saved. */
  get: (id) => texts.get(id),
  set(id, text) {
    texts.set(id, text);
    journal.keepText(id, text);
  },
  delete(id) { if (texts.delete(id)) journal.keepText(id); },
};
