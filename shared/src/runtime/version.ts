// The version of this wfg: what workers register with and the command prints.
import manifest from '../../package.json' with { type: 'json' };

export const VERSION = manifest.version;
