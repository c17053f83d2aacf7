// The wfg command: finds the command that is meant, reads its options, and turns its end into an exit code.
import { parseArgs } from 'node:util';
import { messageOf } from '@wfg/shared/rules/message-of';
import { ConfigError } from '@wfg/shared/runtime/env';
import { VERSION } from '@wfg/shared/runtime/version';
import type { Command, LoadCommand, Values } from './command.ts';
import { readCommandLine } from './command-line.ts';
import { helpFor, helpText } from './commands/help.ts';
import { EXIT, ExitError, usage } from './exit-error.ts';
import { print, say } from './output.ts';

/** Each is loaded when it is meant: it needs much that no other does. */
const commands = new Map<string, LoadCommand>(
  Object.entries({
    up: async () => (await import('./commands/up.ts')).up,
    run: async () => (await import('./commands/run.ts')).run,
    submit: async () => (await import('./commands/submit.ts')).submit,
    enqueue: async () => (await import('./commands/enqueue.ts')).enqueue,
    runs: async () => (await import('./commands/runs.ts')).runs,
    show: async () => (await import('./commands/show.ts')).show,
    logs: async () => (await import('./commands/logs.ts')).logs,
    cancel: async () => (await import('./commands/cancel.ts')).cancel,
    rerun: async () => (await import('./commands/rerun.ts')).rerun,
    retry: async () => (await import('./commands/retry.ts')).retry,
    dead: async () => (await import('./commands/dead.ts')).dead,
    requeue: async () => (await import('./commands/requeue.ts')).requeue,
    schedules: async () => (await import('./commands/schedules.ts')).schedules,
    workers: async () => (await import('./commands/workers.ts')).workers,
    migrate: async () => (await import('./commands/migrate.ts')).migrate,
  }),
);
commands.set('help', () => Promise.resolve(helpFor(commands)));

process.exitCode = await main(process.argv.slice(2));

async function main(argv: string[]): Promise<number> {
  try {
    const { name, args } = readCommandLine(argv);
    return await execute(name, args);
  } catch (err) {
    for (const line of messageOf(err).split('\n')) say(line);
    if (err instanceof ExitError) return err.exitCode;
    return err instanceof ConfigError ? EXIT.usage : EXIT.failed;
  }
}

async function execute(name: string, args: string[]): Promise<number> {
  if (name === '--version' || name === '-v') {
    print(`${VERSION}\n`);
    return EXIT.ok;
  }
  const known = name === '--help' || name === '-h' ? 'help' : name;
  const load = commands.get(known);
  if (load === undefined && name.startsWith('-')) {
    throw usage(
      `only --url, --token and --json may stand before the command: put ${name} behind it, see wfg help`,
    );
  }
  if (load === undefined) throw usage(`there is no command "${name}": see wfg help`);
  const command = await load();
  const { positionals, values } = parse(known, command, args);
  if (values.help) {
    print(helpText(known, command));
    return EXIT.ok;
  }
  const [least, most] = command.arity;
  if (positionals.length < least || positionals.length > most)
    throw usage(`usage: wfg ${known} ${command.usage}`.trimEnd());
  return command.run(positionals, values);
}

function parse(
  name: string,
  { options }: Command,
  args: string[],
): { positionals: string[]; values: Values } {
  const help = { type: 'boolean', short: 'h' } as const;
  try {
    return parseArgs({ args, options: { ...options, help }, allowPositionals: true, strict: true });
  } catch (err) {
    const [first = ''] = messageOf(err).split('. ', 1);
    throw usage(`${first}: see wfg help ${name}`);
  }
}
