/** Which folder may import what, as data: import-law.test.ts holds every import to it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** `types` may be imported as types only. Folders and packages are matched by prefix, the longest rule wins. */
export interface Rule {
  readonly may: readonly string[];
  readonly types?: readonly string[];
}

export const NODE = 'node:';
const HASHES = ['@noble/curves', '@noble/hashes', '@scure/base'];
const SOLANA = ['@solana', '@solana-program'];

/**
 * Subjects that a user could name: each has what belongs to it in one folder, and others use its index alone. Which
 * libraries a room has beside the platform.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  agents: [],
  approvals: [],
  briefing: [],
  // The bundler's process reads the console's sources and imports none.
  console: ['rolldown', NODE],
  exits: [],
  fees: ['typebox', NODE],
  markets: [],
  operator: [],
  orders: [],
  owners: ['@simplewebauthn/server'],
  positions: [],
  quoting: [],
  receipts: [],
  skills: [NODE],
  statements: [NODE],
  streams: [],
  trading: [],
  wallets: [],
  webhooks: [NODE],
};
/** Shared by several venues: they and the wiring use the index. */
export const FOUNDATIONS = ['server/venues/paper', 'server/venues/solana'];
/** The folders of the venues that can be configured: the registry imports their index, and nothing else knows which there are. */
export const VENUES = readdirSync(join(import.meta.dirname, '../packages/server/src/venues'), {
  withFileTypes: true,
})
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `server/venues/${name}`)
  .filter((folder) => !FOUNDATIONS.includes(folder));
export const REGISTRY = 'server/wiring/venue-registry';
/** Bring rooms together. */
export const WIRES = ['server/service', 'server/wiring'];
export const indexOf = (room: string): string => `server/${room}/index`;

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

/** Declares settings beside what they configure. The table imports these files directly, so they import next to nothing. */
export const DECLARATION: Rule = { may: ['server/platform/settings', 'server/venues/settings'] };

export const LAW: Readonly<Record<string, Rule>> = {
  contract: { may: ['contract', 'typebox'] },
  durable: { may: ['durable', 'pg', NODE] },
  protocol: { may: ['protocol', ...HASHES, 'hash-wasm', '@solana/codecs'] },
  'exchange/engine': { may: ['exchange/engine', 'contract/decimals', 'contract/positions'] },
  // Outside the engine an amount is a bigint: nothing else may see its doubles (docs/decisions/paper-exchange.md).
  'exchange/world': {
    may: ['exchange/world', 'exchange/engine/engine', 'contract/decimals'],
    types: ['exchange/engine/commands'],
  },
  'exchange/history': {
    may: ['exchange/history', 'durable', NODE],
    types: ['exchange/paper-exchange', 'exchange/trade-history', 'contract/decimals'],
  },
  'exchange/journal': {
    may: ['exchange/journal', 'exchange/world', 'contract', 'protocol', 'durable', NODE],
    types: ['exchange/paper-exchange', 'exchange/engine/commands'],
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
  // Runs in browsers: it asks the desk for everything that it knows of it.
  console: {
    // Receipts are hashed in the one form that the desk hashes them in; a misspelt code is found before it is sent.
    may: [
      'console',
      'contract/canonical-json',
      'contract/recovery-code',
      'preact',
      'uplot',
      'eventsource-parser',
      '@simplewebauthn/browser',
    ],
    types: ['contract'],
  },
  // Only programs on Node load it: nothing of the client may need it.
  'sdk/keystore': { may: ['sdk/keystore', 'sdk/errors', 'contract/decimals', NODE] },
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
  'server/main': { may: ['server', 'durable', NODE] },
  'server/banner': { may: [NODE], types: ['server/config', 'server/service'] },
  // The table of all settings: main parses the environment by it before anything else is loaded.
  'server/config': {
    may: ['server/platform/settings', REGISTRY],
    types: ['server/venues'],
  },
  // The language that all subjects share. Pure: its files import pure files only.
  'server/domain': { may: ['server/domain', 'protocol', 'contract'] },
  'server/platform': { may: ['server/platform', 'server/domain', 'contract', 'protocol'] },
  'server/platform/settings': { may: ['typebox'] },
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
  // Defines venues and the declaration of their folders, and finds the venue that a request means. Knows none of them.
  'server/venues': {
    may: ['server/venues', 'server/domain', 'server/platform', 'contract', 'protocol'],
    types: ['exchange', 'fastify'],
  },
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
      'server/venues/paper',
      'server/venues/solana',
      'sandbox',
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
      'server/venues/paper',
      'exchange',
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
