// What is larger than a notification may be (8,000 bytes): nothing fails because of it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asAdmin } from '../support/admin.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { states } from '../support/engine.ts';
import { textOf } from '../support/numbers.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { refusalOf, valueOf } from '../support/sql.ts';
import { waitFor } from '../support/wait-for.ts';
import { MODULE } from '../support/work.ts';

const PAYLOAD_CHARS = 5 * 2 ** 20;
const LINE_CHARS = 200_000;
const COUNT = 10_000;
const LABELS = 100;

let database: TestDatabase;
let cluster: Cluster;
beforeAll(async () => {
  database = await testDatabase();
  cluster = await startCluster(database, { env: { WFG_MODULES: MODULE } });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('known fault 4: a payload of 5 MB, by SQL; over HTTP it is refused', async () => {
  const payload = JSON.stringify({ large: 'x'.repeat(PAYLOAD_CHARS) });
  const run = await valueOf(database.pool, `wfg_enqueue('test.print', $1)`, payload);
  await waitFor('it to complete', async () => (await states(database.pool, run)).main === 'completed');
  const refused = await fetch(`${cluster.url}/workflows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"workflow_type": "test.print", "payload": ${payload}}`,
  });
  expect(refused.status).toBe(413);
});

test('known fault 4: a type, and labels, as long as they may be', async () => {
  const type = '𝄞'.repeat(255);
  const run = await valueOf(database.pool, 'wfg_enqueue($1)', type);
  await valueOf(database.pool, 'wfg_cancel($1)', run);
  expect(await states(database.pool, run)).toEqual({ main: 'cancelled' });
  const longer = await refusalOf(database.pool, 'wfg_enqueue($1)', 'x'.repeat(300));
  expect(longer).toMatchObject({ code: 'WF001', message: expect.stringContaining('1 to 255 characters') });

  const labels = Array.from({ length: LABELS }, (_, index) => `${index}${'𝄞'.repeat(97)}`);
  const jobs = { a: { run: 'true', labels }, b: { run: 'true', labels, needs: 'a' }, c: { run: 'true' } };
  const asked = await valueOf(database.pool, 'wfg_submit($1)', JSON.stringify({ name: 'labelled', jobs }));
  await waitFor('what needs no label to run', async () => {
    const { jobs: now } = await cluster.run(asked);
    return now.find(({ job_id }) => job_id === 'c')?.state === 'completed';
  });
  await valueOf(database.pool, 'wfg_cancel($1)', asked);
  expect(await cluster.ended(asked)).toMatchObject({ status: 'cancelled' });
});

test('known fault 4: a line of 200 KB', async () => {
  const long = `head -c ${LINE_CHARS} /dev/zero | tr '\\0' x; echo`;
  const run = await cluster.submit({ name: 'line', jobs: { a: { run: long } } });
  expect(await cluster.ended(run)).toMatchObject({ status: 'completed' });
  expect(textOf(await cluster.logs(run, 'a'), 0)).toBe(`${'x'.repeat(LINE_CHARS)}\n`);
});

const MANY = {
  'of one type': `'one type'`,
  'each of a type of its own': `'type ' || n`,
};

test.each(Object.entries(MANY))(
  'known fault 4: 10,000 in one transaction, %s, and their cancel in another',
  async (_, type) => {
    const { url, pool } = database;
    // A transaction may be longer than a statement of ours.
    await asAdmin(url, async (client) => {
      const made = await client.query<{ id: string }>(
        `select wfg_enqueue(${type}) as id from generate_series(1, ${COUNT}) n`,
      );
      const ids = made.rows.map(({ id }) => id);
      await client.query('select wfg_cancel(id) from unnest($1::uuid[]) id', [ids]);
      const { rows } = await client.query(
        'select state, count(*)::int from wfg_history where run_id = any($1) group by state',
        [ids],
      );
      expect(rows).toEqual([{ state: 'cancelled', count: COUNT }]);
    });
    // All that were told go on.
    const next = await valueOf(pool, `wfg_enqueue('test.print')`);
    await waitFor('what comes after them', async () => (await states(pool, next)).main === 'completed');
  },
);
