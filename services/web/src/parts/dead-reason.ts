// Why something failed, without what differs from one to the next: so that alike failures are one group. Pure.
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const QUOTED = /"[^"]*"|'[^']*'|`[^`]*`/g;
const NUMBER = /\b(0x)?[0-9a-f]*\d[0-9a-f]*\b/gi;

/** The first line of an error, with a sign in place of ids, numbers and what is quoted. */
export function reasonOf(error: string | null): string {
  const [line = ''] = (error ?? '').trim().split('\n', 1);
  const reason = line.replace(UUID, '…').replace(QUOTED, '“…”').replace(NUMBER, '#').trim();
  return reason === '' ? 'no reason is known' : reason;
}
