// The buttons of a log: search, how it looks, and ways to take it along.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { announce } from '../parts/announcer.tsx';
import { TIMES, type View } from './use-view.ts';

interface Props {
  view: View;
  isSearching: Signal<boolean>;
  /** Of the attempt that is shown, as text. */
  rawUrl: string;
  /** What is copied. */
  textOf: () => string;
  /** Something of it is chosen, and only that is copied. */
  hasRange: boolean;
  onFirstError: (() => void) | null;
}

export function LogTools({ view, isSearching, rawUrl, textOf, hasRange, onFirstError }: Props) {
  const groups = [...view.groups.value.values()];
  const isAnyOpen = groups.some(({ isFolded }) => !isFolded);
  return (
    <div class="log-tools">
      {onFirstError && (
        <button type="button" class="button small" title="Key ." onClick={onFirstError}>
          First error
        </button>
      )}
      <button
        type="button"
        class="button small"
        title="Ctrl+F in the log"
        aria-expanded={isSearching.value}
        onClick={() => (isSearching.value = !isSearching.value)}
      >
        Find
      </button>
      {groups.length > 0 && (
        <button type="button" class="button small" onClick={() => view.foldAll(isAnyOpen)}>
          {isAnyOpen ? 'Fold all' : 'Unfold all'}
        </button>
      )}
      <label class="log-times">
        <span class="unseen">Times beside lines</span>
        <select
          class="field small"
          title="Key t"
          value={view.times.value}
          onChange={(event) =>
            (view.times.value = TIMES.find((one) => one === event.currentTarget.value) ?? 'off')
          }
        >
          {TIMES.map((one) => (
            <option key={one} value={one}>
              {one === 'off' ? 'No times' : `Times: ${one}`}
            </option>
          ))}
        </select>
      </label>
      <Toggle
        label="Wrap"
        title="Key w"
        isOn={view.wrap.value === 'yes'}
        onChange={(isOn) => (view.wrap.value = isOn ? 'yes' : 'no')}
      />
      <Toggle
        label="Only stderr"
        title="Key e"
        isOn={view.errorsOnly.value}
        onChange={(isOn) => (view.errorsOnly.value = isOn)}
      />
      <Copy label={hasRange ? 'Copy lines' : 'Copy'} textOf={textOf} />
      <a class="button small" href={rawUrl} target="_blank" rel="noopener">
        Raw
      </a>
      <a class="button small" href={rawUrl} download>
        Download
      </a>
    </div>
  );
}

interface ToggleProps {
  label: string;
  title: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

function Toggle({ label, title, isOn, onChange }: ToggleProps) {
  return (
    <button
      type="button"
      class="button small"
      title={title}
      aria-pressed={isOn}
      onClick={() => onChange(!isOn)}
    >
      {label}
    </button>
  );
}

const TOLD_MS = 2_000;

function Copy({ label, textOf }: { label: string; textOf: () => string }) {
  const told = useSignal<string | null>(null);
  useEffect(() => {
    if (told.value === null) return undefined;
    const timer = setTimeout(() => (told.value = null), TOLD_MS);
    return () => clearTimeout(timer);
  }, [told.value]);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(textOf());
      told.value = 'Copied';
    } catch {
      // Also where the page is not served by https.
      told.value = 'Not allowed';
    }
    announce(told.value);
  }

  return (
    <button type="button" class="button small" onClick={() => void copy()}>
      {told.value ?? label}
    </button>
  );
}
