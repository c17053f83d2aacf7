// Merges hints until they are rung: duplicates dropped, never longer than a payload may be.

import { randomInt } from 'node:crypto';
import { BELL_MAX_BYTES, type Bell, type Hint } from '../contract/bell.ts';

/** Braces, names and flags of a payload whose lists are all in use, in bytes, rounded up. */
const FRAME_BYTES = 150;
/** Colon, digits and comma of a count. */
const COUNT_BYTES = 18;

/** Nonces are below: what a signed integer of SQL holds. */
const NONCES = 2 ** 31;

type IdList = 'runs' | 'logs' | 'watch' | 'cancel';

export class BellBuffer {
  #lanes = new Map<string, number>();
  #requires = new Map<string, readonly string[]>();
  #everyone = false;
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

  /** The lanes of which it is not known what they require. */
  get unknownLanes(): string[] {
    return [...this.#lanes.keys()].filter((lane) => !this.#requires.has(lane));
  }

  /** All of its lanes; none once there were too many ids to list. */
  get lanes(): string[] {
    return [...this.#lanes.keys()];
  }

  /** Nothing is left to tell. */
  get isVain(): boolean {
    const told = [this.#lanes, ...Object.values(this.#ids)].some(({ size }) => size > 0);
    return !told && !Object.values(this.#flags).some(Boolean);
  }

  /** Whether all who can take what is in the lanes are meant. */
  get everyone(): boolean {
    return this.#everyone;
  }

  add(hint: Hint): void {
    const { lanes = {}, requires = {}, runs = [], logs = [], watch = [], cancel = [] } = hint;
    const { settle, tokens, beat, all, everyone = false } = hint;
    this.#empty = false;
    this.#everyone ||= everyone;
    this.#flags.settle ??= settle;
    this.#flags.tokens ??= tokens;
    this.#flags.beat ??= beat;
    this.#flags.all ??= all;
    for (const [lane, count] of Object.entries(lanes)) this.#addLane(lane, count);
    for (const [lane, labels] of Object.entries(requires)) this.require(lane, labels);
    this.#addIds('runs', runs);
    this.#addIds('logs', logs);
    this.#addIds('watch', watch);
    this.#addIds('cancel', cancel);
  }

  /** What a lane requires. Where there is no room to say it everyone will look. */
  require(lane: string, labels: readonly string[]): void {
    if (!this.#lanes.has(lane) || this.#requires.has(lane)) return;
    const bytes = Buffer.byteLength(JSON.stringify({ [lane]: labels }));
    if (this.#bytes + bytes > BELL_MAX_BYTES) return;
    this.#bytes += bytes;
    this.#requires.set(lane, labels);
  }

  /** Nothing waits in this lane any more. */
  dropLane(lane: string): void {
    this.#lanes.delete(lane);
  }

  /** Empties the buffer and returns the payload, at most BELL_MAX_BYTES long. */
  take(): string {
    const bell: Bell = { v: 1, ...this.#flags };
    if (this.#lanes.size > 0) {
      bell.lanes = Object.fromEntries(this.#lanes);
      if (!this.#everyone) bell.nonce = randomInt(NONCES);
    }
    if (this.#requires.size > 0)
      bell.requires = Object.fromEntries(Array.from(this.#requires, ([lane, labels]) => [lane, [...labels]]));
    if (this.#ids.runs.size > 0) bell.runs = [...this.#ids.runs];
    if (this.#ids.logs.size > 0) bell.logs = [...this.#ids.logs];
    if (this.#ids.watch.size > 0) bell.watch = [...this.#ids.watch];
    if (this.#ids.cancel.size > 0) bell.cancel = [...this.#ids.cancel];
    this.#drop();
    this.#flags = {};
    this.#everyone = false;
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
    this.#requires.clear();
    for (const set of Object.values(this.#ids)) set.clear();
    this.#bytes = FRAME_BYTES;
  }
}
