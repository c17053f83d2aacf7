// The ways in which a secret shows up in output: as it is, line by line, escaped, and in base64.

/** What is shorter would mask ordinary text all over the log. */
const SHORTEST = 4;
/** Encoded text of fewer characters tells little, and is found everywhere. */
const SHORTEST_ENCODED = 8;
/** Where base64 and openssl break their lines. */
const LINE_WIDTHS = [76, 64];

/** All texts to mask for a secret; none if it is shorter than 4 characters. */
export function secretForms(secret: string): Set<string> {
  // Without the line feed at its end, so that masked output keeps its lines.
  const value = secret.trim().toWellFormed();
  if (value.length < SHORTEST) return new Set();
  const lines = value.split(/\r\n|\r|\n/).map((line) => line.trim());
  const plain = [value, ...lines, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
  return new Set([
    ...plain.filter((form) => form.length >= SHORTEST),
    ...base64Forms(value).filter((form) => form.length >= SHORTEST_ENCODED),
  ]);
}

/** Also within something larger that was encoded, where the secret begins at any of three places in a group. */
function base64Forms(value: string): string[] {
  const inner = [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(value)]);
    // Without the characters at its ends that depend on neighbours too.
    return bytes.toString('base64').slice(Math.ceil((shift * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  const whole = ['', '\n', '\n\n']
    .map((end) => value + end)
    .map((text) => Buffer.from(text).toString('base64'));
  const wrapped = whole.flatMap((text) => LINE_WIDTHS.flatMap((width) => piecesOf(text, width)));
  const forms = [...inner, ...whole, ...wrapped];
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

function piecesOf(text: string, width: number): string[] {
  const count = Math.ceil(text.length / width);
  return Array.from({ length: count }, (_, index) => text.slice(index * width, (index + 1) * width));
}
