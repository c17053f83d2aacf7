// Turns the bytes a program printed into text that PostgreSQL can store and a page can show.

const NUL = /\0/g;

interface Printable {
  /** The text of the next bytes; those of a character that is not complete yet wait for the rest. */
  write: (bytes: Uint8Array) => string;
  end: () => string;
}

/** For one stream. What is not UTF-8, surrogates included, becomes U+FFFD, and NUL becomes U+2400. */
export function createPrintable(): Printable {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return {
    write: (bytes) => decoder.decode(bytes, { stream: true }).replace(NUL, '\u2400'),
    end: () => decoder.decode(),
  };
}

export function printable(bytes: Uint8Array): string {
  const { write, end } = createPrintable();
  return write(bytes) + end();
}
