// Standalone events, for a handler in the worker.
import { createEvent } from '@wfg/shared/contract/routes/events';
import { budgetOf, failsOf } from '../plan.ts';
import { given, type Load } from './load.ts';

export const events: Load = {
  name: 'events',
  burst: 300,
  async offer(offer) {
    const { wfg, plan, trail } = offer;
    const payload = { trail, lines: plan.lines, ms: plan.ms, fails: failsOf(plan) };
    const body = { workflow_type: 'chaos.event', payload, max_attempts: budgetOf(plan) };
    return (await wfg(createEvent, { ...given(offer), body })).id;
  },
  expected({ lines, fails }) {
    const state = fails === Number.POSITIVE_INFINITY ? 'failed' : 'completed';
    return { state, jobs: { main: { state, lines, needs: [] } } };
  },
};
