// Both changes of the clock in two time zones in 2027, and the ticks documented for them (deploy/workflow-file.md).

interface Change {
  timezone: 'Europe/Berlin' | 'America/New_York';
  season: 'spring' | 'autumn';
  /** Ticks after this… */
  begin: string;
  /** … and up to this. */
  end: string;
}

type Cron = '30 2 * * *' | '*/15 * * * *' | '0 * * * *';

/** In the order of time. */
export const CHANGES: Change[] = [
  { timezone: 'America/New_York', season: 'spring', begin: '2027-03-14T05:50Z', end: '2027-03-14T09:00Z' },
  { timezone: 'Europe/Berlin', season: 'spring', begin: '2027-03-27T23:50Z', end: '2027-03-28T03:00Z' },
  { timezone: 'Europe/Berlin', season: 'autumn', begin: '2027-10-30T22:50Z', end: '2027-10-31T03:00Z' },
  { timezone: 'America/New_York', season: 'autumn', begin: '2027-11-07T03:50Z', end: '2027-11-07T08:00Z' },
];

/** In UTC. */
export const CHANGE_TICKS: Record<`${Cron} ${Change['timezone']} ${Change['season']}`, string[]> = {
  // 02:30 is skipped: it ticks at 03:00, when the skipped hour would have ended.
  '30 2 * * * America/New_York spring': ['2027-03-14T07:00'],
  '30 2 * * * Europe/Berlin spring': ['2027-03-28T01:00'],
  // 02:30 comes twice in Berlin and ticks the first time; in New York it is 01:00 to 02:00 that does.
  '30 2 * * * Europe/Berlin autumn': ['2027-10-31T00:30'],
  '30 2 * * * America/New_York autumn': ['2027-11-07T07:30'],
  // Every quarter of an hour that there is.
  '*/15 * * * * America/New_York spring': [...quarters('2027-03-14', 6, 8), '2027-03-14T09:00'],
  '*/15 * * * * Europe/Berlin spring': [...quarters('2027-03-28', 0, 2), '2027-03-28T03:00'],
  '*/15 * * * * Europe/Berlin autumn': [
    ...quarters('2027-10-30', 23, 23),
    ...quarters('2027-10-31', 0, 2),
    '2027-10-31T03:00',
  ],
  '*/15 * * * * America/New_York autumn': [...quarters('2027-11-07', 4, 7), '2027-11-07T08:00'],
  // Every hour that there is.
  '0 * * * * America/New_York spring': hours('2027-03-14', 6, 9),
  '0 * * * * Europe/Berlin spring': hours('2027-03-28', 0, 3),
  '0 * * * * Europe/Berlin autumn': ['2027-10-30T23:00', ...hours('2027-10-31', 0, 3)],
  '0 * * * * America/New_York autumn': hours('2027-11-07', 4, 8),
};

function hours(day: string, first: number, last: number, minutes: readonly string[] = ['00']): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) =>
    String(first + index).padStart(2, '0'),
  ).flatMap((hour) => minutes.map((minute) => `${day}T${hour}:${minute}`));
}

function quarters(day: string, first: number, last: number): string[] {
  return hours(day, first, last, ['00', '15', '30', '45']);
}
