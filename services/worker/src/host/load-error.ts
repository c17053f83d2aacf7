// Why a module cannot be loaded.
import { fileURLToPath } from 'node:url';
import { errorCode } from '@wfg/shared/db/sqlstate';
import { errorText } from './error-text.ts';

const HOW_TO_ERASE =
  'TypeScript is run by erasing its types, so what would need code of its own cannot be used (tsc says where with "erasableSyntaxOnly")';

/** Errors of this system's own say enough without a place in it. */
const OWN = ['../../../../shared/', '../../../../services/'].map(
  (path) => new URL(path, import.meta.url).href,
);

/** With the place in the module, as far as that is known, and what to do where it does not say so itself. */
export function loadErrorText(thrown: unknown): string {
  const text = errorText(thrown);
  const place = thrown instanceof Error ? placeIn(thrown.stack ?? '') : null;
  const advice = errorCode(thrown) === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' ? `: ${HOW_TO_ERASE}` : '';
  return `${text}${place === null ? '' : ` (${place})`}${advice}`;
}

/** `file:line`: of an error of syntax in the first line, of what was thrown in the first frame in someone's code. */
function placeIn(stack: string): string | null {
  const head = /^(?:file:\/\/)?(\/.*:\d+)\n/.exec(stack)?.[1];
  if (head !== undefined) return head;
  const frames = stack.matchAll(/\bat (?:.* \()?(file:\/\/\/[^\s)]*:\d+):\d+\)?$/gm);
  const foreign = [...frames]
    .map(([, url = '']) => url)
    .find((url) => !OWN.some((own) => url.startsWith(own)));
  return foreign === undefined ? null : fileURLToPath(foreign);
}
