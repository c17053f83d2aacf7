// Merges hints until they are rung: duplicates dropped, never longer than a payload may be.

import { BELL_MAX_BYTES, type Bell, type Hint } from '../contract/bell.ts';

/** Braces, names and flags of a payload whose lists are all in use, in bytes, rounded up. */
const FRAME_BYTES = 100;
/** Colon, digits and comma of a count. */
const COUNT_BYTES = 18;

type IdList = 'runs' | 'logs' | 'watch' | 'cancel';

export class BellBuffer {
  #lanes = new Map<string, number>();
  #ids = {
    runs: new Set<string>(),
    logs: new Set<string>(),
    watch: new Set<string>(),
    cancel: new Set<string>(),
  };
  #flags: Pick<Bell, 'settle' | 'tokens' | 'beat' | 'all'> = {};
  #bytes = FRAME_BYTES;
  #empty = true;

  get empty(): boolean {
    return this.#empty;
  }

  add({ lanes = {}, runs = [], logs = [], watch = [], cancel = [], settle, tokens, beat, all }: Hint): void {
    this.#empty = false;
    this.#flags.settle ??= settle;
    this.#flags.tokens ??= tokens;
    this.#flags.beat ??= beat;
    this.#flags.all ??= all;
    for (const [lane, count] of Object.entries(lanes)) this.#addLane(lane, count);
    this.#addIds('runs', runs);
    this.#addIds('logs', logs);
    this.#addIds('watch', watch);
    this.#addIds('cancel', cancel);
  }

  /** Empties the buffer and returns the payload, at most BELL_MAX_BYTES long. */
  take(): string {
    const bell: Bell = { v: 1, ...this.#flags };
    if (this.#lanes.size > 0) bell.lanes = Object.fromEntries(this.#lanes);
    if (this.#ids.runs.size > 0) bell.runs = [...this.#ids.runs];
    if (this.#ids.logs.size > 0) bell.logs = [...this.#ids.logs];
    if (this.#ids.watch.size > 0) bell.watch = [...this.#ids.watch];
    if (this.#ids.cancel.size > 0) bell.cancel = [...this.#ids.cancel];
    this.#drop();
    this.#flags = {};
    this.#empty = true;
    return JSON.stringify(bell);
  }

  #addLane(lane: string, count: number): void {
    if (!this.#lanes.has(lane) && !this.#fits(lane, COUNT_BYTES)) return;
    this.#lanes.set(lane, (this.#lanes.get(lane) ?? 0) + count);
  }

  #addIds(list: IdList, ids: string[]): void {
    for (const id of ids) if (!this.#ids[list].has(id) && this.#fits(id, 1)) this.#ids[list].add(id);
  }

  /** Makes room for an entry, or, if there is none left, forgets all entries and says "all" instead. */
  #fits(id: string, extraBytes: number): boolean {
    if (this.#flags.all) return false;
    this.#bytes += Buffer.byteLength(JSON.stringify(id)) + extraBytes;
    if (this.#bytes <= BELL_MAX_BYTES) return true;
    this.#drop();
    this.#flags.all = true;
    return false;
  }

  #drop(): void {
    this.#lanes.clear();
    for (const set of Object.values(this.#ids)) set.clear();
    this.#bytes = FRAME_BYTES;
  }
}
