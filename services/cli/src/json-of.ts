// JSON on a command line.
import { parseJson } from '@wfg/shared/contract/json';
import { messageOf } from '@wfg/shared/rules/message-of';
import { usage } from './exit-error.ts';

/** The value of a text; `what` is its name in the usage. */
export function jsonOf(what: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (err) {
    throw usage(`${what} is not JSON: ${messageOf(err)}`);
  }
}
