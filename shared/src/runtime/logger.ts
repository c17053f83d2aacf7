// Logs of a process: one JSON object a line on stdout.

import { type Logger, pino } from 'pino';

/** Creates the logger of a service; `level` is one of pino's, or "silent". */
export function createLogger(service: string, level: string): Logger {
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describe },
    },
    // Otherwise lines pile up in memory while nobody reads them, and the last ones before an exit overtake others.
    pino.destination({ dest: 1, sync: true }),
  );
}

/** Chosen fields only: pg hangs whole connections and rows of tables on its errors. */
function describe(err: unknown): unknown {
  if (!(err instanceof Error)) return err;
  const { name, message, stack, cause } = err;
  const code = 'code' in err ? err.code : undefined;
  return { name, message, code, stack, cause: cause === undefined ? undefined : describe(cause) };
}
