import { expect, test } from 'vitest';
import { createStrikes, STRIKES_MS } from './strikes.ts';

test('ten strikes put an address out, and no other, until a minute after the first', () => {
  let at = 0;
  const strikes = createStrikes(() => at);
  for (let n = 0; n < 9; n++) strikes.add('a');
  expect(strikes.isOut('a')).toBe(false);
  at = STRIKES_MS - 1;
  strikes.add('a');
  expect(strikes.isOut('a')).toBe(true);
  expect(strikes.isOut('b')).toBe(false);
  at = STRIKES_MS;
  expect(strikes.isOut('a')).toBe(false);
  strikes.add('a');
  expect(strikes.isOut('a')).toBe(false);
});

test('no more than so many addresses are remembered: those without a strike for longest are forgotten', () => {
  const strikes = createStrikes(() => 0);
  for (const address of ['early', 'again']) for (let n = 0; n < 10; n++) strikes.add(address);
  for (let n = 0; n < 9_998; n++) strikes.add(`address ${n}`);
  strikes.add('again');
  strikes.add('one more');
  expect(strikes.isOut('early')).toBe(false);
  expect(strikes.isOut('again')).toBe(true);
});
