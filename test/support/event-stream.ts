// A stream of Server-Sent Events as it is, without the client's reconnecting.
import { readEvents } from '@wfg/shared/client/read-events';

export interface StreamEvent {
  event: string;
  id: string | null;
  data: unknown;
}

export interface TestStream {
  response: Response;
  /** What came so far. */
  events: StreamEvent[];
  /** Resolves when the server has ended the stream; rejects when it was broken off. */
  ended: Promise<void>;
  /** Goes away. */
  leave: () => void;
}

export async function openStream(url: string, headers: Record<string, string> = {}): Promise<TestStream> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  const events: StreamEvent[] = [];
  const ended = collect(response, events);
  ended.catch(() => undefined);
  return { response, events, ended, leave: () => leaving.abort() };
}

async function collect({ body }: Response, events: StreamEvent[]): Promise<void> {
  if (!body) return;
  for await (const { event, id, data } of readEvents(body))
    events.push({ event, id, data: JSON.parse(data) });
}
