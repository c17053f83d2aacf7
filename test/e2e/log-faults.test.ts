// Logs while storing them fails, at the end of a job, and with secrets in them: what is stored is what was printed.
import type { JobState } from '@wfg/shared/contract/job';
import { isEnded } from '@wfg/shared/rules/states';
import { expect, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { view } from '../support/live-viewer.ts';
import { testDatabase } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf } from '../support/worker.ts';

async function linesOf({ logs }: Cluster, run: string, job: string): Promise<string[]> {
  const chunks = await logs(run, job);
  return chunks
    .map(({ data }) => data)
    .join('')
    .split('\n')
    .slice(0, -1);
}

/** Where the lines are not 1, 2, 3 …, of that many. */
function countingFaults(lines: readonly string[], count: number): string[] {
  const wrong = lines.findIndex((line, index) => line !== String(index + 1));
  const faults = wrong < 0 ? [] : [`line ${wrong + 1} is ${JSON.stringify(lines[wrong])}`];
  return lines.length === count ? faults : [...faults, `${lines.length} lines of ${count}`];
}

test('known fault 27: no line is lost where storing fails now and then, and for some seconds', async () => {
  await using database = await testDatabase();
  const { pool } = database;
  await pool.query(`
    create sequence inserts;
    create function refuse() returns trigger language plpgsql as $$ begin
      if nextval('inserts') % 20 = 0 then raise 'refused by somebody'; end if;
      return null;
    end $$;
    create trigger refuse before insert on wfg_logs for each statement execute function refuse()`);
  await using link = await TcpProxy.start(database.url);
  await using cluster = await startCluster(database, {
    env: { LEASE_TTL_SECS: '30' },
    databaseOf: (name) => (name === 'worker' ? link.url : undefined),
  });
  const print = 'i=1; while [ $i -lt 100000 ]; do seq $i $((i + 499)); i=$((i + 500)); sleep 0.06; done';
  const run = await cluster.submit({ name: 'counts', jobs: { a: { run: print } } });
  await waitFor('some of it', async () => (await cluster.logs(run, 'a')).length > 20);
  await link.close();
  const [worker] = cluster.of('worker');
  if (!worker) throw new Error('there is no worker');
  await waitFor('it to fail for 3 s', async () =>
    (await reasonsOf(worker)).some((reason) => /^logs: failing for [3-9] s/.test(reason)),
  );
  await link.open();
  expect(await cluster.ended(run)).toMatchObject({ status: 'completed', jobs: [{ attempt: 0, tries: 1 }] });
  expect(countingFaults(await linesOf(cluster, run, 'a'), 100_000)).toEqual([]);
  const { rows } = await pool.query<{ inserts: number }>('select last_value::int as inserts from inserts');
  expect(rows[0]?.inserts).toBeGreaterThan(60);
});

test.for([
  { end: 'exits', command: 'seq 50000', lines: 50_000, state: 'completed' },
  { end: 'kills itself', command: 'seq 300; kill -9 $$', lines: 300, state: 'failed' },
] as const)(
  'known fault 28: of a job that prints and $end the last line is there when it has ended',
  async ({ command, lines, state }) => {
    await using database = await testDatabase();
    await using cluster = await startCluster(database);
    const run = await cluster.submit({ name: 'ends', jobs: { a: { run: command } } });
    const viewer = await view(
      cluster.url,
      { id: 'run', topic: 'run', run },
      { id: 'log', topic: 'logs', run, job: 'a' },
    );
    const seen = new Promise<{ state: JobState; lines: string[] }>((resolve, reject) =>
      viewer.socket.on('message', () => {
        const frame = viewer.frames.at(-1);
        const job =
          frame?.op === 'event' && 'job' in frame.event
            ? frame.event.job
            : frame?.op === 'snapshot' && 'run' in frame
              ? frame.run.jobs[0]
              : undefined;
        if (!job || !isEnded(job.state)) return;
        const { state: ended } = job;
        linesOf(cluster, run, 'a').then((stored) => resolve({ state: ended, lines: stored }), reject);
      }),
    );
    const ended = await seen;
    expect(ended.state).toBe(state);
    expect(countingFaults(ended.lines, lines)).toEqual([]);
    await waitFor('the end of the log', () => viewer.of('end').length === 1);
    const told = viewer
      .of('log')
      .map(({ data }) => data)
      .join('')
      .split('\n')
      .slice(0, -1);
    expect(told).toEqual(ended.lines);
    expect(viewer.frames.findLastIndex(({ op }) => op === 'log')).toBeLessThan(
      viewer.frames.findIndex(({ op }) => op === 'end'),
    );
    viewer.socket.close();
  },
);

const KEY = '-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA7bq8+/0123\nq9ijklmnop==\n-----END KEY-----\n';
/** One byte every 10 ms, each written by itself. */
const BYTE_BY_BYTE = `'${process.execPath}' -e '
const bytes = Buffer.from(process.env.KEY); let at = 0;
const timer = setInterval(() => {
  if (at === bytes.length) return clearInterval(timer);
  process.stdout.write(bytes.subarray(at, ++at));
}, 10)'`;

test('known fault 34: a secret in pieces is not shown, and one of a character does not blacken the log', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  const job = {
    env: { KEY, PIN: 'e' },
    mask: ['KEY', 'PIN'],
    run: `${BYTE_BY_BYTE}; echo; printf %s "$KEY" | base64; printf %s "$KEY" | base64 -w0; echo; echo "the end" >&2; printf %s "$KEY" >&2; exit 3`,
  };
  const run = await cluster.submit({ name: 'secrets', jobs: { a: job } });
  const viewer = await view(cluster.url, { id: 'log', topic: 'logs', run, job: 'a' });
  const ended = await cluster.ended(run);
  await waitFor('the end', () => viewer.of('end').length === 1);
  viewer.socket.close();
  const lines = await linesOf(cluster, run, 'a');
  const texts = [
    lines.join('\n'),
    JSON.stringify(viewer.frames),
    JSON.stringify(ended.jobs),
    JSON.stringify(await cluster.attempts(run, 'a')),
  ];
  const encoded = Buffer.from(KEY).toString('base64');
  const pieces = [
    ...KEY.split('\n').filter((line) => line !== ''),
    encoded.slice(0, 20),
    encoded.slice(40, 60),
  ];
  expect(pieces.filter((piece) => texts.some((text) => text.includes(piece)))).toEqual([]);
  expect(lines).toContain('the end');
  expect(lines).toContain('[wfg] a value of fewer than 4 characters cannot be masked');
  expect(lines.filter((line) => line.includes('***')).length).toBeGreaterThan(2);
});
