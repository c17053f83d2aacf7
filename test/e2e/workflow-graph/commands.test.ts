// What a command prints, returns and is given when a worker of our own executes it: rows 80 to 84.
import type { Job } from '@wfg/shared/contract/job';
import { LogChunk } from '@wfg/shared/contract/log';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type NewJob, startWalk, type Walk } from '../../support/graph-user.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk();
});

afterAll(() => walk[Symbol.asyncDispose]());

interface Ended {
  id: string;
  run: string;
  jobs: Record<string, Job>;
}

/** Runs these jobs to their end. */
async function runAll(...given: NewJob[]): Promise<Ended> {
  const { id, run } = await walk.start(...given);
  const { jobs } = await walk.cluster.ended(run);
  return { id, run, jobs: Object.fromEntries(jobs.map((job) => [job.job_id, job])) };
}

/** What a job printed on one of its streams, or on both. */
async function printed({ id }: Ended, job: string, stream?: 'stdout' | 'stderr'): Promise<string> {
  const { body } = await walk.ask('GET', `/api/workflows/${id}/jobs/${job}/logs?limit=10000`);
  const chunks = z
    .array(LogChunk)
    .parse(body)
    .filter((chunk) => stream === undefined || chunk.stream === stream);
  return chunks.map(({ data }) => data).join('');
}

test('80: what comes on stderr is kept whole, also after stdout was closed', async () => {
  const loop = 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo "error $i" >&2; done';
  const ended = await runAll({ id: 'a', command: `echo out; exec 1>&-; ${loop}; printf 'no newline' >&2` });
  const lines = Array.from({ length: 2_000 }, (_, n) => `error ${n + 1}\n`);
  expect(await printed(ended, 'a', 'stderr')).toBe(`${lines.join('')}no newline`);
  expect(await printed(ended, 'a', 'stdout')).toBe('out\n');
});

test('80: bytes that are no text, and a line without end, do not end the capture', async () => {
  const ended = await runAll({
    id: 'a',
    command: String.raw`printf 'a\377b\n'; head -c 200000 /dev/zero | tr '\0' x; echo; echo end`,
  });
  expect(await printed(ended, 'a')).toBe(`a\ufffdb\n${'x'.repeat(200_000)}\nend\n`);
});

test('81: a command is run by sh -c, and its exit code stands in the error', async () => {
  const { id, jobs } = await runAll(
    { id: 'three', command: 'echo before; exit 3' },
    { id: 'middle', command: 'false; echo "only the last counts"' },
    { id: 'killed', command: 'kill -9 $$' },
    { id: 'missing', command: 'no-such-program' },
  );
  expect(jobs).toMatchObject({
    three: { state: 'failed', error: 'exit code 3: before\n' },
    middle: { state: 'completed', error: null },
    killed: { state: 'failed', error: expect.stringMatching(/^signal SIGKILL/) },
    missing: { state: 'failed', error: expect.stringMatching(/^exit code 127: .*no-such-program/) },
  });
  expect(await walk.jobs(id)).toMatchObject({
    three: { status: 'failure', output: 'exit code 3: before\n' },
    middle: { status: 'success', output: null },
  });
});

test('82: the error holds the end of a long output, 4,096 characters of it', async () => {
  const command = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "line $i"; done; exit 1';
  const ended = await runAll({ id: 'a', command });
  const error = ended.jobs.a?.error ?? '';
  expect(error).toBe(`exit code 1: ${(await printed(ended, 'a')).slice(-4_096)}`);
  expect(error).toContain('line 3000');
});

test('83: ::set-output gives outputs, to dependants of any kind', async () => {
  const outputs = [
    'echo "::set-output version=1.2"',
    'echo "::set-output url=https://x/?a=b=c"',
    'echo "::set-output empty="',
    'echo " ::set-output indented=1"',
    'echo "::set-output version=1.3"',
    'echo "::set-output err=1" >&2',
  ];
  const { run } = await walk.start(
    { id: 'a', command: outputs.join('\n') },
    { id: 'foreign', depends_on: ['a'], required_labels: ['foreign'] },
  );
  const expected = { version: '1.3', url: 'https://x/?a=b=c', empty: '' };
  const claimed = await walk.claimed({ labels: ['foreign'] });
  expect(claimed.job.upstream_outputs).toEqual({ a: expected });
  await walk.tell(claimed, 'complete');
  expect((await walk.ask('GET', `/api/runs/${run}/jobs/a/outputs`)).body).toEqual(expected);
});

test('84: outputs of what a job needs reach its command, as variables and as a file', async () => {
  const ended = await runAll(
    {
      id: 'build.it',
      command: String.raw`echo "::set-output app-version=1.2"; printf 'text<<END\ntwo\nlines\nEND\n' >> "$WFG_OUTPUT"`,
    },
    { id: 'none' },
    {
      id: 'use',
      depends_on: ['build.it', 'none'],
      command: 'echo "$WFG_OUT_BUILD_IT_APP_VERSION"; echo "$WFG_OUT_BUILD_IT_TEXT"; cat "$WFG_UPSTREAM"',
    },
    { id: 'alone', command: 'echo "[${WFG_UPSTREAM-unset}]"' },
  );
  const text = await printed(ended, 'use');
  expect(text.startsWith('1.2\ntwo\nlines\n')).toBe(true);
  expect(JSON.parse(text.slice('1.2\ntwo\nlines\n'.length))).toEqual({
    'build.it': { 'app-version': '1.2', text: 'two\nlines' },
    none: {},
  });
  expect(await printed(ended, 'alone')).toBe('[unset]\n');
});

test('84: a command knows who it is', async () => {
  const names = ['WORKFLOW_ID', 'RUN_ID', 'JOB_ID', 'ATTEMPT', 'TRY', 'WORKER_ID'];
  const ended = await runAll({ id: 'a', command: names.map((name) => `echo "$WFG_${name}"`).join('\n') });
  expect(await printed(ended, 'a')).toBe(`${[ended.id, ended.run, 'a', 0, 1, 'worker-1'].join('\n')}\n`);
});
