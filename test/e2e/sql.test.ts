// Work started from SQL: the README's examples as they stand there, node-postgres, and an ORM; done by real processes.
import { putWorkflow } from '@wfg/shared/contract/routes/workflows';
import { readEvent } from '@wfg/shared/queries/events';
import { DEMONSTRATION } from '@wfg/shared/runtime/module-files';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { eventWhen, isCompleted, isFailed } from '../support/events.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { examplesOf } from '../support/readme.ts';
import { valueOf } from '../support/sql.ts';

let db: TestDatabase;
let wfg: Cluster;

beforeAll(async () => {
  db = await testDatabase();
  wfg = await startCluster(db, { env: { WFG_MODULES: DEMONSTRATION } });
  await db.pool.query('create table orders (id int)');
  const ci = { name: 'CI', jobs: { a: { run: 'true' } } };
  await wfg.wfg(putWorkflow, { params: { id: 'ci' }, body: ci });
});

afterAll(async () => {
  await wfg[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const runOf = (name: string) => valueOf(db.pool, 'select id from wfg_runs where name = $1', name);
const eventOf = (type: string) =>
  valueOf(
    db.pool,
    `select run_id from (select run_id, workflow_type from wfg_jobs
       union all select run_id, workflow_type from wfg_history) j where workflow_type = $1`,
    type,
  );

test('the README’s examples', async () => {
  const dead = await valueOf(db.pool, `wfg_enqueue('ml_job.queued', max_attempts => 1)`);
  await eventWhen(db.pool, dead, isFailed);
  await db.pool.query(examplesOf('From SQL'));
  expect(await wfg.ended(await runOf('greet'))).toMatchObject({
    status: 'completed',
    jobs: [
      { job_id: 'build', state: 'completed' },
      { job_id: 'test', state: 'completed' },
    ],
  });
  expect(await wfg.ended(await runOf('CI'))).toMatchObject({ status: 'completed', number: 1 });
  const notified = await eventOf('notification.send');
  await eventWhen(db.pool, notified, isCompleted);
  expect(await readEvent(db.pool, await eventOf('user.created'))).toMatchObject({ status: 'cancelled' });
  await eventWhen(db.pool, dead, ({ state, attempt }) => state === 'failed' && attempt === 1);
  const again = `wfg_enqueue('notification.send', '{"user_id": "USR-42"}', idempotency_key => 'order 4711')`;
  expect(await valueOf(db.pool, again)).toBe(notified);
});

test('node-postgres: an event with a row of one’s own, and without it after a rollback', async () => {
  const client = new Client(db.url);
  await client.connect();
  try {
    for (const end of ['rollback', 'commit']) {
      await client.query('begin');
      await client.query('insert into orders (id) values ($1)', [1]);
      const { rows } = await client.query<{ id: string }>('select wfg_enqueue($1, $2, run_at => $3) as id', [
        'claim.submitted',
        { claim_id: 'CLM-1001' },
        new Date(),
      ]);
      await client.query(end);
      const id = rows[0]?.id ?? '';
      if (end === 'commit') await eventWhen(db.pool, id, isCompleted);
      expect((await readEvent(db.pool, id))?.payload).toEqual(
        end === 'commit' ? { claim_id: 'CLM-1001' } : undefined,
      );
    }
    expect((await client.query('select from orders where id = 1')).rowCount).toBe(1);
  } finally {
    await client.end();
  }
});

test('kysely: a workflow and an event in one transaction, a refusal with its code', async () => {
  const orm = new Kysely<{ orders: { id: number } }>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: db.url }) }),
  });
  try {
    const workflow = { name: 'from kysely', jobs: { a: { run: 'echo "$WHO"', env: { WHO: 'you' } } } };
    const { run, event } = await orm.transaction().execute(async (trx) => {
      await trx.insertInto('orders').values({ id: 2 }).execute();
      const { rows } = await sql<{ run: string; event: string }>`
        select wfg_submit(${workflow}) as run,
          wfg_enqueue('user.created', payload => ${{ user_id: 'USR-1' }}, idempotency_key => ${'order 2'}) as event
      `.execute(trx);
      return rows[0] ?? { run: '', event: '' };
    });
    expect(await wfg.ended(run)).toMatchObject({ name: 'from kysely', status: 'completed' });
    await eventWhen(db.pool, event, isCompleted);
    await expect(sql`select wfg_requeue(${event})`.execute(orm)).rejects.toMatchObject({ code: 'WF003' });
  } finally {
    await orm.destroy();
  }
});
