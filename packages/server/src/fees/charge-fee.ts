/**
 * Charges the platform's fee: collateral out of a wallet's account by the delegation that the wallet granted. The
 * caller says how much; nothing is recomputed. With an Idempotency-Key a charge happens once, through every failure: its row
 * is there before anybody signs, its bytes before any node has them, and another attempt begins only when the one
 * before provably had no effect and can have none.
 */
import type { Delegation, FeeChargeRequest, FeeChargeResponse } from '@bellwether/contract';
import {
  DecimalError,
  formatMicro,
  MICRO_DECIMALS,
  type Micro,
  parseMicro,
} from '@bellwether/contract/decimals';
import {
  parseSolanaAddress,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  withSignature,
} from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import type { Denial } from '../domain/denial.ts';
import type { Caller } from '../domain/records.ts';
import { ChainUnavailable } from '../domain/unavailable.ts';
import type { Clock } from '../platform/clock.ts';
import { type Deadline, ENDLESS, tooLate } from '../platform/http/deadline.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { Job } from '../platform/scheduler.ts';
import type { Secrets } from '../platform/secrets.ts';
import { type HasVenues, quotingVenue } from '../venues/asking.ts';
import type { Landing } from '../venues/chain.ts';
import type { Venues } from '../venues/venue.ts';
import type { WalletStore } from '../wallets/index.ts';
import type { SigningProvider } from './signing-provider.ts';
import type { FeeAttempt, FeeCharge, FeeStore, SignedFee } from './store.ts';

export interface FeeNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly wallets: WalletStore;
  readonly venues: Venues;
  readonly fees: FeeStore;
  readonly signing: SigningProvider;
  /** Where fees go. */
  readonly feeWallet: SolanaAddress;
  readonly maxFeeCharge: Micro;
  readonly agents: AgentStore;
  /** The JSON-RPC of the paper chain; `null` on a live one, or while its door is shut. */
  readonly paperRpcUrl: string | null;
}

/** A signature that takes longer comes too late for its blockhash, which lives a minute or two. */
const SIGN_WITHIN_MS = 40_000;
const LEASE_MS = 60_000;
const RETRY_S = 2;
const IN_FLIGHT_RETRY_S = 1;
const MAX_AMOUNT_CHARS = 40;
const AMOUNT = /^\d+(\.\d{1,6})?$/;

interface Fee {
  readonly amount: Micro;
  /** As the caller wrote it. */
  readonly amountText: string;
  readonly from: SolanaAddress;
}

interface ChargeOptions {
  readonly key: string | null;
  readonly requestId: string;
  readonly deadline?: Deadline;
}

interface Charged {
  readonly answer: FeeChargeResponse;
  /** It was charged before. */
  readonly isRepeated: boolean;
}

/** @throws Refusal in the order: body, delegate_equals_owner, (what the key stands for,) wallet, account, delegation, balance, signing, broadcast */
export async function chargeFee(
  needs: FeeNeeds,
  caller: Caller,
  body: FeeChargeRequest,
  { key, requestId, deadline = ENDLESS }: ChargeOptions,
): Promise<Charged> {
  const fee = readFee(body, needs.maxFeeCharge);
  if (fee.from === needs.signing.address || fee.from === needs.feeWallet) {
    throw refusal('delegate_equals_owner', `${fee.from} is the platform's own.`, { path: 'fromAddress' });
  }
  const before = key === null ? null : await chargedBefore(needs, caller, fee, key);
  if (before !== null) return { answer: before, isRepeated: true };
  const { proved } = await needs.wallets.solanaWallets(caller);
  if (!proved.includes(fee.from)) throw refusal('wallet_not_yours', undefined, { path: 'fromAddress' });
  // From here on it may be charged, after any end of this request.
  if (!deadline.handOver({ code: 'fee_outcome_unknown' })) throw tooLate();
  const charge = await sign(needs, caller, fee, { key, requestId });
  return { answer: await broadcast(needs, charge, fee, key), isRepeated: false };
}

/** Every fault of the body at once. @throws Refusal */
function readFee({ amount, fromAddress }: FeeChargeRequest, most: Micro): Fee {
  const fault = (code: Denial['code'], path: string, detail: string, fix?: string): Denial => ({
    code,
    path,
    detail,
    ...(fix === undefined ? {} : { fix }),
  });
  const denials: Denial[] = [];
  let micro: Micro | null = null;
  if (isMissing(amount)) denials.push(fault('fee_amount_required', 'amount', 'amount is missing.'));
  else {
    micro = amountOf(amount);
    if (micro === null) {
      const isNumber = typeof amount === 'number';
      const fix = isNumber ? `Send a text: "amount": "${amount}".` : undefined;
      const what = isNumber ? 'a JSON number' : 'not a positive decimal with at most 6 decimals';
      denials.push(fault('invalid_fee_amount', 'amount', `amount is ${what}.`, fix));
    } else if (micro > most) {
      const detail = `A single charge takes at most ${formatMicro(most)}.`;
      denials.push(fault('fee_amount_too_large', 'amount', detail));
    }
  }
  const from = typeof fromAddress === 'string' ? parseSolanaAddress(fromAddress) : null;
  if (isMissing(fromAddress))
    denials.push(fault('from_address_required', 'fromAddress', 'fromAddress is missing.'));
  else if (from === null)
    denials.push(fault('invalid_solana_address', 'fromAddress', 'fromAddress is not base58 of 32 bytes.'));
  const [first, ...more] = denials;
  if (first !== undefined) throw new Refusal([first, ...more]);
  return { amount: micro as Micro, amountText: amount as string, from: from as SolanaAddress };
}

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === '';

/** A positive decimal text of at most 6 decimals, or `null`. */
function amountOf(value: unknown): Micro | null {
  if (typeof value !== 'string' || value.length > MAX_AMOUNT_CHARS || !AMOUNT.test(value)) return null;
  try {
    const micro = parseMicro(value);
    return micro > 0n ? micro : null;
  } catch (error) {
    if (error instanceof DecimalError) return null;
    throw error;
  }
}

const answerOf = ({ amountText, from }: Fee, to: SolanaAddress, signed: SignedFee): FeeChargeResponse => ({
  id: signed.providerId,
  status: 'BROADCASTED',
  txSignature: signed.signature,
  fromAddress: from,
  toAddress: to,
  amount: amountText,
});

const inFlight = (): Refusal =>
  refusal('idempotency_in_flight', 'A charge with this Idempotency-Key is under way.', {
    retryAfterS: IN_FLIGHT_RETRY_S,
  });

/**
 * Result of a charge with this key: its answer when it landed or may still land (then the same bytes are sent
 * again), `null` when another attempt is due. @throws Refusal
 */
async function chargedBefore(
  needs: FeeNeeds,
  caller: Caller,
  fee: Fee,
  key: string,
): Promise<FeeChargeResponse | null> {
  const charge = await needs.fees.find(caller.agentId, key);
  if (charge === null) return null;
  if (charge.amount !== fee.amount || charge.fromAddress !== fee.from) {
    throw refusal('idempotency_key_reused', 'This Idempotency-Key belongs to a charge with another body.');
  }
  if (!isSigned(charge) || ENDED.has(charge.status)) return null;
  const answer = answerOf(fee, charge.toAddress, charge.signed);
  if (charge.status === 'landed') return answer;
  const fate = await fateOf(needs, charge);
  if (fate === null) throw unknownOutcome(charge.signed, key);
  if (fate === 'pending') {
    // The replica that signed may be about to give it up.
    if (charge.status === 'signed' && !(await settle(needs, charge, 'unknown'))) throw inFlight();
    const { kind } = await quotingVenue(needs).quotes.chain.send(charge.signed.wire);
    if (kind === 'sent') await settle(needs, charge, 'broadcast');
    // A transaction that no node took, the first time and now, may have come through all the same.
    else if (charge.status !== 'broadcast') throw unknownOutcome(charge.signed, key);
    return answer;
  }
  await settle(needs, charge, fate);
  return fate === 'landed' ? answer : null;
}

/** `null` when the chain does not say. */
async function fateOf(needs: HasVenues, charge: SignedCharge): Promise<FeeFate | null> {
  try {
    return (await fatesOf(needs, [charge])).get(charge.id) ?? null;
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

/** A signed attempt that had no effect and can have none. */
const ENDED: ReadonlySet<string> = new Set(['refused', 'failed', 'dropped']);

const settle = (
  { fees, clock }: FeeNeeds,
  { id, signed }: SignedCharge,
  status: Parameters<FeeNeeds['fees']['settle']>[2],
): Promise<boolean> => fees.settle(id, signed.signature, status, clock.now());

function unknownOutcome({ signature }: SignedFee, key: string | null): Refusal {
  const fix =
    key === null
      ? `Look for ${signature} on the chain, and charge again only if it is still not there in three minutes. With an Idempotency-Key you could simply repeat the request.`
      : undefined;
  return new Refusal(
    [
      {
        code: 'fee_outcome_unknown',
        detail: `It is not known yet whether the transaction ${signature} was broadcast.`,
        context: { txSignature: signature },
        ...(fix === undefined ? {} : { fix }),
      },
    ],
    { retryAfterS: RETRY_S },
  );
}

/** Checks the account, has the transfer signed and records it. Nothing has been sent when this throws. */
async function sign(
  needs: FeeNeeds,
  caller: Caller,
  fee: Fee,
  { key, requestId }: ChargeOptions,
): Promise<SignedCharge> {
  const { clock, fees, feeWallet } = needs;
  const at = clock.now();
  const attempt = await fees.begin({
    id: needs.secrets.newId(),
    agentId: caller.agentId,
    key,
    venue: quotingVenue(needs).id,
    amount: fee.amount,
    fromAddress: fee.from,
    toAddress: feeWallet,
    requestId,
    at,
    leaseUntil: at + LEASE_MS,
  });
  if (attempt === null) throw inFlight();
  try {
    await requireFunds(needs, fee);
    const signed = await signTransfer(needs, attempt, fee);
    if (!(await fees.recordSigned(attempt, signed, clock.now()))) throw inFlight();
    const { amount, from: fromAddress } = fee;
    return { id: attempt.id, amount, fromAddress, toAddress: feeWallet, status: 'signed', signed };
  } catch (error) {
    // When this fails too, the lease runs out.
    await fees.abandon(attempt, clock.now()).catch(() => {});
    throw error;
  }
}

/** Refuses in words what the chain would refuse anyway. @throws Refusal, ChainUnavailable */
async function requireFunds(needs: FeeNeeds, { amount, from }: Fee): Promise<void> {
  const { signing } = needs;
  const { chain, collateralMint } = quotingVenue(needs).quotes;
  const account = await chain.tokenAccount(from, collateralMint);
  if (account === null) {
    throw refusal('token_account_not_found', `${from} has no account for ${collateralMint}.`, {
      path: 'fromAddress',
    });
  }
  const refuse = (code: 'delegation_insufficient' | 'insufficient_balance', detail: string, fix?: string) =>
    new Refusal([
      {
        code,
        detail,
        path: 'fromAddress',
        context: {
          amount: formatMicro(amount),
          balance: formatMicro(account.amount),
          delegate: account.delegate,
          delegatedAmount: formatMicro(account.delegatedAmount),
          platformDelegate: signing.address,
          frozen: account.frozen,
        },
        ...(fix === undefined ? {} : { fix }),
      },
    ]);
  if (account.frozen)
    throw refuse(
      'delegation_insufficient',
      `The account ${account.address} is frozen by its mint's authority.`,
    );
  if (account.delegate !== signing.address) {
    const delegate = account.delegate === null ? 'nothing' : `to ${account.delegate}`;
    throw refuse(
      'delegation_insufficient',
      `The wallet delegates ${delegate}, not to the platform's ${signing.address}.`,
    );
  }
  if (account.delegatedAmount < amount) {
    throw refuse(
      'delegation_insufficient',
      `The delegation has ${formatMicro(account.delegatedAmount)} left, less than ${formatMicro(amount)}.`,
    );
  }
  if (account.amount < amount) {
    throw refuse(
      'insufficient_balance',
      `The account holds ${formatMicro(account.amount)}, less than ${formatMicro(amount)}.`,
      'Add collateral to the wallet, then charge again.',
    );
  }
}

/** @throws Refusal blocked_by_policy, signing_failed; ChainUnavailable */
async function signTransfer(needs: FeeNeeds, { id, attempt }: FeeAttempt, fee: Fee): Promise<SignedFee> {
  const { clock, signing } = needs;
  const { chain, collateralMint } = quotingVenue(needs).quotes;
  const externalId = `${id}-${attempt}`;
  const { message, wire, lastValidBlockHeight } = await chain.buildDelegatedTransfer({
    mint: collateralMint,
    owner: fee.from,
    delegate: signing.address,
    destination: needs.feeWallet,
    amount: fee.amount,
    memo: `bellwether fee ${externalId}`,
  });
  const answer = await signing.sign({
    message,
    wire,
    externalId,
    note: `Bellwether fee of ${formatMicro(fee.amount)} from ${fee.from} to ${needs.feeWallet}`,
    deadline: clock.now() + SIGN_WITHIN_MS,
  });
  if (answer.kind === 'blocked_by_policy') throw refusal('blocked_by_policy', withPolicyWord(answer.detail));
  if (answer.kind === 'failed')
    throw refusal('signing_failed', `The signing provider did not sign: ${answer.detail}.`);
  return {
    providerId: answer.id,
    signature: toBase58(answer.signature),
    wire: withSignature(wire, signing.address, answer.signature),
    lastValidBlockHeight,
  };
}

/** Clients look for this word (interface 4.13). */
const withPolicyWord = (detail: string): string =>
  detail.includes('BLOCKED_BY_POLICY') ? detail : `BLOCKED_BY_POLICY: ${detail}`;

/** The first sends of a fresh transaction. @throws Refusal broadcast_failed, fee_outcome_unknown */
async function broadcast(
  needs: FeeNeeds,
  charge: SignedCharge,
  fee: Fee,
  key: string | null,
): Promise<FeeChargeResponse> {
  const { chain } = quotingVenue(needs).quotes;
  const { wire } = charge.signed;
  const first = await chain.send(wire);
  // Proof only while no other replica has sent it; behind an answer that got lost, the bytes may be on their way.
  if (first.kind === 'refused' && (await settle(needs, charge, 'refused'))) {
    throw refusal('broadcast_failed', `The chain refused the transaction: ${first.reason}.`);
  }
  // A database that fails from here on must not make it look otherwise than it is.
  const note = (status: 'unknown' | 'broadcast') => settle(needs, charge, status).catch(() => false);
  if (first.kind !== 'sent') await note('unknown');
  const isTaken = first.kind === 'sent' || (key !== null && (await chain.send(wire)).kind === 'sent');
  if (!isTaken) throw unknownOutcome(charge.signed, key);
  await note('broadcast');
  return answerOf(fee, charge.toAddress, charge.signed);
}

// Finds the fate of a fee's transaction. Only proof ends a charge: seen on the chain, or the chain has passed the last
// block that could take it and its whole history does not know it.

/** Nodes that answer about history may be some blocks behind those that count them. */
const MARGIN_BLOCKS = 32;
/** The most signatures that a node answers about at once. */
const SIGNATURES_AT_ONCE = 256;

type FeeFate = 'landed' | 'failed' | 'dropped' | 'pending';

/** A charge that has been signed. */
type SignedCharge = FeeCharge & { readonly signed: SignedFee };

const isSigned = (charge: FeeCharge): charge is SignedCharge => charge.signed !== null;

/** @param charges at most 256 @throws ChainUnavailable */
async function fatesOf(
  needs: HasVenues,
  charges: readonly SignedCharge[],
): Promise<ReadonlyMap<string, FeeFate>> {
  // The height first: what is not there afterwards, past it, never will be.
  const { chain } = quotingVenue(needs).quotes;
  const height = await chain.blockHeight();
  const isPast = ({ signed }: SignedCharge) => height > signed.lastValidBlockHeight + MARGIN_BLOCKS;
  const look = (some: readonly SignedCharge[], deep: boolean): Promise<ReadonlyMap<string, Landing>> =>
    some.length === 0
      ? Promise.resolve(new Map())
      : chain.landings(
          some.map(({ signed }) => signed.signature),
          deep,
        );
  const [past, young] = await Promise.all([
    look(charges.filter(isPast), true),
    look(
      charges.filter((charge) => !isPast(charge)),
      false,
    ),
  ]);
  const fateOf = (charge: SignedCharge): FeeFate => {
    const landing = (past.get(charge.signed.signature) ?? young.get(charge.signed.signature))?.kind;
    if (landing === 'landed' || landing === 'failed') return landing;
    return landing === 'unseen' && isPast(charge) ? 'dropped' : 'pending';
  };
  return new Map(charges.map((charge) => [charge.id, fateOf(charge)]));
}

/**
 * Looks after charges whose end is not known: a job. What a node took before is given to it again until it is on the
 * chain or dead; nodes forget. What was answered as unknown is only looked at, unless its caller asks again.
 * @returns how many came to their end
 */
export async function followFees(needs: FeeNeeds): Promise<number> {
  const charges = (await needs.fees.unsettled(SIGNATURES_AT_ONCE)).filter(isSigned);
  if (charges.length === 0) return 0;
  const fates = await fatesOf(needs, charges);
  let ended = 0;
  for (const charge of charges) {
    const fate = fates.get(charge.id) ?? 'pending';
    if (fate !== 'pending') {
      await needs.fees.settle(charge.id, charge.signed.signature, fate, needs.clock.now());
      ended += 1;
    } else if (charge.status === 'broadcast') {
      await quotingVenue(needs).quotes.chain.send(charge.signed.wire);
    }
  }
  return ended;
}

// Reads what a wallet has delegated to the platform, and what it would have to approve. Never signs.

/** @param asked the agent's solAddress when left out @throws Refusal, ChainUnavailable */
export async function delegationOf(
  needs: FeeNeeds,
  caller: Caller,
  asked: string | undefined,
): Promise<Delegation> {
  const { signing } = needs;
  const { chain, collateralMint } = quotingVenue(needs).quotes;
  const wallet = await walletOf(needs, caller, asked);
  const [tokenAccount, account] = await Promise.all([
    chain.tokenAddress(wallet, collateralMint),
    chain.tokenAccount(wallet, collateralMint),
  ]);
  const isOurs = account !== null && account.delegate === signing.address && !account.frozen;
  return {
    walletAddress: wallet,
    delegate: signing.address,
    feeWallet: needs.feeWallet,
    mint: collateralMint,
    tokenProgram: SOLANA_PROGRAMS.token,
    decimals: MICRO_DECIMALS,
    tokenAccount,
    exists: account !== null,
    balance: formatMicro(account?.amount ?? 0n),
    delegatedAmount: formatMicro(isOurs ? account.delegatedAmount : 0n),
    maxFeeCharge: formatMicro(needs.maxFeeCharge),
    rpcUrl: needs.paperRpcUrl,
  };
}

async function walletOf(
  { agents }: FeeNeeds,
  caller: Caller,
  asked: string | undefined,
): Promise<SolanaAddress> {
  const text = asked ?? (await agents.byId(caller.agentId))?.solAddress ?? null;
  if (text === null) {
    throw refusal(
      'from_address_required',
      'The agent has no Solana address: name a wallet with walletAddress, or set one with POST /wallet/update-sol-address.',
      { path: 'walletAddress' },
    );
  }
  const address = parseSolanaAddress(text);
  if (address === null)
    throw refusal('invalid_solana_address', 'walletAddress is not base58 of 32 bytes.', {
      path: 'walletAddress',
    });
  return address;
}

export const feeJobs = (needs: FeeNeeds): readonly Job[] => [
  { name: 'follow fees', everyMs: 2_000, run: () => followFees(needs) },
];
