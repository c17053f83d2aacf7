// The command that all loads of commands execute: it writes when it begins and ends, and prints numbered lines.
import type { FileJob } from '@wfg/shared/contract/workflow';
import { BACKOFF, budgetOf, failsOf, type Plan } from '../plan.ts';

const RUN = `mark() { echo "$(date +%s%3N) $1 $WFG_RUN_ID $WFG_JOB_ID $WFG_ATTEMPT $$" >> "$TRAIL"; }
mark start
line=0
while [ $line -lt $LINES ]; do line=$((line+1)); echo "line $line"; sleep $PAUSE; done
mark end
[ $WFG_TRY -gt $FAILS ]`;

export function shellJob(plan: Plan, trail: string): FileJob {
  const { lines, ms } = plan;
  return {
    run: RUN,
    env: {
      TRAIL: trail,
      LINES: String(lines),
      PAUSE: String(ms / lines / 1_000),
      FAILS: String(failsOf(plan)),
    },
    retry: { max_retries: budgetOf(plan) - 1, backoff: BACKOFF },
  };
}
