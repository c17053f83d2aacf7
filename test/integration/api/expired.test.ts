// What readers are told when what they ask for was dropped by retention.
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { advance, claim, finish, print } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { dial } from '../../support/socket.ts';

let db: TestDatabase;
let api: TestApi;
let run: string;
let text: string;

const drop = (table: string) =>
  db.pool.query(
    `select wfg_drop_day($1::regclass, d::date) from generate_series(now(), now() + '2 d', '1 d') d`,
    [table],
  );

/** A run whose job printed three chunks, on a day whose logs are gone. */
beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
  await api.ask('PUT', '/api/workflows/w', { name: 'w', jobs: { a: { run: 'true' } } });
  run = Object(await api.ask('POST', '/api/workflows/w/run')).body.run_id;
  const [job] = await claim(db.pool, { limit: 1 });
  if (!job) throw new Error('nothing to claim');
  await print(db.pool, job, 0, 3);
  await finish(db.pool, job, { log_chunks: 3, log_lines: 6, log_bytes: 6 });
  await advance(db.pool);
  await drop('wfg_logs');
  const day = job.started_at.toISOString().slice(0, 10);
  text = `[wfg] this log has expired: 3 chunks of ${day} are kept no more\n`;
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const path = () => `/api/runs/${run}/jobs/a/logs`;

test('known fault 33: a log that is gone says so, as chunks and as text, and only once', async () => {
  const { body } = await api.ask('GET', path());
  expect(body).toMatchObject([{ attempt: 0, sequence: 2, line: 1, data: text, stream: 'stderr' }]);
  expect((await api.ask('GET', `${path()}/raw`)).body).toBe(text);
  expect((await api.ask('GET', `${path()}?after=0:0`)).body).toMatchObject([{ data: text }]);
  expect((await api.ask('GET', `${path()}?after=0:2`)).body).toEqual([]);
  expect((await api.ask('GET', `/api/workflows/w/jobs/a/logs`)).body).toMatchObject([{ data: text }]);
});

test('who follows it is told so, and that it has ended', async () => {
  const { body } = await api.ask('GET', `${path()}/stream`);
  const chunk = expect.stringMatching(/^event: log\nid: 0:2\ndata: .*this log has expired/);
  const end = `event: end\ndata: ${JSON.stringify({ state: 'completed', attempt: 0, chunks: 3 })}`;
  expect(
    String(body)
      .split('\n\n')
      .filter((part) => part.startsWith('event')),
  ).toEqual([chunk, end]);

  const socket = dial(api.url);
  try {
    await once(socket, 'open');
    const frames: unknown[] = [];
    const ended = new Promise((resolve) =>
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString());
        frames.push(frame);
        if (frame.op === 'end') resolve(frame);
      }),
    );
    socket.send(JSON.stringify({ op: 'subscribe', id: 's', topic: 'logs', run, job: 'a' }));
    expect(await ended).toMatchObject({ state: 'completed', chunks: 3 });
    expect(frames).toMatchObject([{ op: 'attempt' }, { op: 'log', sequence: 2, data: text }, { op: 'end' }]);
  } finally {
    socket.terminate();
  }
});

test('a run whose jobs are gone is not run again', async () => {
  await drop('wfg_history');
  expect(await api.ask('GET', `/api/runs/${run}`)).toMatchObject({ status: 200, body: { jobs: [] } });
  expect(await api.ask('POST', `/api/runs/${run}/rerun`, {})).toMatchObject({
    status: 409,
    body: { detail: 'the jobs of the run are kept no more: start a run of its workflow' },
  });
  expect(await api.ask('GET', path())).toMatchObject({ status: 404 });
});
