// Marks of a time axis that people can count in. Pure.
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];

/** Milliseconds from the beginning, 0 first, of at most `most` marks over `length` milliseconds. */
export function marksOf(length: number, most: number): number[] {
  const step = STEPS.find((one) => length / one < most) ?? Math.ceil(length / most);
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}
