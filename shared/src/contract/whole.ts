// Whole numbers in a range.
import { z } from 'zod';

/** A whole number from `min` to `max`, and a message that says so; `what`: `of seconds, `. */
export function whole(min: number, max: number, what = '') {
  const error = `must be a whole number ${what}from ${min} to ${max}`;
  return z.int({ error }).min(min, error).max(max, error);
}
