// Finds the lines of stdout that are meant for wfg: `::set-output KEY=VALUE` and `::add-mask::VALUE`.

import { MAX_OUTPUT_BYTES } from '@wfg/shared/contract/job';
import { type OutputCollector, parseAssignment } from './outputs.ts';

const SET_OUTPUT = '::set-output ';
const ADD_MASK = '::add-mask::';
const PREFIXES = [SET_OUTPUT, ADD_MASK];
/** A line for wfg is held until it is complete, up to this. */
const MAX_HELD = MAX_OUTPUT_BYTES + 1_024;

interface LineCommands {
  /** Returns the text to show. What may be the beginning of a line for wfg is held back. */
  write: (text: string) => string;
  end: () => string;
}

/** For one stream. `addMask` is called before the line that asks for it is returned. */
export function createLineCommands(outputs: OutputCollector, addMask: (value: string) => void): LineCommands {
  let held = '';
  let isAtStart = true;

  function obey(line: string): void {
    const text = line.replace(/\r$/, '');
    if (text.startsWith(ADD_MASK)) addMask(text.slice(ADD_MASK.length));
    const assignment = text.startsWith(SET_OUTPUT) && parseAssignment(text.slice(SET_OUTPUT.length));
    if (assignment) outputs.set(...assignment);
  }

  /** How much of a line's beginning is known to be for the reader; 0 if more has to come. */
  function settle(rest: string): number {
    if (!isAtStart || !PREFIXES.some((prefix) => rest.startsWith(prefix) || prefix.startsWith(rest)))
      return 1;
    const end = rest.indexOf('\n') + 1;
    if (end > 0) obey(rest.slice(0, end - 1));
    if (end > 0 || rest.length <= MAX_HELD) return end;
    if (rest.startsWith(SET_OUTPUT)) outputs.refuse();
    return rest.length;
  }

  return {
    write(text) {
      const all = held + text;
      let from = 0;
      while (from < all.length) {
        const settled = settle(from === 0 ? all : all.slice(from));
        if (settled === 0) break;
        // Most lines are not for wfg: on to the next one that begins like it.
        const next = all.indexOf('\n:', from + settled - 1) + 1;
        from = next === 0 ? all.length : next;
        isAtStart = all[from - 1] === '\n';
      }
      held = all.slice(from);
      return all.slice(0, from);
    },
    end() {
      if (isAtStart) obey(held);
      const rest = held;
      held = '';
      return rest;
    },
  };
}
