// Refuses what the worker does not carry out yet: masks, exit codes without a retry, the `if` of steps. To be removed.
import type { DefinedJob } from '../contract/definition.ts';
import type { Issue } from '../contract/problem.ts';

export const PENDING_SQL = { isRefused: true };

export function pendingIssues(jobs: readonly DefinedJob[]): Issue[] {
  if (!PENDING_SQL.isRefused) return [];
  const pending = jobs.filter(({ mask, not_on, steps }) => {
    return mask.length > 0 || not_on.length > 0 || steps?.some((step) => step.if !== null);
  });
  const message = "'mask', 'retry.not_on' and the 'if' of steps are not carried out by this version yet";
  return pending.map(({ id }) => ({ path: `jobs.${id}`, message }));
}
