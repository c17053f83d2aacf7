// Sends a request as it stands: fetch would put it right first.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { RawRequest } from './request.ts';

export interface RawAnswer {
  status: number;
  /** Of the content; null when there is none. */
  type: string | null;
  /** That of a stream is not waited for. */
  body: string;
}

const AGENT = new Agent({ keepAlive: true, maxSockets: 1 });
/** Longer than the api waits for its database. */
const ANSWER_MS = 5_000;

/** The answer; rejects when there is none in time. */
export async function sendRaw(
  url: string,
  { method, path, headers, body, chunked }: RawRequest,
): Promise<RawAnswer> {
  const late = AbortSignal.timeout(ANSWER_MS);
  const { hostname, port } = new URL(url);
  const asked = request({ agent: AGENT, hostname, port, method, path, headers, signal: late });
  // Who has answered before all was sent breaks what is left of it.
  asked.on('error', () => undefined);
  if (body !== null && chunked) asked.setHeader('transfer-encoding', 'chunked');
  else if (body !== null) asked.setHeader('content-length', Buffer.byteLength(body));
  asked.end(body ?? undefined);
  const [answer]: IncomingMessage[] = await once(asked, 'response', { signal: late });
  if (!answer) throw new Error('no answer');
  const type = answer.headers['content-type'] ?? null;
  const isStream = type?.startsWith('text/event-stream') ?? false;
  const read = isStream ? '' : await text(answer);
  if (isStream) asked.destroy();
  return { status: answer.statusCode ?? 0, type, body: read };
}
