import { expect, test } from 'vitest';
import { boxesOf, commonName, GROUP_FROM, groupId } from './group.ts';

const job = (job_id: string, ...depends_on: string[]) => ({ job_id, depends_on });
const shards = Array.from({ length: GROUP_FROM }, (_, n) => job(`shard-${n + 1}`, 'build'));
const all = [job('build'), ...shards, job('join', ...shards.map(({ job_id }) => job_id))];

test('many alike jobs are one box, which is opened', () => {
  const id = groupId('shard-1');
  expect(boxesOf(all, new Set())).toEqual([
    { id: 'build', jobs: ['build'], needs: [] },
    { id, jobs: shards.map(({ job_id }) => job_id), needs: ['build'] },
    { id: 'join', jobs: ['join'], needs: [id] },
  ]);
  expect(boxesOf(all, new Set([id])).map((box) => box.id)).toEqual(all.map(({ job_id }) => job_id));
});

test('few, and those of other parents or children, stand alone', () => {
  const [one, ...rest] = shards;
  expect(boxesOf(rest, new Set())).toHaveLength(GROUP_FROM - 1);
  const mixed = [...rest, job(one?.job_id ?? ''), job('join', ...rest.map(({ job_id }) => job_id))];
  expect(boxesOf(mixed, new Set())).toHaveLength(GROUP_FROM + 1);
});

test.each([
  [['shard-1', 'shard-2', 'shard-10'], 'shard'],
  [['test (18)', 'test (20)'], 'test'],
  [['a', 'b'], ''],
  [['node1', 'node12'], 'node'],
])('%s have %o in common', (names, expected) => {
  expect(commonName(names)).toBe(expected);
});
