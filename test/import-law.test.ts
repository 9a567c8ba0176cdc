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
    may: ['server', 'contract', 'protocol', 'exchange', 'sandbox', 'durable/embedded', NODE],
    types: ['server/config', 'pino'],
  },
  // Tools beside the service; what they share with it they take from its adapters.
  'server/operations': {
    may: ['server/operations', 'server/adapters', 'server/wiring', 'server/config', 'durable', NODE],
  },
  'server/main': { may: ['server', 'durable/embedded', NODE] },
  'server/config': { may: ['typebox'] },
  'server/http': {
    may: [
      'server/http',
      'server/app',
      'contract',
      'fastify',
      '@fastify',
      '@scalar',
      'cookie',
      'marked',
      'ajv',
      'ajv-formats',
      'prom-client',
      NODE,
    ],
    types: ['server/domain', 'typebox'],
  },
  // The bundler's process, and what serves its files; they read the console's sources and import none.
  'server/http/console': {
    may: ['server/http/console', 'server/http/page-limit', 'server/http/pages', 'fastify', 'rolldown', NODE],
    types: ['server/http/routes'],
  },
  'server/receipts': {
    may: [
      'server/receipts',
      'server/http/use-cases',
      'server/app/refusal',
      'server/app/orders/checked-record',
      'server/domain',
      'server/adapters/postgres/connection',
      'server/adapters/postgres/rows',
      'contract',
      'durable',
    ],
    types: [
      'server/app/owners',
      'server/http/routes',
      'server/jobs/jobs',
      'server/ports',
      'server/adapters/postgres/rows.generated',
    ],
  },
  'server/jobs': { may: ['server/jobs', 'server/app', 'contract'], types: ['server/domain'] },
  'server/app': {
    may: ['server/app', 'server/domain', 'contract', 'protocol'],
    types: ['server/ports'],
  },
  'server/domain': { may: ['server/domain', 'protocol', 'contract/decimals'], types: ['contract'] },
  'server/ports': { may: ['server/ports'], types: ['server/domain', 'protocol', 'contract'] },
  'server/adapters/postgres': {
    may: ['server/adapters/postgres', 'server/domain', 'contract/positions', 'protocol', 'durable', NODE],
    types: ['server/ports', 'contract'],
  },
  // Loaded only where traces are exported.
  'server/adapters/tracing': { may: ['server/adapters/tracing', '@opentelemetry'], types: ['server/ports'] },
  'server/adapters/webhooks': { may: ['server/adapters/webhooks', NODE], types: ['server/ports'] },
  'server/adapters/webauthn': {
    may: ['server/adapters/webauthn', '@simplewebauthn/server'],
    types: ['server/ports'],
  },
  'server/adapters/system': {
    may: ['server/adapters/system', 'server/domain', 'protocol', NODE],
    types: ['server/ports'],
  },
  'server/adapters/outbound': { may: ['server/adapters/outbound', 'typebox', NODE], types: ['server/ports'] },
  'server/adapters/solana': {
    may: [
      'server/adapters/solana',
      'server/adapters/outbound',
      'server/domain',
      'protocol',
      'contract/decimals',
      'typebox',
      ...SOLANA,
      NODE,
    ],
    types: ['server/ports'],
  },
  'server/adapters/signing': {
    may: ['server/adapters/signing', 'protocol', 'typebox', NODE],
    types: ['server/ports'],
  },
  'server/adapters/venues/dflow': {
    may: [
      'server/adapters/venues/dflow',
      'server/adapters/outbound',
      'server/domain',
      'protocol',
      'contract',
      'typebox',
      NODE,
    ],
    types: ['server/ports'],
  },
  'server/adapters/venues/polymarket': {
    may: [
      'server/adapters/venues/polymarket',
      'server/adapters/outbound',
      'server/domain',
      'protocol',
      'contract',
      'typebox',
      'ws',
      NODE,
    ],
    types: ['server/ports'],
  },
  'server/adapters/venues/paper': {
    may: [
      'server/adapters/venues/paper',
      'server/domain',
      'protocol',
      'contract',
      'exchange',
      'minisearch',
      'ws',
      NODE,
    ],
    types: ['server/ports', 'sandbox'],
  },
};

/** Subjects that a user could name: each has what belongs to it in one folder, and others use its index alone. */
const ROOMS = ['server/receipts'];
/** Bring rooms together. Nothing else of the service may know one, but another room. */
const KNOW_ROOMS = ['server/service', 'server/wiring', ...ROOMS];

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
  const room = ROOMS.find((one) => within(edge.to, one));
  if (room !== undefined && !within(edge.from, room)) {
    if (edge.to !== `${room}/index`) return `${edge.from} imports the inside of the room ${room}: ${edge.to}`;
    if (!KNOW_ROOMS.some((one) => within(edge.from, one))) return `${edge.from} imports a room: ${edge.to}`;
  }
  if (rule.may.some((prefix) => within(edge.to, prefix))) return null;
  if (edge.typeOnly && rule.types?.some((prefix) => within(edge.to, prefix))) return null;
  return `${edge.from} imports ${edge.to}${edge.typeOnly ? ' (types)' : ''}`;
}

const files = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^[a-z]+\/src\/.*\.tsx?$/.test(path) && !/\.test\.ts$|\/testing\//.test(path))
  .map((path) => join(PACKAGES, path));
const edges = files.flatMap((file) => edgesOf(file, readFileSync(file, 'utf8')));

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
    ['server/http/resources', "import { bindReceipts } from '../receipts/index.ts';"],
    ['server/receipts/read', "import { createWebhookStore } from '../adapters/postgres/webhook-store.ts';"],
    ['server/domain/orders/draft', "import { readFile } from 'node:fs/promises';"],
    ['server/domain/safeguards', "import type { Clock } from '../ports/clock.ts';"],
    ['server/app/orders', "import { createOrderStore } from '../adapters/postgres/order-store.ts';"],
    ['server/app/orders', "import { openPool } from 'pg';"],
    ['server/http/agents', "import type { AgentStore } from '../ports/stores.ts';"],
    ['server/adapters/postgres/rows', "import { toEvidence } from '../venues/paper/translate.ts';"],
    ['server/app/agents', "import { readConfig } from '../config.ts';"],
    ['server/app/agents', "import type { UseCaseNeeds } from '../wiring/use-cases.ts';"],
    ['server/wiring/tracing', "import { trace } from '@opentelemetry/api';"],
    ['server/http/agents', "import type { UseCaseNeeds } from '../wiring/use-cases.ts';"],
    ['server/jobs/follow-fees', "import type { UseCaseNeeds } from '../wiring/use-cases.ts';"],
    ['server/service', "import { readConfig } from './config.ts';"],
    ['server/jobs/jobs', "import { startService } from '../service.ts';"],
    ['server/app/owners', "import { verifyRegistrationResponse } from '@simplewebauthn/server';"],
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
    ['server/adapters/venues/paper/sandbox-holder', "import { openSandbox } from '@bellwether/sandbox';"],
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
