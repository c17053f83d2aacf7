// Why a running attempt must stop, as whoever runs it is told.

export type StopReason = 'lost' | 'cancelled' | 'shutdown';

const WORDS: Record<StopReason, string> = {
  lost: 'the lease is lost: the job is no longer this worker’s',
  cancelled: 'the job is cancelled',
  shutdown: 'the worker is stopping',
};

/** The reason of a handler's signal. */
export class StopError extends Error {
  override name = 'StopError';
  readonly why: StopReason | 'timeout';

  constructor(why: StopReason | 'timeout', message = why === 'timeout' ? 'the time is over' : WORDS[why]) {
    super(message);
    this.why = why;
  }
}
