// Runs of a single shell command.
import { submitRun } from '@wfg/shared/contract/routes/runs';
import { endOf, given, type Load } from './load.ts';
import { shellJob } from './shell.ts';

export const commands: Load = {
  name: 'commands',
  burst: 60,
  async offer(offer) {
    const { wfg, plan, trail } = offer;
    const body = { name: 'chaos', jobs: { only: shellJob(plan, trail) } };
    return (await wfg(submitRun, { ...given(offer), body })).run_id;
  },
  expected(plan, isCancelled) {
    const state = endOf(plan, isCancelled);
    return { state, jobs: { only: { states: [state], lines: plan.lines, needs: [] } } };
  },
};
