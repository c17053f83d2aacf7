// Runs of a single shell command.
import { submitRun } from '@wfg/shared/contract/routes/runs';
import { given, type Load } from './load.ts';
import { shellJob } from './shell.ts';

export const commands: Load = {
  name: 'commands',
  burst: 60,
  async offer(offer) {
    const { wfg, plan, trail } = offer;
    const body = { name: 'chaos', jobs: { only: shellJob(plan, trail) } };
    return (await wfg(submitRun, { ...given(offer), body })).run_id;
  },
  expected({ lines, fails }) {
    const state = fails === Number.POSITIVE_INFINITY ? 'failed' : 'completed';
    return { state, jobs: { only: { state, lines, needs: [] } } };
  },
};
