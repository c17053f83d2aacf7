// The RUN of a command line.
import { z } from 'zod';
import { usage } from './exit-error.ts';

/** The id if it is one. */
export function runId(text: string): string {
  const parsed = z.uuid().safeParse(text.trim());
  if (parsed.success) return parsed.data;
  throw usage(`RUN must be a run's id, like 0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e70, and is "${text}"`);
}
