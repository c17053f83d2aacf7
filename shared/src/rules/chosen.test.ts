import { expect, test } from 'vitest';
import { isChosen, type Peer } from './chosen.ts';

const names = (count: number, prefix = 'w') =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(2, '0')}`);
const offering = (ids: string[], ...offered: string[]): Peer[] =>
  ids.map((worker_id) => ({ worker_id, offered }));

const commands = offering(names(50), ':command');
const chosenOf = (peers: readonly Peer[], required: string[], count: number, nonce: number) =>
  peers.map(({ worker_id }) => worker_id).filter((id) => isChosen(id, peers, required, count, nonce));

test('of fifty three look for one job, and others by another nonce', () => {
  expect(chosenOf(commands, [':command'], 1, 7)).toEqual(['w07', 'w08', 'w09']);
  expect(chosenOf(commands, [':command'], 1, 2 ** 31 - 49)).toEqual(['w00', 'w01', 'w49']);
});

test('whatever the nonce, each is chosen as often as any other', () => {
  const times = new Map<string, number>();
  for (let nonce = 0; nonce < 50; nonce++)
    for (const id of chosenOf(commands, [':command'], 2, nonce)) times.set(id, (times.get(id) ?? 0) + 1);
  expect(new Set(times.values())).toEqual(new Set([5]));
  expect(times.size).toBe(50);
});

test('those that can take the job are counted alone, in whatever order they come', () => {
  const gpus = offering(names(4, 'gpu'), 'gpu', ':command');
  const all = [...commands.toReversed(), ...gpus.toReversed()];
  const chosen = all.filter(
    ({ offered, worker_id }) =>
      offered.includes('gpu') && isChosen(worker_id, all, ['gpu', ':command'], 1, 1),
  );
  expect(chosen.map(({ worker_id }) => worker_id).sort()).toEqual(['gpu01', 'gpu02', 'gpu03']);
});

test('for many jobs all look', () => {
  expect(chosenOf(commands, [':command'], 25, 3)).toHaveLength(50);
});

test('one that is not in its list yet looks', () => {
  expect(isChosen('new', commands, [':command'], 1, 7)).toBe(true);
  expect(isChosen('new', [], [':command'], 1, 7)).toBe(true);
});
