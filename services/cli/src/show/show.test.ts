import { jobOf, RUN_ID, runOf } from '@wfg/shared/contract/run.fixture';
import { expect, test } from 'vitest';
import { jobText } from './job-text.ts';
import { runText } from './run-text.ts';

const ESC = String.fromCharCode(27);
const pipe = { isTerminal: false, width: Infinity };
const began = '2026-11-30T10:00:00.000Z';
const ended = '2026-11-30T10:00:02.100Z';
const now = Date.parse('2026-11-30T10:05:00.000Z');

test('a run is shown with its jobs, and with why each stands as it does', () => {
  const waiting = { reason: 'dependencies' as const, detail: 'waits for build', until: null, on: ['build'] };
  const full = { reason: 'capacity' as const, detail: 'all 4 places are busy', until: null, on: [] };
  const run = runOf({
    status: 'running',
    created_at: began,
    started_at: began,
    jobs: [
      jobOf({
        state: 'failed',
        tries: 2,
        max_attempts: 2,
        started_at: began,
        finished_at: ended,
        worker_id: 'worker-1',
        error: 'exit code 3: a\nb',
      }),
      jobOf({ job_id: 'gpu', required_labels: ['gpu'] }),
      jobOf({ job_id: 'many', waiting: full }),
      jobOf({ job_id: 'test', state: 'blocked', waiting }),
      jobOf({
        job_id: 'slow',
        state: 'active',
        tries: 1,
        cancelling: true,
        started_at: began,
        worker_id: 'w',
      }),
      jobOf({ job_id: 'live', state: 'skipped', error: 'its if is false: false' }),
      jobOf({
        job_id: 'again',
        state: 'active',
        attempt: 1,
        tries: 2,
        started_at: began,
        error: 'exit code 3: a',
      }),
      jobOf({ job_id: 'never', state: 'cancelled' }),
      jobOf({
        job_id: 'ended',
        state: 'cancelled',
        started_at: began,
        finished_at: ended,
        error: 'signal SIGTERM: a',
      }),
    ],
  });
  expect(runText(run, 'http://a/runs/1', pipe, now)).toBe(`run       CI #1
status    running
id        ${RUN_ID}
workflow  ci
created   ${began}, 5 min ago
duration  5 min 0 s
page      http://a/runs/1

STATE       JOB    TRY  DURATION   WORKER    WHY
failed      build  2/2  2.1 s      worker-1  exit code 3
pending     gpu    -    -          -         waits for a worker with gpu
pending     many   -    -          -         all 4 places are busy
blocked     test   -    -          -         waits for build
cancelling  slow   1/1  5 min 0 s  w         -
skipped     live   -    -          -         its if is false: false
active      again  2/1  5 min 0 s  -         last try: exit code 3
cancelled   never  -    -          -         cancelled before it began
cancelled   ended  -    2.1 s      -         cancelled; last try: signal SIGTERM
`);
});

test('a job is shown with its attempts and outputs, and nothing of them takes the terminal over', () => {
  const job = jobOf({ state: 'failed', tries: 1, error: `exit code 3: a${ESC}]0;x\nb${ESC}[2J\n` });
  const attempt = {
    attempt: 0,
    try: 1,
    worker_id: 'worker-1',
    started_at: began,
    finished_at: ended,
    outcome: 'failed' as const,
    error: job.error,
    exit_code: 3,
    step: null,
    log: { chunks: 1, lines: 2, bytes: 9 },
  };
  const outputs = { version: `1.2${ESC}[2J\r3`, notes: 'one\ntwo', none: '' };
  const text = jobText({ run: RUN_ID, job: { ...job, outputs }, attempts: [attempt] }, pipe, now);
  expect(text).not.toContain(ESC);
  expect(text).toContain('ATTEMPT  TRY  OUTCOME  EXIT  DURATION  LINES  WORKER    ERROR\n');
  expect(text).toContain('0        1    failed   3     2.1 s     2      worker-1  exit code 3\n');
  expect(text).toMatch(/\nerror +exit code 3: a/);
  expect(text).toMatch(/\noutputs\nversion {2}1\.2 3\nnotes {4}one\n {9}two\nnone {5}""\n$/);
});

test('a job that was skipped has a reason, which is no error', () => {
  const job = { ...jobOf({ state: 'skipped', error: 'needs build, which failed' }), outputs: {} };
  const text = jobText({ run: RUN_ID, job, attempts: [] }, pipe, now);
  expect(text).toMatch(/\nwhy +needs build, which failed\n/);
  expect(text).not.toContain('error');
});
