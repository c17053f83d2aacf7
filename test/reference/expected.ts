// What the pipelines in workflows/ must report: the rows that the SQL beside this file computes, and a few
// values worked out by hand, each with the command that gave it, run in the data folder of vega-datasets.

/** A band of distance in flights.sql; the whole has no key and no worst hour or route. Delays in minutes. */
export type FlightsRow = {
  key: string | null;
  flights: number;
  late: number;
  delay_sum: number;
  min: number;
  median: number;
  p90: number;
  max: number;
  worst_hour: string | null;
  worst_hour_p90: number | null;
  worst_route: number | null;
  worst_route_median: number | null;
  late_rank: number;
};

/** A year in weather.sql; the whole has no year and no dry spell. Temperatures in °C. */
export type WeatherRow = {
  year: number | null;
  days: number;
  rain_mm: number;
  wet_days: number;
  sunny_days: number;
  snowy_days: number;
  median_high: number;
  hottest: string;
  hottest_c: number;
  coldest: string;
  coldest_c: number;
  dry_spell_days: number | null;
  dry_spell_from: string | null;
};

/** Values by name: an output of the report job, or `<row>.<column>` of the rows in its output `report`. */
export type Values = Readonly<Record<string, string | number | null>>;

export const FLIGHTS_BY_HAND: Values = {
  // grep -o '{' flights-200k.json | wc -l
  total: 200_000,
  // grep -oE '"delay":(1[5-9]|[2-9][0-9]|[1-9][0-9]{2,}),' flights-200k.json | wc -l
  late: 45_080,
  // grep -oE '"distance":18[5-9][0-9],' flights-200k.json | wc -l
  'miles-1850.flights': 347,
  // The 174th of those 347:
  // grep -oE '"delay":[^,]*,"distance":18[5-9][0-9],' flights-200k.json | cut -d : -f 2 | sort -n \
  //   | sed -n 174p
  'miles-1850.median': 1,
  // The hour from 00:15 has 23 flights of 400 to 449 miles, and 9/10 of 23, rounded up, is 21:
  // grep -oE '"delay":[^,]*,"distance":4[0-4][0-9],"time":(0\.2[5-9]|0\.[3-9]|1\.[01]|1\.2[0-4])' \
  //   flights-200k.json | cut -d : -f 2 | sort -n | sed -n 21p
  'miles-0400.worst_hour_p90': 287,
};

export const WEATHER_BY_HAND: Values = {
  // grep -c '^20' seattle-weather.csv
  days: 1461,
  // cut -d , -f 1,3 seattle-weather.csv | sort -t , -k 2n | tail -n 1
  hottest: '2014-08-11',
  // grep ^2015 seattle-weather.csv | cut -d , -f 2 | paste -s -d + | bc
  '2015.rain_mm': 1139.2,
  // The longest line of marks, one for each dry day:
  // grep ^2012 seattle-weather.csv | cut -d , -f 2 | sed 's/^0\.0$/-/; t; s/.*/w/' | tr -d '\n' | tr w '\n' \
  //   | sort | tail -n 1 | tr -d '\n' | wc -c
  '2012.dry_spell_days': 48,
};
