// A logger whose lines this process shows itself instead of writing them to stdout.
import { type Logger, pino } from 'pino';

/** `onLine` gets each line as JSON, without its end. */
export function lineLogger(level: string, onLine: (line: string) => void): Logger {
  return pino(
    {
      level,
      base: { service: 'wfg' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => onLine(line.trimEnd()) },
  );
}
