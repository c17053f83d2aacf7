// What the worker and its spawner say to each other over their channel.

/** The variable by which a process of an attempt is found again, also when it left its session. */
export const MARK = 'WFG_PROCESS_MARK';

export interface StartRequest {
  op: 'start';
  id: number;
  /** An absolute path, and what is passed to it. */
  file: string;
  args: string[];
  cwd: string;
  /** All of the command's environment. */
  env: Record<string, string>;
  mark: string;
  /** Pipes whose read ends the worker has open. */
  stdout: string;
  stderr: string;
}

export type Request =
  | StartRequest
  | { op: 'fifos'; id: number; paths: string[] }
  /** A process of the worker's own is to be killed with it, and all that it started. */
  | { op: 'guard'; id: number; pid: number; mark: string }
  /** The worker has no more interest in the command or the guarded process, nor in what is left of its tree. */
  | { op: 'forget'; id: number };

export interface Exited {
  op: 'exited';
  id: number;
  pid: number;
  code: number | null;
  signal: string | null;
  /** Background children are left in its process group. */
  groupLeft: boolean;
}

/** `done`, with the pid of what was started, and `refused` answer the request with that id. */
export type Reply =
  | { op: 'done'; id: number; pid: number }
  | { op: 'refused'; id: number; error: string }
  | Exited;
