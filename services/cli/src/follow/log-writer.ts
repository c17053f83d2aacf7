// Writes the log of one job as it was printed, or as a JSON object a line.
import { say } from '../output.ts';
import { jsonLine, terminalSafe } from '../terminal-safe.ts';
import { type LogFrame, logRecord, type Screen } from './run-view.ts';

type Chunk = Omit<LogFrame, 'op' | 'id'>;

export interface LogWriter {
  chunk: (chunk: Chunk) => void;
  isEmpty: () => boolean;
}

export function logWriter(of: { run: string; job: string; json: boolean; screen: Screen }): LogWriter {
  const { run, job, json, screen } = of;
  let attempt: number | undefined;
  return {
    chunk(chunk) {
      // Not on stdout: what is there is the log and nothing else.
      if (attempt !== undefined && attempt !== chunk.attempt && !json) say(`attempt ${chunk.attempt}:`);
      attempt = chunk.attempt;
      if (json) screen.write(jsonLine(logRecord(run, job, chunk)));
      else screen.write(screen.isTerminal ? terminalSafe(chunk.data) : chunk.data);
    },
    isEmpty: () => attempt === undefined,
  };
}
