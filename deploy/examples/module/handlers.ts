// An event with a checked payload, and a task of three steps.
import { defineEvent, defineTask, unit, z } from '@wfg/sdk';

export const orderPaid = defineEvent({
  type: 'order.paid',
  payload: z.object({ order: z.string().min(1), cents: z.int().positive() }),
  timeoutSecs: 30,
  handler({ payload, tryNumber, log, setOutput }) {
    log.info(`order ${payload.order} is paid: ${payload.cents / 100} EUR (try ${tryNumber})`);
    setOutput('receipt', `${payload.order}-1`);
  },
});

export const delivery = defineTask({
  name: 'Delivery',
  states: {
    Pack: z.object({ order: z.string() }),
    Ship: z.object({ order: z.string(), parcel: z.string() }),
    Thank: unit,
  },
  steps: {
    Pack: {
      run({ state, next, log }) {
        log.info(`order ${state.order} is packed`);
        return next.after(1, 'Ship', { order: state.order, parcel: 'P-1' });
      },
    },
    Ship: {
      retryLimit: 5,
      retryDelaySecs: 1,
      run({ state, next, tryNumber, log }) {
        if (tryNumber === 1) throw new Error('the carrier does not answer');
        log.info(`parcel ${state.parcel} is on its way (try ${tryNumber})`);
        return next.now('Thank');
      },
    },
    Thank: {
      run({ next, log }) {
        log.info('thank you');
        return next.done();
      },
    },
  },
});
