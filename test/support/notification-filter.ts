// Takes the notifications out of what PostgreSQL sends on one connection.

/** NotificationResponse, by the first byte of the message. */
const NOTIFICATION = 'A'.charCodeAt(0);
/** A type and a length, which counts itself and not the type. */
const HEAD = 5;

/**
 * To a client that does not ask for encryption. Feed it what the server sends, in order; it returns what the client is
 * to get of that. Notifications that begin while `isMute()` are left out.
 */
export function notificationFilter(isMute: () => boolean): (data: Buffer) => Buffer {
  let head: Buffer = Buffer.alloc(0);
  /** Bytes still to come of the message that has begun. */
  let rest = 0;
  let isDropped = false;
  return (sent) => {
    const data = Buffer.concat([head, sent]);
    head = Buffer.alloc(0);
    const kept: Buffer[] = [];
    for (let at = 0; at < data.length; ) {
      if (rest === 0) {
        if (data.length - at < HEAD) {
          head = data.subarray(at);
          break;
        }
        rest = 1 + data.readUInt32BE(at + 1);
        isDropped = data[at] === NOTIFICATION && isMute();
      }
      const end = Math.min(at + rest, data.length);
      if (!isDropped) kept.push(data.subarray(at, end));
      rest -= end - at;
      at = end;
    }
    return Buffer.concat(kept);
  };
}
