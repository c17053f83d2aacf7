// A body of Server-Sent Events, kept awake by comments.

const BEAT_MS = 15_000;
/** Who takes nothing for so many beats is not served on; it may resume where it was. */
const MAX_UNTAKEN_BEATS = 8;
const COMMENT = Buffer.from(':\n\n');

export interface EventSink {
  send: (event: Buffer) => void;
  /** Bytes that were sent and not taken yet. */
  waiting: () => number;
  /** Resolves when the reader has taken all and asks for more, or the stream is over. */
  asked: () => Promise<void>;
  /** Ends the stream behind what has been sent. */
  end: () => void;
  /** Resolves when it is over: ended, or its reader gone. */
  over: Promise<void>;
}

/** `start` is called when the body is first read; a body that nobody reads costs nothing. */
export function eventStream(start: (sink: EventSink) => void): ReadableStream<Uint8Array> {
  const over = Promise.withResolvers<void>();
  let isAsked = false;
  let asking = Promise.withResolvers<void>();
  let isOver = false;
  let beating: NodeJS.Timeout | undefined;
  const mustWait = () => !isAsked && !isOver;

  function stop(): void {
    isOver = true;
    clearInterval(beating);
    asking.resolve();
    over.resolve();
  }

  function open(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const waiting = () => -(controller.desiredSize ?? 0);
    let waitedFor = 0;
    let untaken = 0;

    function send(event: Buffer): void {
      if (isOver || event.length === 0) return;
      isAsked = false;
      controller.enqueue(event);
    }

    function end(): void {
      if (isOver) return;
      stop();
      controller.close();
    }

    beating = setInterval(() => {
      untaken = !isAsked && waiting() >= waitedFor ? untaken + 1 : 0;
      waitedFor = waiting();
      if (isAsked) send(COMMENT);
      else if (untaken >= MAX_UNTAKEN_BEATS) end();
    }, BEAT_MS);
    start({
      send,
      waiting,
      async asked() {
        while (mustWait()) {
          asking = Promise.withResolvers();
          await asking.promise;
        }
      },
      end,
      over: over.promise,
    });
  }

  return new ReadableStream(
    {
      pull(controller) {
        isAsked = true;
        asking.resolve();
        if (!beating) open(controller);
      },
      cancel: stop,
    },
    { highWaterMark: 0, size: ({ byteLength }) => byteLength },
  );
}
