import { expect, test } from 'vitest';
import { sha256 } from './credential.ts';
import { createStrikes, STRIKES_MS } from './strikes.ts';

const TEN = Array.from({ length: 10 }, (_, n) => sha256(`guess ${n}`));
const [FIRST = Buffer.of(), ...REST] = TEN;

test('ten wrong tokens put an address out, and no other, until a minute after the first', () => {
  let at = 0;
  const strikes = createStrikes(() => at);
  for (const hash of REST) strikes.add('a', hash);
  expect(strikes.isOut('a')).toBe(false);
  at = STRIKES_MS - 1;
  strikes.add('a', FIRST);
  expect(strikes.isOut('a')).toBe(true);
  expect(strikes.isOut('b')).toBe(false);
  at = STRIKES_MS;
  expect(strikes.isOut('a')).toBe(false);
  strikes.add('a', FIRST);
  expect(strikes.isOut('a')).toBe(false);
});

test('the same wrong token again and again is one strike', () => {
  const strikes = createStrikes(() => 0);
  for (let n = 0; n < 100; n++) strikes.add('a', FIRST);
  expect(strikes.isOut('a')).toBe(false);
});

test('no more than so many addresses are remembered: those without a strike for longest are forgotten', () => {
  const strikes = createStrikes(() => 0);
  for (const address of ['early', 'again']) for (const hash of TEN) strikes.add(address, hash);
  for (let n = 0; n < 9_998; n++) strikes.add(`address ${n}`, FIRST);
  strikes.add('again', FIRST);
  strikes.add('one more', FIRST);
  expect(strikes.isOut('early')).toBe(false);
  expect(strikes.isOut('again')).toBe(true);
});
