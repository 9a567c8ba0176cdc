/** A language model's side of MCP: the official client, scripted, over both transports and both generations of the protocol. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'vitest';
import { init } from '../packages/mcp/src/commands.ts';
import { DeskDoor, readConfig } from '../packages/mcp/src/desk.ts';
import { createMcpServer } from '../packages/mcp/src/mcp-server.ts';
import { type HttpHandle, serveHttp } from '../packages/mcp/src/serve-http.ts';
import { createTools } from '../packages/mcp/src/tools/index.ts';
import { KEY_COST } from './cli-process.ts';
import { afterFile, temporaryFolder } from './setup/clean-up.ts';

const MCP_MAIN = join(import.meta.dirname, '..', 'packages', 'mcp', 'src', 'main.ts');
export const PASSPHRASE = 'a passphrase for tests';

export type Transport = 'stdio' | 'http';
/** `2025` opens with initialize and keeps a session; `2026` sends each request alone. */
export type Generation = '2025' | '2026';

export type McpEnvironment = Readonly<Record<string, string>>;

export const environmentFor = (url: string, more: McpEnvironment = {}): McpEnvironment => ({
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
  BELLWETHER_URL: url,
  BELLWETHER_HOME: temporaryFolder(),
  BELLWETHER_PASSPHRASE: PASSPHRASE,
  // A busy machine is no frozen desk.
  BELLWETHER_TIMEOUT_MS: '60000',
  ...more,
});

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How the server is started: from the sources unless a test has installed it. */
export interface Program {
  readonly node: string;
  readonly main: string;
}
const FROM_SOURCES: Program = { node: process.execPath, main: MCP_MAIN };

/** `bellwether-mcp` with these arguments, to its end. */
export function runMcp(
  args: readonly string[],
  env: McpEnvironment,
  { node, main }: Program = FROM_SOURCES,
): Promise<Ended> {
  const child = spawn(node, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...output })));
}

/** An environment whose keystore has a registered agent with a wallet on paper; its keys are cheap to read. */
export async function readyEnvironment(url: string, more: McpEnvironment = {}): Promise<McpEnvironment> {
  const env = environmentFor(url, more);
  await init({ env, place: readConfig(env).place, name: 'MCP agent', say: () => {}, cost: KEY_COST });
  return env;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Facts = Record<string, any>;

export interface Person {
  /** The person's answer; without it the client cannot ask. */
  readonly answer?: (question: string) => { action: 'accept' | 'decline' | 'cancel'; confirm?: boolean };
}

export interface Model {
  readonly client: Client;
  /** The facts of an answer. @throws ToolFailure */
  call(name: string, args?: object, options?: { signal?: AbortSignal }): Promise<Facts>;
  /** The code of the refusal; fails when there is none. */
  refusal(name: string, args?: object): Promise<Facts>;
  readonly questions: readonly string[];
  close(): Promise<void>;
}

export async function startHttp(
  env: McpEnvironment,
  more: { readonly mostSessions?: number; readonly idleMs?: number } = {},
): Promise<HttpHandle> {
  const parts = { door: new DeskDoor({ config: readConfig(env) }), tools: createTools() };
  const handle = await serveHttp({
    createMcp: () => createMcpServer(parts),
    token: 'token-of-tests',
    port: 0,
    ...more,
  });
  afterFile('services', handle.close);
  return handle;
}

export async function connect(
  env: McpEnvironment,
  {
    transport = 'stdio',
    generation = '2026',
    person = {},
    url,
    program = FROM_SOURCES,
  }: {
    readonly transport?: Transport;
    readonly generation?: Generation;
    readonly person?: Person;
    /** Client of a server over HTTP that runs already. */
    readonly url?: string;
    readonly program?: Program;
  } = {},
): Promise<Model> {
  const questions: string[] = [];
  const { answer } = person;
  const client = new Client(
    { name: 'scripted', version: '1' },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: generation === '2025' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message);
      const { action, confirm } = answer(params.message);
      return action === 'accept' ? { action, content: { confirm: confirm ?? true } } : { action };
    });
  if (transport === 'stdio') {
    await client.connect(
      new StdioClientTransport({
        command: program.node,
        args: [program.main],
        env: { ...env },
        stderr: 'pipe',
      }),
    );
  } else {
    const at = url ?? (await startHttp(env)).url;
    await client.connect(
      new StreamableHTTPClientTransport(new URL(at), {
        requestInit: { headers: { authorization: 'Bearer token-of-tests' } },
      }),
    );
  }
  afterFile('services', () => client.close());
  return {
    client,
    questions,
    close: () => client.close(),
    async call(name, args = {}, options = {}) {
      const result = await client.callTool({ name, arguments: { ...args } }, options);
      const [first] = result.content as { type: string; text: string }[];
      if (result.isError === true) throw new Error(first?.text);
      // Said once.
      expect(result.structuredContent).toBeUndefined();
      expect(result.content).toHaveLength(1);
      return JSON.parse(first?.text ?? '') as Facts;
    },
    async refusal(name, args = {}) {
      const result = await client.callTool({ name, arguments: { ...args } });
      expect(result).toMatchObject({ isError: true });
      const { error, ...rest } = JSON.parse((result.content as { text: string }[])[0]?.text ?? '');
      expect(error).toMatchObject({
        code: expect.any(String),
        message: expect.any(String),
        fix: expect.any(String),
      });
      return { ...error, ...rest };
    },
  };
}
