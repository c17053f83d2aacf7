// The table of moves: complete, consistent, and drawn in deploy/states.md.
import { expect, test } from 'vitest';
import { JobState } from '../contract/job.ts';
import { isEnded, MOVES } from './states.ts';

test('every state can be reached, and every state that is not ended can be left', () => {
  const reached = new Set(MOVES.map((move) => move.to));
  const left = new Set(MOVES.map((move) => move.from));
  expect(JobState.options.filter((state) => !reached.has(state))).toEqual([]);
  expect(JobState.options.filter((state) => !isEnded(state) && !left.has(state))).toEqual([]);
});

test('what completed stays so, and nothing becomes active but by a claim', () => {
  expect(MOVES.filter((move) => move.from === 'completed')).toEqual([]);
  expect(MOVES.filter((move) => move.to === 'active')).toEqual([
    { from: 'pending', to: 'active', by: 'claim' },
  ]);
});

test('the diagram shows exactly these moves', async () => {
  const arrows = MOVES.map(
    ({ from, to, by }) => `  ${from === 'new' ? '[*]' : from} --> ${to}: ${by.replaceAll(':', ',')}`,
  );
  const text = [
    '# States of a job',
    '',
    'Drawn from `shared/src/rules/states.ts` by its test. A job whose cancel was asked for stays `active` until its process',
    'is gone; there is no state for it.',
    '',
    '```mermaid',
    'stateDiagram-v2',
    ...arrows,
    '```',
    '',
  ];
  await expect(text.join('\n')).toMatchFileSnapshot('../../../deploy/states.md');
});
