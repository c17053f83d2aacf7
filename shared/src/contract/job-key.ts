// A job's key as text: `<run_id>-<position>`. Bells and logs name jobs by it; a lease begins with it.

/** The key of a job's row. */
export interface JobKey {
  run_id: string;
  position: number;
}

/** The key as text. */
export function jobKey({ run_id, position }: JobKey): string {
  return `${run_id}-${position}`;
}
