// The index of faults that users of similar systems met: each has a test here whose name begins with `known fault N: …`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SUITES = ['integration', 'e2e', 'chaos', 'bench'];

const FAULTS: Record<number, string> = {
  1: 'a listening connection goes silent, and what waits is found by looking now and then',
  2: 'a listening connection that was lost once is lost for good',
  3: 'who lost the database for longer than a moment hears nothing any more',
  4: 'what is larger than a notification undoes the transaction that it is in',
  5: 'enqueues wait for each other, since each notifies',
  6: 'a restart of many workers asks for more connections than the server has',
  // `npm run test:pooler`: all of the end-to-end tests.
  7: 'what a session keeps is relied on behind a transaction pooler',
  8: 'one job lets all idle workers ask for it at once',
  9: 'an idle system keeps its database busy',
  // Of jobs that a worker has claimed and not begun nothing is shown: workers claim what they can begin.
  10: 'jobs of a killed worker stay locked for hours',
  11: 'after a deployment jobs look as if they ran, and take places for ever',
  12: 'after a restart of the database what runs is started a second time',
  13: 'a job that kills its worker is tried for ever',
  // There are no limits by key: the places are those of a worker.
  14: 'a place is never free again when what held it died, was cancelled or did not begin',
  15: 'lost jobs are not found behind many that run long',
  16: 'leases and times go by the clock of a worker',
  17: 'a cancel changes a row, and the job goes on',
  18: 'what a job has started goes on when the job is stopped',
  19: 'a cancel is seen when the worker looks for work again, or never',
  20: 'a job that a deployment interrupts has used up a try',
  21: 'a worker that is told to stop does not let its jobs finish',
  22: 'parents that end at the same moment leave their child waiting for ever',
  23: 'a failed parent leaves its child waiting, and nobody is told',
  24: 'a run goes on after all its jobs have ended',
  25: 'jobs that need each other wait for ever',
  // The api alone is measured, and not a browser that draws them.
  26: 'large runs meet hard limits',
  27: 'lines are lost where they cannot be stored at the moment',
  28: 'the last lines are not there when the job has ended',
  29: 'who follows sees lines twice, or in another order',
  30: 'who comes late sees only what is new',
  // What a browser keeps and draws is counted; its times are told only: they are the machine's.
  31: 'a long log freezes the page',
  32: 'connections of viewers stay when nothing is printed',
  33: 'a log is elsewhere, or gone, when its worker is',
  34: 'a secret in pieces is shown, and a short one makes the log unreadable',
  35: 'a job prints or gives out what cannot be stored, and runs for ever',
};

function* testFiles(): Generator<string> {
  for (const suite of SUITES) {
    const folder = fileURLToPath(new URL(`../${suite}`, import.meta.url));
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.test.ts')) yield join(folder, name);
  }
}

/** The numbers with which the names of tests begin: `'known fault 11: …'`, `'known fault 23, 24: …'`. */
const covered = new Set(
  [...testFiles()]
    .map((file) => readFileSync(file, 'utf8'))
    .flatMap((source) => [...source.matchAll(/(?:test\(|\)\(|number: )\s*['"`]known fault (\d+(?:, \d+)*)/g)])
    .flatMap(([, numbers = '']) => numbers.split(', ')),
);

test('each known fault has a test', () => {
  const missing = Object.entries(FAULTS).filter(([number]) => !covered.has(number));
  expect(missing).toEqual([]);
});
