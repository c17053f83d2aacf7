// The network to the database: bells that do not come any more, a link that is cut for longer than anyone waits, and
// answers that are lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const DEAF_MS = 8_000;
const CUT_MS = 20_000;
const LOST_TIMES = 4;
const LOST_MS = 400;
const LOST_APART_MS = 1_000;
const RESETS = 5;
const RESET_APART_MS = 500;
const STUTTERS = 40;
const SILENT_MS = 100;
const FLOWING_MS = 10;

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

/** All connections end at once, again and again. */
export const resetLink: Fault = {
  name: 'link reset',
  by: 'everything',
  async strike({ link }) {
    for (let time = 0; time < RESETS; time++) {
      link.cut();
      await sleep(RESET_APART_MS);
    }
  },
};

/** Everything arrives, late and in bursts. */
export const slowLink: Fault = {
  name: 'link slow',
  by: 'everything',
  async strike({ link }) {
    for (let time = 0; time < STUTTERS; time++) {
      link.freeze();
      await sleep(SILENT_MS);
      link.thaw();
      await sleep(FLOWING_MS);
    }
  },
};

/** What was asked for is done, and nobody learns it: the answers are swallowed, then the connections end. */
export const lostAnswers: Fault = {
  name: 'answers lost',
  by: 'everything',
  async strike({ link }) {
    for (let time = 0; time < LOST_TIMES; time++) {
      link.stall();
      await sleep(LOST_MS);
      link.cut();
      link.unstall();
      await sleep(LOST_APART_MS);
    }
  },
};
