/**
 * The architecture as a test: which folder may import what, as data. Every import of every source file is checked against
 * the table; an import that the table does not name fails, and so does an empty walk.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { circlesOf } from './import-circles.ts';

const ROOT = resolve(import.meta.dirname, '..');
const PACKAGES = join(ROOT, 'packages');

/** `types` may be imported as types only. Folders and packages are matched by prefix, the longest rule wins. */
interface Rule {
  readonly may: readonly string[];
  readonly types?: readonly string[];
}

const NODE = 'node:';
const HASHES = ['@noble/curves', '@noble/hashes', '@scure/base'];
const SOLANA = ['@solana', '@solana-program'];

/**
 * Subjects that a user could name: each has what belongs to it in one folder, and others use its index alone. Which
 * libraries a room has beside the platform.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  agents: [],
  approvals: [],
  briefing: [],
  // The bundler's process reads the console's sources and imports none.
  console: ['rolldown', NODE],
  fees: ['typebox', NODE],
  markets: [],
  operator: [],
  orders: [],
  owners: ['@simplewebauthn/server'],
  positions: [],
  quoting: [],
  receipts: [],
  skills: [NODE],
  streams: [],
  trading: [],
  wallets: [],
  webhooks: [NODE],
};
/** The venues' adapters: rooms know what a venue is, never which one. */
const ADAPTERS = ['solana', 'dflow', 'polymarket', 'paper'].map((name) => `server/venues/${name}`);
/** Bring rooms together. */
const WIRES = ['server/service', 'server/wiring'];
const indexOf = (room: string): string => `server/${room}/index`;

function roomLaws(): Record<string, Rule> {
  const shared = ['server/platform', 'server/domain', 'server/venues', 'contract', 'protocol', 'durable'];
  const laws = Object.entries(ROOMS).map(([room, libraries]): [string, Rule] => [
    `server/${room}`,
    {
      may: [`server/${room}`, ...Object.keys(ROOMS).map(indexOf), ...shared, ...libraries],
      types: ['fastify', 'typebox'],
    },
  ]);
  return Object.fromEntries(laws);
}

const LAW: Readonly<Record<string, Rule>> = {
  contract: { may: ['contract', 'typebox'] },
  durable: { may: ['durable', 'pg', NODE] },
  protocol: { may: ['protocol', ...HASHES, 'hash-wasm', '@solana/codecs'] },
  'exchange/engine': { may: ['exchange/engine', 'contract/decimals'] },
  // Outside the engine an amount is a bigint: nothing else may see its doubles (ADR 0027).
  'exchange/world': {
    may: ['exchange/world', 'exchange/engine/engine', 'contract/decimals'],
    types: ['exchange/engine/types'],
  },
  'exchange/history': {
    may: ['exchange/history', 'durable', NODE],
    types: ['exchange/paper-exchange', 'exchange/trade-history', 'contract/decimals'],
  },
  'exchange/journal': {
    may: [
      'exchange/journal',
      'exchange/world',
      'exchange/history/schema',
      'contract',
      'protocol',
      'durable',
      NODE,
    ],
    types: ['exchange/paper-exchange', 'exchange/engine/types'],
  },
  'exchange/doors': {
    may: ['exchange/doors', 'contract', 'protocol', 'fastify', 'ws', NODE],
    types: ['exchange/paper-exchange', 'exchange/trade-history', 'durable'],
  },
  // The package's own edge: opens the exchange.
  exchange: { may: ['exchange', 'contract', 'protocol', 'durable', NODE] },
  // The chain knows neither markets nor the exchange; its door shares the bounds of all doors.
  'sandbox/solana': {
    may: [
      'sandbox/solana',
      'protocol',
      'exchange/doors/limits',
      'exchange/doors/web-sockets',
      'fastify',
      'durable',
      ...SOLANA,
      NODE,
    ],
    types: ['exchange', 'litesvm'],
  },
  // The virtual machine alone, which only the chain's thread opens.
  'sandbox/solana/machine': { may: ['sandbox/solana', 'protocol', 'litesvm'] },
  'sandbox/dflow': {
    may: [
      'sandbox/dflow',
      'sandbox/solana/index',
      'contract',
      'protocol',
      'exchange/doors/limits',
      'fastify',
      ...SOLANA,
      NODE,
    ],
    types: ['exchange', 'durable'],
  },
  // The package's own edge: the venue on its chain, and the process that serves both with the exchange.
  sandbox: { may: ['sandbox', 'exchange', 'contract', 'protocol', 'fastify', 'durable', NODE] },
  sdk: {
    may: ['sdk', 'contract', 'protocol', 'eventsource-parser', ...SOLANA, NODE],
    types: ['typebox'],
  },
  // Runs in browsers: whatever it knows of the desk it asks the desk for.
  console: {
    // Receipts are hashed in the one form that the desk hashes them in.
    may: [
      'console',
      'contract/canonical-json',
      'preact',
      'uplot',
      'eventsource-parser',
      '@simplewebauthn/browser',
    ],
    types: ['contract'],
  },
  // Only programs on Node load it: nothing of the client may need it.
  'sdk/keystore': { may: ['sdk/keystore', 'sdk/inspect', 'contract/decimals', NODE] },
  mcp: {
    may: [
      'mcp',
      'sdk',
      'contract',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/node',
      'zod',
      NODE,
    ],
  },
  cli: { may: ['cli', 'sdk', 'commander', '@bomb.sh/tab', 'cli-table3', NODE] },
  // Wires, and is imported by main alone.
  'server/service': {
    may: ['server', 'contract', 'protocol', 'exchange', 'sandbox', 'pino', NODE],
    types: ['server/config', 'durable/embedded'],
  },
  'server/wiring': {
    may: [
      'server',
      'contract',
      'protocol',
      'exchange',
      'sandbox',
      'durable/embedded',
      'fastify',
      '@fastify',
      NODE,
    ],
    types: ['server/config', 'pino'],
  },
  'server/main': { may: ['server', 'durable/embedded', NODE] },
  'server/config': { may: ['typebox'] },
  // The language that all subjects share. Pure: its files import pure files only.
  'server/domain': { may: ['server/domain', 'protocol', 'contract'] },
  'server/platform': { may: ['server/platform', 'server/domain', 'contract', 'protocol'] },
  'server/platform/http': {
    may: [
      'server/platform',
      'server/domain',
      'contract',
      'fastify',
      '@fastify',
      'cookie',
      'ajv',
      'ajv-formats',
      'prom-client',
      NODE,
    ],
    types: ['server/venues/venue', 'typebox'],
  },
  'server/platform/site': {
    may: ['server/platform', 'contract', 'fastify', '@scalar', 'marked', NODE],
  },
  'server/platform/database': {
    may: ['server/platform/database', 'server/platform', 'server/domain', 'durable', NODE],
    types: ['contract', 'protocol'],
  },
  // Loaded only where traces are exported.
  'server/platform/tracing': {
    may: ['server/platform/tracing', '@opentelemetry'],
  },
  'server/platform/system': {
    may: ['server/platform/system', 'server/domain', 'protocol', NODE],
    types: ['server/platform'],
  },
  'server/platform/outbound': {
    may: ['server/platform/outbound', 'typebox', NODE],
  },
  // Tools beside the service; what they share with it they take from the platform and the wiring.
  'server/operations': {
    may: ['server/platform', 'server/wiring', 'server/config', 'durable', NODE],
  },
  // What a venue is, and which venue a request means. Knows no adapter.
  'server/venues': { may: ['server/venues', 'server/domain', 'server/platform', 'contract', 'protocol'] },
  'server/venues/solana': {
    may: [
      'server/venues/solana',
      'server/platform/outbound',
      'server/domain',
      'protocol',
      'contract/decimals',
      'typebox',
      ...SOLANA,
      NODE,
    ],
    types: ['server/venues'],
  },
  'server/venues/dflow': {
    may: [
      'server/venues/dflow',
      'server/platform/outbound',
      'server/domain',
      'protocol',
      'contract',
      'typebox',
      NODE,
    ],
    types: ['server/venues', 'server/platform'],
  },
  'server/venues/polymarket': {
    may: [
      'server/venues/polymarket',
      'server/platform/outbound',
      'server/domain',
      'protocol',
      'contract',
      'typebox',
      'ws',
      NODE,
    ],
    types: ['server/venues', 'server/platform'],
  },
  'server/venues/paper': {
    may: [
      'server/venues/paper',
      'server/domain',
      'protocol',
      'contract',
      'exchange',
      'minisearch',
      'ws',
      NODE,
    ],
    types: ['server/venues', 'server/platform', 'sandbox'],
  },
  ...roomLaws(),
};

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const IMPORT = /^(?:import|export)\s+(type\s+)?(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/** `packages/server/src/orders/read-orders.ts` → `server/app/orders`; a package → `contract/decimals`; else as written. */
function nameOf(specifier: string, file: string): string {
  if (specifier.startsWith('.')) {
    const [pkg = '', , ...rest] = relative(PACKAGES, resolve(dirname(file), specifier)).split('/');
    return [pkg, ...rest].join('/').replace(/\.tsx?$/, '');
  }
  if (specifier.startsWith('@bellwether/')) return specifier.slice('@bellwether/'.length);
  return builtinModules.includes(specifier) ? NODE + specifier : specifier;
}

function edgesOf(file: string, source: string): Edge[] {
  const from = nameOf(`./${file.slice(dirname(file).length + 1)}`, file);
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, '');
  return [
    ...[...code.matchAll(IMPORT)].map((match) => ({
      from,
      to: nameOf(match[2] ?? '', file),
      typeOnly: match[1] !== undefined,
    })),
    ...[...code.matchAll(DYNAMIC)].map((match) => ({
      from,
      to: nameOf(match[1] ?? '', file),
      typeOnly: false,
    })),
  ];
}

const within = (name: string, prefix: string): boolean =>
  name === prefix || name.startsWith(prefix.endsWith(':') ? prefix : `${prefix}/`);

const ruleFor = (from: string): Rule | undefined => {
  const [best] = Object.keys(LAW)
    .filter((prefix) => within(from, prefix))
    .sort((a, b) => b.length - a.length);
  return best === undefined ? undefined : LAW[best];
};

const roomOf = (name: string): string | null => {
  const [pkg, room = ''] = name.split('/');
  return pkg === 'server' && room in ROOMS ? room : null;
};

/** Files of a room that have statements: they know the database. Others of the room are given what these make. */
const isStatements = (name: string): boolean => roomOf(name) !== null && statements.has(name);
const MAY_HAVE_STATEMENTS = (from: string): boolean =>
  statements.has(from) || from.endsWith('/index') || WIRES.some((wiring) => within(from, wiring));

function violation(edge: Edge): string | null {
  const rule = ruleFor(edge.from);
  if (rule === undefined) return `${edge.from} is in no folder of the law`;
  if (within(edge.to, 'server/main')) return `${edge.from} imports main, which is forbidden`;
  if (within(edge.to, 'server/service') && !within(edge.from, 'server/main'))
    return `${edge.from} imports the wiring; only main may`;
  const wires = ['server/service', 'server/wiring'].some((wiring) => within(edge.from, wiring));
  if (within(edge.to, 'server/wiring') && !wires)
    return `${edge.from} imports the wiring; only service and its parts may`;
  const mayKnowConfig = within(edge.from, 'server/main') || (edge.typeOnly && wires);
  if (within(edge.to, 'server/config') && !mayKnowConfig) return `${edge.from} imports config; only main may`;
  const wired = WIRES.some((wiring) => within(edge.from, wiring));
  const room = roomOf(edge.to);
  if (room !== null && room !== roomOf(edge.from)) {
    if (edge.to !== indexOf(room)) return `${edge.from} imports the inside of the room ${room}: ${edge.to}`;
    if (roomOf(edge.from) === null && !wired) return `${edge.from} imports a room: ${edge.to}`;
  }
  if (ADAPTERS.some((one) => within(edge.to, one) && !within(edge.from, one)) && !wired)
    return `${edge.from} imports the adapter of a venue: ${edge.to}`;
  if (isStatements(edge.to) && !edge.typeOnly && room !== null && !MAY_HAVE_STATEMENTS(edge.from))
    return `${edge.from} imports statements, which it should be given: ${edge.to}`;
  if (rule.may.some((prefix) => within(edge.to, prefix))) return null;
  if (edge.typeOnly && rule.types?.some((prefix) => within(edge.to, prefix))) return null;
  return `${edge.from} imports ${edge.to}${edge.typeOnly ? ' (types)' : ''}`;
}

const files = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^[a-z]+\/src\/.*\.tsx?$/.test(path) && !/\.test\.ts$|\/testing\//.test(path))
  .map((path) => join(PACKAGES, path));
const edges = files.flatMap((file) => edgesOf(file, readFileSync(file, 'utf8')));

const statements = new Set(
  edges.filter(({ to }) => to === 'server/platform/database/connection').map(({ from }) => from),
);

const modules = new Set(files.map((file) => nameOf(`./${file.slice(dirname(file).length + 1)}`, file)));
const OURS = [...new Set([...modules].map((name) => name.slice(0, name.indexOf('/'))))];

/** The file that an import within the repository names; `null` for a library's. */
function moduleOf(to: string): string | null {
  if (!OURS.some((name) => within(to, name))) return null;
  const found = [to, `${to}/index`].find((name) => modules.has(name));
  if (found === undefined) throw new Error(`${to} is imported, and is none of the files that were read`);
  return found;
}

function graphOf(between: (from: string, to: string) => readonly [string, string]): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { from, to } of edges) {
    const target = moduleOf(to);
    if (target === null) continue;
    const [source, end] = between(from, target);
    graph.set(source, (graph.get(source) ?? new Set()).add(end));
  }
  return graph;
}

/** A room by its name; of the rest of the service, its first folder. */
const partOf = (name: string): string => name.split('/').slice(0, 2).join('/');

const packageOf = (name: string): string => name.slice(0, name.indexOf('/'));

describe('circles of imports, types included', () => {
  test('are found in a graph that has some', () => {
    const graph = { a: 'b', b: 'c', c: 'ad', d: 'e', e: 'd', f: 'af', g: 'a' };
    const sets = Object.entries(graph).map(([from, to]) => [from, new Set(to)] as const);
    expect(circlesOf(new Map(sets))).toEqual([['a', 'b', 'c'], ['d', 'e'], ['f']]);
  });

  test('do not exist among files', () => {
    const graph = graphOf((from, to) => [from, to]);
    expect(graph.size).toBeGreaterThan(200);
    expect(circlesOf(graph)).toEqual([]);
  });

  test('do not exist among rooms, the platform, the domain and the venues', () => {
    const graph = graphOf((from, to) => [partOf(from), partOf(to)]);
    for (const [name, imports] of graph) {
      imports.delete(name);
      if (!name.startsWith('server/')) graph.delete(name);
    }
    expect(graph.size).toBeGreaterThan(20);
    expect(circlesOf(graph)).toEqual([]);
  });

  test('do not exist among packages', () => {
    const graph = graphOf((from, to) => [packageOf(from), packageOf(to)]);
    for (const [name, imports] of graph) imports.delete(name);
    expect(circlesOf(graph)).toEqual([]);
  });
});

describe('the import law', () => {
  test('walks every package and finds imports in each', () => {
    for (const name of ['contract', 'protocol', 'exchange', 'sandbox', 'server', 'sdk', 'mcp', 'cli']) {
      expect(edges.filter(({ from }) => from.startsWith(`${name}/`)).length, name).toBeGreaterThan(0);
    }
  });

  test('no file imports what its folder may not import', () => {
    expect(edges.map(violation).filter((text) => text !== null)).toEqual([]);
  });

  test('main imports code only once it runs: what Node has compiled is kept from then on', () => {
    const main = readFileSync(join(PACKAGES, 'server', 'src', 'main.ts'), 'utf8');
    const atOnce = [...main.matchAll(IMPORT)].filter(([, type]) => type === undefined).map(([, , to]) => to);
    expect(atOnce.length).toBeGreaterThan(0);
    expect(atOnce.filter((to) => to?.startsWith('node:') !== true)).toEqual([]);
  });

  test.each([
    ['server/wiring/stores', "import { createReceiptStore } from '../receipts/store.ts';"],
    ['server/platform/http/routes', "import { bindReceipts } from '../../receipts/index.ts';"],
    ['server/platform/http/routes', "import type { OrderStore } from '../../trading/index.ts';"],
    ['server/receipts/read', "import { createWebhookStore } from '../webhooks/store.ts';"],
    ['server/receipts/read', "import { createReceiptStore } from './store.ts';"],
    ['server/orders/read-orders', "import { createEvidenceLog } from '../trading/evidence.ts';"],
    ['server/domain/draft', "import { readFile } from 'node:fs/promises';"],
    ['server/domain/safeguards', "import type { Clock } from '../platform/clock.ts';"],
    ['server/domain/records', "import type { AgentStore } from '../agents/index.ts';"],
    ['server/trading/place-order', "import { openPool } from 'pg';"],
    ['server/trading/place-order', "import { toEvidence } from '../venues/paper/translate.ts';"],
    ['server/venues/venue', "import { toEvidence } from './paper/translate.ts';"],
    ['server/venues/asking', "import type { AgentStore } from '../agents/index.ts';"],
    ['server/platform/database/rows', "import { toEvidence } from '../../venues/paper/translate.ts';"],
    ['server/agents/agents', "import { readConfig } from '../config.ts';"],
    ['server/agents/agents', "import type { UseCaseNeeds } from '../wiring/use-cases.ts';"],
    ['server/wiring/tracing', "import { trace } from '@opentelemetry/api';"],
    ['server/service', "import { readConfig } from './config.ts';"],
    ['server/platform/scheduler', "import { startService } from '../service.ts';"],
    ['server/agents/agents', "import { verifyRegistrationResponse } from '@simplewebauthn/server';"],
    ['exchange/engine/book', "import { randomInt } from 'crypto';"],
    ['exchange/world/world', "import { unitsOf } from '../engine/units.ts';"],
    ['exchange/journal/recovery', "import { EngineState } from '../engine/state.ts';"],
    ['exchange/world/world', "import { keccak_256 } from '@noble/hashes/sha3.js';"],
    ['exchange/doors/polymarket/door', "import { createSolanaRpc } from '@solana/kit';"],
    ['exchange/open-exchange', "import type { Sandbox } from '@bellwether/sandbox';"],
    ['sandbox/solana/chain', "import { LiteSVM } from 'litesvm';"],
    ['sandbox/solana/chain', "import { openExchange } from '@bellwether/exchange';"],
    ['sandbox/solana/chain', "import type { DflowSandbox } from '../dflow/index.ts';"],
    ['sandbox/dflow/settlement', "import { createMachine } from '../solana/machine.ts';"],
    ['server/venues/paper/sandbox-holder', "import { openSandbox } from '@bellwether/sandbox';"],
    ['sdk/client', "import { Engine } from '@bellwether/exchange';"],
    ['cli/run', "import { orderDigest } from '@bellwether/protocol';"],
    ['protocol/order', "import { MICRO } from '@bellwether/contract';"],
    ['contract/fields', "export { join } from 'node:path';"],
    ['protocol/l2', "const hidden = await import('node:crypto');"],
  ])('would refuse, in %s: %s', (from, source) => {
    const [pkg = '', ...rest] = from.split('/');
    const file = join(PACKAGES, pkg, 'src', `${rest.join('/')}.ts`);
    expect(edgesOf(file, source).map(violation)).toEqual([expect.stringContaining(from)]);
  });
});
