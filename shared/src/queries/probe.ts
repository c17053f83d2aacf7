// Whether there is any such row, asked again and again of tables in which there mostly is none.

/**
 * As SQL: there is a row in `rows`, a table with its conditions, ordered as the index on just these rows is. EXISTS would do,
 * but it forgets the order: and while the statistics are of a time when such rows were many, one that is read anywhere
 * seems the cheapest, and the whole table is read to find that there is none.
 */
export function anyOf(rows: string): string {
  return `(select true from ${rows} limit 1) is not null`;
}
