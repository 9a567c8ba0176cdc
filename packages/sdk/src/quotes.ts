/**
 * Trading quoted orders: quote → verify → sign → submit → wait, and the delegation by which the platform's fee is
 * charged. Reached as `client.venueB`. It signs only what `verify` has decoded and found to match the ask.
 */
import type {
  ChainPosition,
  Delegation,
  FeeChargeResponse,
  Quote,
  QuotedCancelResponse,
  QuotedOrder,
  QuotedOrderDetail,
  SubmitResponse,
} from '@bellwether/contract';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import {
  associatedTokenAddress,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase64,
  transactionId,
  USDC_MINT,
} from '@bellwether/protocol';
import type { Blockhash } from '@solana/kit';
import type { CallOptions, ClientMethods, FeeCharge } from './client-methods.ts';
import { isProblem, NEED, needOptions, needValue, QuoteError } from './errors.ts';
import type { SolanaSigner } from './signer.ts';
import type { Fetch, TransportOptions } from './transport.ts';
import {
  askedAtoms,
  exactMicro,
  type OnChainOptions,
  type QuoteAsk,
  SolanaRpc,
  SolanaRpcError,
  solanaAddress,
  type VerifiedQuote,
  type VerifyOptions,
  verifyQuote,
  verifyQuoteOnChain,
} from './verify-quote.ts';

/** Kept with the order, for the agent's journal. */
export interface QuoteLabels {
  readonly reasoning?: string;
  readonly source?: string;
  readonly skillSlug?: string;
  /** Your own name for the order: the desk refuses another order under it. */
  readonly clientOrderId?: string;
  /** From the desk's receipt on: an order that has not left by then is canceled. */
  readonly cancelAfterMs?: number;
}

export interface WaitOptions {
  /** Default 180,000: a transaction that does not land is dead by then. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const ASK_NEEDS = {
  ticker: NEED.text('the id of a market of venue B'),
  side: NEED.text('"YES" or "NO"'),
  action: NEED.text('"BUY" or "SELL"'),
} as const;

/** Without what was left out. */
const givenLabels = ({ reasoning, source, skillSlug }: QuoteLabels) => ({
  ...(reasoning === undefined ? {} : { reasoning }),
  ...(source === undefined ? {} : { source }),
  ...(skillSlug === undefined ? {} : { skillSlug }),
});

/** Final statuses. */
const FINAL = new Set(['filled', 'partially_filled', 'reverted', 'expired', 'failed', 'canceled']);
const DEFAULT_WAIT_MS = 180_000;
const FIRST_POLL_MS = 250;
const MAX_POLL_MS = 2_000;

/** A decision is final: asked again, the service refuses with it. */
function declinedBefore(error: unknown): QuoteError | null {
  if (!isProblem(error, 'approval_required')) return null;
  const { context, detail } = error;
  return context?.approvalStatus === 'declined' ? new QuoteError('approval_declined', detail) : null;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class QuoteTrading {
  readonly #client: ClientMethods;
  readonly #options: TransportOptions;

  constructor(client: ClientMethods, options: TransportOptions) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * @param wallet who pays and signs; default the agent's `solAddress`; a preview when it has none
   * @throws BellwetherApiError; QuoteError `invalid_amount`
   */
  async quote(ask: QuoteAsk, wallet?: string, options?: CallOptions): Promise<Quote> {
    needOptions('venueB.quote', ask, ASK_NEEDS);
    const asked = microToNumber(askedAtoms(ask));
    return this.#client.quoteVenueB(
      {
        marketTicker: ask.ticker,
        side: ask.side,
        action: ask.action,
        ...(ask.action === 'BUY' ? { amount: asked } : { shares: asked }),
        ...(wallet === undefined ? {} : { userPublicKey: solanaAddress(wallet) }),
        ...(ask.destination === undefined ? {} : { destinationWallet: solanaAddress(ask.destination) }),
      },
      options,
    );
  }

  /**
   * Decodes the transaction and compares it with the ask, without any call.
   * @throws QuoteError when there is nothing to sign; UnsafeTransaction, which lists everything that is wrong
   */
  verify(quote: Quote, ask: QuoteAsk, options: VerifyOptions): VerifiedQuote {
    return verifyQuote(quote, ask, options);
  }

  /**
   * The same where DFlow's own program cannot be read: a Solana node that you trust simulates what it would move. On
   * the paper chain everything can be read, and `verify` is enough.
   * @throws QuoteError, UnsafeTransaction, SolanaRpcError
   */
  verifyOnChain(quote: Quote, ask: QuoteAsk, options: OnChainOptions): Promise<VerifiedQuote> {
    const { fetch: send } = this.#options;
    return verifyQuoteOnChain(quote, ask, { ...(send === undefined ? {} : { fetch: send }), ...options });
  }

  /**
   * The signed transaction in base64.
   * @throws RangeError when the signer is not the quote's wallet; QuoteError `mint_not_known` when only the quote says which token
   *   it is and the key is not marked as one for paper
   */
  sign(verified: VerifiedQuote, signer: SolanaSigner): string {
    needOptions('venueB.sign', verified, { wire: NEED.bytes });
    needValue('venueB.sign', 'signer', signer, NEED.solanaSigner);
    if (signer.address !== verified.wallet)
      throw new RangeError(`the quote is for ${verified.wallet}, not for ${signer.address}`);
    if (verified.mintIsBelieved && signer.use !== 'paper')
      throw new QuoteError(
        'mint_not_known',
        'Verify this quote with mints that you know: the key is not for paper.',
      );
    return toBase64(signer.signTransaction(verified.wire));
  }

  /** Submits the signed transaction. A repetition gets the same answer. */
  submit(
    quoteId: string,
    signedTransaction: string,
    labels: QuoteLabels = {},
    options?: CallOptions,
  ): Promise<SubmitResponse> {
    const { clientOrderId, cancelAfterMs } = labels;
    const name = clientOrderId === undefined ? {} : { clientOrderId };
    const time = cancelAfterMs === undefined ? {} : { cancelAfterMs };
    return this.#client.submitVenueB(
      { quoteId, signedTransaction, ...givenLabels(labels), ...name, ...time },
      options,
    );
  }

  /**
   * Asks the owner to approve a quote whose `quoteErrorCode` is `approval_required`, and waits for the decision, at most until
   * the quote expires. The same quote asks once, however often this is called.
   * @returns the quote with its transaction, to be verified and signed
   * @throws BellwetherApiError; QuoteError `approval_declined`, `quote_expired`, `approval_waiting` after `timeoutMs`
   */
  async askOwner(quote: Quote, labels: QuoteLabels = {}, options: WaitOptions = {}): Promise<Quote> {
    needOptions('venueB.askOwner', quote, { quoteId: NEED.text('a quote of this client') });
    const { quoteErrorCode: _code, quoteErrorMessage: _message, ...rest } = quote;
    const { quoteId, expiresAt } = rest;
    const call = options.signal === undefined ? {} : { signal: options.signal };
    const isOver = (): boolean => expiresAt <= Date.now();
    let approval = await this.#client
      .askQuoteApproval({ quoteId, ...givenLabels(labels) }, call)
      .catch((error) => {
        throw declinedBefore(error) ?? error;
      });
    let isFirst = true;
    await this.#poll(options.timeoutMs ?? expiresAt - Date.now(), async () => {
      if (!isFirst) approval = await this.#client.getApproval(approval.approvalId, call);
      isFirst = false;
      return approval.status !== 'waiting' || isOver();
    });
    const { status, unsignedTransaction, declineReason } = approval;
    if (unsignedTransaction !== undefined) return { ...rest, unsignedTransaction };
    if (status === 'declined')
      throw new QuoteError('approval_declined', `The owner declined: ${declineReason ?? 'no reason given'}.`);
    if (status !== 'waiting' || isOver())
      throw new QuoteError(
        'quote_expired',
        `The quote ended, and its approval is ${status}: ask for a new one.`,
      );
    throw new QuoteError('approval_waiting', 'The owner has not decided yet; ask again.');
  }

  /**
   * Quote, verify, sign, submit. The answer is not a fill yet: `wait` for it.
   * @throws BellwetherApiError, BellwetherConnectionError, QuoteError, UnsafeTransaction
   */
  async trade(
    order: QuoteAsk &
      QuoteLabels &
      Omit<VerifyOptions, 'wallet' | 'now' | 'use'> & { readonly signer: SolanaSigner },
    options?: Pick<CallOptions, 'requestId' | 'signal'>,
  ): Promise<SubmitResponse> {
    needOptions('venueB.trade', order, { ...ASK_NEEDS, signer: NEED.solanaSigner });
    const { signer, maxLamports, collateralMint, mints, mint } = order;
    const quote = await this.quote(order, signer.address, options);
    const verified = this.verify(quote, order, {
      wallet: signer.address,
      use: signer.use,
      mint,
      ...(maxLamports === undefined ? {} : { maxLamports }),
      ...(collateralMint === undefined ? {} : { collateralMint }),
      ...(mints === undefined ? {} : { mints }),
    });
    return this.submit(quote.quoteId, this.sign(verified, signer), order, options);
  }

  /**
   * Waits for the order's final status: filled, partially_filled, reverted, expired, failed or canceled.
   * @throws QuoteError `still_open` when that takes longer than `timeoutMs`; the order stays open
   */
  async wait(orderId: string, options: WaitOptions = {}): Promise<QuotedOrderDetail> {
    const { timeoutMs = DEFAULT_WAIT_MS, signal } = options;
    const call = signal === undefined ? {} : { signal };
    let order: QuotedOrderDetail | undefined;
    const isOver = await this.#poll(timeoutMs, async () => {
      order = await this.#client.getVenueBOrder(orderId, call);
      return FINAL.has(order.status);
    });
    if (isOver) return order as QuotedOrderDetail;
    throw new QuoteError('still_open', `Order ${orderId} is still ${order?.status}; wait for it again.`);
  }

  /** Asks less and less often. @returns whether it became true in time */
  async #poll(timeoutMs: number, isTrue: () => Promise<boolean>): Promise<boolean> {
    const wait = this.#options.wait ?? sleep;
    for (let waited = 0, pause = FIRST_POLL_MS; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
      if (await isTrue()) return true;
      if (waited >= timeoutMs) return false;
      const next = Math.min(pause, timeoutMs - waited);
      await wait(next);
      waited += next;
    }
  }

  order(orderId: string, options?: CallOptions): Promise<QuotedOrderDetail> {
    return this.#client.getVenueBOrder(orderId, options);
  }
  orders(
    query: Parameters<ClientMethods['listVenueBOrders']>[0] = {},
    options?: CallOptions,
  ): Promise<QuotedOrder[]> {
    return this.#client.listVenueBOrders(query, options);
  }
  /** Cancels orders that have not reached the chain; `notCanceled` lists the others with the reason. */
  cancel(orderId: string, options?: CallOptions): Promise<QuotedCancelResponse> {
    return this.#client.cancelVenueBOrder({ orderId }, options);
  }
  /** @param wallet the agent's own when left out */
  positions(wallet?: string, options?: CallOptions): Promise<ChainPosition[]> {
    return this.#client.listVenueBPositions(wallet, options);
  }
  /** Delegations of the wallet to the platform, and the delegate to approve. */
  delegation(wallet?: string, options?: CallOptions): Promise<Delegation> {
    return this.#client.getDelegation(wallet, options);
  }

  /**
   * Charges the platform's fee by the wallet's delegation.
   * @param options.idempotencyKey with it the fee is charged once, also when a call fails and is repeated; required here
   */
  chargeFee(
    fee: FeeCharge,
    options: CallOptions & { readonly idempotencyKey: string },
  ): Promise<FeeChargeResponse> {
    return this.#client.chargeFeeByAgent(fee, options);
  }

  /**
   * Lets the platform take up to `amount` of collateral as fees: signed here, sent to a Solana node, confirmed.
   * @throws QuoteError, SolanaRpcError, BellwetherApiError
   */
  async approveDelegate(approval: {
    readonly signer: SolanaSigner;
    /** Collateral; replaces what was approved before. 0 leaves the platform nothing. */
    readonly amount: number | string;
    /** The platform's key as you know it from another source; any other is refused. */
    readonly delegate?: string;
    /** A Solana node of your own; default the paper chain's. */
    readonly rpcUrl?: string;
    readonly collateralMint?: string;
  }): Promise<{ readonly signature: string; readonly delegation: Delegation }> {
    needOptions('venueB.approveDelegate', approval, { signer: NEED.solanaSigner, amount: NEED.number });
    const { signer, delegate, rpcUrl } = approval;
    const amount = exactMicro(approval.amount, 'an approval needs an amount');
    const delegation = await this.delegation(signer.address);
    if (delegate !== undefined && delegate !== delegation.delegate)
      throw new QuoteError('delegation_mismatch', `The service asks to approve ${delegation.delegate}.`);
    const signature = await approveDelegate({
      signer,
      amount,
      delegation,
      collateralMint: solanaAddress(approval.collateralMint ?? USDC_MINT),
      rpcUrl,
      fetch: this.#options.fetch,
      wait: this.#options.wait ?? sleep,
    });
    return { signature, delegation: await this.delegation(signer.address) };
  }
}

// Lets the platform take fees out of a wallet's collateral, up to an amount: an SPL `approveChecked`, built and signed
// here and sent to a Solana node directly. The service never receives it. One delegate fits into an account: a
// later approval of another replaces this one.

interface Approval {
  readonly signer: SolanaSigner;
  readonly amount: Micro;
  readonly delegation: Delegation;
  readonly collateralMint: SolanaAddress;
  /** Your own Solana node; default the paper chain's. */
  readonly rpcUrl: string | undefined;
  readonly fetch: Fetch | undefined;
  readonly wait: (ms: number) => Promise<void>;
}

const RESEND_MS = 2_000;
const POLL_MS = 500;
/** A blockhash lives for 60 to 90 seconds; past this the node's block height does not move. */
const GIVE_UP_MS = 150_000;

/** @throws QuoteError unless the delegation record agrees with the accounts computed here. */
function assertMatches({ delegation, signer, collateralMint }: Approval): void {
  const account = associatedTokenAddress(signer.address, collateralMint, SOLANA_PROGRAMS.token);
  const agrees =
    delegation.walletAddress === signer.address &&
    delegation.mint === collateralMint &&
    delegation.tokenProgram === SOLANA_PROGRAMS.token &&
    delegation.decimals === 6 &&
    delegation.tokenAccount === account &&
    delegation.delegate !== signer.address;
  if (!agrees)
    throw new QuoteError(
      'delegation_mismatch',
      "The service's delegation record is not about this wallet's collateral: nothing was signed.",
    );
  if (!delegation.exists)
    throw new QuoteError('token_account_not_found', `${signer.address} holds no collateral account yet.`);
}

async function buildApproval(
  approval: Approval,
  blockhash: string,
  lastValidBlockHeight: number,
): Promise<Uint8Array> {
  const [kit, token] = await Promise.all([import('@solana/kit'), import('@solana-program/token')]);
  const { signer, collateralMint, delegation, amount } = approval;
  const owner = kit.createNoopSigner(kit.address(signer.address));
  const approve = token.getApproveCheckedInstruction({
    source: kit.address(associatedTokenAddress(signer.address, collateralMint, SOLANA_PROGRAMS.token)),
    mint: kit.address(collateralMint),
    delegate: kit.address(solanaAddress(delegation.delegate)),
    owner,
    amount,
    decimals: 6,
  });
  const message = kit.pipe(
    kit.createTransactionMessage({ version: 0 }),
    (empty) => kit.setTransactionMessageFeePayer(owner.address, empty),
    (paid) =>
      kit.setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash as Blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight) },
        paid,
      ),
    (dated) => kit.appendTransactionMessageInstruction(approve, dated),
  );
  const wire = kit.getTransactionEncoder().encode(kit.compileTransaction(message));
  return signer.signTransaction(new Uint8Array(wire));
}

/** Sends the same bytes until they are confirmed, have failed, or their blockhash is dead. */
async function landApproval(
  rpc: SolanaRpc,
  wire: Uint8Array,
  lastValid: number,
  wait: Approval['wait'],
): Promise<void> {
  const base64 = toBase64(wire);
  const signature = transactionId(readTransaction(wire));
  for (let waited = 0; waited < GIVE_UP_MS; waited += POLL_MS) {
    if (waited % RESEND_MS === 0) await sendOnce(rpc, base64, waited === 0);
    // Height first, then status: a transaction is dead only if it is not seen after its last block.
    const height = await orSilence(rpc.blockHeight());
    const status = await orSilence(rpc.status(signature));
    if (status === 'confirmed') return;
    if (typeof status === 'object')
      throw new QuoteError('transaction_failed', `The approval failed on chain: ${status.failed}`);
    if (status === 'unseen' && height !== undefined && height > lastValid) break;
    await wait(POLL_MS);
  }
  throw new QuoteError('not_confirmed', `The approval ${signature} was not seen to land; approve again.`);
}

/** A node that does not answer once is asked again. */
async function orSilence<T>(question: Promise<T>): Promise<T | undefined> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof SolanaRpcError) return undefined;
    throw error;
  }
}

async function sendOnce(rpc: SolanaRpc, base64: string, first: boolean): Promise<void> {
  try {
    await rpc.send(base64);
  } catch (error) {
    // A node may refuse the repetition because the first one landed; no answer is not a refusal.
    if (first && error instanceof SolanaRpcError && error.code !== 0)
      throw new QuoteError('transaction_failed', `The node refused the approval: ${error.message}`);
  }
}

/** @returns the transaction's signature, once it is confirmed. @throws QuoteError, SolanaRpcError */
async function approveDelegate(approval: Approval): Promise<string> {
  assertMatches(approval);
  const url = approval.rpcUrl ?? approval.delegation.rpcUrl;
  if (url === null || url === undefined)
    throw new QuoteError('rpc_url_required', 'On a live chain bring a Solana node of your own: set rpcUrl.');
  const rpc = new SolanaRpc(url, approval.fetch);
  const { blockhash, lastValidBlockHeight } = await rpc.latestBlockhash();
  const wire = await buildApproval(approval, blockhash, lastValidBlockHeight);
  await landApproval(rpc, wire, lastValidBlockHeight, approval.wait);
  return transactionId(readTransaction(wire));
}
