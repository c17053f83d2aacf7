import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { after } from './long-timer.ts';

const DAY_MS = 86_400_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('waits longer than setTimeout can', () => {
  const action = vi.fn<() => void>();
  const timer = after(100 * DAY_MS, action);
  vi.advanceTimersByTime(100 * DAY_MS - 1);
  expect(action).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(action).toHaveBeenCalledOnce();
  timer[Symbol.dispose]();
});

test('does nothing once it is disposed of', () => {
  const action = vi.fn<() => void>();
  after(50 * DAY_MS, action)[Symbol.dispose]();
  vi.advanceTimersByTime(60 * DAY_MS);
  expect(action).not.toHaveBeenCalled();
});
