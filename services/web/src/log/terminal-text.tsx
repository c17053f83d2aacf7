// Output as a terminal would show it.
import { overwritten, spansOf } from './ansi.ts';

/** One line, in its colours. */
export function TerminalText({ text }: { text: string }) {
  return (
    <>
      {spansOf(text).map((span) =>
        span.className || span.color || span.background ? (
          <span class={span.className} style={{ color: span.color, background: span.background }}>
            {span.text}
          </span>
        ) : (
          span.text
        ),
      )}
    </>
  );
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
