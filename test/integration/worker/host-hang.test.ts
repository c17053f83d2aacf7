// A handler that blocks its host, and a host whose worker is killed.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startTask } from '@wfg/shared/sdk/sdk';
import { expect, test } from 'vitest';
import { attemptsOf, enqueue, eventWhen, isActive, isCompleted, newTrail } from '../../support/events.ts';
import { newGate } from '../../support/gate.ts';
import { testDatabase } from '../../support/postgres.ts';
import { faults } from '../../support/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hostOf, reasonsOf, startHandlerWorker } from '../../support/worker.ts';

const isGone = (pid: number) => () => !existsSync(`/proc/${pid}`);

test('a host that is blocked for too long is killed, and all that it ran is given up', {
  timeout: 60_000,
}, async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  // Half a lease, but at least 5 s.
  await using worker = startHandlerWorker(url, { LEASE_TTL_SECS: '2' });
  const gate = newGate();
  const other = await enqueue(pool, 'test.wait', { gate: gate.path });
  await eventWhen(pool, other, isActive);
  const id = await enqueue(pool, 'test.block', { gate: gate.path });
  const host = await hostOf(worker, id);
  await waitFor('it to be killed', isGone(host));
  // Until then the worker kept the leases: nothing ran twice.
  for (const one of [id, other]) await eventWhen(pool, one, ({ losses }) => losses === 1);
  await gate.open();
  for (const one of [id, other]) {
    expect(await eventWhen(pool, one, isCompleted)).toMatchObject({
      attempt: 1,
      tries: 1,
      losses: 1,
    });
    expect(await attemptsOf(pool, one)).toMatchObject([
      { outcome: 'lost', error: 'the handler host of handlers.ts died: it did not answer for 5 s' },
      { outcome: 'completed' },
    ]);
  }
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
});

test('a step that blocks is given up within a lease, and other modules go on meanwhile', {
  timeout: 60_000,
}, async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const [tasks, handlers] = ['tasks', 'handlers'].map((name) =>
    fileURLToPath(new URL(`../../support/${name}.ts`, import.meta.url)),
  );
  if (!tasks || !handlers) throw new Error('no modules');
  await using worker = startHandlerWorker(url, { LEASE_TTL_SECS: '2' }, [tasks, handlers]);
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
  const [gate, trail] = [newGate(), newTrail()];
  const id = await startTask(pool, faults, { step: 'Block', state: { gate: gate.path, trail: trail.path } });
  await waitFor('it to block', () => trail.lines().length === 1);
  const event = await enqueue(pool, 'test.print', { text: 'meanwhile' });
  expect(await eventWhen(pool, event, isCompleted)).toMatchObject({ attempt: 0 });
  await eventWhen(pool, id, ({ losses }) => losses === 1);
  const { rows } = await pool.query(
    `select e.finished_at < a.finished_at as meanwhile from wfg_history e, wfg_attempts a
     where e.run_id = $1 and a.run_id = $2`,
    [event, id],
  );
  expect(rows).toEqual([{ meanwhile: true }]);
  await gate.open();
  expect(await eventWhen(pool, id, isCompleted)).toMatchObject({ attempt: 1, losses: 1 });
  expect(await attemptsOf(pool, id)).toMatchObject([
    { outcome: 'lost', error: 'the handler host of tasks.ts died: it did not answer for 5 s' },
    { outcome: 'completed' },
  ]);
});

test.for(['test.wait', 'test.block'])(
  'a host that runs %s ends with its killed worker, and reports nothing',
  async (type) => {
    await using database = await testDatabase();
    const { pool, url } = database;
    const worker = startHandlerWorker(url);
    const gate = newGate();
    const trail = newTrail();
    const id = await enqueue(pool, type, { gate: gate.path, trail: trail.path });
    const host = await hostOf(worker, id);
    await waitFor('it to begin', () => trail.lines().length === 1);
    worker.signal('SIGKILL');
    await waitFor('the host to be gone', isGone(host), 5_000);
    expect(await eventWhen(pool, id, () => true)).toMatchObject({ state: 'active', outcome: null });
    expect(trail.lines(id)).toEqual(['begin']);
  },
);
