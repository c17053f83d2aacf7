import type { Bell } from '@wfg/shared/contract/bell';
import { expect, test } from 'vitest';
import { hearLanes } from './hear.ts';

const PEERS = ['w1', 'w2', 'w3', 'w4', 'w5'].map((worker_id) => ({
  worker_id,
  offered: [':command', ':event a'],
}));

/** How often a worker that is w1 looks, and who of these claimers does. */
function looksOf(bell: Omit<Bell, 'v'>) {
  const looks: string[][] = [];
  const claimers = [[':command'], [':event a'], [':event b']];
  hearLanes({ v: 1, ...bell }, 'w1', PEERS, (fits) => looks.push(claimers.filter(fits).flat()));
  return looks;
}

test('however many lanes a bell names, a worker looks once, with all that can take something of them', () => {
  const lanes = { '1': 1, '2': 1, '3': 1 };
  const requires = { '1': [':command'], '2': [':event a'], '3': [':command'] };
  expect(looksOf({ lanes, requires })).toEqual([[':command', ':event a']]);
});

test('who is not chosen does not look', () => {
  const bell = { lanes: { '1': 1, '2': 1 }, requires: { '1': [':command'], '2': [':event b'] } };
  expect(looksOf({ ...bell, nonce: 0 })).toEqual([[':command', ':event b']]);
  // Three of five look, from the rank that the nonce names; of what no peer is known to take, everyone.
  expect(looksOf({ ...bell, nonce: 1 })).toEqual([[':event b']]);
  expect(looksOf({ lanes: { '1': 1 }, requires: { '1': [':command'] }, nonce: 1 })).toEqual([]);
});

test('what a lane requires not being told, or everyone being meant, all look', () => {
  const everyone = [[':command', ':event a', ':event b']];
  expect(looksOf({ lanes: { '1': 1 }, nonce: 1 })).toEqual(everyone);
  expect(looksOf({ all: true })).toEqual(everyone);
  expect(looksOf({ settle: true, runs: ['r'] })).toEqual([]);
});
