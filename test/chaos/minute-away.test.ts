// known fault 3: PostgreSQL is away for a minute. Within 10 s of its return, and with no process started again, what is
// printed is seen by who watched before, and a cancel and a new job are acted upon.
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import { expect, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { openStream } from '../support/event-stream.ts';
import { newGate } from '../support/gate.ts';
import { waitFor } from '../support/wait-for.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';

const AWAY_MS = 60_000;
const BACK_MS = 10_000;
const SERVICES = ['api', 'scheduler', 'reaper', 'worker'] as const;

test('known fault 3: after a minute without PostgreSQL all hear again', async () => {
  await using postgres = await startOwnPostgres();
  await postgres.renew();
  await using cluster = await startCluster(postgres, { env: { LEASE_TTL_SECS: '30' } });
  const pids = SERVICES.map((name) => cluster.of(name)[0]?.pid);
  const gate = newGate();
  const run = await cluster.submit({
    name: 'long',
    jobs: { a: { run: `echo before; ${gate.wait}; echo after; sleep 1000` } },
  });
  await using stack = new AsyncDisposableStack();
  const stream = await openStream(`${cluster.url}/api/runs/${run}/jobs/a/logs/stream`);
  stack.defer(stream.leave);
  const isShown = (text: string) =>
    waitFor(
      `${text} to be shown`,
      () => stream.events.some(({ event, data }) => event === 'log' && JSON.stringify(data).includes(text)),
      BACK_MS,
    );
  await isShown('before');

  await postgres.restart(AWAY_MS);
  const since = performance.now();
  const secs: Record<string, number> = {};
  const note = (what: string) => {
    secs[what] = Math.round(performance.now() - since) / 1_000;
  };
  await gate.open();
  await Promise.all([
    isShown('after').then(() => note('a line is shown')),
    (async () => {
      const next = await waitFor(
        'a job to be taken',
        () => cluster.submit({ name: 'next', jobs: { a: { run: 'true' } } }),
        BACK_MS,
      );
      await cluster.ended(next, BACK_MS);
      note('a job is done');
    })(),
  ]);
  await cluster.wfg(cancelRun, { params: { run } });
  expect(await cluster.ended(run, BACK_MS)).toMatchObject({ status: 'cancelled' });
  note('what ran is cancelled');
  console.table(secs);
  expect(Math.max(...Object.values(secs))).toBeLessThan(BACK_MS);
  expect(SERVICES.map((name) => cluster.of(name)[0]?.pid)).toEqual(pids);
  for (const name of SERVICES)
    expect(cluster.of(name)[0]?.logs.filter(({ level }) => level === 'fatal')).toEqual([]);
});
