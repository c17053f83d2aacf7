// Output of jobs on a terminal: its colours stay, everything else that could take the terminal over is made visible.

const ESCAPE = '\u001b';
const KEPT: ReadonlySet<string> = new Set(['\n', '\r', '\t']);

/** Control characters become their pictures (U+2400…) or U+FFFD; what sets colours is kept. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}(?:\[[\d;:]*m)?/gu, (match) => {
    const control = match.charAt(0);
    if (control === ESCAPE && match.length > 1) return match;
    return (KEPT.has(control) ? control : picture(control)) + match.slice(1);
  });
}

/** Ends what a line's colours began, so that they do not run into what follows. */
export function withoutBleeding(line: string): string {
  return line.includes(`${ESCAPE}[`) ? `${line}${ESCAPE}[0m` : line;
}

function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x24_00 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
