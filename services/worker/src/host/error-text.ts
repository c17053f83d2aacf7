// What a handler threw, as the text that is stored with the job.
import { inspect } from 'node:util';
import { toStorableText } from '@wfg/shared/contract/json';
import { messageOf } from '@wfg/shared/rules/message-of';

const LONGEST = 4_096;
const MOST_CAUSES = 10;

/** The message, those of its causes behind it (`a: b`), at most 4,096 characters; what is no error is shown as it is. */
export function errorText(thrown: unknown): string {
  try {
    return toStorableText(withCauses(thrown).slice(0, LONGEST));
  } catch {
    return 'it threw something that cannot be shown';
  }
}

function withCauses(thrown: unknown): string {
  let text = shortText(thrown);
  let cause = causeOf(thrown);
  for (let count = 0; cause !== undefined && count < MOST_CAUSES; count++) {
    const more = shortText(cause);
    // Many errors repeat their cause in their own message.
    if (!text.endsWith(more)) text += `: ${more}`;
    cause = causeOf(cause);
  }
  return text;
}

function shortText(thrown: unknown): string {
  if (thrown instanceof Error) return messageOf(thrown) || thrown.name;
  return typeof thrown === 'string' ? thrown : inspect(thrown);
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? thrown.cause : undefined;
}
