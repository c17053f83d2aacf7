// A body of Server-Sent Events: made piece by piece as its reader takes it, kept awake by comments.

const BEAT_MS = 15_000;
/** Who takes nothing for so many beats is not served on; it may resume where it was. */
const MAX_UNTAKEN_BEATS = 8;

export interface EventSink {
  /** Resolves when the event has been taken, or the stream is over. */
  send: (text: string) => Promise<void>;
  /** Ends the stream behind what has been sent. */
  end: () => void;
  /** Resolves when it is over: ended, or its reader gone. */
  over: Promise<void>;
}

/** `start` is called when the body is first read; a body that nobody reads costs nothing. */
export function eventStream(start: (sink: EventSink) => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const over = Promise.withResolvers<void>();
  // A pull asks for one piece. What nobody asked for yet is not made: it stays in the table.
  let asked = false;
  let asking = Promise.withResolvers<void>();
  let untaken = 0;
  let isOver = false;
  let beating: NodeJS.Timeout | undefined;
  const mayGoOn = () => asked || isOver;

  function stop(): void {
    isOver = true;
    clearInterval(beating);
    asking.resolve();
    over.resolve();
  }

  function open(controller: ReadableStreamDefaultController<Uint8Array>): void {
    function write(text: string): void {
      asked = false;
      asking = Promise.withResolvers();
      controller.enqueue(encoder.encode(text));
    }

    function end(): void {
      if (isOver) return;
      stop();
      controller.close();
    }

    beating = setInterval(() => {
      if (asked) write(':\n\n');
      else if (++untaken >= MAX_UNTAKEN_BEATS) end();
    }, BEAT_MS);
    start({
      async send(text) {
        while (!mayGoOn()) await asking.promise;
        if (!isOver) write(text);
      },
      end,
      over: over.promise,
    });
  }

  return new ReadableStream(
    {
      pull(controller) {
        untaken = 0;
        asked = true;
        asking.resolve();
        if (!beating) open(controller);
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}
