// Which logs somebody follows, on any api, as far as bells have lately said so: only of those is it rung what is new.

/** An api rings at most every 5 s for what it has viewers of: two bells in a row may be lost. */
const REMEMBERED_MS = 15_000;
/** The logs of what is forgotten for want of room are read every second all the same. */
const MOST = 20_000;

export class Watched {
  /** By job key, when it will be forgotten; the next to be forgotten first. */
  readonly #until = new Map<string, number>();

  /** What a bell named; `now` is in milliseconds, of a clock that never goes back. */
  add(keys: readonly string[], now = performance.now()): void {
    for (const key of keys) {
      this.#until.delete(key);
      this.#until.set(key, now + REMEMBERED_MS);
    }
    for (const [key, until] of this.#until) {
      if (until > now && this.#until.size <= MOST) break;
      this.#until.delete(key);
    }
  }

  has(key: string, now = performance.now()): boolean {
    return (this.#until.get(key) ?? 0) > now;
  }
}
