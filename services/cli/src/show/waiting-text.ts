// Why a job does not run, in a few words.
import type { Job } from '@wfg/shared/contract/job';

/** Empty when it waits for nothing. */
export function waitingText({ state, waiting, required_labels }: Job): string {
  if (waiting !== null) return waiting.detail;
  if (state !== 'pending') return '';
  const labels = required_labels.length > 0 ? ` with ${required_labels.join(', ')}` : '';
  return `waits for a worker${labels}`;
}
