// What a process counts of ringing and hearing, shown at /metrics of its HEALTH_PORT.
import { Counter, Gauge } from 'prom-client';

export const rungBells = new Counter({
  name: 'wfg_bells_rung_total',
  help: 'Bells that this process has rung, each for all hints of a moment.',
});

export const lanesRungAgain = new Counter({
  name: 'wfg_lanes_rung_again_total',
  help: 'Lanes that this process has rung again, since what it had rung for was still there.',
});

export const heardBells = new Counter({
  name: 'wfg_bells_heard_total',
  help: 'Bells that this process has heard, by what they were about.',
  labelNames: ['about'],
});

export const ownBeats = new Counter({
  name: 'wfg_beats_rung_total',
  help: 'Bells that this process has rung only to find out whether it hears.',
});

export const deafenings = new Counter({
  name: 'wfg_deafened_total',
  help: 'How often this process has ceased to hear.',
});

export const resyncs = new Counter({
  name: 'wfg_resyncs_total',
  help: 'How often this process has read everything again, since it may have missed bells.',
});

export const deaf = new Gauge({
  name: 'wfg_deaf',
  help: '1 while this process does not hear bells.',
});
