// The outputs of a job: `::set-output KEY=VALUE` on stdout, and the file WFG_OUTPUT, which wins.

import { constants } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { MAX_OUTPUT_BYTES } from '@wfg/shared/contract/job';
import { printable } from './printable.ts';

const TOO_LARGE = 'outputs are larger than 1 MiB in all: keep large results elsewhere and pass on where';

/** The outputs cannot be used; the message is for the user. */
export class OutputError extends Error {
  override name = 'OutputError';
}

export type Outputs = Record<string, string>;

/** Gathers outputs while a job runs, never holding much more than is allowed. */
export class OutputCollector {
  #values = new Map<string, string>();
  #bytes = 0;
  #tooLarge = false;

  /** A later value for the same key wins. */
  set(key: string, value: string): void {
    this.#bytes += sizeOf(key, value) - sizeOf(key, this.#values.get(key));
    this.#values.set(key, value);
    if (this.#bytes > MAX_OUTPUT_BYTES) this.refuse();
  }

  /** For what was too large to be held. */
  refuse(): void {
    this.#tooLarge = true;
    this.#values.clear();
    this.#bytes = 0;
  }

  /** Throws OutputError if they were over 1 MiB of UTF-8, keys included, at any time. */
  all(): Outputs {
    if (this.#tooLarge) throw new OutputError(TOO_LARGE);
    return Object.fromEntries(this.#values);
  }
}

function sizeOf(key: string, value: string | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(key) + Buffer.byteLength(value);
}

/** The key and value of `KEY=VALUE`, divided at the first `=`; null without a key. */
export function parseAssignment(text: string): [key: string, value: string] | null {
  const at = text.indexOf('=');
  return at < 1 ? null : [text.slice(0, at), text.slice(at + 1)];
}

/** Reads lines `KEY=VALUE`, or `KEY<<DELIM`, lines, `DELIM`. Throws OutputError naming the line that is neither. */
export function parseOutputFile(text: string): [key: string, value: string][] {
  const lines = text.split(/\r?\n/);
  const found: [string, string][] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (line === '') continue;
    const block = /^([^=]+?)<<(.+)$/.exec(line);
    if (!block) {
      const assignment = parseAssignment(line);
      if (!assignment)
        throw new OutputError(`WFG_OUTPUT, line ${index + 1}: must be KEY=VALUE or KEY<<DELIMITER`);
      found.push(assignment);
      continue;
    }
    const [, key = '', delimiter = ''] = block;
    const end = lines.indexOf(delimiter, index + 1);
    if (end < 0)
      throw new OutputError(`WFG_OUTPUT, line ${index + 1}: the line ${delimiter} that ends it is missing`);
    found.push([key, lines.slice(index + 1, end).join('\n')]);
    index = end;
  }
  return found;
}

/** Reads the file a job wrote, '' if it removed it. Throws OutputError if it is too large or no file. */
export async function readOutputFile(path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new OutputError('WFG_OUTPUT is no longer a file');
    if (found.size === 0) return '';
    // Delimiters and line ends are not counted, but nobody needs as many of them.
    if (found.size > 2 * MAX_OUTPUT_BYTES) throw new OutputError(TOO_LARGE);
    // Not blocking, for a daemon of the job may put a pipe in its place.
    return printable(await readFile(path, { flag: constants.O_RDONLY | constants.O_NONBLOCK }));
  } catch (err) {
    if (err instanceof OutputError) throw err;
    if (err instanceof Error && 'code' in err && err.code === 'ENOENT') return '';
    throw new OutputError(`WFG_OUTPUT cannot be read: ${String(err)}`);
  }
}
