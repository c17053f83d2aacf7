// A process that only migrates the database at DATABASE_URL: as `wfg migrate`, with half of what that has to load.
import { migrate } from '@wfg/shared/db/migrate';
import { pino } from 'pino';

const applied = await migrate(process.env.DATABASE_URL ?? '', pino({ level: 'silent' }));
console.log(JSON.stringify({ msg: 'migrated', applied }));
