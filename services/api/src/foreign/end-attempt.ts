// Ends an attempt of a worker that works over HTTP: its log is sealed by what has been pushed.
import type { JobState } from '@wfg/shared/contract/job';
import type { Lease } from '@wfg/shared/contract/lease';
import { withTx } from '@wfg/shared/db/tx';
import { finishedHint, finishJobs, type Result } from '@wfg/shared/queries/finish';
import { holdAttempt } from '@wfg/shared/queries/foreign-leases';
import { withPartitions } from '@wfg/shared/queries/partitions';
import type { ApiContext } from '../context.ts';

/** How it ends; what is not said is not so. */
export type End = Pick<Result, 'outcome'> & Partial<Omit<Result, keyof Lease>>;

/** What becomes of the job, also when this end had been reported before; null when the lease is lost. */
export async function endAttempt(
  { pool, doorbell }: ApiContext,
  lease: Lease,
  end: End,
): Promise<JobState | null> {
  const [finished] = await withPartitions(pool, () =>
    withTx(pool, async (tx) => {
      const held = await holdAttempt(tx, lease);
      const { chunks = 0, lines = 0, bytes = 0 } = held?.log ?? {};
      const seal = { log_chunks: chunks, log_lines: lines, log_bytes: bytes };
      const rest = { retryable: false, error: null, exit_code: null, outputs: null };
      return finishJobs(tx, [{ ...lease, ...rest, ...end, ...seal }]);
    }),
  );
  if (finished?.answer === 'applied') doorbell.ring(finishedHint([finished], [lease]));
  return !finished || finished.answer === 'lost' ? null : finished.state;
}
