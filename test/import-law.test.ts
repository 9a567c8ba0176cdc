/**
 * The architecture as a test: which folder may import what, as data. Every import of every source file is checked against
 * the table; an import that the table does not name fails, and so does an empty walk.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { circlesOf } from './import-circles.ts';
import {
  DECLARATION,
  FOUNDATIONS,
  indexOf,
  LAW,
  NODE,
  REGISTRY,
  ROOMS,
  type Rule,
  VENUES,
  WIRES,
} from './import-law.ts';

const ROOT = resolve(import.meta.dirname, '..');
const PACKAGES = join(ROOT, 'packages');

interface Edge {
  readonly from: string;
  /** Loaded only when the code is run. */
  readonly isLate?: boolean;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** Of code: JSON imports nothing. */
const IMPORT = /^(?:import|export)\s+(type\s+)?(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+(?<!\.json))['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/** `packages/server/src/orders/read-orders.ts` → `server/orders/read-orders`; a package → `contract/decimals`; else as written. */
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
      isLate: true,
    })),
  ];
}

const within = (name: string, prefix: string): boolean =>
  name === prefix || name.startsWith(prefix.endsWith(':') ? prefix : `${prefix}/`);

const ruleFor = (from: string): Rule | undefined => {
  if (isDeclaration(from)) return DECLARATION;
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
const mayHaveStatements = (from: string): boolean =>
  statements.has(from) || from.endsWith('/index') || WIRES.some((wiring) => within(from, wiring));

/** The type of a venue's declaration. */
const DECLARED = 'server/venues/configured';
/** The files of settings that the table of all settings collects. */
const isDeclaration = (name: string): boolean => declarations.has(name);

function violation(edge: Edge): string | null {
  const rule = ruleFor(edge.from);
  if (rule === undefined) return `${edge.from} is in no folder of the law`;
  if (within(edge.to, 'server/main')) return `${edge.from} imports main, which is forbidden`;
  const isProcess = within(edge.from, 'server/main') || within(edge.from, 'server/banner');
  if (within(edge.to, 'server/service') && !isProcess)
    return `${edge.from} imports the wiring; only main may`;
  const wires = ['server/service', 'server/wiring'].some((wiring) => within(edge.from, wiring));
  const isTable = edge.from === 'server/config' && edge.to === REGISTRY;
  if (within(edge.to, 'server/wiring') && !wires && !isTable)
    return `${edge.from} imports the wiring; only service and its parts may`;
  const mayKnowConfig = isProcess || (edge.typeOnly && wires);
  if (within(edge.to, 'server/config') && !mayKnowConfig) return `${edge.from} imports config; only main may`;
  if (isDeclaration(edge.to) && within(edge.from, 'server/config')) return null;
  if (isDeclaration(edge.from) && edge.typeOnly && dirname(edge.from) === dirname(edge.to)) return null;
  const wired = WIRES.some((wiring) => within(edge.from, wiring));
  const room = roomOf(edge.to);
  if (room !== null && room !== roomOf(edge.from)) {
    if (edge.to !== indexOf(room)) return `${edge.from} imports the inside of the room ${room}: ${edge.to}`;
    if (roomOf(edge.from) === null && !wired) return `${edge.from} imports a room: ${edge.to}`;
  }
  const folder = [...VENUES, ...FOUNDATIONS].find((one) => within(edge.to, one) && !within(edge.from, one));
  if (folder !== undefined) {
    const isIndex = edge.to === `${folder}/index`;
    const isVenue = VENUES.includes(folder);
    if (isVenue && !(isIndex && edge.from === REGISTRY))
      return `${edge.from} imports a venue's adapter, which only the registry may: ${edge.to}`;
    if (!isIndex) return `${edge.from} imports the inside of ${folder}: ${edge.to}`;
    const mayUse = wired || VENUES.some((one) => within(edge.from, one)) || edge.from === DECLARED;
    if (!mayUse) return `${edge.from} imports what venues share: ${edge.to}`;
  }
  if (isStatements(edge.to) && !edge.typeOnly && room !== null && !mayHaveStatements(edge.from))
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

/** Collect settings: the table, and the declarations of venues, which it reads. */
const DECLARES = ['server/config', ...VENUES.map((venue) => `${venue}/index`)];
const declarations = new Set(
  edges
    .filter(({ from, to }) => DECLARES.includes(from) && /(\/|-)settings$/.test(to))
    .map(({ to }) => to)
    .filter((name) => name !== 'server/platform/settings'),
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

/** A room by its name; of the rest of the service, its first folder. The registry is below the wiring: settings are read by it. */
const partOf = (name: string): string => (name === REGISTRY ? name : name.split('/').slice(0, 2).join('/'));

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

  test('settings are read before anything else is loaded, the code of venues included', () => {
    const loaded = new Set(['server/config']);
    for (const name of loaded)
      for (const { to } of edges.filter(
        ({ from, typeOnly, isLate }) => from === name && !typeOnly && !isLate,
      ))
        loaded.add(moduleOf(to) ?? to);
    const libraries = [...loaded].filter((name) => !modules.has(name));
    expect(new Set(libraries)).toEqual(new Set(['typebox', 'typebox/value']));
    expect([...loaded].filter((name) => name.endsWith('/open'))).toEqual([]);
    expect(loaded.size).toBeGreaterThan(15);
  });

  test.each([
    ['server/wiring/stores', "import { createReceiptStore } from '../receipts/store.ts';"],
    ['server/platform/http/routes', "import { bindReceipts } from '../../receipts/index.ts';"],
    ['server/platform/http/routes', "import type { OrderStore } from '../../trading/index.ts';"],
    ['server/receipts/read', "import { createWebhookStore } from '../webhooks/store.ts';"],
    ['server/receipts/read', "import { createReceiptStore } from './store.ts';"],
    ['server/orders/read-orders', "import { createEvidenceLog } from '../trading/outcomes.ts';"],
    ['server/domain/draft', "import { readFile } from 'node:fs/promises';"],
    ['server/domain/safeguards', "import type { Clock } from '../platform/clock.ts';"],
    ['server/domain/records', "import type { AgentStore } from '../agents/index.ts';"],
    ['server/trading/place-order', "import { openPool } from 'pg';"],
    ['server/trading/place-order', "import { toEvidence } from '../venues/paper/translate.ts';"],
    ['server/wiring/venues', "import { dflowVenue } from '../venues/dflow/index.ts';"],
    ['server/wiring/use-cases', "import { refusalOfCountry } from '../venues/dflow/open.ts';"],
    ['server/wiring/venue-registry', "import { openDflow } from '../venues/dflow/open.ts';"],
    ['server/venues/polymarket/open', "import { dflowVenue } from '../dflow/index.ts';"],
    ['server/venues/polymarket/open', "import { createPaperVenue } from '../paper/paper-venue.ts';"],
    ['server/wiring/paper', "import { toEvidence } from '../venues/paper/translate.ts';"],
    ['server/venues/venue', "import { toEvidence } from './paper/translate.ts';"],
    ['server/venues/asking', "import type { AgentStore } from '../agents/index.ts';"],
    ['server/platform/database/migrate', "import { toEvidence } from '../../venues/paper/translate.ts';"],
    ['server/agents/agents', "import { readConfig } from '../config.ts';"],
    ['server/agents/agents', "import type { UseCaseNeeds } from '../wiring/use-cases.ts';"],
    ['server/wiring/tracing', "import { trace } from '@opentelemetry/api';"],
    ['server/fees/settings', "import { createFeeStore } from './store.ts';"],
    ['server/fees/settings', "import { fetchSend } from '../platform/outbound/http.ts';"],
    ['server/wiring/use-cases', "import { feeSettings } from '../fees/settings.ts';"],
    ['server/config', "import { createFeeStore } from './fees/index.ts';"],
    ['server/service', "import { readConfig } from './config.ts';"],
    ['server/platform/scheduler', "import { startService } from '../service.ts';"],
    ['server/agents/agents', "import { verifyRegistrationResponse } from '@simplewebauthn/server';"],
    ['exchange/engine/market', "import { randomInt } from 'crypto';"],
    ['exchange/world/world', "import { unitsOf } from '../engine/amounts.ts';"],
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
    ['protocol/authentication', "const hidden = await import('node:crypto');"],
  ])('would refuse, in %s: %s', (from, source) => {
    const [pkg = '', ...rest] = from.split('/');
    const file = join(PACKAGES, pkg, 'src', `${rest.join('/')}.ts`);
    expect(edgesOf(file, source).map(violation)).toEqual([expect.stringContaining(from)]);
  });
});
