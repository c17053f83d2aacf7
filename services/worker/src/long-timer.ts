// A timer for any length: setTimeout fires at once for more than 24.8 days.

const LONGEST_MS = 2 ** 31 - 1;

/** Calls `action` once after `ms`, unless it is disposed of before. */
export function after(ms: number, action: () => void): Disposable {
  const at = performance.now() + ms;
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    const left = Math.ceil(at - performance.now());
    if (left <= 0) action();
    else timer = setTimeout(arm, Math.min(left, LONGEST_MS));
  }

  arm();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
