/**
 * Simulates at a node what a transaction with an opaque instruction would take from a wallet: its lamports and token
 * accounts before and after. The transaction may call only known programs, so that the wallet's other assets (stakes,
 * nonces) are out of reach.
 */
import {
  associatedTokenAddress,
  equalBytes,
  type QuoteTerms,
  SOLANA_PROGRAMS,
  type SolanaTransaction,
  toBase58,
  toBase64,
} from '@bellwether/protocol';
import type { UnsafeReason } from './quote-error.ts';
import type { ChainAccount, SolanaRpc } from './solana-rpc.ts';

/** Bytes of a lookup table before its addresses. */
const TABLE_HEADER_BYTES = 56;
const KEY_BYTES = 32;
/** Layout of a token account: mint 0, owner 32, amount 64, delegated amount 121, and extensions after 165. */
const TOKEN = { bytes: 165, owner: 32, amount: 64, delegated: 121, kindOfAccount: 2 } as const;
const AMOUNT_BYTES = 8;

type Held = NonNullable<ChainAccount>;

/** Every address the transaction can reach, those in lookup tables included; `null` when a table cannot be read. */
async function reachable(rpc: SolanaRpc, tx: SolanaTransaction): Promise<readonly string[] | null> {
  if (tx.lookups.length === 0) return tx.accountKeys;
  const tables = await rpc.accounts(tx.lookups.map(({ table }) => table));
  const addresses: string[] = [...tx.accountKeys];
  for (const [i, { writable, readonly }] of tx.lookups.entries()) {
    for (const index of [...writable, ...readonly]) {
      const start = TABLE_HEADER_BYTES + KEY_BYTES * index;
      const key = tables[i]?.data.slice(start, start + KEY_BYTES);
      if (key?.length !== KEY_BYTES) return null;
      addresses.push(toBase58(key));
    }
  }
  return addresses;
}

const isTokenAccount = ({ owner, data }: Held): boolean =>
  (owner === SOLANA_PROGRAMS.token || owner === SOLANA_PROGRAMS.token2022) &&
  (data.length === TOKEN.bytes || (data.length > TOKEN.bytes && data[TOKEN.bytes] === TOKEN.kindOfAccount));

const keyAt = ({ data }: Held, offset: number): string => toBase58(data.slice(offset, offset + KEY_BYTES));
const numberAt = ({ data }: Held, offset: number): bigint =>
  new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(offset, true);

/** Equal apart from the balance: owner, delegate, close authority, state and extensions. */
function sameRights(before: Held, after: Held): boolean {
  const masked = ({ data }: Held): Uint8Array =>
    data
      .slice()
      .fill(0, TOKEN.amount, TOKEN.amount + AMOUNT_BYTES)
      .fill(0, TOKEN.delegated, TOKEN.delegated + AMOUNT_BYTES);
  return (
    before.owner === after.owner &&
    numberAt(after, TOKEN.delegated) <= numberAt(before, TOKEN.delegated) &&
    equalBytes(masked(before), masked(after))
  );
}

function* outOfReach(
  addresses: readonly string[],
  accounts: readonly ChainAccount[],
  opaque: readonly string[],
): Generator<UnsafeReason> {
  const known = new Set<string>([...Object.values(SOLANA_PROGRAMS), ...opaque]);
  for (const [i, account] of accounts.entries()) {
    const address = addresses[i]!;
    if (account?.executable && !known.has(address))
      yield {
        code: 'instruction_not_known',
        detail: `it may call ${address}, a program that is not known`,
        program: address,
      };
    if (account?.owner === SOLANA_PROGRAMS.system && account.data.length > 0)
      yield { code: 'changes_account', detail: `it uses the nonce account ${address}` };
  }
}

/** @throws SolanaRpcError */
export async function simulatedOverreaches(
  rpc: SolanaRpc,
  tx: SolanaTransaction,
  terms: QuoteTerms & {
    readonly opaque: readonly string[];
    /** Atoms of the input that instructions take which can be read. */
    readonly readable: bigint;
  },
): Promise<readonly UnsafeReason[]> {
  const addresses = await reachable(rpc, tx);
  if (addresses === null)
    return [{ code: 'account_not_decidable', detail: 'a lookup table of the transaction cannot be read' }];
  const accounts = await rpc.accounts(addresses);
  const reasons = [...outOfReach(addresses, accounts, terms.opaque)];
  const own = addresses.filter((_, i) => {
    const account = accounts[i];
    return account != null && isTokenAccount(account) && keyAt(account, TOKEN.owner) === terms.wallet;
  });
  const watched = [terms.wallet, ...own];
  const receiving = receivers(terms).filter(
    (address) => addresses.includes(address) && !watched.includes(address),
  );
  const before = watched.map((address) => accounts[addresses.indexOf(address)] ?? null);
  const unsigned = toBase64(unsignedWire(tx));
  const { err, accounts: after } = await rpc.simulate(unsigned, [...watched, ...receiving]);
  if (err !== null) return [{ code: 'would_fail', detail: `it would fail: ${err}` }];
  const known = receiving.map((address) => accounts[addresses.indexOf(address)] ?? null);
  const { found, taken } = losses(watched, before, after, terms);
  const gained = gainOf([...before, ...known], after, terms);
  // Amounts that are taken beyond the readable opening have to be paid for at once: nothing else binds them to the order.
  if (taken > terms.readable && gained < terms.minOutput)
    found.push({
      code: 'nothing_received',
      detail: `what cannot be read brings ${gained} atoms at once, and the quote says at least ${terms.minOutput}`,
    });
  return [...reasons, ...found];
}

/** Where what was bought may arrive. */
const receivers = ({ wallet, destination, outputMint }: QuoteTerms): readonly string[] =>
  [SOLANA_PROGRAMS.token, SOLANA_PROGRAMS.token2022].map((program) =>
    associatedTokenAddress(destination ?? wallet, outputMint, program),
  );

function gainOf(
  before: readonly ChainAccount[],
  after: readonly ChainAccount[],
  { wallet, destination, outputMint }: QuoteTerms,
): bigint {
  const held = (account: ChainAccount | undefined): bigint => {
    const counts =
      account != null &&
      isTokenAccount(account) &&
      keyAt(account, 0) === outputMint &&
      keyAt(account, TOKEN.owner) === (destination ?? wallet);
    return counts ? numberAt(account, TOKEN.amount) : 0n;
  };
  return after.reduce((sum, account, at) => sum + held(account) - held(before[at]), 0n);
}

const SIGNATURE_BYTES = 64;

function unsignedWire(tx: SolanaTransaction): Uint8Array {
  const wire = new Uint8Array(1 + SIGNATURE_BYTES * tx.requiredSignatures + tx.message.length);
  wire[0] = tx.requiredSignatures;
  wire.set(tx.message, 1 + SIGNATURE_BYTES * tx.requiredSignatures);
  return wire;
}

/** @param watched the wallet first, then its token accounts */
function losses(
  watched: readonly string[],
  before: readonly ChainAccount[],
  after: readonly ChainAccount[],
  { inputMint, maxInput, maxLamports }: QuoteTerms,
): { readonly found: UnsafeReason[]; readonly taken: bigint } {
  const found: UnsafeReason[] = [];
  const spent = (before[0]?.lamports ?? 0n) - (after[0]?.lamports ?? 0n);
  if (spent > maxLamports)
    found.push({
      code: 'lamports_exceeded',
      detail: `it costs ${spent} lamports, allowed are ${maxLamports}`,
    });
  if (after[0] != null && after[0].owner !== before[0]?.owner)
    found.push({ code: 'gives_rights_away', detail: 'it gives the wallet itself to a program' });
  let taken = 0n;
  for (let i = 1; i < watched.length; i++) {
    const [held, left] = [before[i]!, after[i]];
    if (left == null || left.data.length !== held.data.length || !sameRights(held, left)) {
      found.push({
        code: 'gives_rights_away',
        detail: `it closes ${watched[i]} or changes who may use it`,
      });
      continue;
    }
    const lost = numberAt(held, TOKEN.amount) - numberAt(left, TOKEN.amount);
    if (lost > 0n && keyAt(held, 0) !== inputMint)
      found.push({
        code: 'wrong_mint',
        detail: `it takes tokens that the quote does not sell from ${watched[i]}`,
      });
    else if (lost > 0n) taken += lost;
  }
  if (taken > maxInput)
    found.push({
      code: 'input_exceeded',
      detail: `it takes ${taken} atoms, the quote says at most ${maxInput}`,
    });
  return { found, taken };
}
