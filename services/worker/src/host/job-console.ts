// A console whose lines become the log of a job.
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { toStorableText } from '@wfg/shared/contract/json';
import type { LogStream } from '@wfg/shared/contract/log';

/** `info` and its like are stdout, `warn` and `error` stderr. */
export function jobConsole(print: (stream: LogStream, text: string) => void): Console {
  const open = (stream: LogStream) =>
    new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        print(stream, toStorableText(text));
        done();
      },
    });
  return new Console({ stdout: open('stdout'), stderr: open('stderr') });
}
