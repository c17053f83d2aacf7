// Calls about schedules.
import type { Schedule, Tick } from '@wfg/shared/contract/schedule';
import type * as schedules from '@wfg/shared/contract/routes/schedules';
import { call } from './call.ts';

interface SchedulePage {
  items: Schedule[];
  next: string | null;
}

/** Newest first; `cursor` is a `next` of an earlier page. */
export async function getSchedules(cursor: string | null, signal: AbortSignal): Promise<SchedulePage> {
  const query = { cursor: cursor ?? undefined };
  return (await call<typeof schedules.listSchedules>('get', '/api/schedules', { query }, signal)).body;
}

export async function pauseSchedule(id: string): Promise<void> {
  await call<typeof schedules.pauseSchedule>('post', '/api/schedules/{id}/pause', { params: { id } });
}

export async function resumeSchedule(id: string): Promise<void> {
  await call<typeof schedules.resumeSchedule>('post', '/api/schedules/{id}/resume', { params: { id } });
}

/** Starts now what a schedule starts; resolves to the run. */
export async function runSchedule(id: string): Promise<string> {
  const given = { params: { id }, headers: { 'idempotency-key': crypto.randomUUID() } };
  return (await call<typeof schedules.runSchedule>('post', '/api/schedules/{id}/run', given)).body.run_id;
}

export async function deleteSchedule(id: string): Promise<void> {
  await call<typeof schedules.deleteSchedule>('delete', '/api/schedules/{id}', { params: { id } });
}

/** The next five, as RFC 3339 has them. */
export async function getNextTicks(id: string, signal: AbortSignal): Promise<string[]> {
  return (
    await call<typeof schedules.listNextTicks>('get', '/api/schedules/{id}/next', { params: { id } }, signal)
  ).body;
}

/** The newest ten. */
export async function getTicks(id: string, signal: AbortSignal): Promise<Tick[]> {
  const given = { params: { id }, query: { limit: 10 } };
  return (await call<typeof schedules.listTicks>('get', '/api/schedules/{id}/ticks', given, signal)).body
    .items;
}
