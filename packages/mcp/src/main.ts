#!/usr/bin/env node
/** `bellwether-mcp`: serves MCP over stdio, or what its first argument says. Standard output belongs to the protocol. */
import { parseArgs } from 'node:util';
import { BellwetherApiError, BellwetherConnectionError } from '@bellwether/sdk';
import { KeystoreError } from '@bellwether/sdk/keystore';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import release from '../../../package.json' with { type: 'json' };
import { init, limit } from './commands.ts';
import { DeskDoor, readConfig } from './desk.ts';
import { createMcpServer } from './mcp-server.ts';
import { DEFAULT_HTTP_PORT, readToken, serveHttp } from './serve-http.ts';
import { createTools } from './tools/index.ts';

const HELP = `bellwether-mcp ${release.version}: prediction markets for language models, through a Bellwether desk

  bellwether-mcp                     serve MCP over stdio: what an MCP client starts
  bellwether-mcp http [--port ${DEFAULT_HTTP_PORT}]  serve MCP over HTTP, on this machine alone, with a token
  bellwether-mcp init [--name NAME]  register an agent, make its keys, store them encrypted
  bellwether-mcp limit               show the spending limit of the day
  bellwether-mcp limit set AMOUNT    set it, with the passphrase typed at a terminal
  bellwether-mcp --help | --version

Environment:
  BELLWETHER_URL              the desk (default http://127.0.0.1:8080)
  BELLWETHER_RELAYER_URL      the venue's relayer, where it is not the live one
  BELLWETHER_DESK_HOST        what the desk calls itself, where it stands behind a proxy
  BELLWETHER_HOME             where keys and limit are (default ~/.bellwether)
  BELLWETHER_PASSPHRASE_FILE  a file with the passphrase of the keys, or
  BELLWETHER_PASSPHRASE       the passphrase itself
  BELLWETHER_API_KEY, BELLWETHER_PRIVATE_KEY, BELLWETHER_SIGNATURE_TYPE, BELLWETHER_SOLANA_KEY
                              keys from here instead of the keystore
  BELLWETHER_KEY_USE          paper or live: what these keys are for
  BELLWETHER_DFLOW_METADATA   another address of venue B's own metadata; never the desk
  BELLWETHER_CONFIRM_ABOVE    ask the person about orders above this amount (default 25)
  BELLWETHER_TIMEOUT_MS       how long one call of the desk may take (default 10000)
  BELLWETHER_ORDER_PROFILE    interface, or polymarket for a desk on the live venue (default interface)
  BELLWETHER_SOLANA_RPC       your own Solana node, for venue B on a live chain
`;

class WrongUsage extends Error {}

interface Command {
  readonly words: readonly string[];
  readonly port: number;
  readonly name: string;
  readonly wants: 'help' | 'version' | null;
}

function readCommand(args: readonly string[]): Command {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        port: { type: 'string' },
        name: { type: 'string' },
      },
    });
    const port = Number(values.port ?? DEFAULT_HTTP_PORT);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new WrongUsage('--port is a number up to 65535.');
    const wants = values.help === true ? 'help' : values.version === true ? 'version' : null;
    return { words: positionals, port, name: values.name ?? 'MCP agent', wants };
  } catch (error) {
    throw error instanceof WrongUsage ? error : new WrongUsage((error as Error).message);
  }
}

// A reader that has gone (EPIPE) ends the writing and nothing else.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const note = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Ends the process once nothing is under way; a second signal ends it at once. */
function onSignal(close: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().then(() => process.exit(0)));
}

async function serve(transport: 'stdio' | 'http', port: number): Promise<void> {
  const config = readConfig(process.env);
  const parts = { door: new DeskDoor({ config }), tools: createTools() };
  const createMcp = () => createMcpServer(parts);
  if (transport === 'stdio') {
    const { close } = serveStdio(createMcp, { onerror: () => {} });
    return onSignal(close);
  }
  const tokenFile = config.place.keys.replace(/\.keys\.json$/, '.mcp-token');
  const handle = await serveHttp({ createMcp, token: readToken(tokenFile), port });
  note(`MCP at ${handle.url}, with "Authorization: Bearer <token>". The token is in ${tokenFile}`);
  onSignal(handle.close);
}

async function run(args: readonly string[]): Promise<void> {
  const { words, port, name, wants } = readCommand(args);
  const [first = 'stdio', second, third] = words;
  if (wants !== null) return say(wants === 'help' ? HELP.trimEnd() : release.version);
  if (words.length === 0) return serve('stdio', port);
  if (first === 'http' && words.length === 1) return serve('http', port);
  const { place } = readConfig(process.env);
  if (first === 'init' && words.length === 1) return init({ env: process.env, place, name, say });
  if (first === 'limit' && words.length === 1) return limit(place, null, say);
  if (first === 'limit' && second === 'set' && third !== undefined && words.length === 3)
    return limit(place, third, say);
  throw new WrongUsage(`"${words.join(' ').slice(0, 100)}" is no command.`);
}

/** One sentence with its next step, and no secret. Exit codes: 1 refused or failed, 2 wrong usage. */
function fail(error: unknown): void {
  process.exitCode = error instanceof WrongUsage ? 2 : 1;
  if (error instanceof WrongUsage) note(`${error.message} Run "bellwether-mcp --help".`);
  else if (error instanceof KeystoreError || error instanceof BellwetherApiError) note(error.message);
  else if (error instanceof BellwetherConnectionError)
    note(`${error.message}. Is the desk running, and does BELLWETHER_URL name it?`);
  else note(error instanceof Error ? error.message : 'Something failed.');
}

await run(process.argv.slice(2)).catch(fail);
