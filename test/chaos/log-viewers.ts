// Fifty readers of one log who come and go: over both kinds of connection, at any api, patient and impatient, slow and late.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { programEnv } from '../support/process.ts';
import { CLI } from '../support/wfg.ts';
import { LogReader, type Transcript } from './log-reader.ts';
import { type Visiting, visitBySocket, visitByStream } from './log-visits.ts';

interface Manner {
  name: string;
  /** How many of them. */
  count: number;
  visit: Visiting;
  /** Milliseconds; each time chosen anew between 0 and this, except that the first look is at `late`. */
  stay: number;
  away: number;
  pause: number;
  late: number;
}

/** Mostly for as long as the connection lasts. */
const STAYS = 1_000_000;
const MANNERS: readonly Manner[] = [
  { name: 'patient', count: 10, visit: visitBySocket, stay: STAYS, away: 500, pause: 0, late: 0 },
  { name: 'restless', count: 10, visit: visitBySocket, stay: 6_000, away: 3_000, pause: 0, late: 5_000 },
  { name: 'slow', count: 8, visit: visitBySocket, stay: STAYS, away: 500, pause: 20_000, late: 20_000 },
  { name: 'late', count: 6, visit: visitBySocket, stay: STAYS, away: 500, pause: 0, late: 100_000 },
  { name: 'gone for long', count: 4, visit: visitBySocket, stay: 20_000, away: 60_000, pause: 0, late: 0 },
  { name: 'streaming', count: 5, visit: visitByStream, stay: STAYS, away: 500, pause: 0, late: 1_000 },
  {
    name: 'restless, streaming',
    count: 3,
    visit: visitByStream,
    stay: 6_000,
    away: 3_000,
    pause: 0,
    late: 0,
  },
  { name: 'slow, streaming', count: 2, visit: visitByStream, stay: STAYS, away: 500, pause: 20_000, late: 0 },
];

export interface Watched {
  urls: readonly string[];
  run: string;
  job: string;
}

export interface LogViewer {
  name: string;
  reader: LogReader;
  visits: number;
  /** Resolves when it was told the end. */
  ended: Promise<void>;
}

/** Lets all of them come until each was told the end, or `signal`; in a hurry all their times are a tenth. */
export function watchLog(
  watched: Watched,
  transcript: Transcript,
  { signal, isHurried = false }: { signal: AbortSignal; isHurried?: boolean },
): LogViewer[] {
  return MANNERS.flatMap((manner) =>
    Array.from({ length: manner.count }, (_, index) => {
      const name = `${manner.name} ${index + 1}`;
      const viewer = { name, reader: new LogReader(transcript), visits: 0, ended: Promise.resolve() };
      viewer.ended = comeAndGo(isHurried ? hurried(manner) : manner, watched, viewer, signal);
      return viewer;
    }),
  );
}

function hurried(manner: Manner): Manner {
  const { stay, away, pause, late } = manner;
  return { ...manner, stay: stay / 10, away: away / 10, pause: pause / 10, late: late / 10 };
}

async function comeAndGo(
  { visit, stay, away, pause, late }: Manner,
  { urls, run, job }: Watched,
  viewer: LogViewer,
  signal: AbortSignal,
): Promise<void> {
  await sleep(Math.random() * late);
  while (viewer.reader.end === undefined && !signal.aborted) {
    const url = urls[viewer.visits++ % urls.length] ?? '';
    await visit({ url, run, job, stay: 500 + Math.random() * stay, pause }, viewer.reader);
    if (viewer.reader.end === undefined) await sleep(100 + Math.random() * away);
  }
}

/** What a `wfg logs -f` printed: its lines must be 1 to n. */
interface Shown {
  lines: number;
  /** The first that was wrong. */
  wrong: string | null;
  /** On its standard error. */
  said: string;
}

export interface Terminal extends Disposable {
  /** So far. */
  shown: Shown;
  /** Its exit code, when it has ended. */
  done: Promise<unknown>;
}

export function followInTerminal(url: string, { run, job }: Watched): Terminal {
  const child = spawn(process.execPath, [CLI, 'logs', run, job, '-f', '--url', url], {
    env: programEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const shown: Shown = { lines: 0, wrong: null, said: '' };
  createInterface({ input: child.stdout }).on('line', (line) => {
    shown.lines++;
    if (line !== String(shown.lines)) shown.wrong ??= `line ${shown.lines} is ${JSON.stringify(line)}`;
  });
  child.stderr.on('data', (data) => (shown.said += String(data)));
  const done = once(child, 'close').then(([code]: unknown[]) => code);
  return { shown, done, [Symbol.dispose]: () => void child.kill() };
}
