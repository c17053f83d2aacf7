// All faults of the matrix.
import { backendKills } from './backends.ts';
import type { Fault } from './fault.ts';
import { frozenWorker } from './frozen-worker.ts';
import { killLoop } from './kill-loop.ts';
import { blackHoledListen, cutLink, lostAnswers } from './network.ts';
import { kill, restart } from './postgres.ts';
import { rollingRestart } from './rolling-restart.ts';
import { idleConnections, openTransaction, rowLocks } from './sessions.ts';

export const FAULTS: readonly Fault[] = [
  restart,
  kill,
  backendKills,
  blackHoledListen,
  killLoop('worker'),
  killLoop('scheduler'),
  killLoop('reaper'),
  killLoop('api'),
  frozenWorker,
  openTransaction,
  rowLocks,
  idleConnections,
  cutLink,
  lostAnswers,
  rollingRestart,
];
