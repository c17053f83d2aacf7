// A small map of a graph that does not fit, with the part that is seen; pointing at it goes there.
import type { ReadonlySignal } from '@preact/signals';
import type { Drawn } from './drawn.ts';
import { FarNodes } from './far.tsx';
import { seenPart, type Size, type View } from './viewport.ts';

const MOST = { width: 176, height: 104 };

interface Props {
  drawn: ReadonlySignal<Drawn>;
  view: ReadonlySignal<View>;
  size: ReadonlySignal<Size>;
  /** A point of the graph to be in the middle. */
  onGo: (x: number, y: number) => void;
}

export function Overview({ drawn, view, size, onGo }: Props) {
  const { width, height } = drawn.value;
  const part = seenPart(view.value, size.value);
  if (width <= part.width && height <= part.height) return null;
  const scale = Math.min(MOST.width / width, MOST.height / height);
  const [mapWidth, mapHeight] = [Math.max(24, width * scale), Math.max(16, height * scale)];

  function go(event: PointerEvent & { currentTarget: SVGSVGElement }): void {
    if (event.buttons !== 1) return;
    const { left, top } = event.currentTarget.getBoundingClientRect();
    onGo(((event.clientX - left) / mapWidth) * width, ((event.clientY - top) / mapHeight) * height);
  }

  return (
    <svg
      class="graph-map"
      width={mapWidth}
      height={mapHeight}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={go}
    >
      <FarNodes drawn={drawn} />
      <rect class="graph-seen" x={part.x} y={part.y} width={part.width} height={part.height} />
    </svg>
  );
}
