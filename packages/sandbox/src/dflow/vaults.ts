/**
 * The venue's accounts on the chain: USDC in a fixed supply, created once, and the outcome mints, created on first use.
 * It never transfers tokens.
 */
import { paperEscrowAddress, SOLANA_PROGRAMS, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import type { AddressedAccount, SandboxChain } from '../solana/index.ts';
import type { Catalog, ListedMarket } from './catalog.ts';
import {
  keylessAddress,
  mintBytes,
  tokenAccountBytes,
  tokenAccountOf,
  tokenProgramOf,
  type VenueSigner,
  venueSigner,
} from './tokens.ts';

/** About 100 bytes each. */
const MARKETS_REMEMBERED = 20_000;
const USDC = 1_000_000n;
const SOL = 1_000_000_000n;
/** The whole supply of USDC: the treasury funds wallets, the LP backs outcome tokens. */
const TREASURY_USDC = 8_000_000_000n * USDC;
const LP_USDC = 2_000_000_000n * USDC;
/** For network fees, rent, and the lamports of new wallets. A double represents it exactly. */
const VENUE_LAMPORTS = 4_000_000n * SOL;

export interface Vaults {
  /** Owns escrow and vault, mints the outcome tokens, pays the network's fees. */
  readonly settlement: VenueSigner;
  readonly lp: VenueSigner;
  readonly treasury: VenueSigner;
  /** USDC accounts. */
  readonly accounts: {
    readonly vault: SolanaAddress;
    readonly lp: SolanaAddress;
    readonly treasury: SolanaAddress;
  };
}

export function vaultsOf(seed: string): Vaults {
  const settlement = venueSigner(seed, 'settlement');
  const lp = venueSigner(seed, 'lp');
  const treasury = venueSigner(seed, 'treasury');
  const usdcOf = ({ address }: VenueSigner) => tokenAccountOf(address, USDC_MINT);
  return {
    settlement,
    lp,
    treasury,
    accounts: {
      vault: keylessAddress(seed, 'vault'),
      lp: usdcOf(lp),
      treasury: usdcOf(treasury),
    },
  };
}

interface Placed {
  readonly address: SolanaAddress;
  readonly owner: SolanaAddress;
  readonly data: Uint8Array;
}

const rentFree = async (chain: SandboxChain, { address, owner, data }: Placed): Promise<AddressedAccount> => {
  const lamports = await chain.minimumBalanceForRentExemption(data.length);
  return { address, account: { lamports, owner, data, executable: false } };
};

const escrowFor = (mint: SolanaAddress, { settlement }: Vaults): Placed => ({
  address: paperEscrowAddress(mint),
  owner: tokenProgramOf(mint),
  data: tokenAccountBytes(mint, settlement.address, 0n),
});

/** Idempotent. */
export async function foundVaults(chain: SandboxChain, vaults: Vaults): Promise<void> {
  if ((await chain.account(USDC_MINT)) !== null) return;
  const { settlement, lp, treasury, accounts } = vaults;
  const { token } = SOLANA_PROGRAMS;
  const usdc = (address: SolanaAddress, owner: SolanaAddress, amount: bigint): Placed => ({
    ...{ address, owner: token, data: tokenAccountBytes(USDC_MINT, owner, amount) },
  });
  const placed = [
    { address: USDC_MINT, owner: token, data: mintBytes(TREASURY_USDC + LP_USDC, null) },
    usdc(accounts.treasury, treasury.address, TREASURY_USDC),
    usdc(accounts.lp, lp.address, LP_USDC),
    escrowFor(USDC_MINT, vaults),
    usdc(accounts.vault, settlement.address, 0n),
  ];
  await chain.put([
    ...(await Promise.all(placed.map((one) => rentFree(chain, one)))),
    {
      address: settlement.address,
      account: {
        lamports: VENUE_LAMPORTS,
        owner: SOLANA_PROGRAMS.system,
        data: new Uint8Array(),
        executable: false,
      },
    },
  ]);
}

/**
 * Creates both mints of a market with their escrows, and records the market in the same commit. Only once: setting a
 * mint again would reset its supply.
 */
export class MintMaker {
  readonly #chain: SandboxChain;
  readonly #vaults: Vaults;
  readonly #catalog: Catalog;
  readonly #making = new Map<string, Promise<void>>();
  /** Markets whose mints exist: they never disappear. */
  readonly #made = new Set<string>();

  constructor(chain: SandboxChain, vaults: Vaults, catalog: Catalog) {
    this.#chain = chain;
    this.#vaults = vaults;
    this.#catalog = catalog;
  }

  async ensure(market: ListedMarket): Promise<void> {
    if (this.#made.has(market.conditionId)) return;
    let making = this.#making.get(market.conditionId);
    if (making === undefined) {
      making = this.#make(market).finally(() => this.#making.delete(market.conditionId));
      this.#making.set(market.conditionId, making);
    }
    await making;
    if (this.#made.size >= MARKETS_REMEMBERED) this.#made.clear();
    this.#made.add(market.conditionId);
  }

  async #make(market: ListedMarket): Promise<void> {
    const chain = this.#chain;
    if ((await chain.account(market.mints.YES)) !== null) return;
    const mints = [market.mints.YES, market.mints.NO];
    const owner = SOLANA_PROGRAMS.token2022;
    const authority = this.#vaults.settlement.address;
    const placed = [
      ...mints.map((mint) => ({ address: mint, owner, data: mintBytes(0n, authority) })),
      ...mints.map((mint) => escrowFor(mint, this.#vaults)),
    ];
    await chain.put(await Promise.all(placed.map((one) => rentFree(chain, one))), [
      this.#catalog.record(market),
    ]);
  }
}
