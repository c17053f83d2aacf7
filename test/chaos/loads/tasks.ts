// Tasks of three steps, each of which may be executed by another worker.
import { createTask } from '@wfg/shared/contract/routes/tasks';
import { failsOf } from '../plan.ts';
import { endOf, given, type Load } from './load.ts';

export const tasks: Load = {
  name: 'tasks',
  burst: 150,
  async offer(offer) {
    const { wfg, plan, trail } = offer;
    const state = { trail, lines: plan.lines, ms: plan.ms, fails: failsOf(plan) };
    return (await wfg(createTask, { ...given(offer), body: { step: { Chaos: { First: state } } } })).run_id;
  },
  expected(plan, isCancelled) {
    const state = endOf(plan, isCancelled);
    return { state, jobs: { main: { states: [state], lines: plan.lines, needs: [] } } };
  },
};
