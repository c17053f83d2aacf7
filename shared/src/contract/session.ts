// Who asks: the role that a token or a session gives, and what a browser is told about its session.
import { z } from 'zod';

/** What a token gives the right to. */
export const Role = z.enum(['admin']);
export type Role = z.infer<typeof Role>;

export const Session = z
  .object({
    /** Whether a token is asked for at all. */
    required: z.boolean(),
    /** What the request may do; null: it must bring a token. */
    role: Role.nullable(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;

export const Login = z.strictObject({ token: z.string().min(1).max(1_024) }).meta({ id: 'Login' });
export type Login = z.infer<typeof Login>;
