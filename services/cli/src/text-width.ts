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

/** The text, or its beginning and `…` when it is wider than `width`. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let left = width - 1;
  for (const { segment } of SEGMENTS.segment(text)) {
    left -= widthOfSegment(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function widthOfSegment(segment: string): number {
  if (NONE.test(segment)) return 0;
  return TWO.test(segment) ? 2 : 1;
}
