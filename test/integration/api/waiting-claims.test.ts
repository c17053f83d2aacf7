// Who of the claims that wait is woken, and by what. Nothing here looks unasked: the next time for that is an hour away.
import type { Bell } from '@wfg/shared/contract/bell';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  createWaitingClaims,
  type Place,
  type WaitingClaims,
} from '../../../services/api/src/foreign/waiting-claims.ts';
import { emptyTables } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

const HOUR_MS = 3_600_000;
const STAYS = new AbortController().signal;

let db: TestDatabase;
let waiting: WaitingClaims;

beforeAll(async () => {
  db = await testDatabase();
});

afterAll(() => db[Symbol.asyncDispose]());

beforeEach(async () => {
  await emptyTables(db.pool);
  const log = pino({ level: 'silent' });
  waiting = createWaitingClaims({ pool: db.pool, log, pollMs: () => HOUR_MS });
});

afterEach(() => waiting[Symbol.asyncDispose]());

interface Waiter {
  place: Place;
  /** Null while it waits. */
  woken: boolean | null;
  done: Promise<boolean>;
}

/** One that offers these labels and waits. */
function waiter(labels: string[] = [], ms = HOUR_MS, gone = STAYS): Waiter {
  const place = waiting.enter('f1', [':command', ...labels]);
  const one: Waiter = { place, woken: null, done: place.wait(ms, gone) };
  void one.done.then((woken) => (one.woken = woken));
  return one;
}

/** That jobs with these labels wait. */
const bellFor = (labels: string[], count: number): Bell => ({
  v: 1,
  lanes: { '1': count },
  requires: { '1': [':command', ...labels] },
});

const wokenOf = (all: readonly Waiter[]) => all.map(({ woken }) => woken);

test('a bell wakes as many as there are jobs, of those that fit, who came first', async () => {
  const all = [waiter(), waiter(['gpu', 'x']), waiter(['gpu']), waiter(['gpu']), waiter(['x'])];
  waiting.hear(bellFor(['gpu'], 2));
  await Promise.all([all[1]?.done, all[2]?.done]);
  expect(wokenOf(all)).toEqual([null, true, true, null, null]);
  waiting.hear(bellFor(['gpu'], 5));
  await all[3]?.done;
  expect(wokenOf(all)).toEqual([null, true, true, true, null]);
});

test('a bell that means everything wakes one of each kind, which wakes the next when it finds something', async () => {
  const all = [waiter(), waiter(), waiter(), waiter(['gpu']), waiter(['gpu'])];
  waiting.hear({ v: 1, all: true });
  await Promise.all([all[0]?.done, all[3]?.done]);
  expect(wokenOf(all)).toEqual([true, null, null, true, null]);
  all[0]?.place.passOn();
  await all[1]?.done;
  expect(wokenOf(all)).toEqual([true, true, null, true, null]);
});

test('a bell that does not say what its lane requires, as of an older version, wakes one of each kind', async () => {
  const all = [waiter(), waiter(), waiter(['gpu'])];
  waiting.hear({ v: 1, lanes: { '1': 1 } });
  await Promise.all([all[0]?.done, all[2]?.done]);
  expect(wokenOf(all)).toEqual([true, null, true]);
});

test('what was woken by a bell wakes nobody by what it finds', async () => {
  const all = [waiter(), waiter(), waiter()];
  waiting.hear(bellFor([], 1));
  await all[0]?.done;
  all[0]?.place.passOn();
  waiting.hear(bellFor([], 1));
  await all[1]?.done;
  expect(wokenOf(all)).toEqual([true, true, null]);
});

test('a bell during a look is not missed, and if it is needed no more another is woken', async () => {
  const looks = waiting.enter('f1', [':command']);
  waiting.hear(bellFor([], 1));
  expect(await looks.wait(HOUR_MS, STAYS)).toBe(true);
  waiting.hear(bellFor([], 1));
  const other = waiter();
  looks.leave();
  expect(await other.done).toBe(true);
});

test('a wait ends with its time, with its client, and with the api', async () => {
  expect(await waiter([], 1).done).toBe(false);
  const leaving = new AbortController();
  const left = waiter([], HOUR_MS, leaving.signal);
  leaving.abort();
  expect(await left.done).toBe(false);
  const stays = waiter();
  await waiting[Symbol.asyncDispose]();
  expect(await stays.done).toBe(false);
  expect(await waiter().done).toBe(false);
});

test('so many may wait, and the next is sent away', () => {
  const all = Array.from({ length: 1_000 }, () => waiting.enter('f1', []));
  expect(() => waiting.enter('f1', [])).toThrow('too many claims wait already');
  all[0]?.leave();
  waiting.enter('f1', []);
});

test('a worker that waits is alive', async () => {
  await db.pool.query(`insert into wfg_workers (worker_id, concurrency, last_heartbeat)
    values ('f1', 1, wfg_now() - interval '29 s'), ('f2', 1, wfg_now() - interval '29 s')`);
  const one = waiter();
  waiting.hear({ v: 1, all: true });
  await one.done;
  const { rows } = await db.pool.query(
    `select worker_id, last_heartbeat > wfg_now() - interval '10 s' as alive from wfg_workers order by worker_id`,
  );
  expect(rows).toEqual([
    { worker_id: 'f1', alive: true },
    { worker_id: 'f2', alive: false },
  ]);
});
