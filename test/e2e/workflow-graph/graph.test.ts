// What can be claimed when: rows 26 to 31.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startWalk, type Walk } from '../../support/graph-user.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk({ counts: { reaper: 0, worker: 0 } });
});

afterAll(() => walk[Symbol.asyncDispose]());
afterEach(() => walk.leave());

/** The jobs that a worker with these labels can have now, in the order of its claims. */
async function claimAll(...labels: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (let next = await walk.claim({ labels }); next; next = await walk.claim({ labels }))
    ids.push(next.job.job_id);
  return ids;
}

test('26: roots start in the order of the file, side by side', async () => {
  const jobs = ['zeta', 'alpha', 'mid'].map((id) => `  ${id}: { run: x }`);
  await walk.run(
    await walk.put('roots', `name: n\njobs:\n${jobs.join('\n')}\n  last: { run: x, needs: mid }\n`),
  );
  expect(await claimAll()).toEqual(['zeta', 'alpha', 'mid']);
  expect(await walk.statuses('roots')).toEqual({
    zeta: 'running',
    alpha: 'running',
    mid: 'running',
    last: 'queued',
  });
});

test('27: what needs several starts when all of them have succeeded', async () => {
  await walk.start(
    { id: 'a' },
    { id: 'b', depends_on: ['a'] },
    { id: 'c', depends_on: ['a'] },
    { id: 'd', depends_on: ['b', 'c'] },
    { id: 'after-b', depends_on: ['b'] },
  );
  const a = await walk.claimed();
  expect(await claimAll()).toEqual([]);
  await walk.tell(a, 'complete');
  const [b, c] = [await walk.claimed(), await walk.claimed()];
  expect([b.job.job_id, c.job.job_id]).toEqual(['b', 'c']);
  await walk.tell(b, 'complete');
  // By then all that follows from b has been released.
  expect((await walk.claimed()).job.job_id).toBe('after-b');
  expect(await claimAll()).toEqual([]);
  await walk.tell(c, 'complete');
  expect((await walk.claimed()).job.job_id).toBe('d');
});

test('28: a job is given to whoever offers all its labels, one without labels to anyone', async () => {
  await walk.start(
    { id: 'both', required_labels: ['gpu', 'linux'] },
    { id: 'one', required_labels: ['gpu'] },
  );
  expect(await claimAll()).toEqual([]);
  expect(await claimAll('linux')).toEqual([]);
  expect(await claimAll('GPU', 'gp', 'gpu2')).toEqual([]);
  expect(await claimAll('gpu')).toEqual(['one']);
  expect(await claimAll('aws', 'gpu', 'linux')).toEqual(['both']);
  await walk.start({ id: 'none' });
  expect(await claimAll('aws')).toEqual(['none']);
});

test('29: labels hold for dependants too', async () => {
  await walk.start(
    { id: 'root' },
    { id: 'deploy', depends_on: ['root'], required_labels: ['aws'] },
    { id: 'plain', depends_on: ['root'] },
  );
  await walk.tell(await walk.claimed(), 'complete');
  expect((await walk.claimed()).job.job_id).toBe('plain');
  expect(await claimAll()).toEqual([]);
  expect(await claimAll('linux')).toEqual([]);
  const deploy = await walk.claimed({ labels: ['aws'] });
  expect(deploy.job).toMatchObject({ job_id: 'deploy', required_labels: ['aws'] });
});

test('30: what nobody here can do holds up nothing behind it', async () => {
  for (let n = 0; n < 12; n++) await walk.start({ id: `gpu-${n}`, required_labels: ['gpu'] });
  await walk.start({ id: 'plain' });
  expect(await claimAll()).toEqual(['plain']);
});

test('31: what has waited longest comes first, whatever its labels', async () => {
  const labels = [[], ['linux'], [], ['gpu'], ['linux', 'gpu'], ['linux']];
  for (const [n, required_labels] of labels.entries()) await walk.start({ id: `job-${n}`, required_labels });
  expect(await claimAll('linux')).toEqual(['job-0', 'job-1', 'job-2', 'job-5']);
  expect(await claimAll('linux', 'gpu')).toEqual(['job-3', 'job-4']);
});

test('31: a retry goes to the end of the queue', async () => {
  await walk.start({ id: 'a', max_retries: 1 }, { id: 'b' });
  await walk.tell(await walk.claimed(), 'fail', { error: 'no', retryable: true });
  expect(await claimAll()).toEqual(['b', 'a']);
});
