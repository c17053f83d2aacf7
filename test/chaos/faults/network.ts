// The network to the database: bells that do not come any more, and a link that is cut for longer than anyone waits.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const DEAF_MS = 8_000;
const CUT_MS = 20_000;

export const blackHoledListen: Fault = {
  name: 'LISTEN black-holed',
  by: 'listening',
  async strike({ link }) {
    link.stall();
    await sleep(DEAF_MS);
    // What was swallowed stays lost: those connections are dead, and nobody was told.
    link.unstall();
  },
};

export const cutLink: Fault = {
  name: 'link cut 20 s',
  by: 'everything',
  async strike({ link }) {
    link.freeze();
    await sleep(CUT_MS);
    link.thaw();
  },
};
