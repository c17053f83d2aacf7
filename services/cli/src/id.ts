// The ids of a command line.
import { ScheduleId } from '@wfg/shared/contract/schedule';
import { Id } from '@wfg/shared/contract/workflow';
import { z } from 'zod';
import { usage } from './exit-error.ts';

/** The RUN if it is one. */
export function runId(text: string): string {
  const parsed = z.uuid().safeParse(text.trim());
  if (parsed.success) return parsed.data;
  throw usage(`RUN must be a run's id, like 0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e70, and is "${text}"`);
}

/** The id of a job or workflow if it can be one, which makes it safe in a path. */
export function idOf(what: string, text: string): string {
  if (Id.safeParse(text).success) return text;
  throw usage(`${what} must be an id of letters, digits, "_", "." and "-", and is "${text}"`);
}

/** The id of a schedule if it can be one. */
export function scheduleId(text: string): string {
  if (ScheduleId.safeParse(text).success) return text;
  throw usage(`ID must be a schedule's, like nightly or ci:1, and is "${text}"`);
}
