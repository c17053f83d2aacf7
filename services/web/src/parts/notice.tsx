// A line about something that went wrong, in the place where it matters.
import type { ComponentChildren } from 'preact';

export function Notice({ children }: { children: ComponentChildren }) {
  return (
    <p class="notice" role="alert">
      {children}
    </p>
  );
}
