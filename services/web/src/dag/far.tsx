// The graph from afar, where no word can be read: one path for each state.
import { type ReadonlySignal, useComputed } from '@preact/signals';
import type { Tone } from '../parts/face.ts';
import { type Drawn, toneOf } from './drawn.ts';

interface Props {
  drawn: ReadonlySignal<Drawn>;
  /** The job whose box stands out. */
  chosen?: ReadonlySignal<string | null>;
}

export function FarNodes({ drawn, chosen }: Props) {
  const { x, y, width, height } =
    drawn.value.boxes[drawn.value.at.get(chosen?.value ?? '') ?? -1]?.rect ?? {};
  const paths = useComputed(() => {
    const lines = new Map<Tone, string[]>();
    for (const box of drawn.value.boxes) {
      const tone = toneOf(box);
      const { x, y, width, height } = box.rect;
      const line = `M${x} ${y}h${width}v${height}h${-width}z`;
      const known = lines.get(tone);
      if (known) known.push(line);
      else lines.set(tone, [line]);
    }
    return [...lines].map(([tone, all]) => ({ tone, line: all.join('') }));
  });
  return (
    <>
      {paths.value.map(({ tone, line }) => (
        <path key={tone} class="graph-far" data-tone={tone} d={line} />
      ))}
      {width !== undefined && <rect class="graph-chosen" x={x} y={y} width={width} height={height} />}
    </>
  );
}
