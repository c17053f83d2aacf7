// What handlers declare, told by several versions of them that live beside each other.
import { type Declaration, declareHandlers, forgetDeclarations } from '@wfg/shared/queries/handlers';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { claim, finish, moveClock } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';
import { startService } from '../../support/process.ts';
import { waitFor } from '../../support/wait-for.ts';

const stepOf = (step: string, max_attempts: number): Declaration => ({
  kind: 'task',
  workflow_type: 'Greeter',
  step,
  max_attempts,
  backoff: null,
  timeout_secs: null,
});
const OLD = [stepOf('ReadName', 2), stepOf('SayHello', 1)];
const NEW = [stepOf('ReadName', 5), stepOf('Shout', 3)];

async function known(pool: Pool) {
  const { rows } = await pool.query(
    `select step || ' ' || max_attempts as it from wfg_handlers order by step`,
  );
  return rows.map(({ it }) => it);
}

test('an old version that starts again leaves the steps that only the new one has', async () => {
  await using db = await testDatabase();
  await declareHandlers(db.pool, NEW);
  await declareHandlers(db.pool, OLD);
  expect(await known(db.pool)).toEqual(['ReadName 2', 'SayHello 1', 'Shout 3']);
  await db.pool.query(`insert into pg_task (step) values ('{"Greeter":{"Shout":null}}')`);
  expect((await db.pool.query('select error from pg_task')).rows).toEqual([{ error: null }]);
  await forgetDeclarations(db.pool);
  expect(await known(db.pool)).toHaveLength(3);
});

test('a step that this worker does not know is left to one that does, while such a one lives', async () => {
  await using db = await testDatabase();
  await declareHandlers(db.pool, OLD);
  await declareHandlers(db.pool, NEW);
  await db.pool.query(`insert into pg_task (step) values ('{"Greeter":{"Shout":null}}')`);
  const claimed = async () => {
    const [job] = await claim(db.pool, { labels: [':task Greeter'] });
    if (!job) throw new Error('nothing is due');
    return job;
  };
  const error = 'task Greeter has no step Shout: it has ReadName, SayHello';
  const park = { outcome: 'failed', is_parked: true, error } as const;
  expect(await finish(db.pool, await claimed(), { ...park, retryable: true })).toMatchObject({
    state: 'pending',
    lane: null,
  });
  const shown = `select tried, error, wakeup_at between wfg_now() and wfg_now() + interval '6 s' as soon from pg_task`;
  expect((await db.pool.query(shown)).rows).toEqual([{ tried: 0, error: null, soon: true }]);
  expect((await db.pool.query('select outcome, error from wfg_attempts')).rows).toEqual([
    { outcome: 'handed_back', error },
  ]);
  await moveClock(db.pool, '10 seconds');
  expect(await claimed()).toMatchObject({ attempt: 1, tries: 1 });
});

test.for([
  ['its state does not fit', false, '0 s'],
  ['whoever knew it has not been heard of for long', true, '31 minutes'],
] as const)('a step is parked when %s', async ([, retryable, later]) => {
  await using db = await testDatabase();
  await declareHandlers(db.pool, NEW);
  await db.pool.query(`insert into pg_task (step) values ('{"Greeter":{"Shout":null}}')`);
  await moveClock(db.pool, later);
  const [job] = await claim(db.pool, { labels: [':task Greeter'] });
  if (!job) throw new Error('nothing is due');
  await finish(db.pool, job, { outcome: 'failed', is_parked: true, retryable, error: 'so' });
  expect((await db.pool.query('select tried, error from pg_task')).rows).toEqual([{ tried: 0, error: 'so' }]);
});

test('a step is forgotten when nobody has declared it for a day', async () => {
  await using db = await testDatabase();
  await declareHandlers(db.pool, OLD);
  await moveClock(db.pool, '20 hours');
  await declareHandlers(db.pool, NEW);
  await moveClock(db.pool, '25 hours');
  await using _ = startService('reaper', { DATABASE_URL: db.url });
  await waitFor('the reaper', async () => !(await known(db.pool)).includes('SayHello 1'));
  expect(await known(db.pool)).toEqual(['ReadName 5', 'Shout 3']);
});
