// A lease: one worker's right to one attempt. On the wire `<job key>.<attempt>.<nonce>`, found by primary key.
import { type JobKey, jobKey } from './job-key.ts';

/** Every write of a worker is fenced by all four. */
export interface Lease extends JobKey {
  attempt: number;
  /** 63 random bits in decimal. */
  nonce: string;
}

/** The lease as text. */
export function leaseId(lease: Lease): string {
  return `${jobKey(lease)}.${lease.attempt}.${lease.nonce}`;
}

const PATTERN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,9})\.(\d{1,9})\.(\d{1,19})$/;
const MAX_NONCE = 2n ** 63n - 1n;

/** Reads a lease's text; null when it is none of ours. */
export function parseLease(id: string): Lease | null {
  const [, run_id, position, attempt, nonce] = PATTERN.exec(id) ?? [];
  if (run_id === undefined || nonce === undefined || BigInt(nonce) > MAX_NONCE) return null;
  return { run_id, position: Number(position), attempt: Number(attempt), nonce };
}
