// Which rows of a long list are in view, when every row has the same height. Pure.

/** Browsers cut elements off at some height (the lowest near 17.9 million pixels); beyond this one the scroll bar is scaled. */
export const TALLEST = 8_000_000;
/** Rows drawn beyond each edge, so that a quick scroll does not show blank. */
const SPARE = 15;

interface Window {
  /** First row drawn, and the one after the last. */
  first: number;
  end: number;
  /** Where the first row drawn stands, and how tall the whole list is; pixels. */
  offset: number;
  height: number;
}

/** The window at a scroll position, for rows `row` pixels high; positions beyond the end mean the end. */
export function windowAt(rows: number, row: number, viewport: number, scrollTop: number): Window {
  const height = Math.min(rows * row, TALLEST);
  const lowest = Math.max(0, height - viewport);
  const top = Math.min(Math.max(0, scrollTop), lowest);
  const fits = Math.max(0, rows - viewport / row);
  const topRow = lowest === 0 ? 0 : (top / lowest) * fits;
  const first = Math.max(0, Math.floor(topRow) - SPARE);
  const end = Math.min(rows, Math.ceil(topRow + viewport / row) + SPARE);
  return { first, end, offset: Math.round(top - (topRow - first) * row), height };
}

/** The scroll position that has the row of an index in the middle of the view. */
export function scrollTopOf(rows: number, row: number, viewport: number, index: number): number {
  const lowest = Math.max(0, Math.min(rows * row, TALLEST) - viewport);
  const fits = Math.max(0, rows - viewport / row);
  const topRow = Math.min(fits, Math.max(0, index + 0.5 - viewport / row / 2));
  return fits === 0 ? 0 : (topRow / fits) * lowest;
}
