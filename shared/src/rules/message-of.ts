// What to tell people about something that was thrown, whatever it is.

/** The message of an error; anything else as text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
