// All loads of the matrix.
import { commands } from './commands.ts';
import { diamonds } from './diamonds.ts';
import { events } from './events.ts';
import type { Load } from './load.ts';
import { tasks } from './tasks.ts';

export const LOADS: readonly Load[] = [events, tasks, commands, diamonds];
