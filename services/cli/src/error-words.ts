// What the system's error codes mean, in words for people who do not know the codes.
import { messageOf } from '@wfg/shared/rules/message-of';

const WORDS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'you have no permission to'],
  ['EPERM', 'you have no permission to'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['ECONNRESET', 'the connection broke'],
  ['ENOTFOUND', 'there is no host of that name'],
  ['EAI_AGAIN', 'the name of the host cannot be looked up'],
]);

/** Why something failed: in words where there are some, else what the error says. */
export function errorWords(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return WORDS.get(code) ?? messageOf(thrown);
}
