// A button's request: what became of it, and no second one while it is under way.
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { messageOf } from '../api/call.ts';

interface Action {
  isSent: ReadonlySignal<boolean>;
  /** Why the last one failed; null when it did not. */
  problem: ReadonlySignal<string | null>;
  start: (request: () => Promise<unknown>) => Promise<boolean>;
}

/** `start` resolves to whether it went well. */
export function useAction(): Action {
  const isSent = useSignal(false);
  const problem = useSignal<string | null>(null);
  return {
    isSent,
    problem,
    async start(request) {
      if (isSent.peek()) return false;
      isSent.value = true;
      problem.value = null;
      try {
        await request();
        return true;
      } catch (error) {
        problem.value = messageOf(error);
        return false;
      } finally {
        isSent.value = false;
      }
    },
  };
}
