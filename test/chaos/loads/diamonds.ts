// Graphs of four jobs: a, then a command and a call of a handler at once, then d.
import { submitRun } from '@wfg/shared/contract/routes/runs';
import { BACKOFF, budgetOf, failsOf, type Plan } from '../plan.ts';
import { given, type Load } from './load.ts';
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
  expected({ lines, fails }) {
    const isHopeless = fails === Number.POSITIVE_INFINITY;
    const state = isHopeless ? 'failed' : 'completed';
    const a = { state: 'completed' as const, lines, needs: [] };
    return {
      state,
      jobs: {
        a,
        b: { state, lines, needs: ['a'] },
        c: { ...a, needs: ['a'] },
        d: { state: isHopeless ? 'skipped' : 'completed', lines, needs: ['b', 'c'] },
      },
    };
  },
};
