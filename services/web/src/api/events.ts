// Calls about standalone events.
import type { Event, EventInput, EventStatus } from '@wfg/shared/contract/event';
import type * as events from '@wfg/shared/contract/routes/events';
import { call } from './call.ts';
import { nextCursor } from './next-cursor.ts';

interface EventPage {
  items: Event[];
  next: string | null;
}

export interface EventsAsked {
  status?: EventStatus | undefined;
  workflow_type?: string | undefined;
}

/** Newest first; `cursor` is a `next` of an earlier page. */
export async function getEvents(
  asked: EventsAsked,
  cursor: string | null,
  signal: AbortSignal,
): Promise<EventPage> {
  const query = { ...asked, cursor: cursor ?? undefined };
  const { body, link } = await call<typeof events.listEvents>('get', '/workflows', { query }, signal);
  return { items: body, next: nextCursor(link) };
}

export async function createEvent(
  type: string,
  payload: EventInput['payload'],
  key: string,
): Promise<string> {
  const given = { headers: { 'idempotency-key': key }, body: { workflow_type: type, payload } };
  return (await call<typeof events.createEvent>('post', '/workflows', given)).body.id;
}
