// known fault 33: a log is where it was, in each way of reading it, when its run has become history and its worker is gone.
import { getLog } from '@wfg/shared/contract/routes/jobs';
import { expect, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { openStream } from '../support/event-stream.ts';
import { newGate } from '../support/gate.ts';
import { view } from '../support/live-viewer.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { runWfg } from '../support/wfg.ts';

/** What each reader has of it so far, as one text. */
async function readings({ url, wfg }: Cluster, run: string): Promise<Record<string, string>> {
  const path = `${url}/api/runs/${run}/jobs/a/logs`;
  const chunks = await wfg(getLog, { params: { run, job: 'a' } });
  const whole = chunks.map(({ data }) => data).join('');
  const stream = await openStream(`${path}/stream`);
  const viewer = await view(url, { id: 'l', topic: 'logs', run, job: 'a' });
  const streamed = () =>
    stream.events
      .filter(({ event }) => event === 'log')
      .map(({ data }) => String(Object(data).data))
      .join('');
  const watched = () =>
    viewer
      .of('log')
      .map(({ data }) => data)
      .join('');
  await waitFor('both to have it', () => streamed() === whole && watched() === whole);
  stream.leave();
  viewer.socket.close();
  const page = await fetch(`${url}/runs/${run}/jobs/a`);
  return {
    chunks: JSON.stringify(chunks),
    raw: await (await fetch(`${path}/raw`)).text(),
    streamed: streamed(),
    watched: watched(),
    terminal: (await runWfg(['logs', run, 'a'], { WFG_URL: url })).stdout,
    page: `${page.status} ${await page.text()}`,
  };
}

test('known fault 33: a log stays where it was, also without the worker that wrote it', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  const gate = newGate();
  const print = `seq 2000; echo warning >&2; ${gate.wait}`;
  const run = await cluster.submit({ name: 'kept', jobs: { a: { run: print } } });
  await waitFor('all of it', async () =>
    (await cluster.logs(run, 'a')).some(({ data }) => data.includes('warning')),
  );
  const live = await readings(cluster, run);
  expect(live.raw).toBe(`${Array.from({ length: 2_000 }, (_, line) => `${line + 1}\n`).join('')}warning\n`);

  await gate.open();
  await cluster.ended(run);
  const { rowCount } = await database.pool.query('select from wfg_jobs where run_id = $1', [run]);
  expect(rowCount).toBe(0);
  const [worker] = cluster.of('worker');
  worker?.signal('SIGKILL');
  await worker?.ended;
  await database.pool.query('delete from wfg_workers');
  expect(await readings(cluster, run)).toEqual(live);
});
