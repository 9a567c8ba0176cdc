/** Balances and allowances of an account. Wire reference 2.10. */
import {
  type Address,
  type ExchangeDomains,
  exchangeDomain,
  OLDER_NEG_RISK_ADAPTER,
  type SignatureType,
  toChecksumAddress,
} from '@bellwether/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { MarketView, NewOrder } from '../../paper-exchange.ts';
import type { L2, Reader } from './authentication.ts';
import type { Faults } from './faults.ts';
import {
  accountOfType,
  accountsOf,
  type DoorExchange,
  openHere,
  type PolymarketDoorOptions,
  parameter,
  TOKEN_ID,
  WireError,
} from './requests.ts';

/** Most balances whose last figure is remembered. */
const MAX_REMEMBERED = 10_000;
const DEPOSIT_WALLET = 3;

interface BalanceQuery {
  readonly account: Address;
  /** '' for collateral. */
  readonly token: string;
}

export function balanceRoutes(door: FastifyInstance, l2: L2, options: PolymarketDoorOptions): void {
  const shown = new ShownBalances(options);

  door.get('/balance-allowance', async (request) => {
    const exchange = openHere(options);
    const asked = askedOf(request, exchange, await l2.reader(request));
    const balance = shown.read(asked, exchange);
    const allowances = listedAllowances(options, asked.token === '');
    // The older client reads `allowance`.
    const [allowance] = Object.values(allowances);
    return { balance: balance.toString(), allowance, allowances };
  });

  door.get('/balance-allowance/update', async (request, reply) => {
    const exchange = openHere(options);
    shown.update(askedOf(request, exchange, await l2.reader(request)), exchange);
    return reply.code(200).send();
  });
}

/** @throws WireError */
function askedOf(request: FastifyRequest, exchange: DoorExchange, { address }: Reader): BalanceQuery {
  const [assetType, token, type] = ['asset_type', 'token_id', 'signature_type'].map((name) =>
    parameter(request, name),
  ) as [string, string, string];
  if (!['COLLATERAL', 'CONDITIONAL', 'CONDITIONAL-V2'].includes(assetType))
    throw new WireError(400, 'Invalid asset type');
  if (!/^[0-3]?$/.test(type)) throw new WireError(400, 'Invalid signature_type');
  const asset = assetType === 'COLLATERAL' ? '' : token;
  if (assetType !== 'COLLATERAL' && !TOKEN_ID.test(asset)) throw new WireError(400, 'Invalid token id');
  const kind = Number(type === '' ? 0 : type) as SignatureType;
  const account = accountOfType(address, kind);
  if (kind !== DEPOSIT_WALLET) return { account, token: asset };
  // An account uses that of its two deposit wallets that holds something.
  const older = accountsOf(address).at(-1)!;
  const isUsed = (one: Address) =>
    exchange.account(one).available > 0n || exchange.account(one).tokens.size > 0;
  return { account: !isUsed(account) && isUsed(older) ? older : account, token: asset };
}

/** Like the venue's, the figure includes what open orders hold. */
function balanceOf({ account, token }: BalanceQuery, exchange: DoorExchange): bigint {
  const view = exchange.account(account);
  if (token === '') return view.available + view.held;
  const listed = exchange.marketByToken(token);
  const held = listed === undefined ? undefined : view.tokens.get(listed.market.conditionId);
  if (held === undefined || listed === undefined) return 0n;
  return listed.outcome === 'YES' ? held.yes + held.yesHeld : held.no + held.noHeld;
}

/** Balances that were shown last: the venue's copy of the chain lags behind it, where the faults say so, until an update is asked for. */
class ShownBalances {
  readonly #options: Pick<PolymarketDoorOptions, 'faults' | 'now'>;
  readonly #last = new Map<string, { readonly balance: bigint; readonly at: number }>();

  constructor(options: Pick<PolymarketDoorOptions, 'faults' | 'now'>) {
    this.#options = options;
  }

  read(asked: BalanceQuery, exchange: DoorExchange): bigint {
    const lagMs = this.#options.faults?.plan.balanceLagMs ?? 0;
    if (lagMs === 0) return balanceOf(asked, exchange);
    const last = this.#last.get(`${asked.account} ${asked.token}`);
    const isFresh = last !== undefined && this.#options.now() - last.at < lagMs;
    return isFresh ? last.balance : this.update(asked, exchange);
  }

  update(asked: BalanceQuery, exchange: DoorExchange): bigint {
    const balance = balanceOf(asked, exchange);
    const key = `${asked.account} ${asked.token}`;
    this.#last.delete(key);
    this.#last.set(key, { balance, at: this.#options.now() });
    const [oldest] = this.#last.keys();
    if (this.#last.size > MAX_REMEMBERED && oldest !== undefined) this.#last.delete(oldest);
    return balance;
  }
}

// Allowances of the venue's contracts, by contract. Paper money needs no approvals: unless a plan of faults names
// allowances, each contract may move everything.

const UNLIMITED = 2n ** 256n - 1n;

type Planned = Pick<Faults, 'plan'> | undefined;

const allowanceOf = (faults: Planned, spender: Address): bigint => {
  const allowances = faults?.plan.allowances ?? null;
  return allowances === null ? UNLIMITED : BigInt(allowances[spender.toLowerCase()] ?? '0');
};

/** As `/balance-allowance` lists them. The older adapter is still among those of collateral. */
function listedAllowances(
  { faults, domains }: { readonly faults?: Faults; readonly domains: ExchangeDomains },
  isCollateral: boolean,
): Readonly<Record<string, string>> {
  const spenders = domains.map(({ verifyingContract }) => verifyingContract);
  if (isCollateral) spenders.push(toChecksumAddress(OLDER_NEG_RISK_ADAPTER) as Address);
  return Object.fromEntries(spenders.map((spender) => [spender, allowanceOf(faults, spender).toString()]));
}

/** Before an order is placed. A BUY in a neg-risk market needs the older adapter, too; of tokens any allowance is all. */
export function missingAllowance(
  { faults, domains }: { readonly faults?: Faults; readonly domains: ExchangeDomains },
  { side }: Pick<NewOrder, 'side'>,
  { market, needed }: { readonly market: MarketView; readonly needed: bigint },
): WireError | null {
  const isOfV2 = market.version === 'v2';
  const contract = exchangeDomain(domains, isOfV2 ? 3 : 2, market.negRisk).verifyingContract;
  const asksOlder = side === 'BUY' && market.negRisk && !isOfV2;
  for (const spender of [contract, ...(asksOlder ? [OLDER_NEG_RISK_ADAPTER] : [])]) {
    const allowed = allowanceOf(faults, spender);
    if (side === 'BUY' ? allowed >= needed : allowed > 0n) continue;
    return new WireError(
      400,
      `not enough balance / allowance: the allowance is not enough -> spender: ${toChecksumAddress(spender)}, allowance: ${allowed}, sum of matched orders: 0, order amount (inc. fees): ${needed}`,
    );
  }
  return null;
}
