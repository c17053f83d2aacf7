// Where a process's claims ended a moment ago, so that the next ones need not pass again what has been claimed.

/** Times as long as it took to read from the start, so that claims spend a thirtieth of their time on that. */
const KEPT_TIMES = 30;
/** In milliseconds: as long may what became due late, or in a lane of its own, wait behind a backlog. */
const MOST_MS = 1_000;

interface Place {
  /** As the claim told it. */
  lanes: string;
  /** By performance.now(). */
  until: number;
}

export class ClaimMemory {
  /** By the labels offered. */
  readonly #places = new Map<string, Place>();

  /** Where the next claim with these labels is to begin; undefined: at the start. */
  recall(labels: readonly string[]): Place | undefined {
    const place = this.#places.get(JSON.stringify(labels));
    return place && performance.now() < place.until ? place : undefined;
  }

  /** Where a claim ended that began at the start and took so many milliseconds; null: nothing is left. */
  keep(labels: readonly string[], lanes: string | null, tookMs: number): void {
    const now = performance.now();
    for (const [key, { until }] of this.#places) if (until <= now) this.#places.delete(key);
    const key = JSON.stringify(labels);
    if (lanes === null) this.#places.delete(key);
    else this.#places.set(key, { lanes, until: now + Math.min(MOST_MS, KEPT_TIMES * tookMs) });
  }
}
