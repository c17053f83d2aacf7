// FlowForge's rules for its demonstration types, try by try.
import { expect, test } from 'vitest';
import { SIMULATORS } from './simulators.ts';

const TRIES = [1, 2, 3, 4, 5];

test.for([
  ['user.created', []],
  ['document.uploaded', []],
  ['claim.submitted', []],
  ['notification.send', [1]],
  ['payment.review_requested', [2, 4]],
  ['ml_job.queued', TRIES],
] as const)('%s fails on the tries %j', ([type, failing]) => {
  expect(TRIES.filter((tryNumber) => SIMULATORS[type](tryNumber) !== null)).toEqual(failing);
});

test('a failure says why in words', () => {
  const reasons = Object.values(SIMULATORS).flatMap((simulate) =>
    TRIES.map((tryNumber) => simulate(tryNumber)),
  );
  expect(reasons).not.toContain('');
  expect(SIMULATORS['notification.send'](1)).toContain('503');
  expect(SIMULATORS['ml_job.queued'](3)).toMatch(/^ML inference failed/);
});
