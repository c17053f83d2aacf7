// Reads Server-Sent Events.

export interface SentEvent {
  event: string;
  /** Null when it was sent without. */
  id: string | null;
  data: string;
}

/** More of one event than this is not kept, in characters. */
const MAX_EVENT = 16 * 1024 * 1024;

/**
 * The events of a body, as they come. Ends with the body; an event that is not complete by then does not count.
 * `heard` is called whenever something came, be it only a comment.
 *
 * @throws {RangeError} when an event does not end within 16 million characters; what the body fails with.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => undefined,
): AsyncGenerator<SentEvent> {
  let rest = '';
  let event = '';
  let data: string[] = [];
  let size = 0;
  let id: string | null = null;
  for await (const text of texts(body)) {
    heard();
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      size += line.length;
      const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (line === '') {
        if (data.length > 0) yield { event: event || 'message', id, data: data.join('\n') };
        [event, data, id, size] = ['', [], null, 0];
      } else if (field === 'event') event = value;
      else if (field === 'data') data.push(value);
      else if (field === 'id' && !value.includes('\0')) id = value;
    }
    if (size + rest.length > MAX_EVENT) throw new RangeError('an event of the stream does not end');
  }
}

/** Neither piped nor iterated: a pipe drops what came before a break, and leaving a broken body throws again. */
async function* texts(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
