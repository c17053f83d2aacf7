import type { Role } from '@wfg/shared/contract/session';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Credential, sha256 } from './credential.ts';
import { createMemory } from './memory.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const token = (secret: string): Credential => ({ kind: 'token', hash: sha256(secret) });

/** A memory of a database in which only the token `right` is, and what it was asked. */
function remembering() {
  const asked: Credential[] = [];
  const memory = createMemory(async (credential) => {
    asked.push(credential);
    return credential.kind === 'token' && credential.hash.equals(sha256('right')) ? 'admin' : null;
  });
  return { ...memory, asked };
}

test('a right is asked for once, also by many at once, and again when it is old', async () => {
  const { roleOf, wasRight, asked } = remembering();
  expect(await Promise.all([roleOf(token('right')), roleOf(token('right'))])).toEqual(['admin', 'admin']);
  expect(wasRight(token('right'))).toBe(true);
  vi.advanceTimersByTime(4_999);
  await roleOf(token('right'));
  expect(asked).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(wasRight(token('right'))).toBe(true);
  await roleOf(token('right'));
  expect(asked).toHaveLength(2);
});

test('what is wrong is asked for each time, and a session is not taken for a token', async () => {
  const { roleOf, wasRight, asked } = remembering();
  await roleOf(token('right'));
  expect(await roleOf({ kind: 'session', hash: sha256('right') })).toBeNull();
  for (let n = 0; n < 3; n++) expect(await roleOf(token('wrong'))).toBeNull();
  expect(asked).toHaveLength(5);
  expect(wasRight(token('wrong'))).toBe(false);
});

test('what is no longer right is not remembered as such', async () => {
  let role: Role | null = 'admin';
  const memory = createMemory(async () => role);
  await memory.roleOf(token('right'));
  role = null;
  vi.advanceTimersByTime(5_000);
  expect(await memory.roleOf(token('right'))).toBeNull();
  expect(memory.wasRight(token('right'))).toBe(false);
});

test('what is doubted is asked for again, and was right all the same', async () => {
  const { roleOf, wasRight, doubt, asked } = remembering();
  await roleOf(token('right'));
  doubt();
  expect(wasRight(token('right'))).toBe(true);
  await roleOf(token('right'));
  expect(asked).toHaveLength(2);
});

test('an answer that was asked for before the doubt is not taken for what is so', async () => {
  const answers = [Promise.withResolvers<Role>(), Promise.withResolvers<Role | null>()] as const;
  const next = answers.values();
  const memory = createMemory(async () => next.next().value?.promise ?? null);
  const early = memory.roleOf(token('right'));
  memory.doubt();
  const late = memory.roleOf(token('right'));
  answers[0].resolve('admin');
  expect(await early).toBe('admin');
  expect(memory.wasRight(token('right'))).toBe(true);
  answers[1].resolve(null);
  expect(await late).toBeNull();
  expect(memory.wasRight(token('right'))).toBe(false);
});

test('a failed question is passed on and forgotten', async () => {
  let isAway = true;
  const memory = createMemory(async () => {
    if (isAway) throw new Error('away');
    return 'admin';
  });
  await expect(memory.roleOf(token('right'))).rejects.toThrow('away');
  isAway = false;
  expect(await memory.roleOf(token('right'))).toBe('admin');
});
