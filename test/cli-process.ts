/** The command line as a process of its own, as a shell starts it. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runCli } from '../packages/cli/src/cli.ts';
import { afterFile } from './setup/clean-up.ts';
import { standIn } from './stand-in.ts';

const MAIN = join(import.meta.dirname, '..', 'packages', 'cli', 'src', 'main.ts');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ReturnType<typeof spawn>;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
}

/** Environment of a program: the path of this process, and where compiled modules are kept. It has ended after the file. */
export function startCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], { env: { PATH, NODE_COMPILE_CACHE, ...env } });
  afterFile('processes', () => child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** Runs to the end. @param input what it reads from standard input; none by default */
export function cliProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Ended> {
  const { child, ended } = startCli(args, env);
  child.stdin?.end(input);
  return ended;
}

class Kept extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk;
    done();
  }
}

/** Keys that a test makes and throws away: every command that reads them derives them again. */
export const KEY_COST = 2 ** 14;

/** The same in this process: a start of Node takes longer than most commands. */
export async function cli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Ended> {
  const [stdout, stderr] = [new Kept(), new Kept()];
  const stdin = Readable.from([Buffer.from(input)]);
  const code = await runCli(args, { stdin, stdout, stderr, env, keyCost: KEY_COST });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** A terminal of 100 columns, as a person has it: waits for each text, then types the answer to it. */
const TERMINAL = `
import fcntl, json, os, pty, struct, sys, termios
args, env, dialogue = json.load(sys.stdin)
pid, fd = pty.fork()
if pid == 0:
    os.execve(args[0], args, env)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
seen = looked = b''
while True:
    try:
        chunk = os.read(fd, 65536)
    except OSError:
        break
    if not chunk:
        break
    seen += chunk
    looked += chunk
    while dialogue and dialogue[0][0].encode() in looked:
        looked = looked.split(dialogue[0][0].encode(), 1)[1]
        os.write(fd, dialogue.pop(0)[1].encode())
status = os.waitpid(pid, 0)[1]
json.dump({'code': os.waitstatus_to_exitcode(status), 'screen': seen.decode()}, sys.stdout)
`;

/** For the terminal's side; `null` without one. */
export const python =
  ['/usr/bin/python3', 'python3'].find((name) => spawnSync(name, ['-c', 'import pty']).status === 0) ?? null;

export interface Screen {
  readonly code: number;
  /** Everything that was written to the terminal, both streams. */
  readonly screen: string;
}

/** @param dialogue what to wait for, and what to type then */
export async function cliAtTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  dialogue: readonly (readonly [string, string])[],
): Promise<Screen> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(python as string, ['-c', TERMINAL]);
  afterFile('processes', () => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stdin.end(
    JSON.stringify([
      [process.execPath, MAIN, ...args],
      { PATH, NODE_COMPILE_CACHE, TERM: 'xterm', ...env },
      dialogue,
    ]),
  );
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(output) as Screen;
}

export interface Passed {
  readonly status: number;
  readonly body: string;
}

/** Decides what a desk that is dishonest, or not well, does with a request: `pass` asks the real one. */
export type Instead = (
  request: { readonly method: string; readonly path: string; readonly body: string },
  pass: () => Promise<Passed>,
) => Promise<Passed | 'hang' | 'cut'>;

/** A desk between the program and the real one. @returns its address */
export const deskBetween = (url: string, instead: Instead): Promise<string> =>
  standIn(async ({ method, url: path, headers: asked, body }, response) => {
    const { authorization, 'content-type': type } = asked;
    const pass = async (): Promise<Passed> => {
      const headers = {
        ...(authorization === undefined ? {} : { authorization }),
        ...(type === undefined ? {} : { 'content-type': type }),
      };
      const answer = await fetch(url + path, { method, headers, ...(body === '' ? {} : { body }) });
      return { status: answer.status, body: await answer.text() };
    };
    const answer = await instead({ method, path, body }, pass);
    if (answer === 'cut') response.destroy();
    else if (answer !== 'hang')
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
