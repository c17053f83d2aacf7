// Whether what the page shows is live, in the header.
import { useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { now } from '../clock.ts';
import type { LiveState } from '../live/connection.ts';
import { live } from '../live/live.ts';
import { announce } from './announcer.tsx';

const WORDS: Record<LiveState, string> = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  stale: 'Not live',
};

export function ConnectionState() {
  const state = live.state.value;
  const wasStale = useRef(false);
  useSignalEffect(() => {
    const stale = live.state.value === 'stale';
    if (stale && !wasStale.current) announce('Connection lost: the page may be out of date');
    if (live.state.value === 'live' && wasStale.current) announce('Connected again');
    if (stale || live.state.value === 'live') wasStale.current = stale;
  });
  return (
    <div class="connection" data-state={state}>
      <span class="connection-dot" aria-hidden="true" />
      <span>
        {WORDS[state]}
        {state !== 'live' && <RetryIn />}
      </span>
      {(state === 'stale' || state === 'reconnecting') && (
        <button type="button" class="button small" onClick={() => live.wake()}>
          Try now
        </button>
      )}
    </div>
  );
}

function RetryIn() {
  const at = live.retryAt.value;
  if (at === null) return null;
  const seconds = Math.ceil((at - now.value) / 1000);
  return seconds > 0 ? <span class="connection-wait"> ({seconds} s)</span> : null;
}
