// One reader of a log, over many visits: what it has got must be all there is, each chunk once and in order.
import type { LogChunk, LogPosition } from '@wfg/shared/contract/log';

export type ReadChunk = Pick<LogChunk, 'attempt' | 'sequence' | 'line' | 'data'>;

export interface ReadEnd {
  state: string;
  attempt: number;
  chunks: number;
}

/** What was read by whoever got there first; all others must get the same. */
export class Transcript {
  readonly #attempts: ReadChunk[][] = [];

  /** What differs from what another reader got; null when nothing does. */
  differs(chunk: ReadChunk): string | null {
    const chunks = (this.#attempts[chunk.attempt] ??= []);
    const known = (chunks[chunk.sequence] ??= chunk);
    const same = known.data === chunk.data && known.line === chunk.line;
    return same ? null : `chunk ${chunk.attempt}:${chunk.sequence} is not what another reader got`;
  }

  chunks(attempt: number): ReadChunk[] {
    return this.#attempts[attempt] ?? [];
  }
}

export class LogReader {
  readonly #transcript: Transcript;
  #last: LogPosition | undefined;
  #end: ReadEnd | undefined;
  /** Of what was read, how many of each attempt. */
  readonly chunks: number[] = [];
  /** What must not be. */
  readonly faults: string[] = [];

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  /** Where the next visit goes on, as the server wants it. */
  get after(): string | undefined {
    return this.#last && `${this.#last.attempt}:${this.#last.sequence}`;
  }

  get end(): ReadEnd | undefined {
    return this.#end;
  }

  take(chunk: ReadChunk): void {
    const { attempt, sequence } = chunk;
    const last = this.#last;
    const isNext = last?.attempt === attempt ? sequence === last.sequence + 1 : sequence === 0;
    if (!isNext || attempt < (last?.attempt ?? 0)) this.#fault(`${attempt}:${sequence} behind ${this.after}`);
    if (this.#end) this.#fault(`${attempt}:${sequence} behind the end`);
    const difference = this.#transcript.differs(chunk);
    if (difference !== null) this.#fault(difference);
    this.#last = { attempt, sequence };
    this.chunks[attempt] = (this.chunks[attempt] ?? 0) + 1;
  }

  finish(end: ReadEnd): void {
    if (this.#end) this.#fault('a second end');
    this.#end = end;
  }

  /** Told by the server, and no word of a log. */
  refuse(why: string): void {
    this.#fault(`refused: ${why}`);
  }

  #fault(what: string): void {
    this.faults.push(what);
  }
}

/** Where the lines of these chunks are not 1, 2, 3 …, each once, and of that many; or a chunk says another number. */
export function countingFaults(chunks: readonly ReadChunk[], lines: number): string[] {
  const text = chunks.map(({ data }) => data).join('');
  // What a killed command had not ended is no line.
  const found = text.split('\n').slice(0, -1);
  const wrong = found.findIndex((line, index) => line !== String(index + 1));
  const faults = wrong < 0 ? [] : [`line ${wrong + 1} is ${JSON.stringify(found[wrong])}`];
  if (found.length !== lines) faults.push(`${found.length} lines of ${lines}`);
  let next = 1;
  for (const { sequence, line, data } of chunks) {
    if (line !== next) return [...faults, `chunk ${sequence} begins with line ${next}, and says ${line}`];
    next += data.split('\n').length - 1;
  }
  return faults;
}
