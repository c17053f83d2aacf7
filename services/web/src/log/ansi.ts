// What a terminal would show of a line of output: text with colours and styles. All other control sequences are dropped.

export interface Span {
  text: string;
  /** Class names for style and the sixteen named colours, which follow the theme. */
  className: string;
  color?: string;
  background?: string;
  /** It is what is searched. */
  isMatch?: boolean;
}

interface Style {
  marks: Set<string>;
  fg: string;
  bg: string;
}

const ESC = '\u001b';
/** CSI (its parameters and final byte kept), strings such as OSC up to their end, and two- or three-character escapes. */
const SEQUENCE = new RegExp(
  `${ESC}(?:\\[([0-?]*)[ -/]*([@-~]?)|[\\]PX^_][^\\u0007${ESC}]*(?:\\u0007|${ESC}\\\\)?|[ -/]*[0-~]?)`,
  'g',
);

const MARKS: Record<number, string> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
};
const UNMARKS: Record<number, string[]> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
};

/** The spans of one line; styles do not carry over from the line before. */
export function spansOf(text: string): Span[] {
  if (!text.includes(ESC)) return [{ text, className: '' }];
  const spans: Span[] = [];
  const style: Style = { marks: new Set(), fg: '', bg: '' };
  let from = 0;
  const push = (end: number) => {
    if (end > from) spans.push(spanOf(text.slice(from, end), style));
  };
  for (const match of text.matchAll(SEQUENCE)) {
    push(match.index);
    from = match.index + match[0].length;
    if (match[2] === 'm') restyle(style, match[1] ?? '');
  }
  push(text.length);
  return spans;
}

/** The text alone. */
export function plainText(text: string): string {
  return text.replace(SEQUENCE, '');
}

/** What is left of a line with carriage returns in it (progress bars): the part after the last. */
export function overwritten(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '\r') end -= 1;
  return end === 0 ? text : text.slice(text.lastIndexOf('\r', end - 1) + 1);
}

function spanOf(text: string, style: Style): Span {
  const names = [...style.marks].map((mark) => `a-${mark}`);
  const span: Span = { text, className: '' };
  if (style.fg.startsWith('rgb')) span.color = style.fg;
  else if (style.fg) names.push(`a-fg${style.fg}`);
  if (style.bg.startsWith('rgb')) span.background = style.bg;
  else if (style.bg) names.push(`a-bg${style.bg}`);
  span.className = names.join(' ');
  return span;
}

function restyle(style: Style, parameters: string): void {
  const codes = parameters.split(/[;:]/).map(Number);
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    const mark = MARKS[code];
    if (code === 0) {
      style.marks.clear();
      style.fg = style.bg = '';
    } else if (mark) style.marks.add(mark);
    else if (UNMARKS[code]) for (const name of UNMARKS[code]) style.marks.delete(name);
    else if (code === 38 || code === 48) {
      const [colour, used] = extendedColour(codes.slice(i + 1));
      if (code === 38) style.fg = colour;
      else style.bg = colour;
      i += used;
    } else if (code === 39) style.fg = '';
    else if (code === 49) style.bg = '';
    else if (code >= 30 && code <= 37) style.fg = String(code - 30);
    else if (code >= 40 && code <= 47) style.bg = String(code - 40);
    else if (code >= 90 && code <= 97) style.fg = String(code - 82);
    else if (code >= 100 && code <= 107) style.bg = String(code - 92);
  }
}

/** The colour after 38 or 48, and how many numbers it took: `5;n`, or `2;r;g;b`. */
function extendedColour([kind, ...rest]: number[]): [string, number] {
  if (kind === 5) return [paletteColour(rest[0] ?? 0), 2];
  if (kind === 2) return [rgb(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), 4];
  return ['', 1];
}

/** The 256 colours: sixteen named ones, a cube of 6 × 6 × 6, and 24 greys. */
function paletteColour(index: number): string {
  if (index < 16) return String(index);
  if (index >= 232) return rgb(index * 10 - 2312, index * 10 - 2312, index * 10 - 2312);
  const cube = index - 16;
  return rgb(step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6));
}

function step(value: number): number {
  return value === 0 ? 0 : value * 40 + 55;
}

function rgb(...parts: number[]): string {
  return `rgb(${parts.map((part) => Math.min(255, part || 0)).join(' ')})`;
}
