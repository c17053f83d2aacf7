// Keys, by which something is made once however often it is asked for.
import { z } from 'zod';

export const KEY_PATTERN = /^[^\p{Cc}\p{Cs}]{1,255}$/u;
export const KEY_RULE = 'must be 1 to 255 printable characters';
export const KeyRule = z.string().regex(KEY_PATTERN, KEY_RULE);

/** What a route that makes something takes. What the key is, the api checks by itself. */
export const KeyHeader = z.object({
  'idempotency-key': z.string().optional().meta({
    description:
      '1 to 255 printable characters: repeated with the same body within 7 days, nothing is made a second time',
  }),
});
