// A question before something that cannot be undone.
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';

interface Props {
  title: string;
  children: ComponentChildren;
  yes: string;
  no: string;
  onAnswer: (yes: boolean) => void;
}

/** Open while it is in the page; Escape means no. */
export function Confirm({ title, children, yes, no, onAnswer }: Props) {
  return (
    <Dialog title={title} onClose={() => onAnswer(false)}>
      {children}
      <div class="actions">
        <button type="button" class="button" onClick={() => onAnswer(false)}>
          {no}
        </button>
        <button type="button" class="button danger" onClick={() => onAnswer(true)}>
          {yes}
        </button>
      </div>
    </Dialog>
  );
}
