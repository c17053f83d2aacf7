// Two panes above each other with a bar between them, which is dragged or moved by arrow keys and stays where it was put.
import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

const LEAST = 15;
const MOST = 85;
const KEY_STEP = 5;

interface Props {
  /** Under which it is remembered. */
  name: string;
  /** Of the bar, for screen readers. */
  label: string;
  upper: ComponentChildren;
  lower: ComponentChildren;
}

export function Split({ name, label, upper, lower }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  /** Percent of the height that the upper pane has. */
  const share = useSignal(stored(name));
  useSignalEffect(() => {
    frame.current?.style.setProperty('--upper', `${share.value}%`);
    localStorage.setItem(keyOf(name), String(share.value));
  });
  const set = (value: number) => (share.value = Math.min(MOST, Math.max(LEAST, Math.round(value))));

  function drag(event: PointerEvent & { currentTarget: HTMLElement }): void {
    if (!event.currentTarget.hasPointerCapture(event.pointerId) || !frame.current) return;
    const { top, height } = frame.current.getBoundingClientRect();
    set(((event.clientY - top) / height) * 100);
  }

  return (
    <div class="split" ref={frame}>
      {upper}
      <div
        class="split-bar"
        role="separator"
        aria-orientation="horizontal"
        aria-label={label}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        aria-valuenow={share.value}
        tabIndex={0}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
          event.preventDefault();
          set(share.peek() + (event.key === 'ArrowUp' ? -KEY_STEP : KEY_STEP));
        }}
      />
      {lower}
    </div>
  );
}

function keyOf(name: string): string {
  return `wfg split ${name}`;
}

function stored(name: string): number {
  const value = Number(localStorage.getItem(keyOf(name)));
  return value >= LEAST && value <= MOST ? value : 45;
}
