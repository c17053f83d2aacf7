// What others wrote, on a terminal: its colours stay, everything else that could take the terminal over is made visible.

const ESCAPE = '\u001b';
const KEPT: ReadonlySet<string> = new Set(['\n', '\r', '\t']);

/** Control characters become their pictures (U+2400…) or U+FFFD; what sets colours is kept. */
export function terminalSafe(text: string): string {
  return text.replaceAll(/\p{Cc}(?:\[[\d;:]*m)?/gu, (match) => {
    const control = match.charAt(0);
    if (control === ESCAPE && match.length > 1) return match;
    return (KEPT.has(control) ? control : picture(control)) + match.slice(1);
  });
}

/** The same as a part of one line: it neither goes back to the line's start nor leaves colours to what follows. */
export function terminalLine(text: string): string {
  const line = terminalSafe(text.replaceAll(/[\r\n]+/g, ' '));
  return line.includes(`${ESCAPE}[`) ? `${line}${ESCAPE}[0m` : line;
}

/** A line of JSON, which is the same JSON with the control characters escaped that `stringify` lets through. */
export function jsonLine(value: object): string {
  return `${JSON.stringify(value).replaceAll(/[\u007f-\u009f]/g, escaped)}\n`;
}

function escaped(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x24_00 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
