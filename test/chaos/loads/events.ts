// Standalone events, for a handler in the worker.
import { createEvent } from '@wfg/shared/contract/routes/events';
import { budgetOf, failsOf } from '../plan.ts';
import { endOf, given, type Load } from './load.ts';

export const events: Load = {
  name: 'events',
  burst: 300,
  async offer(offer) {
    const { wfg, plan, trail } = offer;
    const payload = { trail, lines: plan.lines, ms: plan.ms, fails: failsOf(plan) };
    const body = { workflow_type: 'chaos.event', payload, max_attempts: budgetOf(plan) };
    return (await wfg(createEvent, { ...given(offer), body })).id;
  },
  expected(plan, isCancelled) {
    const state = endOf(plan, isCancelled);
    return { state, jobs: { main: { states: [state], lines: plan.lines, needs: [] } } };
  },
};
