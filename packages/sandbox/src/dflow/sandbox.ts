/**
 * The sandbox venue: DFlow's prediction markets over the paper exchange, settled on the sandbox chain. It wires its
 * parts, processes due orders, and gives wallets their simulation balance.
 *
 * PostgreSQL is the source of truth for orders; memory only holds the time of the next look, and which orders failed a
 * moment ago. So a failed commit, a restarted chain or a dead process leaves nothing to repair: the next look finds the open
 * orders. A process that has lost the lead without knowing it yet delays no order of the next one.
 */
import type { Sql } from '@bellwether/durable';
import type { Clock, ConditionId, Outcome, PaperExchange } from '@bellwether/exchange';
import { parseSolanaAddress, USDC_MINT } from '@bellwether/protocol';
import type { SandboxChain, Statement } from '../solana/index.ts';
import { Catalog, type CatalogExchange } from './catalog.ts';
import { type OrderRow, Orders } from './orders.ts';
import type { QuoteParts } from './quotes.ts';
import { type Switches, switchesFrom } from './refusals.ts';
import { LP_ACCOUNT, Settlement, type SettlementExchange } from './settlement.ts';
import { tokenAccountOf } from './tokens.ts';
import { foundVaults, MintMaker, type Vaults, vaultsOf } from './vaults.ts';

interface DflowSandboxOptions {
  /** A pool on a database that has DFLOW_SANDBOX_SCHEMA. */
  readonly sql: Sql;
  readonly exchange: CatalogExchange & SettlementExchange;
  readonly chain: SandboxChain;
  /** Keys and mints derive from it. Must be the same at every start. */
  readonly seed: string;
  readonly clock: Clock;
  readonly switches?: Partial<Switches>;
  readonly log?: (message: string, details?: unknown) => void;
}

interface Credit {
  readonly wallet: string;
  readonly collateral: bigint;
  readonly lamports: bigint;
  readonly also: readonly Statement[];
}

const TICK_MS = 200;
const PRUNE_EVERY_MS = 10_000;
/** Orders settled concurrently. */
const ORDERS_AT_ONCE = 16;
/** Interval of the search for open orders when none is known, and the pause of an order after a fault. */
const LOOK_EVERY_MS = 1_000;

/** Large, and of no use to a process that does not open a sandbox. */
export const loadTransactions = () => import('./transactions.ts');

/** @throws Error when chain or database cannot be used */
export async function openDflowSandbox(options: DflowSandboxOptions): Promise<DflowSandbox> {
  const build = await loadTransactions();
  const sandbox = new DflowSandbox(options, build);
  await sandbox.open();
  return sandbox;
}

export class DflowSandbox {
  readonly chain: SandboxChain;
  readonly switches: Switches;
  readonly catalog: Catalog;
  readonly orders: Orders;
  readonly tape: Tape;
  /** The dependencies of GET /order. */
  readonly quoting: QuoteParts;
  readonly now: () => number;
  readonly #sql: Sql;
  readonly #exchange: DflowSandboxOptions['exchange'];
  readonly #clock: Clock;
  readonly #vaults: Vaults;
  readonly #settlement: Settlement;
  readonly #log: (message: string, details?: unknown) => void;
  /** Resolved markets whose settlement is not finished. */
  readonly #resolved = new Set<ConditionId>();
  readonly #crediting = new Map<string, Promise<void>>();
  /** Orders that failed here, and until when they wait. Others would wait for them if the database knew. */
  readonly #paused = new Map<string, number>();
  #nextDue = Number.NEGATIVE_INFINITY;
  #nextPrune = 0;
  #working: Promise<void> | undefined;
  #ends: (() => void)[] = [];

  /** Called by `openDflowSandbox` only. */
  constructor(options: DflowSandboxOptions, build: QuoteParts['build']) {
    const { exchange, chain, seed, clock, log = () => {} } = options;
    const sql = options.sql;
    const now = () => clock.now();
    this.chain = chain;
    this.switches = switchesFrom(options.switches);
    this.catalog = new Catalog({ sql, exchange, seed });
    this.orders = new Orders(sql);
    this.tape = new Tape(exchange);
    this.now = now;
    this.#sql = sql;
    this.#exchange = exchange;
    this.#clock = clock;
    this.#log = log;
    this.#vaults = vaultsOf(seed);
    const { catalog, orders, switches } = this;
    const common = { exchange, chain, catalog, orders, vaults: this.#vaults, switches, build, now };
    this.#settlement = new Settlement({ ...common, sql, log });
    this.quoting = {
      ...common,
      mints: new MintMaker(chain, this.#vaults, catalog),
    };
  }

  async open(): Promise<void> {
    await foundVaults(this.chain, this.#vaults);
    await this.#findUnfinished();
    this.#ends = [
      this.#exchange.subscribe((entries) => {
        for (const event of entries.flatMap(({ events }) => events))
          if (event.kind === 'market_resolved') this.#resolved.add(event.conditionId);
      }),
      this.chain.onLanded(() => {
        this.#nextDue = Math.min(this.#nextDue, this.now() + this.switches.fillDelayMs);
      }),
      () => this.catalog.close(),
      () => this.tape.close(),
    ];
    const ticker = this.#clock.every(TICK_MS, () => {
      if (this.#working === undefined)
        this.tick().catch((error: unknown) =>
          this.#log('the sandbox venue could not work off what is due', error),
        );
    });
    this.#ends.push(() => ticker.stop());
  }

  /** Markets that were resolved while the sandbox was not running. */
  async #findUnfinished(): Promise<void> {
    const rows = await this.#sql`select condition_id from sandbox_markets where not released`;
    const unfinished = new Set(rows.map((row) => row.condition_id as ConditionId));
    for (const conditionId of this.#exchange.account(LP_ACCOUNT).tokens.keys()) unfinished.add(conditionId);
    for (const conditionId of unfinished)
      if (this.#exchange.market(conditionId)?.status === 'resolved') this.#resolved.add(conditionId);
  }

  /**
   * Gives a wallet its simulation balance from the treasury, and lamports for fees: only once per wallet.
   * Amounts in micro-USDC and lamports.
   * @param also what its caller notes of it, in the same transaction
   * @throws RangeError for an invalid wallet. @throws Error when the chain fails; the caller may retry
   */
  credit(
    wallet: string,
    collateral: bigint,
    lamports: bigint,
    also: readonly Statement[] = [],
  ): Promise<void> {
    let crediting = this.#crediting.get(wallet);
    if (crediting === undefined) {
      crediting = this.#credit({ wallet, collateral, lamports, also }).finally(() =>
        this.#crediting.delete(wallet),
      );
      this.#crediting.set(wallet, crediting);
    }
    return crediting;
  }

  async #credit({ wallet, collateral, lamports, also }: Credit): Promise<void> {
    const owner = parseSolanaAddress(wallet);
    if (owner === null) throw new RangeError('a wallet is base58 of 32 bytes');
    const known = await this.#sql`select 1 from sandbox_credits where wallet = ${wallet}`;
    if (known.length > 0) return;
    const { build } = this.quoting;
    const { settlement, treasury, accounts } = this.#vaults;
    const account = tokenAccountOf(owner, USDC_MINT);
    const compiled = build.compile({
      feePayer: settlement.address,
      lifetime: this.chain.blocks(),
      instructions: [
        ...(lamports > 0n ? [build.sendLamports(settlement.address, owner, lamports)] : []),
        build.openAccount({ payer: settlement.address, owner, mint: USDC_MINT, account }),
        build.transfer({
          mint: USDC_MINT,
          from: accounts.treasury,
          to: account,
          authority: treasury.address,
          amount: collateral,
        }),
      ],
    });
    const outcome = await this.chain.send(build.signed(compiled, [settlement, treasury]), {
      also: [{ text: 'insert into sandbox_credits (wallet) values ($1)', values: [wallet] }, ...also],
    });
    if (outcome.kind === 'refused') throw new Error(`the wallet could not be credited: ${outcome.message}`);
  }

  /** Settles due orders, settles resolved markets, deletes orders that can no longer land. */
  tick(): Promise<void> {
    const before = this.#working ?? Promise.resolve();
    const work = before
      .catch(() => {})
      .then(() => this.#work())
      .finally(() => {
        if (this.#working === work) this.#working = undefined;
      });
    this.#working = work;
    return work;
  }

  async #work(): Promise<void> {
    const now = this.now();
    await this.#settleDue(now);
    await this.#settleResolvedMarkets();
    if (now < this.#nextPrune) return;
    this.#nextPrune = now + PRUNE_EVERY_MS;
    await this.orders.prune(this.chain.blocks().slot);
  }

  async #settleDue(now: number): Promise<void> {
    if (this.switches.fill === 'never') {
      // The search runs again when trading may resume.
      this.#nextDue = Number.NEGATIVE_INFINITY;
      return;
    }
    if (now < this.#nextDue) return;
    const { fillDelayMs } = this.switches;
    // Set before the look: an order that lands meanwhile moves it forward again. At most a second ahead: the chain's
    // thread may die between a commit and its message.
    this.#nextDue = now + LOOK_EVERY_MS;
    for (;;) {
      const due = await this.orders.due(now - fillDelayMs, ORDERS_AT_ONCE, this.#pausedAt(now));
      await Promise.all(due.map((order) => this.#settle(order, now)));
      if (due.length < ORDERS_AT_ONCE) break;
    }
    const next = await this.orders.nextDue(this.#pausedAt(now));
    if (next !== null) this.#nextDue = Math.min(this.#nextDue, next + fillDelayMs);
  }

  #pausedAt(now: number): string[] {
    for (const [hash, until] of this.#paused) if (until <= now) this.#paused.delete(hash);
    return [...this.#paused.keys()];
  }

  /** A failing order pauses, so that it does not block the others. */
  async #settle(order: OrderRow, now: number): Promise<void> {
    try {
      await this.#settlement.settle(order);
    } catch (error) {
      this.#log('an order of the sandbox venue could not be settled yet', error);
      this.#paused.set(order.messageHash, now + LOOK_EVERY_MS);
    }
  }

  /** Resolved markets: the LP redeems its tokens in the exchange and takes back the losers' backing here. */
  async #settleResolvedMarkets(): Promise<void> {
    if (this.#resolved.size === 0) return;
    for (const conditionId of [...this.#resolved]) {
      const view = this.#exchange.market(conditionId);
      if (
        view === undefined ||
        (await this.#settleResolvedMarket(conditionId, view.resolvedAt ?? this.now()))
      )
        this.#resolved.delete(conditionId);
    }
  }

  async #settleResolvedMarket(conditionId: ConditionId, resolvedAt: number): Promise<boolean> {
    const listed = this.catalog.get(conditionId);
    if (listed !== null && !(await this.#settlement.release(listed, resolvedAt))) return false;
    if (this.#exchange.account(LP_ACCOUNT).tokens.has(conditionId))
      await this.#exchange.execute({ kind: 'redeem', account: LP_ACCOUNT, conditionId });
    return true;
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    await this.#working?.catch(() => {});
  }
}

// The latest trades of the exchange, for the venue's tape. In memory only: lost when the process ends.

export interface TapeTrade {
  readonly id: number;
  readonly conditionId: ConditionId;
  /** Epoch milliseconds. */
  readonly at: number;
  /** YES price in pips, and micro-contracts. */
  readonly price: number;
  readonly size: bigint;
  /** The outcome whose tokens the taker gained. */
  readonly takerSide: Outcome;
}

const TRADES_KEPT = 5_000;
const WHOLE_PIPS = 10_000;

class Tape {
  readonly #trades: TapeTrade[] = [];
  readonly close: () => void;

  constructor(exchange: Pick<PaperExchange, 'subscribe'>) {
    this.close = exchange.subscribe((entries) => {
      for (const { at, events } of entries) {
        for (const event of events) {
          if (event.kind !== 'fill' || event.liquidity !== 'taker') continue;
          const isYes = event.outcome === 'YES';
          this.#trades.push({
            id: event.matchId,
            conditionId: event.conditionId,
            at,
            price: isYes ? event.price : WHOLE_PIPS - event.price,
            size: event.size,
            takerSide: (event.side === 'BUY') === isYes ? 'YES' : 'NO',
          });
        }
      }
      if (this.#trades.length > 2 * TRADES_KEPT) this.#trades.splice(0, this.#trades.length - TRADES_KEPT);
    });
  }

  /** Newest first. */
  *newest(): Generator<TapeTrade> {
    for (let i = this.#trades.length - 1; i >= 0; i -= 1) yield this.#trades[i]!;
  }
}
