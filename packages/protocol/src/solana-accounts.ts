/** The programs and mints named in the transactions of quoted orders, and the accounts that hold a wallet's tokens. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { parseBase58, toBase58 } from './base58.ts';
import { concatBytes, utf8 } from './bytes.ts';
import { parseSolanaAddress, type SolanaAddress } from './solana.ts';

/**
 * @throws RangeError when the text is not an address. For constants; input is parsed instead.
 * @example
 * const mint = asSolanaAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
 */
export function asSolanaAddress(text: string): SolanaAddress {
  const address = parseSolanaAddress(text);
  if (address === null) throw new RangeError('a Solana address is base58 of 32 bytes');
  return address;
}

const program = (id: string): SolanaAddress => id as SolanaAddress;

export const SOLANA_PROGRAMS = {
  computeBudget: program('ComputeBudget111111111111111111111111111111'),
  system: program('11111111111111111111111111111111'),
  token: program('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
  token2022: program('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'),
  associatedToken: program('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
  memo: program('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
  /** DFlow's aggregator: opaque, only a simulation says what it moves. */
  dflowAggregator: program('DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH'),
  /** DFlow's prediction markets: orders are opened in it. */
  dflowMarkets: program('pReDicTmksnPfkfiz33ndSdbe2dY43KYPg4U2dbvHvb'),
} as const;

/** USDC on mainnet, and on the paper chain: classic token program, six decimals. */
export const USDC_MINT = program('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');

const PDA_MARKER = utf8('ProgramDerivedAddress');

function isOnCurve(bytes: Uint8Array): boolean {
  try {
    // As leniently as the chain decompresses points.
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
}

/**
 * The program's address for these seeds: the first, counting the bump down from 255, that is not a public key.
 * @throws RangeError when no bump gives one, which does not happen in practice
 * @example
 * const vault = programDerivedAddress(program, [new TextEncoder().encode('vault')]);
 */
export function programDerivedAddress(owner: SolanaAddress, seeds: readonly Uint8Array[]): SolanaAddress {
  const tail = concatBytes(parseBase58(owner)!, PDA_MARKER);
  for (let bump = 255; bump >= 0; bump--) {
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), tail));
    if (!isOnCurve(hash)) return toBase58(hash) as SolanaAddress;
  }
  throw new RangeError('these seeds have no program derived address');
}

/** Derived addresses, oldest first: one quote needs the same few about a dozen times. */
const derived = new Map<string, SolanaAddress>();
const MAX_DERIVED = 10_000;

/**
 * Where a wallet keeps its tokens of a mint. The mint's token program is part of the address: never assume it.
 * About half a millisecond the first time, remembered after that.
 * @example
 * const account = associatedTokenAddress(solana, mint, tokenProgram);
 */
export function associatedTokenAddress(
  owner: SolanaAddress,
  mint: SolanaAddress,
  tokenProgram: SolanaAddress,
): SolanaAddress {
  const key = `${owner} ${mint} ${tokenProgram}`;
  let address = derived.get(key);
  if (address === undefined) {
    const seeds = [owner, tokenProgram, mint].map((seed) => parseBase58(seed)!);
    address = programDerivedAddress(SOLANA_PROGRAMS.associatedToken, seeds);
    const [oldest] = derived.keys();
    if (derived.size >= MAX_DERIVED && oldest !== undefined) derived.delete(oldest);
    derived.set(key, address);
  }
  return address;
}

const PAPER_ESCROW_SEED = utf8('bellwether paper escrow');
const paperEscrows = new Map<SolanaAddress, SolanaAddress>();

/**
 * Where a paper chain keeps the input of open orders: one account for each mint, at an address that has no key and
 * that no other chain can open an account at. A transfer to it fails on a live chain, so it can be allowed without believing
 * anybody's word that a chain is paper.
 * @example
 * const escrow = paperEscrowAddress(mint);
 */
export function paperEscrowAddress(mint: SolanaAddress): SolanaAddress {
  let address = paperEscrows.get(mint);
  if (address === undefined) {
    address = programDerivedAddress(SOLANA_PROGRAMS.dflowMarkets, [PAPER_ESCROW_SEED, parseBase58(mint)!]);
    if (paperEscrows.size >= MAX_DERIVED) paperEscrows.clear();
    paperEscrows.set(mint, address);
  }
  return address;
}
