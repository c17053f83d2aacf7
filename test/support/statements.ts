// Counts the statements on one connection to PostgreSQL, from the bytes that its client sends.

/** Simple queries and executions of prepared statements, by the first byte of their messages. */
const STATEMENTS = new Set(['Q', 'E'].map((type) => type.charCodeAt(0)));
const TYPE = 1;
const LENGTH = 4;

/** Of a client that does not ask for encryption. Feed it what is sent, in order; it returns how many began in that. */
export function statementCounter(): (data: Buffer) => number {
  let unread: Buffer = Buffer.alloc(0);
  // The first message, and it alone, has no type.
  let head = 0;
  return (data) => {
    unread = Buffer.concat([unread, data]);
    let count = 0;
    while (unread.length >= head + LENGTH) {
      const end = head + unread.readUInt32BE(head);
      if (unread.length < end) break;
      if (head === TYPE && STATEMENTS.has(unread[0] ?? 0)) count++;
      unread = unread.subarray(end);
      head = TYPE;
    }
    return count;
  };
}
