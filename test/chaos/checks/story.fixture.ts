// A history in which all is well: an event whose first worker was lost, a task of two steps, a graph of three jobs that
// fails, and its last job skipped.
import type { AttemptRow, History, Item, JobRow, LogRow, Mark, Told } from '../history.ts';

const LINES = 3;
/** Attempts take 100 ms, and the next begins 10 ms after; no time stands for itself. */
const BEGIN = 1_000_000;

interface Outline {
  run: string;
  job: string;
  kind: JobRow['kind'];
  state: JobRow['state'];
  max?: number;
  /** Each attempt's outcome, in order, and of a task its step. */
  outcomes: { outcome: AttemptRow['outcome']; step?: string; at: number }[];
}

const OUTLINES: Outline[] = [
  {
    run: 'event',
    job: 'main',
    kind: 'event',
    state: 'completed',
    outcomes: [
      { outcome: 'lost', at: 0 },
      { outcome: 'completed', at: 1 },
    ],
  },
  {
    run: 'task',
    job: 'main',
    kind: 'task',
    state: 'completed',
    outcomes: [
      { outcome: 'failed', step: 'First', at: 0 },
      { outcome: 'completed', step: 'First', at: 1 },
      { outcome: 'lost', step: 'Last', at: 2 },
      { outcome: 'completed', step: 'Last', at: 3 },
    ],
  },
  {
    run: 'graph',
    job: 'a',
    kind: 'command',
    state: 'completed',
    outcomes: [{ outcome: 'completed', at: 0 }],
  },
  {
    run: 'graph',
    job: 'b',
    kind: 'command',
    state: 'failed',
    max: 2,
    outcomes: [
      { outcome: 'lost', at: 1 },
      { outcome: 'failed', at: 2 },
    ],
  },
  { run: 'graph', job: 'c', kind: 'command', state: 'skipped', outcomes: [] },
];

const NEEDS: Record<string, string[]> = { b: ['a'], c: ['b'] };

/** Its follower lost the connection once. */
const TOLD_OF_GRAPH: Told[] = [
  {
    run: 'graph',
    rev: 3,
    what: 'snapshot',
    status: 'running',
    jobs: [
      { job: 'a', state: 'active', attempt: 0 },
      { job: 'b', state: 'blocked', attempt: 0 },
      { job: 'c', state: 'blocked', attempt: 0 },
    ],
  },
  {
    run: 'graph',
    rev: 4,
    what: 'completed',
    status: null,
    jobs: [{ job: 'a', state: 'completed', attempt: 0 }],
  },
  {
    run: 'graph',
    rev: 7,
    what: 'snapshot',
    status: 'running',
    jobs: [
      { job: 'a', state: 'completed', attempt: 0 },
      { job: 'b', state: 'active', attempt: 1 },
      { job: 'c', state: 'blocked', attempt: 0 },
    ],
  },
  { run: 'graph', rev: 8, what: 'failed', status: null, jobs: [{ job: 'b', state: 'failed', attempt: 1 }] },
  { run: 'graph', rev: 9, what: 'skipped', status: null, jobs: [{ job: 'c', state: 'skipped', attempt: 0 }] },
  { run: 'graph', rev: 10, what: 'run_finished', status: 'failed', jobs: [] },
];

export function goodStory(): History {
  const attempts = OUTLINES.flatMap(attemptsOf);
  return {
    items: itemsOf(),
    marks: attempts.flatMap(marksOf),
    jobs: OUTLINES.map(jobOf),
    runs: [{ run: 'graph', state: 'failed' }],
    attempts,
    logs: attempts.flatMap(logsOf),
    leases: attempts.map(({ run, job, attempt, finished_at }) => ({
      run,
      job,
      attempt,
      expires_at: finished_at - 1,
    })),
    // Its scheduler was a moment late.
    seenRuns: [{ run: 'graph', state: 'open', going: 0, is_unsettled: true }],
    told: TOLD_OF_GRAPH,
    processes: [],
  };
}

function itemsOf(): Item[] {
  return [...Map.groupBy(OUTLINES, ({ run }) => run)].map(([run, own]) => ({
    run,
    state: own.some(({ state }) => state === 'failed') ? 'failed' : 'completed',
    jobs: Object.fromEntries(
      own.map(({ job, state }) => [job, { states: [state], lines: LINES, needs: NEEDS[job] ?? [] }]),
    ),
  }));
}

function attemptsOf({ run, job, outcomes }: Outline): AttemptRow[] {
  return outcomes.map(({ outcome, step, at }, attempt) => ({
    run,
    job,
    attempt,
    outcome,
    error: outcome === 'lost' ? 'lease expired: worker w stopped renewing it' : null,
    started_at: BEGIN + at * 110,
    finished_at: BEGIN + at * 110 + 100,
    step: step ?? null,
    log_chunks: outcome === 'lost' ? 1 : 2,
    log_lines: outcome === 'lost' ? 1 : LINES,
    log_bytes: outcome === 'lost' ? 7 : 7 * LINES,
  }));
}

function jobOf({ run, job, kind, state, max = 3, outcomes }: Outline): JobRow {
  const last = outcomes.at(-1)?.step;
  const counted = outcomes.filter(({ step }) => step === last);
  const free = kind === 'command' ? 0 : counted.filter(({ outcome }) => outcome === 'lost').length;
  return {
    run,
    job,
    table: 'history',
    kind,
    state,
    attempt: outcomes.length - 1,
    tries: counted.length - free,
    losses: free,
    max_attempts: max,
    finished_at: BEGIN + 1_000,
  };
}

function marksOf({ outcome, started_at, finished_at, run, job, attempt }: AttemptRow): Mark[] {
  const start: Mark = { run, job, attempt, what: 'start', at: started_at + 1, pid: 1 };
  return outcome === 'lost' ? [start] : [start, { ...start, what: 'end', at: finished_at - 1 }];
}

function logsOf({ run, job, attempt, log_chunks }: AttemptRow): LogRow[] {
  const first = {
    run,
    job,
    attempt,
    stream: 'stdout',
    sequence: 0,
    line: 1,
    lines: 1,
    bytes: 7,
    data: 'line 1\n',
  };
  const rest = { ...first, sequence: 1, line: 2, lines: LINES, bytes: 7 * LINES, data: 'line 2\nline 3\n' };
  return [first, rest].slice(0, log_chunks);
}
