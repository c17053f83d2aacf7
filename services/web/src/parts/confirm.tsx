// A question before something that cannot be undone.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface Props {
  title: string;
  children: ComponentChildren;
  yes: string;
  no: string;
  onAnswer: (yes: boolean) => void;
}

/** Open while it is in the page; Escape means no. */
export function Confirm({ title, children, yes, no, onAnswer }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="confirm" ref={dialog} aria-labelledby="confirm-title" onClose={() => onAnswer(false)}>
      <h2 id="confirm-title">{title}</h2>
      {children}
      <div class="actions">
        <button type="button" class="button" onClick={() => onAnswer(false)}>
          {no}
        </button>
        <button type="button" class="button danger" onClick={() => onAnswer(true)}>
          {yes}
        </button>
      </div>
    </dialog>
  );
}
