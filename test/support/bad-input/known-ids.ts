// Ids that the server knows, for some of the input to be about something that is there.

/** So many of each kind are kept, and the newest: the first are seeds. */
const SEEDS = 12;
const NEWEST = 8;

export class KnownIds {
  readonly #kinds = new Map<string, string[]>();

  /** `kind` is what stands before `_id`: `run`, `job`. */
  add(kind: string, id: string): void {
    const known = this.#kinds.get(kind) ?? [];
    if (known.includes(id)) return;
    known.push(id);
    if (known.length > SEEDS + NEWEST) known.splice(SEEDS, 1);
    this.#kinds.set(kind, known);
  }

  /** Those that an answer names. */
  learn(json: string): void {
    for (const [, kind = '', id = ''] of json.matchAll(/"([a-z]*)_?id":"([\w.:-]{1,100})"/g))
      this.add(kind, id);
  }

  /** Those that a parameter of this name may mean: of its kind, or of any. */
  of(name?: string): string[] {
    return this.#kinds.get(name ?? '') ?? [...this.#kinds.values()].flat();
  }
}
