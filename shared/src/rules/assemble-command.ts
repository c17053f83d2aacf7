// A job as one text for `sh -c`: what a worker executes that knows nothing of steps and environments.
import type { CommandSpec, Step } from '../contract/command.ts';
import type { Env } from '../contract/workflow.ts';

/**
 * The variables, then the plain command as it is, or the steps: each in a subshell of its own under `set -e`, below its
 * banner, so that variables, folder and options of one do not reach the next. The first that fails gives the exit code.
 */
export function assembleCommand(env: Env, { run, steps }: Pick<CommandSpec, 'run' | 'steps'>): string {
  if (!steps || steps.length === 0) return [...exports(env), run ?? ''].join('\n');
  return [
    ...exports(env),
    '_wfg_failed=0',
    '_wfg_ended() { [ "$_wfg_failed" -ne 0 ] || _wfg_failed=$1; }',
    ...steps.flatMap(stepLines),
    'exit "$_wfg_failed"',
  ].join('\n');
}

/**
 * `eval` and not a shell of its own, whose argument the system would limit to 128 KiB. The blank keeps bash from taking
 * a leading dash for an option. `set -e` works since nothing here asks for the subshell's end by `if`, `&&` or `||`.
 */
function stepLines({ label, run, env, on_success, on_failure }: Step): string[] {
  if (!on_success && !on_failure) return [];
  const lines = [
    `printf '%s\\n' ${quoted(`=== ${label.replaceAll(/[\r\n]+/g, ' ')} ===`)}`,
    '(',
    'set -e',
    ...exports(env),
    `eval ${quoted(` ${run}`)}`,
    ')',
    '_wfg_ended $?',
  ];
  if (on_success && on_failure) return lines;
  return [`if [ "$_wfg_failed" ${on_success ? '-eq' : '-ne'} 0 ]; then`, ...lines, 'fi'];
}

function exports(env: Env): string[] {
  return Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`);
}

/** As one word of the shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
