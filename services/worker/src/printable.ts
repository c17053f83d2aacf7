// Turns the bytes a program printed into text that PostgreSQL can store and a page can show.
import { Buffer, isAscii } from 'node:buffer';

const NUL = /\0/g;
const ASCII_END = 0x80;

interface Printable {
  /** The text of the next bytes; those of a character that is not complete yet wait for the rest. */
  write: (bytes: Uint8Array) => string;
  end: () => string;
}

/** For one stream. What is not UTF-8, surrogates included, becomes U+FFFD, and NUL becomes U+2400. */
export function createPrintable(): Printable {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Whether the decoder may hold the beginning of a character. */
  let isWithin = false;

  /** Most output is ASCII, which is much faster to copy than to decode. */
  function decode(bytes: Uint8Array): string {
    if (!isWithin && isAscii(bytes))
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    isWithin = (bytes.at(-1) ?? ASCII_END) >= ASCII_END;
    return decoder.decode(bytes, { stream: true });
  }

  return {
    write(bytes) {
      const text = decode(bytes);
      return text.includes('\0') ? text.replace(NUL, '\u2400') : text;
    },
    end: () => decoder.decode(),
  };
}

/** The same for bytes that are all there. */
export function printable(bytes: Uint8Array): string {
  const { write, end } = createPrintable();
  return write(bytes) + end();
}
