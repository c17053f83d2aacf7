// Times of 400 days, which no timer of Node can wait for: nothing happens early, and all of it when the time has come.
import { submitRun } from '@wfg/shared/queries/submit';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import { expect, test } from 'vitest';
import { moveClock } from '../support/engine.ts';
import { enqueue, eventWhen, isActive, isCompleted, isFailed } from '../support/events.ts';
import { newGate } from '../support/gate.ts';
import { testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { jobWhen, ring, startHandlerWorker } from '../support/worker.ts';

const SECS = 400 * 86_400;
const FAR = new Date(Date.now() + SECS * 1_000);

test('what is due, tried again, expires or times out in 400 days does so then, and not before', async () => {
  await using db = await testDatabase();
  const { pool, url } = db;
  await using stack = new AsyncDisposableStack();
  stack.use(startHandlerWorker(url));
  stack.use(startService('scheduler', { DATABASE_URL: url }));
  stack.use(startService('reaper', { DATABASE_URL: url, REAP_INTERVAL_SECS: '1' }));
  const gate = newGate();
  const later = await enqueue(pool, 'test.print', {}, { run_at: FAR });
  const backoff = { Fixed: { delay_secs: SECS } };
  const again = await enqueue(pool, 'test.throw', {}, { max_attempts: 2, backoff });
  const slow = await enqueue(pool, 'test.wait', { gate: gate.path }, { timeout_secs: SECS });
  const waits = await enqueue(pool, 'test.nobody', {}, { expires_in_secs: SECS });
  const times = { timeout: SECS, expires_in: SECS, run: gate.wait };
  const workflow = defineWorkflow({ name: 'w', timeout: SECS, jobs: { a: times } });
  const { run_id: run } = await submitRun(pool, null, workflow, {});
  await ring(pool);
  await jobWhen(pool, run, 'a', ({ state }) => state === 'active');
  await eventWhen(pool, slow, isActive);
  await eventWhen(pool, again, ({ state, attempt }) => state === 'pending' && attempt === 0);
  // Everybody has looked once more.
  for (let round = 0; round < 3; round++)
    await eventWhen(pool, await enqueue(pool, 'test.print'), isCompleted);
  for (const id of [later, waits])
    expect(await eventWhen(pool, id, () => true)).toMatchObject({ state: 'pending', attempt: -1 });
  expect(await eventWhen(pool, again, () => true)).toMatchObject({ state: 'pending', attempt: 0 });
  await gate.open();
  expect(await eventWhen(pool, slow, isCompleted)).toMatchObject({ attempt: 0 });
  expect(await jobWhen(pool, run, 'a', ({ state }) => state === 'completed')).toMatchObject({ attempt: 0 });

  await moveClock(pool, '401 days');
  expect(await eventWhen(pool, later, isCompleted)).toMatchObject({ attempt: 0 });
  expect(await eventWhen(pool, again, isFailed)).toMatchObject({ attempt: 1, tries: 2 });
  expect(await eventWhen(pool, waits, isFailed)).toMatchObject({ attempt: -1 });
});
