// The server that a command talks to, and the token that it shows there.
import { isLoopback } from '@wfg/shared/rules/loopback';
import { configFields } from '@wfg/shared/runtime/config-fields';
import { fieldNotes, parseEnv } from '@wfg/shared/runtime/env';
import { z } from 'zod';
import { textOf, type Values } from './command.ts';
import { EXIT, ExitError, usage } from './exit-error.ts';
import { serverUrl } from './server-url.ts';

/** Options of the commands that talk to a server. */
export const SERVER_OPTIONS = { url: { type: 'string' }, token: { type: 'string' } } as const;

export interface Server {
  /** With a slash at its end. */
  base: URL;
  token: Token | undefined;
}

interface Token {
  value: string;
  /** Where it was found. */
  from: '--token' | 'WFG_TOKEN' | 'WFG_ADMIN_TOKEN';
}

/** Characters that a header can carry; another one would be named, with all the rest, in the error about it. */
const SENDABLE = /^[!-~]+$/;

const ours = z.object({ WFG_TOKEN: z.string().optional().register(fieldNotes, { secret: 'token' }) });
const admins = configFields.pick({ WFG_ADMIN_TOKEN: true });

export function serverOf(values: Values, env: NodeJS.ProcessEnv): Server {
  const base = serverUrl(textOf(values, 'url'), env);
  const token = tokenFor(base, textOf(values, 'token'), env);
  if (token !== undefined && !SENDABLE.test(token.value)) {
    throw usage(`${token.from} must be visible ASCII characters without spaces`);
  }
  return { base, token };
}

function tokenFor({ hostname }: URL, option: string | undefined, env: NodeJS.ProcessEnv): Token | undefined {
  if (option !== undefined) return { value: option, from: '--token' };
  const { WFG_TOKEN } = parseEnv(ours, env);
  if (WFG_TOKEN !== undefined) return { value: WFG_TOKEN, from: 'WFG_TOKEN' };
  // Where wfg runs here its own token is there as well. It goes to no other machine.
  const { WFG_ADMIN_TOKEN } = isLoopback(hostname) ? parseEnv(admins, env) : {};
  return WFG_ADMIN_TOKEN === undefined ? undefined : { value: WFG_ADMIN_TOKEN, from: 'WFG_ADMIN_TOKEN' };
}

/** What to tell the user when the server answers 401. */
export function tokenRefused({ base, token }: Server): ExitError {
  const why =
    token === undefined
      ? 'asks for a token: set WFG_TOKEN, or WFG_TOKEN_FILE, or give --token'
      : `refuses the token of ${token.from}: it is wrong, or was replaced`;
  return new ExitError(EXIT.usage, `${base.href} ${why}`);
}
