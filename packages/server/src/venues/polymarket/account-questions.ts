/** Questions of the adapter about accounts: the CLOB with an account's own credential, and the public positions. */
import { divide, MICRO, type Micro, PIPS } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import { isPositionId } from '@bellwether/protocol';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { VenueHttp } from './http.ts';
import { l2Headers, type OwnedKeys } from './l2-headers.ts';
import { nextOf } from './paging.ts';
import { microOf, pipsOf } from './translate-market.ts';
import { READ } from './wire.ts';

const MAX_ORDER_PAGES = 200;
const MAX_POSITION_PAGES = 20;
/** The smallest order that may rest, of five shares, in millionths. */
const LEAST_MILLIONTHS = 5_000_000n;

/** Figures of the collateral, or of one token. */
export interface AssetFigures {
  readonly balance: Micro;
  readonly allowances: ReadonlyMap<string, Micro>;
}

/** Needs of open orders: collateral for BUYs, and tokens by id for SELLs. */
export interface Holds {
  readonly collateral: Micro;
  readonly tokens: ReadonlyMap<string, Micro>;
}

export interface AccountSources {
  readonly clob: VenueHttp;
  readonly data: VenueHttp;
  readonly clock: { now(): number };
}

export const without = (of: Micro, held: Micro): Micro => (of > held ? of - held : 0n);

/** Positions of Protocol V2 are another contract's. */
const assetTypeOf = (tokenId: string | null): string => {
  if (tokenId === null) return 'COLLATERAL';
  return isPositionId(BigInt(tokenId)) ? 'CONDITIONAL-V2' : 'CONDITIONAL';
};

export function createQuestions({ clob, data, clock }: AccountSources) {
  const read = <T>(
    keys: OwnedKeys,
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    check: (value: unknown) => T | null,
  ) => clob.read({ path, query, headers: l2Headers(keys, { method: 'GET', path }, clock.now()) }, check);
  const assetQuery = (keys: OwnedKeys, tokenId: string | null) => ({
    asset_type: assetTypeOf(tokenId),
    token_id: tokenId ?? undefined,
    signature_type: keys.signatureType,
  });

  return {
    async refresh(keys: OwnedKeys, tokenId: string | null): Promise<boolean> {
      const path = '/balance-allowance/update';
      const headers = l2Headers(keys, { method: 'GET', path }, clock.now());
      return (await clob.ask({ path, query: assetQuery(keys, tokenId), headers })).status < 300;
    },

    async balance(keys: OwnedKeys, tokenId: string | null): Promise<AssetFigures> {
      const found = await read(keys, '/balance-allowance', assetQuery(keys, tokenId), READ.balanceAllowance);
      if (found === null) throw new VenueUnavailable('The venue does not tell what the account has.');
      const allowances = Object.entries(found.allowances ?? {});
      return {
        balance: BigInt(found.balance),
        allowances: new Map(allowances.map(([spender, amount]) => [spender.toLowerCase(), BigInt(amount)])),
      };
    },

    async holds(keys: OwnedKeys, account: Address): Promise<Holds> {
      const path = '/data/orders';
      const rows = await clob.lists.all<unknown>({
        name: path,
        whose: keys.secrets.apiKey,
        mostPages: MAX_ORDER_PAGES,
        idOf: (row) => READ.openOrder(row)?.id ?? null,
        async ask(cursor) {
          const page = await read(keys, path, { next_cursor: cursor }, READ.ordersPage);
          return { rows: page?.data ?? [], next: nextOf(page?.next_cursor) };
        },
      });
      let needed = 0n;
      const tokens = new Map<string, Micro>();
      const orders = rows.flatMap((row) => READ.openOrder(row) ?? []);
      const sizeOf = unitOf(orders.map(({ original_size }) => String(original_size)));
      for (const order of orders) {
        if (order.maker_address.toLowerCase() !== account) continue;
        const left = without(sizeOf(order.original_size), sizeOf(order.size_matched ?? '0'));
        if (order.side === 'SELL') tokens.set(order.asset_id, (tokens.get(order.asset_id) ?? 0n) + left);
        else needed += divide(left * BigInt(pipsOf(order.price, 'ceil') ?? PIPS), BigInt(PIPS), 'ceil');
      }
      return { collateral: needed, tokens };
    },

    async positions(account: Address): Promise<ReadonlyMap<string, Micro>> {
      const path = '/v2/positions';
      const rows = await data.lists.all<unknown>({
        name: path,
        whose: account,
        mostPages: MAX_POSITION_PAGES,
        idOf: (row) => READ.dataPosition(row)?.token_id ?? null,
        async ask(cursor) {
          const query = { user: account, limit: 1_000, cursor };
          const page = await data.read({ path, query }, READ.dataPage);
          return { rows: page?.data ?? [], next: nextOf(page?.pagination?.next_cursor) };
        },
      });
      const held = new Map<string, Micro>();
      for (const row of rows) {
        const position = READ.dataPosition(row);
        if (position !== null) held.set(position.token_id, microOf(position.current_size));
      }
      return held;
    },
  };
}

/** How a list writes shares: as decimals, in some deployments all of them as whole millionths. */
function unitOf(sizes: readonly string[]): (text: string | number) => Micro {
  const areMillionths =
    sizes.length > 0 && sizes.every((size) => /^\d+$/.test(size) && BigInt(size) >= LEAST_MILLIONTHS);
  return areMillionths ? (text) => microOf(text) / MICRO : microOf;
}
