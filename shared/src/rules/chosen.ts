// Who of many idle workers looks when a bell rings for a few jobs: so many claims as there are jobs, and not one a worker.

/** A worker that listens. */
export interface Peer {
  worker_id: string;
  /** All that it can take, by labels, implied ones (`:command`) included. */
  offered: readonly string[];
}

/** Looked for: one worker and two to spare for each job, since some are busy, or gone. */
const SPARE = 2;

/** Whether all that is required is offered. */
export function covers(offered: readonly string[], required: readonly string[]): boolean {
  return required.every((label) => offered.includes(label));
}

/**
 * Whether worker `id` is to look for `count` jobs with these requirements, which it can take. `nonce` (an integer from 0),
 * the same for all who hear a bell, says at whose rank to begin; they know each other from their last beats, so that lists
 * may differ for a moment: then some more or fewer look. A worker that is not in its own list yet always does.
 */
export function isChosen(
  id: string,
  peers: readonly Peer[],
  required: readonly string[],
  count: number,
  nonce: number,
): boolean {
  const able = peers.filter(({ offered }) => covers(offered, required)).map(({ worker_id }) => worker_id);
  const rank = able.filter((other) => other < id).length;
  if (!able.includes(id)) return true;
  return (rank - (nonce % able.length) + able.length) % able.length <= SPARE * count;
}
