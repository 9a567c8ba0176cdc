/**
 * For tests: the whole sandbox on a separate database (exchange, chain, venue, doors without a socket), with a clock
 * that the test controls. Only time is simulated.
 */

import type { Sql } from '@bellwether/durable';
import { type JournalledExchange, migrateExchange, openExchange } from '@bellwether/exchange';
import {
  paperEscrowAddress,
  parseTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase64,
  transactionId,
  USDC_MINT,
  withSignature,
} from '@bellwether/protocol';
import { type FastifyInstance, fastify } from 'fastify';
import { onTestFinished } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import {
  DFLOW_SANDBOX_SCHEMA,
  type DflowSandbox,
  dflowMetadataDoor,
  dflowTradeDoor,
  LANDING,
  openDflowSandbox,
  type Switches,
} from '../src/dflow/index.ts';
import { amountOf, tokenAccountOf, type VenueSigner, venueSigner } from '../src/dflow/tokens.ts';
import { vaultsOf } from '../src/dflow/vaults.ts';
import type { WireMarket } from '../src/dflow/wire.ts';
import { openChain, SANDBOX_CHAIN_SCHEMA, type SandboxChain, type SendOutcome } from '../src/solana/index.ts';

const SEED = 'test';
export const USDC = 1_000_000n;
const SOL = 1_000_000_000n;

/** A Saturday: no maintenance. */
const START = Date.UTC(2026, 10, 21, 12);

/** Nothing runs unless a test calls it. */
class DrivenClock {
  time = START;
  now = (): number => this.time;
  every(): { stop(): void } {
    return { stop: () => {} };
  }
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are what is being tested
  readonly body: any;
}

export interface Stage {
  readonly sql: Sql;
  readonly clock: DrivenClock;
  exchange: JournalledExchange;
  chain: SandboxChain;
  sandbox: DflowSandbox;
  readonly logged: string[];
  metadata(path: string, body?: unknown): Promise<Answer>;
  trade(
    path: string,
    query?: Readonly<Record<string, string | number | bigint | undefined>>,
  ): Promise<Answer>;
  /** Closes venue, chain and exchange and opens them again on the same database. */
  restart(): Promise<void>;
  /** Restarts only the venue, in the middle of its work. */
  reopenVenue(): Promise<void>;
  wallet(name: string, collateral?: bigint): Promise<VenueSigner>;
  balance(wallet: string, mint: SolanaAddress): Promise<bigint>;
  supply(mint: SolanaAddress): Promise<bigint>;
  /** Signs a quoted transaction and sends it. */
  send(wallet: VenueSigner, transaction: string): Promise<{ signature: string; outcome: SendOutcome }>;
  /** Quotes, signs, sends. @returns the signature */
  open(wallet: VenueSigner, query: Readonly<Record<string, string | number | bigint>>): Promise<string>;
  /** Lets the fill delay pass and settles due orders. */
  settle(): Promise<void>;
  status(signature: string): Promise<Answer['body']>;
  /** The open market with the most even price on a cent grid. */
  market(): Promise<WireMarket>;
}

/** @throws Error on an answer other than 200 */
export const ok = ({ status, body }: Answer): Answer['body'] => {
  if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
};

export const accountsOf = (market: WireMarket) =>
  market.accounts[USDC_MINT] as {
    yesMint: SolanaAddress;
    noMint: SolanaAddress;
    marketLedger: SolanaAddress;
  };

export function signWith(wallet: VenueSigner, transaction: string): Uint8Array {
  const { message } = parseTransaction(transaction);
  const wire = Buffer.from(transaction, 'base64');
  return withSignature(wire, wallet.address, wallet.sign(message));
}

async function doors(sandbox: () => DflowSandbox): Promise<FastifyInstance> {
  const app = fastify();
  await app.register(dflowMetadataDoor, { prefix: '/metadata', sandbox, guard: null });
  await app.register(dflowTradeDoor, { prefix: '/trade', sandbox, guard: null });
  return app;
}

export async function openStage(switches: Partial<Switches> = {}): Promise<Stage> {
  const sql = await openDeskDatabase();
  await migrateExchange(sql);
  await sql.unsafe(SANDBOX_CHAIN_SCHEMA);
  await sql.unsafe(DFLOW_SANDBOX_SCHEMA);
  const clock = new DrivenClock();
  const logged: string[] = [];
  const log = (message: string, details?: unknown) => logged.push(`${message} ${String(details ?? '')}`);
  const openVenue = () =>
    openDflowSandbox({
      sql,
      exchange: stage.exchange,
      chain: stage.chain,
      seed: SEED,
      clock,
      switches: stage.sandbox?.switches ?? switches,
      log,
    });
  const openAll = async (): Promise<void> => {
    stage.exchange = await openExchange({ sql, seed: SEED, clock, autoStep: false });
    stage.chain = await openChain({ sql, seed: SEED, clock, log, landing: LANDING });
    stage.sandbox = await openVenue();
  };
  const closeAll = async (): Promise<void> => {
    await stage.sandbox.close();
    await stage.chain.close();
    await stage.exchange.close();
  };
  const parts = {
    sql,
    clock,
    logged,
    async restart() {
      await closeAll();
      await openAll();
    },
    async reopenVenue() {
      await stage.sandbox.close();
      stage.sandbox = await openVenue();
    },
  };
  const stage = { ...parts } as unknown as Stage;
  await openAll();
  const app = await doors(() => stage.sandbox);
  onTestFinished(async () => {
    await app.close();
    await closeAll();
  });
  Object.assign(stage, verbs(stage, app));
  return stage;
}

function verbs(stage: Stage, app: FastifyInstance): Partial<Stage> {
  const ask = async (url: string, body?: unknown): Promise<Answer> => {
    const answer = await app.inject(
      body === undefined
        ? { url }
        : {
            url,
            method: 'POST',
            payload: JSON.stringify(body),
            headers: { 'content-type': 'application/json' },
          },
    );
    return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json() };
  };
  return {
    metadata: (path, body) => ask(`/metadata${path}`, body),
    trade(path, query = {}) {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) search.set(name, String(value));
      return ask(`/trade${path}?${search}`);
    },
    async wallet(name, collateral = 1_000n * USDC) {
      const wallet = venueSigner('wallets', name);
      await stage.sandbox.credit(wallet.address, collateral, SOL);
      return wallet;
    },
    async balance(wallet, mint) {
      const found = await stage.chain.account(tokenAccountOf(wallet as SolanaAddress, mint));
      return found === null ? 0n : amountOf(found.data);
    },
    supply: async (mint) => (await stage.chain.tokenSupplies([mint]))[0] ?? 0n,
    async send(wallet, transaction) {
      const wire = signWith(wallet, transaction);
      const outcome = await stage.chain.send(wire);
      return { signature: transactionId(parseTransaction(toBase64(wire))), outcome };
    },
    async open(wallet, query) {
      const quote = ok(await stage.trade('/order', { ...query, userPublicKey: wallet.address }));
      const { signature, outcome } = await stage.send(wallet, quote.transaction);
      if (outcome.kind !== 'executed' || outcome.executed.err !== null)
        throw new Error(`the order did not land: ${JSON.stringify(outcome)}`);
      return signature;
    },
    async settle() {
      stage.clock.time += stage.sandbox.switches.fillDelayMs;
      await stage.sandbox.tick();
    },
    status: async (signature) => ok(await stage.trade('/order-status', { signature })),
    async market() {
      const { markets } = ok(await stage.metadata('/api/v1/markets?status=active&limit=255'));
      const even = (market: WireMarket) => Math.abs(Number(market.yesAsk) - 0.5);
      return (markets as WireMarket[])
        .filter((market) => market.yesAsk?.endsWith('00') && market.yesBid !== null)
        .sort((a, b) => even(a) - even(b))[0]!;
    },
  };
}

export interface Books {
  readonly usdc: bigint;
  readonly vault: bigint;
  readonly escrow: bigint;
}

/** Every USDC in existence, and the backing of the tokens. */
export async function booksOf(stage: Stage): Promise<Books> {
  const rows = await stage.sql`
    select data from sandbox_accounts where owner = ${SOLANA_PROGRAMS.token} and length(data) = 165`;
  const { accounts } = vaultsOf(SEED);
  return {
    usdc: rows.reduce((sum, row) => sum + amountOf(row.data as Uint8Array), 0n),
    vault: amountOf((await stage.chain.account(accounts.vault))!.data),
    escrow: amountOf((await stage.chain.account(paperEscrowAddress(USDC_MINT)))!.data),
  };
}
