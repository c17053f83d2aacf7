// Each kind of fault in a history is found by the check that is there for it.
import { expect, test } from 'vitest';
import type { AttemptRow, History, Item, Mark } from '../history.ts';
import { check } from './check.ts';
import { goodStory } from './story.fixture.ts';

/** The checks that found something. */
function found(history: History): string[] {
  const { faults } = check(history);
  return Object.keys(faults).filter((name) => faults[name]?.length !== 0);
}

function isOf(row: { run: string; job: string; attempt: number }, run: string, job: string, attempt: number) {
  return row.run === run && row.job === job && row.attempt === attempt;
}

type Change<T> = Partial<T> | null;

/** The rows with one of them changed, or taken out. */
function changed<T extends { run: string; job: string; attempt: number }>(
  rows: readonly T[],
  [run, job, attempt]: [string, string, number],
  change: Change<T>,
): T[] {
  expect(rows.some((row) => isOf(row, run, job, attempt))).toBe(true);
  return rows.flatMap((row) => {
    if (!isOf(row, run, job, attempt)) return [row];
    return change === null ? [] : [{ ...row, ...change }];
  });
}

const good = goodStory();
const attempt = (key: [string, string, number], change: Change<AttemptRow>) => ({
  attempts: changed(good.attempts, key, change),
});
const marks = (key: [string, string, number], change: (mark: Mark) => Mark[]) => ({
  marks: good.marks.flatMap((mark) => (isOf(mark, ...key) ? change(mark) : [mark])),
});
const job = (run: string, id: string, change: Partial<History['jobs'][number]>) => ({
  jobs: good.jobs.map((row) => (row.run === run && row.job === id ? { ...row, ...change } : row)),
});

/** Its cancel was accepted, so many milliseconds after the end of its job. */
function tooLate({ run, state, jobs }: Item, afterMs: number): Item {
  const ends = good.jobs.filter((row) => row.run === run).map(({ finished_at }) => finished_at ?? Number.NaN);
  const late = { before: Math.max(...ends) + afterMs, state, jobs };
  const asked = Object.entries(jobs).map(
    ([id, one]) => [id, { ...one, states: ['cancelled' as const] }] as const,
  );
  return { run, state: 'cancelled', jobs: Object.fromEntries(asked), late };
}

test('a story of cancels that came when all had ended', () => {
  expect(found({ ...good, items: good.items.map((item) => tooLate(item, 0)) })).toEqual([]);
});

test('a story in which all is well', () => {
  expect(check(good)).toMatchObject({ lost: 0, doubled: 0, lostLines: 0 });
  expect(found(good)).toEqual([]);
});

test.for<[string, string[], Partial<History>]>([
  ['a job without a row', ['ended once'], { jobs: good.jobs.filter(({ run }) => run !== 'event') }],
  ['a job live and in history', ['ended once'], { jobs: [...good.jobs, ...good.jobs.slice(0, 1)] }],
  [
    'a job that ended in another state',
    ['ended once', 'told in order'],
    job('graph', 'c', { state: 'cancelled' }),
  ],
  ['a run that ended in another state', ['ended once'], { runs: [{ run: 'graph', state: 'completed' }] }],
  [
    'a cancel that came before its job had ended',
    ['ended once'],
    { items: good.items.map((item) => (item.run === 'event' ? tooLate(item, -1) : item)) },
  ],
  ['a run nobody asked for', ['ended once'], { items: good.items.slice(0, 2) }],
  ['two requests that made one run', ['ended once'], { items: [...good.items, ...good.items.slice(0, 1)] }],
  [
    'a job that waits',
    ['ended once', 'nothing left', 'told in order'],
    job('graph', 'c', { state: 'pending' }),
  ],
  ['a run that goes on', ['ended once', 'nothing left'], { runs: [{ run: 'graph', state: 'open' }] }],
  [
    'a run that had ended before its jobs',
    ['ended together'],
    { seenRuns: [{ run: 'graph', state: 'failed', going: 1, is_unsettled: true }] },
  ],
  [
    'a run that nobody was to end when its jobs had',
    ['ended together'],
    { seenRuns: [{ run: 'graph', state: 'open', going: 0, is_unsettled: false }] },
  ],
  ['a process that runs', ['nothing left'], { processes: ['7 sh -c sleep'] }],
  ['an attempt that was executed twice', ['executed'], marks(['event', 'main', 1], (mark) => [mark, mark])],
  [
    'a completed attempt that did not come to its end',
    ['executed'],
    marks(['graph', 'a', 0], (mark) => (mark.what === 'end' ? [] : [mark])),
  ],
  [
    'an execution that no row knows',
    ['executed', 'in order'],
    { marks: [...good.marks, { run: 'graph', job: 'c', attempt: 0, what: 'start', at: 9e9, pid: 1 }] },
  ],
  [
    'a job that completed twice',
    ['executed'],
    {
      ...attempt(['event', 'main', 0], { outcome: 'completed', log_chunks: 2, log_lines: 3, log_bytes: 21 }),
      ...marks(['event', 'main', 0], (mark) => [mark, { ...mark, what: 'end' }]),
      ...job('event', 'main', { tries: 2, losses: 0 }),
      logs: [
        ...good.logs,
        ...good.logs
          .filter((log) => isOf(log, 'event', 'main', 1) && log.sequence === 1)
          .map((log) => ({ ...log, attempt: 0 })),
      ],
    },
  ],
  [
    'a step that completed, and its task with it',
    ['executed', 'tries'],
    attempt(['task', 'main', 3], { outcome: 'handed_back' }),
  ],
  [
    'an attempt that began before the one before it was over',
    ['no overlap'],
    attempt(['event', 'main', 0], { finished_at: 1_000_150 }),
  ],
  [
    'a lease that was taken back before its end',
    ['no overlap'],
    { leases: changed(good.leases, ['event', 'main', 0], { expires_at: 1_000_105 }) },
  ],
  [
    'two executions under good leases',
    ['no overlap'],
    {
      ...attempt(['event', 'main', 0], { error: 'its process ended' }),
      ...marks(['event', 'main', 0], (mark) => [mark, { ...mark, what: 'end', at: 1_000_150 }]),
      leases: changed(good.leases, ['event', 'main', 0], { expires_at: 1_000_160 }),
    },
  ],
  [
    'a handler’s loss that ended it, and was charged',
    ['tries'],
    {
      ...job('event', 'main', { state: 'cancelled', attempt: 0, tries: 1 }),
      ...attempt(['event', 'main', 1], null),
      ...marks(['event', 'main', 1], () => []),
      logs: good.logs.filter((log) => !isOf(log, 'event', 'main', 1)),
      items: good.items.map((item) =>
        item.run === 'event'
          ? { ...item, state: 'cancelled', jobs: { main: { states: ['cancelled'], lines: 3, needs: [] } } }
          : item,
      ),
    },
  ],
  ['a try that was forgotten', ['tries'], job('graph', 'b', { tries: 1 })],
  ['a try too many', ['tries'], job('graph', 'b', { max_attempts: 1 })],
  ['a loss that was forgotten', ['tries'], job('task', 'main', { losses: 0 })],
  ['a handler’s loss that was charged', ['tries'], job('event', 'main', { tries: 2, losses: 0 })],
  [
    'an attempt that is not told of',
    ['executed', 'tries', 'whole logs'],
    attempt(['event', 'main', 0], null),
  ],
  ['a dependant that began too early', ['in order'], attempt(['graph', 'a', 0], { finished_at: 1_000_200 })],
  [
    'a line that is missing',
    ['whole logs'],
    { logs: changed(good.logs, ['graph', 'a', 0], { data: 'line 1\n' }) },
  ],
  [
    'a chunk that is missing',
    ['whole logs'],
    { logs: good.logs.filter((log) => !isOf(log, 'event', 'main', 1) || log.sequence !== 0) },
  ],
  ['a seal that is too small', ['whole logs'], attempt(['event', 'main', 0], { log_chunks: 0 })],
  ['a seal that is too large', ['whole logs'], attempt(['task', 'main', 3], { log_lines: 4 })],
  ['an end that is not told', ['told in order'], { told: good.told.slice(0, -1) }],
  ['a change that is told twice', ['told in order'], { told: good.told.flatMap((told) => [told, told]) }],
  [
    'a change that is not told',
    ['told in order'],
    { told: good.told.filter(({ what }) => what !== 'skipped') },
  ],
  [
    'a job that is told to have ended, and to run again',
    ['told in order'],
    {
      told: good.told.map((told) => ({
        ...told,
        jobs: told.jobs.map((job) => (told.rev === 7 && job.job === 'a' ? { ...job, state: 'active' } : job)),
      })),
    },
  ],
])('%s', ([, by, change]) => {
  expect(found({ ...good, ...change })).toEqual(by);
});

test('lost lines are counted', () => {
  const logs = good.logs.filter((log) => !isOf(log, 'task', 'main', 3) || log.sequence === 0);
  expect(check({ ...good, logs })).toMatchObject({ lostLines: 2, lost: 0, doubled: 0 });
});
