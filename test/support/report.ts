// Prints what a bench measured.

/** The median of the values and their range, with so many digits. */
export function report(what: string, values: number[], digits: number): void {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]?.toFixed(digits);
  console.log(`${what}: median ${at(0.5)}, range ${at(0)} to ${at(1)} (${values.length} rounds)`);
}
