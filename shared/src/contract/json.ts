// JSON that comes back as it was sent: integers beyond 2^53 keep all their digits, and what PostgreSQL cannot store
// (NUL, lone surrogates) is made visible instead of failing.

interface RawJson {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    /** A value that `stringify` writes as exactly this text. */
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * Parses JSON; a number that would lose digits becomes an opaque value which `JSON.stringify` writes as it was read.
 *
 * @throws {SyntaxError} when it is not JSON.
 */
export function parseJson(text: string): unknown {
  // A reviver makes parsing ten times as slow, so it is used only for texts that may have such a number.
  return /\d{16}/.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isUnsafe = typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined;
  return isUnsafe && /^-?\d+$/.test(source) ? JSON.rawJSON(source) : value;
}

/** The value of a text that may not be JSON: undefined then. For what has no large integers. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How deep JSON may be nested, counting what is innermost. What SQL refuses (wfg_is_too_deep) is refused. */
export const MAX_LEVELS = 1000;

/** Whether JSON text, which may come from anyone, is nested deeper than programs, and PostgreSQL, can read it. */
export function isTooDeep(text: string, levels = MAX_LEVELS): boolean {
  if (text.length < levels) return false;
  let open = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isQuoted) {
      if (char === '\\') at++;
      else isQuoted = char !== '"';
    } else if (char === ']' || char === '}') open--;
    else if (open >= levels && char !== undefined && !/\s/.test(char)) return true;
    else if (char === '[' || char === '{') open++;
    else isQuoted = char === '"';
  }
  return false;
}

/** JSON text that a `json` column takes. */
export function toStorableJson(value: unknown): string {
  return storable(JSON.stringify(value));
}

/** The same for what `JSON.stringify` made. */
export function storable(text: string): string {
  // Of the surrogates `stringify` escapes only lone ones. `\\` is matched too, so that `\\u0000`, a backslash and
  // five characters, stays what it is.
  return text.replaceAll(/\\(?:u0000|ud[89a-f][0-9a-f]{2}|\\)/g, (escape) => {
    if (escape === '\\\\') return escape;
    return escape === '\\u0000' ? '\u2400' : '\ufffd';
  });
}

/** Text that a `text` column takes. */
export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u2400');
}

/** JSON text that is the same for equal values: the names in objects are sorted. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner) || JSON.isRawJSON(inner))
      return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
