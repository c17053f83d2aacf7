// The module that ships with the worker: FlowForge's six demonstration types.
import { defineEvent } from '@wfg/shared/sdk/define-event';
import { SIMULATORS } from './simulators.ts';

export const events = Object.entries(SIMULATORS).map(([type, simulate]) =>
  defineEvent({
    type,
    handler({ tryNumber, maxAttempts, log }) {
      log.info(`${type}: try ${tryNumber} of ${maxAttempts}`);
      const failure = simulate(tryNumber);
      if (failure !== null) throw new Error(failure);
    },
  }),
);
