// A client of Server-Sent Events.

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
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) events.push(...parse(block));
  }
}

/** Nothing for a comment. */
function parse(block: string): StreamEvent[] {
  const field = (name: string) =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const event = field('event');
  if (event === undefined) return [];
  return [{ event, id: field('id') ?? null, data: JSON.parse(field('data') ?? 'null') }];
}
