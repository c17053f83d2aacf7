// The attempts of a job in pages: a task may have made a great many.
import { Attempt } from '@wfg/shared/contract/job';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type TestApi, startApi } from '../../support/api.ts';
import { claimEvent, enqueue } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';
import { runWfg } from '../../support/wfg.ts';

const EARLIER = 1200;

/** The indexes in one answer, and where the next page is. */
async function page({ ask }: TestApi, path: string): Promise<{ attempts: number[]; next: string | null }> {
  const { status, headers, body } = await ask('GET', path);
  expect(status).toBe(200);
  const next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? null;
  return {
    attempts: z
      .array(Attempt)
      .parse(body)
      .map(({ attempt }) => attempt),
    next,
  };
}

test('attempts are listed a page at a time, the first one first, and each of them once', async () => {
  await using db = await testDatabase();
  const id = await enqueue(db.pool, 'a');
  await db.pool.query('update wfg_jobs set attempt = $1', [EARLIER - 1]);
  await db.pool.query(
    `insert into wfg_attempts (ended_on, run_id, position, attempt, try, nonce, started_at, finished_at, outcome, worker_id,
       log_chunks, log_lines, log_bytes)
     select (wfg_now() at time zone 'utc')::date + n / 600, run_id, 0, n, 1, n, wfg_now(), wfg_now(), 'failed', 'w1', 0, 0, 0
     from wfg_jobs, generate_series(0, $1::int - 1) n`,
    [EARLIER],
  );
  await claimEvent(db.pool, 'a');
  await using api = await startApi(db.url);
  for (const path of [`/workflows/${id}/attempts`, `/api/runs/${id}/jobs/main/attempts`]) {
    const pages: number[][] = [];
    for (let next: string | null = path; next !== null; ) {
      const found = await page(api, next);
      pages.push(found.attempts);
      next = found.next;
    }
    expect(pages.map(({ length }) => length)).toEqual([500, 500, 201]);
    expect(pages.flat()).toEqual(Array.from({ length: EARLIER + 1 }, (_, n) => n));
    expect(await page(api, `${path}?after=1198&limit=1`)).toEqual({
      attempts: [1199],
      next: `${path}?after=1199&limit=1`,
    });
    expect(await page(api, `${path}?after=1199&limit=1`)).toEqual({ attempts: [1200], next: null });
    expect(await page(api, `${path}?after=1200`)).toEqual({ attempts: [], next: null });
    expect(await api.ask('GET', `${path}?before=3`)).toMatchObject({ status: 400 });
  }
  expect((await api.ask('GET', `/api/runs/${id}/jobs/main/logs/raw?attempt=1199`)).status).toBe(200);
  expect((await api.ask('GET', `/api/runs/${id}/jobs/main/logs/raw?attempt=1201`)).status).toBe(404);

  const wfg = (...args: string[]) => runWfg(args, { WFG_URL: api.url });
  const shown = JSON.parse((await wfg('show', id, 'main', '--json')).stdout);
  expect(shown.attempts.map(({ attempt }: Attempt) => attempt)).toEqual(
    Array.from({ length: 100 }, (_, n) => EARLIER - 99 + n),
  );
  expect(await wfg('logs', id, 'main', '--attempt', '1201')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'wfg: main has no attempt 1201: it has 0 to 1200\n',
  });
});
