// Listing workflows: rows 4 to 6, and pages that stand still while others are created.
import { WorkflowView } from '@wfg/shared/contract/workflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startWalk, type Walk } from '../../support/graph-user.ts';

let walk: Walk;

/** Beside the sample. */
const STORED = 1_004;

beforeAll(async () => {
  walk = await startWalk({ counts: { scheduler: 0, reaper: 0, worker: 0 } });
  await walk.ask('PUT', '/api/workflows/w0', { name: 'n', jobs: {} });
  await walk.db.pool.query(
    `insert into wfg_workflows (id, name, trigger, definition, source, created_at)
     select 'w' || n, name, trigger, definition, source, created_at + n * interval '1 us'
     from wfg_workflows, generate_series(1, $1::int) n where id = 'w0'`,
    [STORED - 1],
  );
});

afterAll(() => walk[Symbol.asyncDispose]());

interface Page {
  ids: string[];
  next: string | undefined;
}

async function page(query = ''): Promise<Page> {
  const { status, body, headers } = await walk.ask('GET', `/api/workflows${query}`);
  expect(status).toBe(200);
  const next = /^<\/api\/workflows(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  return {
    ids: z
      .array(WorkflowView)
      .parse(body)
      .map(({ id }) => id),
    next,
  };
}

async function pages(
  query: string,
  between: () => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const ids: string[] = [];
  for (let at: string | undefined = query; at !== undefined; ) {
    const read: Page = await page(at);
    ids.push(...read.ids);
    at = read.next;
    await between();
  }
  return ids;
}

test('4: a page has 100 unless another limit is asked for, and never more than 1,000', async () => {
  expect((await page()).ids).toHaveLength(100);
  expect((await page('?limit=7')).ids).toHaveLength(7);
  expect((await page('?limit=5000')).ids).toHaveLength(1_000);
  expect((await page('?limit=5000&offset=1000')).ids).toHaveLength(5);
  expect((await page('?offset=99999')).ids).toEqual([]);
  for (const query of ['limit=x', 'limit=-1', 'offset=x', 'limit=1.5', 'nothing=1'])
    expect([query, (await walk.ask('GET', `/api/workflows?${query}`)).status]).toEqual([query, 400]);
});

test('5: the order is the same each time, and pages are disjoint and complete', async () => {
  const all = await pages('?limit=1000');
  expect(await pages('?limit=1000')).toEqual(all);
  expect(new Set(all).size).toBe(STORED + 1);
  expect(all.at(-1)).toBe('ci-1');
  expect(await pages('?limit=150')).toEqual(all);
  const byOffset: string[] = [];
  for (let offset = 0; offset <= STORED; offset += 300)
    byOffset.push(...(await page(`?limit=300&offset=${offset}`)).ids);
  expect(byOffset).toEqual(all);
});

const create = () => walk.ask('POST', '/api/workflows', { name: 'new', jobs: {} });

test('5: newcomers come first, and shift no page that Link leads to', async () => {
  const before = await pages('?limit=1000');
  expect(await pages('?limit=200', create)).toEqual(before);
  const { body } = await create();
  expect((await page('?limit=1')).ids).toEqual([Object(body).id]);
});

test('6: a status keeps the workflows with a job that has it, an unknown one keeps none', async () => {
  const [one, other] = [await walk.start({ id: 'a' }), await walk.start({ id: 'a' }, { id: 'b' })];
  expect(new Set((await page('?status=queued')).ids)).toEqual(new Set([one.id, other.id, 'ci-1']));
  expect((await page('?status=running')).ids).toEqual([]);
  const claimed = await walk.claimed();
  expect((await page('?status=running')).ids).toEqual([one.id]);
  await walk.claimed();
  expect((await page('?status=running')).ids).toEqual([other.id, one.id]);
  expect((await page('?status=queued')).ids).toEqual([other.id, 'ci-1']);
  await walk.tell(claimed, 'fail', { error: 'no' });
  expect((await page('?status=failure')).ids).toEqual([one.id]);
  expect((await page('?status=running&limit=1')).ids).toEqual([other.id]);
  expect((await page('?status=nonsense')).ids).toEqual([]);
});
