// What to tell people about something that was thrown, whatever it is.

/** The message of an error; anything else as text. A name with several addresses fails with an error for each. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return messageOf(thrown.errors[0]);
  return thrown instanceof Error ? thrown.message : String(thrown);
}
