// Where the command writes: results on stdout, remarks for the reader on stderr.
import type { Screen } from './follow/run-view.ts';
import type { Paper } from './table.ts';
import { terminalLine } from './terminal-safe.ts';

export function print(text: string): void {
  process.stdout.write(text);
}

/** A remark that is no part of the result. */
export function say(text: string): void {
  process.stderr.write(`wfg: ${terminalLine(text)}\n`);
}

export function screen(): Screen {
  return { write: print, isTerminal: process.stdout.isTTY };
}

export function paper(): Paper {
  const { isTTY: isTerminal, columns } = process.stdout;
  // A terminal that does not know its size says 0.
  return { isTerminal, width: (isTerminal && columns) || Infinity };
}

/** A reader who has seen enough, as in `wfg logs … | head`, ends the command without a complaint. */
export function endWithReader(): void {
  process.stdout.on('error', (err) => {
    process.exit('code' in err && err.code === 'EPIPE' ? 0 : 1);
  });
}
