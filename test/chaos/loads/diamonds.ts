// Graphs of four jobs: a, then a command and a call of a handler at once, then d.
import { submitRun } from '@wfg/shared/contract/routes/runs';
import { BACKOFF, budgetOf, failsOf, type Plan } from '../plan.ts';
import { endOf, given, type Load } from './load.ts';
import { shellJob } from './shell.ts';

/** Only b is as long as the plan says, and fails as it does. */
const brief = (plan: Plan): Plan => ({ ...plan, ms: 50, fails: 0 });

export const diamonds: Load = {
  name: 'diamonds',
  burst: 25,
  async offer(offer) {
    const { wfg, plan, trail } = offer;
    const { lines, ms } = plan;
    const call = {
      uses: 'chaos.event',
      with: { trail, lines, ms, fails: failsOf(plan) },
      retry: { max_retries: budgetOf(plan) - 1, backoff: BACKOFF },
    };
    const command = shellJob(brief(plan), trail);
    const jobs = {
      a: command,
      b: { ...call, needs: 'a' },
      c: { ...command, needs: 'a' },
      d: { ...command, needs: ['b', 'c'] },
    };
    return (await wfg(submitRun, { ...given(offer), body: { name: 'diamond', jobs } })).run_id;
  },
  expected(plan, isCancelled) {
    const state = endOf(plan, isCancelled);
    const rest = state === 'failed' ? 'skipped' : state;
    const end = { lines: plan.lines, states: isCancelled ? (['completed', state] as const) : [state] };
    const begin = { ...end, states: isCancelled ? end.states : (['completed'] as const) };
    return {
      state,
      jobs: {
        a: { ...begin, needs: [] },
        b: { ...end, needs: ['a'] },
        c: { ...begin, needs: ['a'] },
        d: { ...end, states: [rest], needs: ['b', 'c'] },
      },
    };
  },
};
