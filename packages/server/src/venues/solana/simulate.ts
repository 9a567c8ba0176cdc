/**
 * Simulates a transaction's effect on a wallet: compares every account that the transaction may write, before and after.
 * Other accounts cannot change, so the comparison is complete.
 */

import {
  isWritable,
  MalformedTransaction,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  type SolanaTransaction,
  toBase64,
} from '@bellwether/protocol';
import { ChainUnavailable } from '../../domain/unavailable.ts';
import type { BalanceChange, Simulation } from '../chain.ts';
import {
  type Account,
  accountOf,
  CHECKS,
  COMMITMENT,
  isPassing,
  type Rpc,
  readAccounts,
  reasonOf,
  type TokenAccountState,
  tableOf,
  tokenAccountOf,
  type WireSimulation,
} from './rpc.ts';

/** Never throws. */
export async function simulate(
  rpc: Rpc,
  wire: Uint8Array,
  wallet: SolanaAddress,
  signed: boolean,
): Promise<Simulation> {
  try {
    const transaction = readTransaction(wire);
    const keys = await writableKeys(rpc, transaction);
    const [before, simulated] = await Promise.all([
      readAccounts(rpc, keys),
      askNode(rpc, wire, keys, signed),
    ]);
    if (simulated.err !== null) {
      return isPassing(simulated.err)
        ? { kind: 'unknown' }
        : { kind: 'would_fail', reason: reasonOf(simulated.err) };
    }
    const after = accountsAfter(simulated, keys.length);
    if (after === null) return { kind: 'unknown' };
    const exact = balancesBefore(simulated, transaction);
    const changes = keys.flatMap((address, index) => {
      const states = { before: before[index] ?? null, after: after[index] ?? null };
      const change = address === wallet ? ofLamports(address, states) : ofTokens(address, states, wallet);
      return change === null ? [] : [withExact(change, exact.get(address))];
    });
    return { kind: 'ok', changes: changes.filter(isChange) };
  } catch (error) {
    if (error instanceof MalformedTransaction) return { kind: 'would_fail', reason: error.message };
    if (error instanceof ChainUnavailable) return { kind: 'unknown' };
    throw error;
  }
}

async function askNode(
  rpc: Rpc,
  wire: Uint8Array,
  addresses: readonly string[],
  signed: boolean,
): Promise<WireSimulation> {
  const options = {
    encoding: 'base64',
    commitment: COMMITMENT,
    // The two options exclude each other. For an unsigned transaction the effects count, not the age of its blockhash.
    sigVerify: signed,
    replaceRecentBlockhash: !signed,
    accounts: { encoding: 'base64', addresses },
  };
  const { value } = await rpc.read('simulateTransaction', [toBase64(wire), options], CHECKS.simulation);
  return value;
}

/** In the node's order. @throws ChainUnavailable when a lookup table cannot be read */
async function writableKeys(rpc: Rpc, transaction: SolanaTransaction): Promise<readonly SolanaAddress[]> {
  const { accountKeys, lookups } = transaction;
  const named = accountKeys.filter((_key, index) => isWritable(transaction, index));
  if (lookups.length === 0) return named;
  const tables = await readAccounts(
    rpc,
    lookups.map(({ table }) => table),
  );
  const looked = lookups.flatMap(({ writable }, index) => {
    const table = tables[index];
    const addresses = table === undefined || table === null ? null : tableOf(table);
    return writable.map((at) => {
      const address = addresses?.[at];
      if (address === undefined) throw new ChainUnavailable('a lookup table is not there');
      return address;
    });
  });
  return [...new Set([...named, ...looked])];
}

/** `null` when the node did not report them. */
function accountsAfter(simulated: WireSimulation, count: number): readonly (Account | null)[] | null {
  const { accounts } = simulated;
  if (accounts?.length !== count) return null;
  const read = accounts.map((account) => (account === null ? null : accountOf(account)));
  return accounts.some((account, index) => account !== null && read[index] === null) ? null : read;
}

/**
 * Balances at the moment of the simulation, which newer nodes report by account: so no other transaction can change them
 * in between. Only for accounts named in the message; the others keep the figures read before.
 */
function balancesBefore(
  { preBalances, preTokenBalances }: WireSimulation,
  { accountKeys }: SolanaTransaction,
): ReadonlyMap<SolanaAddress, { readonly lamports: bigint | null; readonly tokens: bigint | null }> {
  const tokens = new Map(
    (preTokenBalances ?? []).map(({ accountIndex, uiTokenAmount }) => [
      accountIndex,
      BigInt(uiTokenAmount.amount),
    ]),
  );
  return new Map(
    accountKeys.map((key, index) => {
      const lamports = preBalances?.[index];
      return [
        key,
        {
          lamports: lamports === undefined ? null : BigInt(lamports),
          tokens: tokens.get(index) ?? null,
        },
      ];
    }),
  );
}

interface States {
  readonly before: Account | null;
  readonly after: Account | null;
}

function ofLamports(address: SolanaAddress, { before, after }: States): BalanceChange {
  const plain = (account: Account | null) => account === null || account.owner === SOLANA_PROGRAMS.system;
  return {
    account: address,
    mint: null,
    before: before?.lamports ?? 0n,
    after: after?.lamports ?? 0n,
    authorityChanged: plain(before) && !plain(after),
  };
}

/** `null` when the account is not a token account of the wallet, before or after. */
function ofTokens(
  address: SolanaAddress,
  { before, after }: States,
  wallet: SolanaAddress,
): BalanceChange | null {
  const was = before === null ? null : tokenAccountOf(address, before);
  const is = after === null ? null : tokenAccountOf(address, after);
  const mint = was?.owner === wallet ? was.mint : is?.owner === wallet ? is.mint : null;
  if (mint === null) return null;
  return {
    account: address,
    mint,
    before: was?.amount ?? 0n,
    // Closed, or with another mint or owner: the wallet holds nothing in it.
    after: is?.owner === wallet && is.mint === mint ? is.amount : 0n,
    authorityChanged: authorityChanged(was, is),
  };
}

function authorityChanged(was: TokenAccountState | null, is: TokenAccountState | null): boolean {
  if (is === null) return was !== null;
  if (was === null) return is.delegate !== null || is.closeAuthority !== null || is.frozen;
  return (
    was.owner !== is.owner ||
    was.mint !== is.mint ||
    was.delegate !== is.delegate ||
    was.delegatedAmount !== is.delegatedAmount ||
    was.closeAuthority !== is.closeAuthority ||
    was.frozen !== is.frozen
  );
}

function withExact(
  change: BalanceChange,
  exact: { readonly lamports: bigint | null; readonly tokens: bigint | null } | undefined,
): BalanceChange {
  const before = change.mint === null ? exact?.lamports : exact?.tokens;
  return before === undefined || before === null ? change : { ...change, before };
}

const isChange = ({ before, after, authorityChanged }: BalanceChange): boolean =>
  before !== after || authorityChanged;
