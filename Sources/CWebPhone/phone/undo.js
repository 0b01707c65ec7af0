// The steps that can be undone and done again. Pure, without I/O.

const maximumSteps = 20;

export class Steps {
  #done = [];
  #undone = [];

  /** The title of the step that is undone next; undefined without a step. */
  get undoTitle() { return this.#done.at(-1)?.title; }

  /** The title of the step that is done again next; undefined without a step. */
  get redoTitle() { return this.#undone.at(-1)?.title; }

  /** Adds a step that was done: {title, undo, redo}. The oldest of too many is removed. */
  add(step) {
    this.#done = [...this.#done, step].slice(-maximumSteps);
    this.#undone = [];
  }

  /** Undoes the last step; returns its title, or undefined. */
  undo() { return this.#turn(this.#done, this.#undone, "undo"); }

  /** Does the last undone step again; returns its title, or undefined. */
  redo() { return this.#turn(this.#undone, this.#done, "redo"); }

  async #turn(from, to, name) {
    const step = from.pop();
    if (!step) return undefined;
    to.push(step);
    await step[name]();
    return step.title;
  }
}
