// Replaces secrets in output by ***, also when they come in pieces.

import { secretForms } from './secret-forms.ts';

const MASK = '***';
/** Longer secrets are masked piece by piece: what may be the beginning of one is looked for in each piece of output. */
const LONGEST = 4_096;

/** The secrets of an attempt; they may grow while it runs. */
export class Secrets {
  #forms = new Set<string>();
  #initials = new Set<string>();
  #longest = 0;
  #pattern: RegExp | null = null;

  /** Returns false for a secret of fewer than 4 characters, which is not masked: the log would be unreadable. */
  add(secret: string): boolean {
    const forms = secretForms(secret);
    for (const form of [...forms].flatMap(inPieces)) {
      this.#forms.add(form);
      this.#initials.add(form.charAt(0));
      this.#longest = Math.max(this.#longest, form.length);
    }
    this.#pattern = null;
    return forms.size > 0;
  }

  /** Matches every secret, the longest where several begin at one place; null without secrets. */
  get pattern(): RegExp | null {
    if (this.#forms.size === 0) return null;
    const byLength = [...this.#forms].sort((a, b) => b.length - a.length);
    this.#pattern ??= new RegExp(byLength.map(escapePattern).join('|'), 'g');
    return this.#pattern;
  }

  mask(text: string): string {
    return this.pattern ? text.replace(this.pattern, MASK) : text;
  }

  isIn(text: string): boolean {
    return this.mask(text) !== text;
  }

  /** The first place from `from` on where the rest of the text may be the beginning of a secret, or its length. */
  mayBeginAt(text: string, from: number): number {
    for (let at = Math.max(from, text.length - this.#longest + 1); at < text.length; at++) {
      if (this.#initials.has(text.charAt(at)) && this.#isBeginning(text.slice(at))) return at;
    }
    return text.length;
  }

  #isBeginning(text: string): boolean {
    for (const form of this.#forms) if (form.length > text.length && form.startsWith(text)) return true;
    return false;
  }
}

/** Pieces of about one length: a short last one would stand in other text by chance. */
function inPieces(form: string): string[] {
  const length = Math.ceil(form.length / Math.ceil(form.length / LONGEST));
  return Array.from({ length: Math.ceil(form.length / length) }, (_, index) =>
    form.slice(index * length, (index + 1) * length),
  );
}

interface Masker {
  /** Returns the text to show. What may be the beginning of a secret is held back, however long it takes. */
  write: (text: string) => string;
  end: () => string;
}

/** For one stream. */
export function createMasker(secrets: Secrets): Masker {
  let held = '';
  return {
    write(text) {
      const { pattern } = secrets;
      if (!pattern) return text;
      const all = held + text;
      let shown = '';
      let from = 0;
      let hold = secrets.mayBeginAt(all, 0);
      for (const match of all.matchAll(pattern)) {
        if (match.index >= hold) break;
        shown += all.slice(from, match.index) + MASK;
        from = match.index + match[0].length;
        if (from > hold) hold = secrets.mayBeginAt(all, from);
      }
      held = all.slice(hold);
      return shown + all.slice(from, hold);
    },
    end() {
      const rest = secrets.mask(held);
      held = '';
      return rest;
    },
  };
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
