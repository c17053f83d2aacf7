// Checks the reports of the pipelines against the SQL in test/reference, which reads the same raw data.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Queryable } from '@wfg/shared/db/pool';
import {
  FLIGHTS_BY_HAND,
  type FlightsRow,
  type Values,
  WEATHER_BY_HAND,
  type WeatherRow,
} from '../reference/expected.ts';

/** The outputs of a pipeline's job `report`, as the API gives them. */
export type Outputs = Readonly<Record<string, string>>;

/** The folder with the raw files, for `--env DATA=…`. */
export function vegaDataDir(): string {
  // The package exports its build only; the data lies beside it.
  const build = createRequire(import.meta.url).resolve('vega-datasets');
  return path.join(path.dirname(build), '../data');
}

/** @throws an error with each value of flights.yml that differs from what the SQL, or the hand, found. */
export async function compareFlights(db: Queryable, outputs: Outputs, dataDir: string): Promise<void> {
  const raw = await readFile(path.join(dataDir, 'flights-200k.json'), 'utf8');
  const { rows } = await db.query<FlightsRow>(await reference('flights'), [raw]);
  const whole = rows.find((row) => row.key === null);
  const bands = rows.filter((row) => row.key !== null).toSorted((a, b) => a.late_rank - b.late_rank);
  expectSame('flights', reported(outputs, 'key'), FLIGHTS_BY_HAND, {
    total: whole?.flights ?? null,
    keys: bands.length,
    late: whole?.late ?? null,
    delay_sum: whole?.delay_sum ?? null,
    min_delay: whole?.min ?? null,
    median_delay: whole?.median ?? null,
    p90_delay: whole?.p90 ?? null,
    max_delay: whole?.max ?? null,
    worst_key: bands.at(0)?.key ?? null,
    best_key: bands.at(-1)?.key ?? null,
    ...byRow(bands, 'key'),
  });
}

/** @throws an error with each value of weather.yml that differs from what the SQL, or the hand, found. */
export async function compareWeather(db: Queryable, outputs: Outputs, dataDir: string): Promise<void> {
  const raw = await readFile(path.join(dataDir, 'seattle-weather.csv'), 'utf8');
  const { rows } = await db.query<WeatherRow>(await reference('weather'), [raw]);
  const whole = rows.find((row) => row.year === null);
  const years = rows.filter((row) => row.year !== null);
  expectSame('weather', reported(outputs, 'year'), WEATHER_BY_HAND, {
    years: years.length,
    days: whole?.days ?? null,
    rain_mm: whole?.rain_mm ?? null,
    wet_days: whole?.wet_days ?? null,
    wettest_year: years.toSorted((a, b) => b.rain_mm - a.rain_mm)[0]?.year ?? null,
    hottest: whole?.hottest ?? null,
    coldest: whole?.coldest ?? null,
    ...byRow(years, 'year'),
  });
}

function reference(name: string): Promise<string> {
  return readFile(new URL(`../reference/${name}.sql`, import.meta.url), 'utf8');
}

/** All outputs by name, those in the rows of `report` as `<row>.<column>`. */
function reported({ report = '[]', ...outputs }: Outputs, key: string): Values {
  const rows: Values[] = JSON.parse(report);
  return { ...outputs, ...byRow(rows, key) };
}

function byRow(rows: readonly Values[], key: string): Values {
  return Object.fromEntries(
    rows.flatMap((row) =>
      Object.entries(row)
        .filter(([column]) => column !== key)
        .map(([column, value]) => [`${row[key]}.${column}`, value]),
    ),
  );
}

function expectSame(pipeline: string, found: Values, byHand: Values, bySql: Values): void {
  const faults = [
    ...Object.keys(found)
      .filter((name) => !Object.hasOwn(bySql, name))
      .map((name) => `${name}: ${found[name]} in the report, unknown to the SQL`),
    ...differences(found, bySql, 'by SQL'),
    ...differences(found, byHand, 'by hand'),
  ];
  if (faults.length > 0) throw new Error(`The report of ${pipeline}.yml is wrong:\n${faults.join('\n')}`);
}

/** Outputs are text: where a number is expected, the number that the text stands for is compared. */
function differences(found: Values, expected: Values, means: string): string[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    const text = found[name] ?? '';
    const same = typeof value === 'number' ? text !== '' && Number(text) === value : text === value;
    return same ? [] : [`${name}: ${text === '' ? 'missing' : text} in the report, ${value} ${means}`];
  });
}
