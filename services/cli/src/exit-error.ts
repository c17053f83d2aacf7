// An end of the command that is not success: one line for the user, and the exit code.

/** 130 is what shells say of a command that was interrupted. */
export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3, interrupted: 130 } as const;

export class ExitError extends Error {
  override name = 'ExitError';
  readonly exitCode: number;

  /** The message says what to do. */
  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The command line is wrong, or what it names. */
export function usage(message: string): ExitError {
  return new ExitError(EXIT.usage, message);
}
