/**
 * Settles an open order: the liquidity provider trades it in the exchange from its own account, and one transaction on
 * the chain pays every party.
 *
 * The id of the LP's order in the exchange derives from the user's message, and the exchange keeps every order
 * permanently. So after any crash the settlement first asks the exchange for the outcome of an open order, and trades
 * only when the exchange does not know it. To sell a user N contracts the LP splits N sets and sells the other outcome,
 * which on the unified book equals buying; so it always owns at least what it has issued. The trade is all or nothing,
 * sized to what the book can fill within the user's terms at that moment. The chain's transaction and the end of the
 * order's record are one commit; when the chain refuses the transaction, the input is returned.
 *
 * The vault holds one USDC for every outcome token that exists, until the market is resolved and the backing of the
 * losing tokens returns to the LP.
 */
import { MICRO, type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import type { Sql } from '@bellwether/durable';
import type {
  EngineEvent,
  Level,
  NewOrder,
  Outcome,
  PaperExchange,
  PublicCommand,
} from '@bellwether/exchange';
import {
  paperEscrowAddress,
  readTransaction,
  type SolanaAddress,
  transactionId,
  USDC_MINT,
} from '@bellwether/protocol';
import type { SandboxChain, Statement } from '../solana/index.ts';
import type { Catalog, ListedMarket } from './catalog.ts';
import type { Closing, OrderRow, Orders } from './orders.ts';
import { type Lot, payoutOf, priceBuy, priceExactly, priceSell, venueFee } from './pricing.ts';
import { isResting, type Switches } from './refusals.ts';
import { tokenAccountOf } from './tokens.ts';
import type * as Transactions from './transactions.ts';
import type { Vaults } from './vaults.ts';

export type SettlementExchange = Pick<
  PaperExchange,
  'execute' | 'account' | 'book' | 'orderRecord' | 'market'
>;

interface SettlementParts {
  readonly sql: Sql;
  readonly exchange: SettlementExchange;
  readonly chain: SandboxChain;
  readonly catalog: Catalog;
  readonly orders: Orders;
  readonly vaults: Vaults;
  readonly switches: Switches;
  readonly build: typeof Transactions;
  now(): number;
  log(message: string, details?: unknown): void;
}

/** The liquidity provider's account in the exchange. */
export const LP_ACCOUNT = 'dflow:lp';

/** Least collateral of one deposit to the LP's account in the exchange when its balance is low. */
const TOP_UP: Micro = 5_000_000n * MICRO;
/** Pause of an order whose input could not be returned: its owner must repair the account first. */
const STUCK_MS = 60_000;

interface Trade {
  /** Micro-contracts. */
  readonly size: Micro;
  /** Collateral that the LP paid or received, and the venue's fee on top. */
  readonly cost: Micro;
  readonly fee: Micro;
}

const NOTHING: Closing = { filledIn: 0n, filledOut: 0n, fee: 0n, reverted: 0n };
const other = (outcome: Outcome): Outcome => (outcome === 'YES' ? 'NO' : 'YES');

export class Settlement {
  readonly #parts: SettlementParts;

  constructor(parts: SettlementParts) {
    this.#parts = parts;
  }

  /** Settles one open order. @throws when its progress is unknown; then call it again. */
  async settle(order: OrderRow): Promise<void> {
    if (order.kind === 'REDEEM') return this.#redeem(order);
    const trade = await this.#trade(order);
    if (trade === null) return this.#revert(order);
    const settled =
      order.kind === 'BUY' ? await this.#deliver(order, trade) : await this.#payOut(order, trade);
    if (!settled) await this.#revert(order);
  }

  /** The LP's trade for it, made here or earlier; `null` when nothing can be traded within its terms. */
  async #trade(order: OrderRow): Promise<Trade | null> {
    const { exchange } = this.#parts;
    const orderId = `dflow:${order.messageHash}`;
    const past = await exchange.orderRecord(orderId);
    if (past !== undefined) return tradeOf(order, past.events);
    const placing = this.#plan(order, orderId);
    if (placing === null) return null;
    // All applied in this turn of the event loop: no other command runs between the plan and the trade.
    const done = placing.map((command) => exchange.execute(command));
    return tradeOf(
      order,
      (await Promise.all(done)).flat().filter((event) => 'orderId' in event && event.orderId === orderId),
    );
  }

  /** The LP's commands for the part that the book can fill within the order's terms. */
  #plan(order: OrderRow, orderId: string): PublicCommand[] | null {
    const { exchange, switches, now } = this.#parts;
    if (switches.fill === 'revert' || isResting(switches, now())) return null;
    const { conditionId, outcome } = order;
    const book = exchange.book(conditionId, outcome);
    if (book === undefined || exchange.market(conditionId)?.status !== 'open') return null;
    const isBuy = order.kind === 'BUY';
    const within = isBuy ? fitBuy(order, book.asks, switches.fill) : fitSell(order, book.bids, switches.fill);
    if (within === null) return null;
    const placed: NewOrder = {
      orderId,
      account: LP_ACCOUNT,
      conditionId,
      outcome: isBuy ? other(outcome) : outcome,
      side: 'SELL',
      limit: isBuy ? PIPS - within.worst : within.worst,
      size: within.size,
      timeInForce: 'FOK',
      postOnly: false,
    };
    return [...this.#inventory(placed, isBuy), { kind: 'place', order: placed }];
  }

  /** Makes the LP own what it sells: for a BUY always new sets, because its other tokens back other orders. */
  #inventory({ conditionId, outcome, size }: NewOrder, isBuy: boolean): PublicCommand[] {
    const { available, tokens } = this.#parts.exchange.account(LP_ACCOUNT);
    const held = tokens.get(conditionId);
    const free = isBuy || held === undefined ? 0n : outcome === 'YES' ? held.yes : held.no;
    if (free >= size) return [];
    const sets = size - free;
    const split: PublicCommand = { kind: 'split', account: LP_ACCOUNT, conditionId, amount: sets };
    if (available >= sets) return [split];
    return [{ kind: 'deposit', account: LP_ACCOUNT, amount: sets + TOP_UP }, split];
  }

  async #deliver(order: OrderRow, { size, cost, fee }: Trade): Promise<boolean> {
    const { build, vaults, catalog } = this.#parts;
    const mint = (await this.#marketOf(order, catalog)).mints[order.outcome];
    const escrow = paperEscrowAddress(USDC_MINT);
    // Rounding on fractional offers may cost a micro-unit more than the escrow holds: the LP pays it, not the user.
    const charged = cost + fee < order.inAmount ? cost + fee : order.inAmount;
    const left = order.inAmount - charged;
    const { accounts, settlement, lp } = vaults;
    const receiving = this.#accountOf(order.recipient, mint);
    return this.#commit(order, {
      instructions: [
        build.openAccount({ payer: settlement.address, ...receiving }),
        this.#usdc(escrow, accounts.lp, settlement.address, charged),
        this.#usdc(accounts.lp, accounts.vault, lp.address, size),
        build.mintTo({ mint, account: receiving.account, authority: settlement.address, amount: size }),
        ...this.#giveBack(order, { mint: USDC_MINT, from: escrow, amount: left }),
      ],
      closing: {
        filledIn: charged,
        filledOut: size,
        fee,
        // Change is not a revert; a fill below the promised least is partial.
        reverted: size < order.minOut ? left : 0n,
      },
    });
  }

  async #payOut(order: OrderRow, { size, cost, fee }: Trade): Promise<boolean> {
    const { build, vaults, catalog } = this.#parts;
    const mint = (await this.#marketOf(order, catalog)).mints[order.outcome];
    const { accounts, settlement } = vaults;
    const escrow = paperEscrowAddress(mint);
    // At very low prices the fee is capped at the proceeds.
    const charged = fee < cost ? fee : cost;
    const proceeds = cost - charged;
    const receiving = this.#accountOf(order.recipient, USDC_MINT);
    return this.#commit(order, {
      instructions: [
        build.openAccount({ payer: settlement.address, ...receiving }),
        build.burn({ mint, account: escrow, authority: settlement.address, amount: size }),
        this.#usdc(accounts.vault, receiving.account, settlement.address, proceeds),
        this.#usdc(accounts.vault, accounts.lp, settlement.address, size - proceeds),
        ...this.#giveBack(order, { mint, from: escrow, amount: order.inAmount - size }),
      ],
      closing: { filledIn: size, filledOut: proceeds, fee: charged, reverted: order.inAmount - size },
    });
  }

  async #redeem(order: OrderRow): Promise<void> {
    const { build, vaults, catalog, switches } = this.#parts;
    const market = await this.#marketOf(order, catalog);
    const payout = (order.inAmount * payoutOf(market, order.outcome)) / MICRO;
    if (payout === 0n || switches.fill === 'revert') return this.#revert(order);
    const mint = market.mints[order.outcome];
    const { accounts, settlement } = vaults;
    const receiving = this.#accountOf(order.recipient, USDC_MINT);
    const escrow = paperEscrowAddress(mint);
    const settled = await this.#commit(order, {
      instructions: [
        build.openAccount({ payer: settlement.address, ...receiving }),
        build.burn({
          mint,
          account: escrow,
          authority: settlement.address,
          amount: order.inAmount,
        }),
        this.#usdc(accounts.vault, receiving.account, settlement.address, payout),
      ],
      closing: { ...NOTHING, filledIn: order.inAmount, filledOut: payout },
    });
    if (!settled) await this.#revert(order);
  }

  async #revert(order: OrderRow): Promise<void> {
    const { orders, log, now, catalog } = this.#parts;
    const mint =
      order.kind === 'BUY' ? USDC_MINT : (await this.#marketOf(order, catalog)).mints[order.outcome];
    const escrow = paperEscrowAddress(mint);
    const settled = await this.#commit(order, {
      instructions: this.#giveBack(order, { mint, from: escrow, amount: order.inAmount }),
      closing: { ...NOTHING, reverted: order.inAmount },
    });
    if (settled) return;
    log('an order of the sandbox venue can be neither filled nor returned', { order: order.messageHash });
    await orders.postpone(order.messageHash, now() + STUCK_MS);
  }

  /** Returns the losers' backing to the LP and records the payout. @returns false while trades are open */
  async release(market: ListedMarket, resolvedAt: number): Promise<boolean> {
    const { sql, orders, chain, vaults } = this.#parts;
    const [row] = await sql`select released from sandbox_markets where condition_id = ${market.conditionId}`;
    if (row === undefined || row.released || market.payout === null) return true;
    if (await orders.isTrading(market.conditionId)) return false;
    const outcomes = ['YES', 'NO'] as const;
    const supplies = await chain.tokenSupplies(outcomes.map((outcome) => market.mints[outcome]));
    const freed = outcomes.reduce(
      (sum, outcome, nth) => sum + ((supplies[nth] ?? 0n) * (MICRO - payoutOf(market, outcome))) / MICRO,
      0n,
    );
    const fix: Statement = {
      text: `
        with moved as (
          update sandbox_markets set payout = $2, resolved_ms = $3::text::bigint, released = true
          where condition_id = $1 and not released returning 1)
        select 1 / count(*) from moved`,
      values: [market.conditionId, market.payout, String(resolvedAt)],
    };
    if (freed === 0n) await chain.put([], [fix]);
    else {
      const { accounts, settlement } = vaults;
      const move = this.#usdc(accounts.vault, accounts.lp, settlement.address, freed);
      await this.#send([move], `release ${market.ticker}`, () => [fix]);
    }
    return true;
  }

  #usdc(
    from: SolanaAddress,
    to: SolanaAddress,
    authority: SolanaAddress,
    amount: bigint,
  ): Transactions.Instruction {
    return this.#parts.build.transfer({ mint: USDC_MINT, from, to, authority, amount });
  }

  #giveBack(
    order: OrderRow,
    {
      mint,
      from,
      amount,
    }: { readonly mint: SolanaAddress; readonly from: SolanaAddress; readonly amount: bigint },
  ): Transactions.Instruction[] {
    if (amount === 0n) return [];
    const { build, vaults } = this.#parts;
    const { address } = vaults.settlement;
    const receiving = this.#accountOf(order.refund, mint);
    return [
      build.openAccount({ payer: address, ...receiving }),
      build.transfer({
        mint,
        from,
        to: receiving.account,
        authority: address,
        amount,
      }),
    ];
  }

  #accountOf(wallet: string, mint: SolanaAddress) {
    const owner = wallet as SolanaAddress;
    return {
      owner,
      mint,
      account: tokenAccountOf(owner, mint),
    };
  }

  async #marketOf(order: OrderRow, catalog: Catalog): Promise<ListedMarket> {
    const market = await catalog.byTicker(order.ticker);
    if (market === null) throw new Error(`the market ${order.ticker} of an open order is not on record`);
    return market;
  }

  /** Sends one transaction, with the order's end in its commit. @returns false when the chain refuses it */
  #commit(
    order: OrderRow,
    { instructions, closing }: { instructions: Transactions.Instruction[]; closing: Closing },
  ): Promise<boolean> {
    const { orders, now } = this.#parts;
    return this.#send(instructions, order.messageHash, (signature) => [
      orders.close(order.messageHash, { ...closing, signature, at: now() }),
    ]);
  }

  async #send(
    instructions: readonly Transactions.Instruction[],
    label: string,
    also: (signature: string) => readonly Statement[],
  ): Promise<boolean> {
    const { chain, build, vaults, log } = this.#parts;
    const { settlement, lp } = vaults;
    const compiled = build.compile({
      feePayer: settlement.address,
      lifetime: chain.blocks(),
      instructions: [...instructions, build.memo(label)],
    });
    const wire = build.signed(compiled, [settlement, lp]);
    const outcome = await chain.send(wire, { also: also(transactionId(readTransaction(wire))) });
    if (outcome.kind === 'executed') return true;
    log('the sandbox chain refused a settlement', { label, reason: outcome.message, data: outcome.data });
    return false;
  }
}

/** The largest whole size that the escrow pays for, if it reaches the promised least. */
function fitBuy(
  order: OrderRow,
  asks: readonly Level[],
  fill: Switches['fill'],
): { size: Micro; worst: Pips } | null {
  const most = priceBuy(asks, order.inAmount);
  if (most.size === 0n || most.size < order.minOut) return null;
  return fill === 'partial' ? half(most.size, (size) => priceExactly(asks, size)) : most;
}

function fitSell(
  order: OrderRow,
  bids: readonly Level[],
  fill: Switches['fill'],
): { size: Micro; worst: Pips } | null {
  const all = priceSell(bids, order.inAmount);
  if (all.size < order.inAmount || all.cost - all.fee < order.minOut) return null;
  return fill === 'partial' ? half(all.size, (size) => priceSell(bids, size)) : all;
}

/** `null` for a single contract, which cannot be halved. */
function half<T>(size: Micro, price: (size: Micro) => T): T | null {
  const contracts = size / MICRO / 2n;
  return contracts === 0n ? null : price(contracts * MICRO);
}

/** Read from the events of the LP's order: it sold the other outcome for a BUY, the same one for a SELL. */
function tradeOf(order: OrderRow, events: readonly EngineEvent[]): Trade | null {
  const lots: Lot[] = [];
  let size = 0n;
  let cost = 0n;
  for (const event of events) {
    if (event.kind !== 'fill') continue;
    const isBuy = order.kind === 'BUY';
    lots.push({ price: isBuy ? PIPS - event.price : event.price, size: event.size });
    size += event.size;
    cost += isBuy ? event.size - event.cost : event.cost;
  }
  return size === 0n ? null : { size, cost, fee: venueFee(lots) };
}
