/**
 * The signed transaction that an agent hands in, held against the one that was quoted: the same message byte for byte,
 * every signature there and right, and, as far as the chain can tell beforehand, nothing moved but what was quoted.
 */
import { formatMicro } from '@bellwether/contract/decimals';
import {
  ED25519_SIGNATURE_BYTES,
  equalBytes,
  MalformedTransaction,
  parseTransaction,
  parseTransactionBytes,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  type SolanaTransaction,
  signatureFaults,
  toBase58,
  type VerifyEd25519,
} from '@bellwether/protocol';
import type { Denial } from '../domain/denial.ts';
import { ChainUnavailable } from '../domain/unavailable.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Simulation } from '../venues/chain.ts';
import type { VenueWith } from '../venues/venue.ts';
import type { ExecutableQuote } from './outcomes.ts';

const PATH = 'signedTransaction';

const refuse = (denial: Omit<Denial, 'path'>): Refusal => new Refusal([{ path: PATH, ...denial }]);

/** @returns the bytes, of any content; `null` when the text is no base64 */
export function bytesOf(text: string): Uint8Array | null {
  try {
    return parseTransactionBytes(text);
  } catch {
    return null;
  }
}

/** The id of a transaction, read without judging the rest of it; `null` when there cannot be one. */
export function signatureIn(text: string): string | null {
  const bytes = bytesOf(text);
  // One byte counts the signatures; the first is the id.
  const first = bytes?.subarray(1, 1 + ED25519_SIGNATURE_BYTES);
  return first?.length === ED25519_SIGNATURE_BYTES ? toBase58(first) : null;
}

/** @throws Refusal transaction_malformed … transaction_signature_invalid, in the documented order */
export function requireSigned(
  text: string,
  quote: ExecutableQuote,
  verify?: VerifyEd25519,
): SolanaTransaction {
  const tx = readSigned(text);
  if (!equalBytes(tx.message, quote.transaction.message)) {
    throw refuse({
      code: 'transaction_mismatch',
      ...mismatchOf(tx, unsigned(quote.transaction.message)),
      context: firstDifference(tx.message, quote.transaction.message),
    });
  }
  const [fault] = signatureFaults(tx, verify);
  if (fault !== undefined) {
    const missing = fault.kind === 'missing';
    throw refuse({
      code: missing ? 'transaction_not_signed' : 'transaction_signature_invalid',
      detail: 'Invalid order payload',
      diagnosis: {
        check: missing ? 'signature_present' : 'signature',
        signer: fault.signer,
        expected: missing
          ? `a signature of ${fault.signer}`
          : `the Ed25519 signature of ${fault.signer} over the message's bytes`,
      },
    });
  }
  return tx;
}

function readSigned(text: string): SolanaTransaction {
  try {
    return parseTransaction(text);
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    const code =
      error.fault === 'version_not_supported' ? 'transaction_version_not_supported' : 'transaction_malformed';
    const [initial = '', ...others] = error.message;
    throw refuse({
      code,
      detail: `${initial.toUpperCase()}${others.join('')}.`,
      context: { fault: error.fault },
    });
  }
}

const VERSION_FLAG = 0x80;
const MISMATCH = 'The message of this transaction is not, byte for byte, the one that was quoted.';

/** Wallets add instructions to what they sign: a fee for priority, a guard, a memo. */
function mismatchOf(sent: SolanaTransaction, quoted: SolanaTransaction): Pick<Denial, 'detail' | 'fix'> {
  const added = new Map<SolanaAddress, number>();
  for (const { program } of sent.instructions) added.set(program, (added.get(program) ?? 0) + 1);
  for (const { program } of quoted.instructions) added.set(program, (added.get(program) ?? 0) - 1);
  const named = [...added].filter(([, count]) => count > 0).map(([program]) => programName(program));
  if (named.length > 0)
    return {
      detail: `${MISMATCH} It has instructions more than that, of ${named.join(', ')}.`,
      fix: 'Your wallet added them. Switch off what it adds to a transaction (priority fees, guards), or sign the bytes of unsignedTransaction with a signer that changes nothing.',
    };
  const isRenewed = sent.recentBlockhash !== quoted.recentBlockhash;
  return { detail: isRenewed ? `${MISMATCH} It has another blockhash.` : MISMATCH };
}

/** A message with the room of its signatures, as it is handed out to be signed. */
function unsigned(message: Uint8Array): SolanaTransaction {
  const [first = 0, second = 0] = message;
  // A version precedes the count of signing keys.
  const count = first & VERSION_FLAG ? second : first;
  const signatures = new Uint8Array(count * ED25519_SIGNATURE_BYTES);
  return readTransaction(Uint8Array.from([count, ...signatures, ...message]));
}

function programName(address: SolanaAddress): string {
  const [name] = Object.entries(SOLANA_PROGRAMS).find(([, known]) => known === address) ?? [];
  return name === undefined ? address : `${name} (${address})`;
}

/** Where two messages begin to differ, for a person who looks for the reason. */
function firstDifference(sent: Uint8Array, quoted: Uint8Array) {
  const shorter = Math.min(sent.length, quoted.length);
  let at = 0;
  while (at < shorter && sent[at] === quoted[at]) at += 1;
  return { differsAtByte: at, sentBytes: sent.length, quotedBytes: quoted.length };
}

/** Refuses what the chain would refuse; what it cannot tell beforehand passes. @throws Refusal transaction_would_fail */
export async function requireHarmless(
  { quotes }: VenueWith<'quotes'>,
  wire: Uint8Array,
  quote: ExecutableQuote,
): Promise<void> {
  const simulation = await quotes.chain.simulate(wire, quote.wallet, true);
  const fault = simulationFault(simulation, quote);
  if (fault === null) return;
  const missing = simulation.kind === 'would_fail' ? await missingMoney(quotes, quote) : null;
  throw refuse({
    code: 'transaction_would_fail',
    detail: missing === null ? fault : `${missing} ${fault}`,
    ...(missing === null
      ? {}
      : { fix: 'Fund the wallet or ask for a smaller quote, then sign the new one.' }),
  });
}

/** The commonest reason in words: what the wallet no longer holds; `null`: it has enough, or the chain does not say. */
async function missingMoney(
  { chain }: VenueWith<'quotes'>['quotes'],
  { wallet, side, amounts }: ExecutableQuote,
): Promise<string | null> {
  try {
    const held =
      side === 'BUY'
        ? ((await chain.tokenAccount(wallet, amounts.inputMint))?.amount ?? 0n)
        : (await chain.outcomeAccounts(wallet))
            .filter(({ mint }) => mint === amounts.inputMint)
            .reduce((sum, { amount }) => sum + amount, 0n);
    if (held >= amounts.inAmount) return null;
    const unit = side === 'BUY' ? 'collateral' : 'contracts';
    return `The wallet holds ${formatMicro(held)} ${unit}, and this takes ${formatMicro(amounts.inAmount)}.`;
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

function simulationFault(simulation: Simulation, { amounts }: ExecutableQuote): string | null {
  if (simulation.kind === 'unknown') return null;
  if (simulation.kind === 'would_fail') {
    return `The chain would refuse this transaction: ${simulation.reason}.`;
  }
  const lost = new Map<string, bigint>();
  for (const change of simulation.changes) {
    if (change.authorityChanged) return `It would change who controls the account ${change.account}.`;
    if (change.mint === null) continue;
    lost.set(change.mint, (lost.get(change.mint) ?? 0n) + change.before - change.after);
  }
  for (const [mint, amount] of lost) {
    const allowed = mint === amounts.inputMint ? amounts.inAmount : 0n;
    if (amount > allowed) {
      return `It would take ${formatMicro(amount)} of ${mint}; the quote says ${formatMicro(allowed)} at most.`;
    }
  }
  return null;
}
