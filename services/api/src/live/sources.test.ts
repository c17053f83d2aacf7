// What followers of the lists are told between two readings.
import type { RunSummary } from '@wfg/shared/contract/run';
import type { Stats } from '@wfg/shared/contract/stats';
import type { Worker } from '@wfg/shared/contract/worker';
import { expect, test } from 'vitest';
import { tellRuns } from './runs-source.ts';
import { tellStats } from './stats-source.ts';
import { tellWorkers } from './workers-source.ts';

const run = (run_id: string, changes: Partial<RunSummary> = {}): RunSummary => ({
  run_id,
  number: 1,
  workflow_id: 'ci',
  workflow_type: null,
  name: 'ci',
  status: 'running',
  rev: 3,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: null,
  finished_at: null,
  rerun_of: null,
  error: null,
  payload: null,
  ...changes,
});

const worker = (worker_id: string, changes: Partial<Worker> = {}): Worker => ({
  worker_id,
  labels: [],
  handlers: [],
  tasks: [],
  status: 'idle',
  current_job: null,
  jobs: [],
  version: '1',
  host: 'h',
  concurrency: 1,
  problem: null,
  registered_at_ms: 1,
  last_heartbeat_ms: 1,
  ...changes,
});

const stats = (changes: Partial<Stats> = {}): Stats => ({
  total_workflows: 1,
  pending: 1,
  processing: 0,
  completed: 0,
  failed: 0,
  dead_lettered: 0,
  cancelled: 0,
  average_processing_time_ms: 0,
  as_of: '2026-01-01T00:00:00.000Z',
  jobs: { pending: 1 },
  open_runs: 0,
  workers: { idle: 1 },
  ...changes,
});

test('who was told nothing yet is sent a snapshot', () => {
  expect(tellRuns(null, [run('a')])).toEqual([{ op: 'snapshot', runs: [run('a')] }]);
  expect(tellWorkers(null, [])).toEqual([{ op: 'snapshot', workers: [] }]);
  expect(tellStats(null, stats())).toEqual([{ op: 'snapshot', stats: stats() }]);
});

test('runs that left are told first, then those that came or changed, the oldest first', () => {
  const ended = run('b', { rev: 4, status: 'completed' });
  const numbered = run('a', { number: 2 });
  expect(tellRuns([run('c'), run('b'), run('a'), run('x')], [run('d'), run('c'), ended, numbered])).toEqual([
    { op: 'gone', run_id: 'x' },
    { op: 'run', run: numbered },
    { op: 'run', run: ended },
    { op: 'run', run: run('d') },
  ]);
  expect(tellRuns([run('a')], [run('a')])).toEqual([]);
});

test('workers likewise', () => {
  const busy = worker('b', { status: 'busy' });
  expect(tellWorkers([worker('a'), worker('b')], [busy, worker('c')])).toEqual([
    { op: 'gone', worker_id: 'a' },
    { op: 'worker', worker: busy },
    { op: 'worker', worker: worker('c') },
  ]);
  expect(tellWorkers([worker('a')], [worker('a')])).toEqual([]);
});

test('numbers are told when one has changed, not when time has passed', () => {
  const later = { as_of: '2026-01-01T00:00:01.000Z' };
  expect(tellStats(stats(), stats(later))).toEqual([]);
  const changed = stats({ ...later, open_runs: 1 });
  expect(tellStats(stats(), changed)).toEqual([{ op: 'stats', stats: changed }]);
});
