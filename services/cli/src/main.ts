// The wfg command: finds the command that is meant, reads its options, and turns its end into an exit code.
import { parseArgs } from 'node:util';
import { messageOf } from '@wfg/shared/rules/message-of';
import { ConfigError } from '@wfg/shared/runtime/env';
import { VERSION } from '@wfg/shared/runtime/version';
import type { Command, Values } from './command.ts';
import { readCommandLine } from './command-line.ts';
import { cancel } from './commands/cancel.ts';
import { dead } from './commands/dead.ts';
import { enqueue } from './commands/enqueue.ts';
import { helpFor, helpText } from './commands/help.ts';
import { logs } from './commands/logs.ts';
import { migrate } from './commands/migrate.ts';
import { requeue } from './commands/requeue.ts';
import { run } from './commands/run.ts';
import { runs } from './commands/runs.ts';
import { schedules } from './commands/schedules.ts';
import { show } from './commands/show.ts';
import { submit } from './commands/submit.ts';
import { up } from './commands/up.ts';
import { workers } from './commands/workers.ts';
import { EXIT, ExitError, usage } from './exit-error.ts';
import { print, say } from './output.ts';

const commands = new Map<string, Command>(
  Object.entries({
    up,
    run,
    submit,
    enqueue,
    runs,
    show,
    logs,
    cancel,
    dead,
    requeue,
    schedules,
    workers,
    migrate,
  }),
);
commands.set('help', helpFor(commands));

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
  const command = commands.get(known);
  if (command === undefined && name.startsWith('-')) {
    throw usage(
      `only --url, --token and --json may stand before the command: put ${name} behind it, see wfg help`,
    );
  }
  if (command === undefined) throw usage(`there is no command "${name}": see wfg help`);
  const { positionals, values } = parse(known, command, args);
  if (values.help) {
    print(helpText(known, commands));
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
