// Output as a terminal would show it.
import { overwritten, plainText, type Span, spansOf } from './ansi.ts';
import { type Matcher, rangesOf } from './search.ts';

/** One line, in its colours, with what is searched marked. */
export function TerminalText({ text, matcher = null }: { text: string; matcher?: Matcher | null }) {
  const spans = spansOf(text);
  const ranges = matcher === null ? [] : rangesOf(plainText(text), matcher);
  return (
    <>
      {(ranges.length === 0 ? spans : marked(spans, ranges)).map((span) => {
        if (span.isMatch) return <mark>{span.text}</mark>;
        return span.className || span.color || span.background ? (
          <span class={span.className} style={{ color: span.color, background: span.background }}>
            {span.text}
          </span>
        ) : (
          span.text
        );
      })}
    </>
  );
}

/** The spans cut where matches begin and end. */
function marked(spans: readonly Span[], ranges: readonly [number, number][]): Span[] {
  const cut: Span[] = [];
  let [at, next] = [0, 0];
  for (const span of spans) {
    let rest = span.text;
    while (rest !== '') {
      const [from, to] = ranges[next] ?? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      const isMatch = at >= from;
      const length = Math.min(rest.length, (isMatch ? to : from) - at);
      cut.push({ ...span, text: rest.slice(0, length), isMatch });
      rest = rest.slice(length);
      at += length;
      if (at >= to) next++;
    }
  }
  return cut;
}

/** Several lines, for a preformatted element. */
export function TerminalLines({ text }: { text: string }) {
  return (
    <>
      {text
        .trimEnd()
        .split('\n')
        .map((line) => (
          <>
            <TerminalText text={overwritten(line)} />
            {'\n'}
          </>
        ))}
    </>
  );
}
