// The worker's own jobs: takes commands while places are free, and runs them.
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { type Attempt, type AttemptContext, startAttempt } from './attempt.ts';
import { type ClaimLoop, startClaimLoop } from './claim-loop.ts';
import { type CommandContext, executeCommand } from './execute-command.ts';
import type { Busy } from './pace.ts';
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
  /** Told of how busy it is. */
  tell: (busy: Busy) => void;
}

/** It looks when it starts; disposal takes nothing more, and leaves alone what runs. */
export function takeCommands({
  context,
  claimer,
  labels,
  concurrency,
  held,
  tell,
}: CommandsSettings): ClaimLoop {
  const { fitness, log } = context;
  const offer = { ...claimer, labels: [':command', ...labels], memory: new ClaimMemory() };
  let running = 0;
  const claiming = startClaimLoop({
    prepare: fitness.check,
    free: () => concurrency - running,
    async take(limit, why) {
      const jobs = await takeJobs(offer, limit, why);
      for (const job of jobs) {
        if (job.kind === 'command') void hold(startAttempt(job, context, executeCommand(job, context)));
      }
      return jobs.length;
    },
    tell,
    log,
  });

  async function hold(attempt: Attempt): Promise<void> {
    running++;
    held.add(attempt);
    await attempt.ended;
    running--;
    held.delete(attempt);
    claiming.look('freed');
  }

  return claiming;
}
