// The port that the api of `wfg up` gets.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorCode } from '@wfg/shared/db/sqlstate';
import { messageOf } from '@wfg/shared/rules/message-of';
import { EXIT, ExitError, usage } from '../exit-error.ts';

const TRIED = 100;

interface PortWish {
  host: string;
  /** 0: any free port, which the system chooses when the api starts. */
  port: number;
  /** Set by hand: this one or none. */
  byHand: boolean;
}

/** The wished port if it is free; else, unless it was set by hand, the next free one. */
export async function choosePort({ host, port, byHand }: PortWish): Promise<number> {
  if (port === 0 || (await isFree(host, port))) return port;
  if (byHand)
    throw usage(`PORT ${port} is taken: stop what uses it, set PORT to another, or leave PORT unset`);
  for (let next = port + 1; next < port + TRIED; next++) if (await isFree(host, next)) return next;
  throw new ExitError(
    EXIT.failed,
    `ports ${port} to ${port + TRIED - 1} are all taken: set PORT to a free one`,
  );
}

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer().listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (err) {
    if (errorCode(err) === 'EADDRINUSE') return false;
    throw usage(`cannot listen on HOST ${host}, PORT ${port}: ${messageOf(err)}`);
  }
  server.close();
  await once(server, 'close');
  return true;
}
