// How many columns of a terminal a text takes: some characters take two, and some none.

const SEGMENTS = new Intl.Segmenter();
const NONE = /^[\p{M}\p{Cf}]+$/u;
const TWO =
  /^(?:\p{Emoji_Presentation}|\p{RI}|.\uFE0F|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;
/** Most texts have nothing else. */
const PLAIN = /^[\u0020-\u02ff]*$/;

/** Of a text on one line, without escape sequences. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTS.segment(text)) width += widthOfSegment(segment);
  return width;
}

/** The text, or when it is wider than `width` its beginning, `…` and its end, where names have their numbers. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const segments = Array.from(SEGMENTS.segment(text), ({ segment }) => segment);
  const end = firstOf(segments.toReversed(), Math.floor((width - 1) / 3))
    .toReversed()
    .join('');
  const beginning = firstOf(segments, width - 1 - widthOf(end)).join('');
  return `${beginning}…${end}`;
}

/** As many as fit. */
function firstOf(segments: readonly string[], width: number): string[] {
  let left = width;
  const over = segments.findIndex((segment) => {
    left -= widthOfSegment(segment);
    return left < 0;
  });
  return segments.slice(0, over);
}

export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function widthOfSegment(segment: string): number {
  if (NONE.test(segment)) return 0;
  return TWO.test(segment) ? 2 : 1;
}
