/** A desk and venues whose every text was written by an attacker. Ids that the tools work with stay honest where they have to. */

import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';
import { type Fetch, type Market, type Quote, Signer, SolanaSigner } from '@bellwether/sdk';
import type { TSchema } from 'typebox';
import { buyQuote, honestPrepared } from '../../sdk/test/dishonest-desk.ts';

export const AGENT_ID = 'agent-of-the-test';
export const SIGNER = Signer.fromPrivateKey(`0x${'17'.repeat(32)}`, { use: 'paper' });
export const SOLANA = SolanaSigner.fromSecretKey(new Uint8Array(32).fill(5), { use: 'paper' });
const MARKET_IDS = {
  id: '1042',
  venue: 'polymarket',
  conditionId: `0x${'1'.repeat(64)}`,
  clobTokenIds: ['10887229618305499305493883', '89711174926330519158043401'],
  tickSize: '0.01',
  version: 'v1',
  minOrderSize: 5,
  negRisk: false,
  status: 'active',
  active: true,
  resolved: false,
};

/** Draws what the attacker writes, and where he could write anything else. */
export interface Attacker {
  text(): string;
  number(): number;
  flag(): boolean;
}

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** An answer of this shape in which every text, also each key of a record, is the attacker's. */
function hostile(schema: TSchema | Schema, attacker: Attacker): unknown {
  const { type, anyOf, properties, patternProperties, items } = schema as Schema;
  if (anyOf !== undefined) {
    const kinds = attacker.flag() ? anyOf : anyOf.toReversed();
    return hostile(kinds[0]!, attacker);
  }
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, hostile(field, attacker)]),
    );
  if (patternProperties !== undefined)
    return Object.fromEntries(
      Object.values(patternProperties).map((field) => [attacker.text(), hostile(field, attacker)]),
    );
  if (items !== undefined) return [hostile(items, attacker), hostile(items, attacker)];
  if (type === 'number' || type === 'integer') return attacker.number();
  if (type === 'boolean') return attacker.flag();
  if (type === 'null') return null;
  return attacker.text();
}

const operations = (Object.values(contract) as readonly unknown[]).filter(
  (value): value is Operation =>
    typeof value === 'object' && value !== null && 'permission' in value && 'path' in value,
);

function operationFor(method: string, path: string) {
  const candidates = operations.filter((one) => one.method === method);
  const exact = candidates.find((one) => one.path === path);
  const found =
    exact ?? candidates.find((one) => new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
  if (found === undefined) throw new Error(`${method} ${path} is no operation`);
  return found;
}

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } });

/** One event of any kind. */
function eventStream(attacker: Attacker): Response {
  const kinds = Object.entries(contract.RECORDED_STREAM_EVENTS);
  const [type, { data }] = kinds[Math.abs(Math.trunc(attacker.number())) % kinds.length]!;
  const event = { id: attacker.text(), type, createdAt: attacker.text(), agentId: attacker.text() };
  const body = JSON.stringify({ ...event, data: hostile(data, attacker) });
  return new Response(`id: 1\nevent: ${type}\ndata: ${body}\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  });
}

/**
 * Answers every call of the client, or refuses every call where `refuses` says so.
 * @param listed what its market is like; @param prepares the side that it prepares, whatever was asked
 */
export function hostileFetch(
  attacker: Attacker,
  refuses: (operationId: string) => boolean = () => false,
  { listed = {}, prepares }: { readonly listed?: Partial<Market>; readonly prepares?: 'YES' | 'NO' } = {},
): Fetch {
  let market: Market | null = null;
  return async (url, init) => {
    const { pathname } = new URL(url);
    const operation = operationFor(init.method ?? 'GET', pathname);
    if (refuses(operation.id)) {
      const codes = Object.keys(contract.ERRORS);
      const code = attacker.flag()
        ? codes[Math.abs(Math.trunc(attacker.number())) % codes.length]
        : attacker.text();
      const context = { limit: attacker.number(), [attacker.text()]: attacker.text(), used: attacker.text() };
      const errors = [{ path: attacker.text(), code: attacker.text(), message: attacker.text() }];
      const { text } = attacker;
      return json(
        {
          code,
          title: text(),
          detail: text(),
          fix: text(),
          orderId: text(),
          requestId: text(),
          errors,
          context,
        },
        400,
      );
    }
    if (operation.id === 'events') return eventStream(attacker);
    const answer = hostile(operation.response, attacker);
    if (operation.id === 'getMarket') {
      market = { ...(answer as Market), ...MARKET_IDS, ...listed };
      return json(market);
    }
    if (operation.id === 'prepareTrade' && market !== null)
      return json({
        ...(answer as object),
        ...honestPrepared(
          { ...JSON.parse(String(init.body)), ...(prepares === undefined ? {} : { outcome: prepares }) },
          { market, signer: SIGNER, agentId: AGENT_ID },
        ),
      });
    if (operation.id === 'quoteVenueB') {
      const { title, status } = answer as Quote;
      return json({ ...buyQuote(SOLANA.address), title, status, quoteErrorMessage: attacker.text() });
    }
    return json(answer);
  };
}
