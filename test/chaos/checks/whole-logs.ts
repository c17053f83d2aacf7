// An attempt that came to its end has lines 1 to n, each once and in order; a lost one has the first of them. The seal
// of each attempt says what is stored.
import { type AttemptRow, attemptOf, type Expected, type History, jobOf, type LogRow } from '../history.ts';

export interface LogFaults {
  /** Of attempts that came to their end. */
  lostLines: number;
  faults: string[];
}

export function wholeLogs(history: History): LogFaults {
  const byAttempt = Map.groupBy(history.logs, attemptOf);
  const expected = new Map(
    history.items.flatMap(({ run, jobs }) =>
      Object.entries(jobs).map(([job, one]) => [jobOf({ run, job }), one]),
    ),
  );
  const found = history.attempts.map((row) => {
    const chunks = (byAttempt.get(attemptOf(row)) ?? []).toSorted((a, b) => a.sequence - b.sequence);
    const told = expected.get(jobOf(row));
    const lines = told ? lineFaults(row, chunks, told) : { lostLines: 0, faults: [] };
    return { ...lines, faults: [...lines.faults, ...sealFaults(row, chunks)] };
  });
  const sealed = new Set(history.attempts.map(attemptOf));
  const unknown = [...byAttempt.keys()].filter((key) => !sealed.has(key));
  return {
    lostLines: found.reduce((sum, { lostLines }) => sum + lostLines, 0),
    faults: [
      ...found.flatMap(({ faults }) => faults),
      ...unknown.map((key) => `${key}: has a log, and no row knows of it`),
    ],
  };
}

function lineFaults(row: AttemptRow, chunks: LogRow[], { lines }: Expected): LogFaults {
  const key = attemptOf(row);
  const text = chunks
    .filter(({ stream }) => stream === 'stdout')
    .map(({ data }) => data)
    .join('');
  // What a killed command had not ended is no line.
  const found = text.split('\n').slice(0, -1);
  const wrong = found.findIndex((line, index) => line !== `line ${index + 1}`);
  const faults = wrong < 0 ? [] : [`${key}: line ${wrong + 1} of its log is ${JSON.stringify(found[wrong])}`];
  if (row.outcome !== 'completed' && row.outcome !== 'failed') return { lostLines: 0, faults };
  const distinct = new Set(found).size;
  if (found.length === lines && distinct === lines) return { lostLines: 0, faults };
  const short = `${key}: is ${row.outcome}, and its log has ${distinct} of ${lines} lines, in ${found.length}`;
  return { lostLines: Math.max(lines - distinct, 0), faults: [...faults, short] };
}

function sealFaults(row: AttemptRow, chunks: LogRow[]): string[] {
  const key = attemptOf(row);
  const gap = chunks.findIndex(({ sequence }, index) => sequence !== index);
  if (gap >= 0) return [`${key}: chunk ${gap} is missing`];
  const bent = chunks.find(({ line }, index) => line > (chunks[index - 1]?.lines ?? 0) + 1);
  if (bent) return [`${key}: chunk ${bent.sequence} begins with line ${bent.line}`];
  const last = chunks.at(-1);
  const stored = [chunks.length, last?.lines ?? 0, last?.bytes ?? 0].join('/');
  const told = [row.log_chunks, row.log_lines, row.log_bytes].join('/');
  return stored === told
    ? []
    : [`${key}: its seal says ${told} chunks/lines/bytes, and stored are ${stored}`];
}
