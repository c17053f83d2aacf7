// Calls about dead letters, and what is done for many at once.
import type { Operation, RequeueFilter } from '@wfg/shared/contract/operation';
import type * as events from '@wfg/shared/contract/routes/events';
import type { listDead } from '@wfg/shared/contract/routes/tasks';
import type { DeadLetter } from '@wfg/shared/contract/task';
import { call } from './call.ts';

interface DeadPage {
  items: DeadLetter[];
  next: string | null;
}

/** What failed last comes first; `cursor` is a `next` of an earlier page. */
export async function getDead(
  type: string | undefined,
  cursor: string | null,
  signal: AbortSignal,
): Promise<DeadPage> {
  const query = { workflow_type: type, cursor: cursor ?? undefined };
  return (await call<typeof listDead>('get', '/api/dead', { query }, signal)).body;
}

/** Asks that all be run again that a filter meets; resolves to the operation. */
export async function requeueAll(filter: RequeueFilter): Promise<string> {
  const given = { headers: { 'idempotency-key': crypto.randomUUID() }, body: { filter } };
  return (await call<typeof events.requeueEvents>('post', '/workflows/requeue', given)).body.operation_id;
}

export async function getOperation(id: string, signal: AbortSignal): Promise<Operation> {
  return (await call<typeof events.getOperation>('get', '/api/operations/{id}', { params: { id } }, signal))
    .body;
}
