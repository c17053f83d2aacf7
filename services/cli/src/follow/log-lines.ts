// Whole lines out of the chunks of a job's log, which may end anywhere in a line.
import type { LogStream } from '@wfg/shared/contract/log';

/** A line that grows beyond this, in UTF-16 units, is shown in pieces: memory stays bounded. */
const LONGEST = 64 * 1024;

export interface LogLines {
  /** The lines that the text completes, without their ends. */
  push: (stream: LogStream, text: string) => string[];
  /** What was begun and not ended, as lines. */
  flush: () => string[];
}

export function createLogLines(): LogLines {
  const begun: Record<LogStream, string> = { stdout: '', stderr: '' };
  return {
    push(stream, text) {
      const lines = (begun[stream] + text).split('\n');
      const rest = overwritten(lines.pop() ?? '');
      const tooLong = rest.length > LONGEST;
      begun[stream] = tooLong ? '' : rest;
      return [...lines.map((line) => overwritten(line.replace(/\r$/, ''))), ...(tooLong ? [rest] : [])];
    },
    flush() {
      const lines = [begun.stdout, begun.stderr]
        .filter((line) => line !== '')
        .map((line) => line.replace(/\r$/, ''));
      begun.stdout = '';
      begun.stderr = '';
      return lines;
    },
  };
}

/** A progress bar returns to the start of its line: only what it wrote last stands there. */
function overwritten(line: string): string {
  return line.slice(line.lastIndexOf('\r', line.length - 2) + 1);
}
