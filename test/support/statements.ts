// Counts the statements on one connection to PostgreSQL, from the bytes that its client sends.

/** Simple queries and executions of prepared statements, by the first byte of their messages. */
const STATEMENTS = new Set(['Q', 'E'].map((type) => type.charCodeAt(0)));
const TYPE = 1;
const LENGTH = 4;

/** Of a client that does not ask for encryption. Feed it what is sent, in order; it returns how many began in that. */
export function statementCounter(): (data: Buffer) => number {
  let head: Buffer = Buffer.alloc(0);
  /** Bytes still to come of the message that has begun: large ones are not kept. */
  let rest = 0;
  // The first message, and it alone, has no type.
  let type = 0;
  return (sent) => {
    const data = Buffer.concat([head, sent]);
    head = Buffer.alloc(0);
    let count = 0;
    for (let at = 0; at < data.length; ) {
      if (rest === 0) {
        if (data.length - at < type + LENGTH) {
          head = data.subarray(at);
          break;
        }
        if (type === TYPE && STATEMENTS.has(data[at] ?? 0)) count++;
        rest = type + data.readUInt32BE(at + type);
        type = TYPE;
      }
      const step = Math.min(rest, data.length - at);
      rest -= step;
      at += step;
    }
    return count;
  };
}
