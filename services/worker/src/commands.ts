// The worker's own jobs: takes commands while places are free, and runs them.
import type { Loop } from '@wfg/shared/runtime/loop';
import { startLoop } from '@wfg/shared/runtime/loop';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { type Attempt, type AttemptContext, startAttempt } from './attempt.ts';
import { type CommandContext, executeCommand } from './execute-command.ts';
import { type Claimer, takeJobs } from './take-jobs.ts';

interface CommandsSettings {
  context: AttemptContext & CommandContext;
  claimer: Omit<Claimer, 'labels' | 'memory'>;
  /** Offered besides what every worker can execute. */
  labels: readonly string[];
  /** Commands at once. */
  concurrency: number;
  /** Attempts are added here while they run. */
  held: Set<Attempt>;
}

/** Wake it when there may be due jobs; disposal takes nothing more, and leaves alone what runs. */
export function takeCommands({ context, claimer, labels, concurrency, held }: CommandsSettings): Loop {
  const { fitness, log } = context;
  const offer = { ...claimer, labels: [':command', ...labels], memory: new ClaimMemory() };
  let running = 0;
  const claiming = startLoop({ name: 'claim', log, step: claim });

  /** Fills the free places once; woken by a bell and whenever a place becomes free. */
  async function claim(signal: AbortSignal): Promise<number> {
    const unfitMs = await fitness.check(signal);
    if (unfitMs > 0) return unfitMs;
    const free = concurrency - running;
    if (free === 0) return Number.POSITIVE_INFINITY;
    for (const job of await takeJobs(offer, free)) {
      if (job.kind === 'command') void hold(startAttempt(job, context, executeCommand(job, context)));
    }
    return Number.POSITIVE_INFINITY;
  }

  async function hold(attempt: Attempt): Promise<void> {
    running++;
    held.add(attempt);
    await attempt.ended;
    running--;
    held.delete(attempt);
    claiming.wake();
  }

  return claiming;
}
