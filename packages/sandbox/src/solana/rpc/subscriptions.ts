/**
 * The subscriptions of the JSON-RPC sockets: slots, signatures, accounts. A subscriber gets what the door answers to
 * the same question, asked again after every commit and with every slot: one look for all subscribers at a time, as a caller from outside,
 * so that the desk's own calls to the chain go first.
 *
 * A signature's subscription ends with its one notification. An account's notification comes when its state differs from
 * the last one, first from that before the answer to the subscription; where `finalized` is asked for, once the state is that old.
 */
import type { Charge, SocketHandler, SocketPeer } from '@bellwether/exchange/doors/web-sockets';
import {
  ChainBusy,
  type SandboxChain,
  SandboxChainUnavailable,
  type SignatureStatus,
} from '../chain-interface.ts';
import { parseJson, toJson } from '../exact-json.ts';
import { FINAL_AFTER_SLOTS, SLOT_MS } from '../slots.ts';
import { AIRDROP_PER_DAY } from './answer.ts';
import {
  COMMITMENT_RANK,
  type Commitment,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  nodeUnhealthy,
  RpcError,
  readAsk,
  type Wanted,
} from './requests.ts';

const MOST_OF_A_SOCKET = 100;
const MOST_IN_ALL = 2_000;
/** The most signatures in one question to the chain. */
const SIGNATURES_AT_ONCE = 256;
const ACCOUNTS_AT_ONCE = 50;
/** Slots that one look may report when it comes late. */
const MOST_SLOTS_AT_ONCE = 10;
const RESTART = 1012;

interface Subscriber {
  readonly peer: SocketPeer;
  readonly own: Set<number>;
}

interface Base {
  readonly id: number;
  readonly subscriber: Subscriber;
}
interface SlotSubscription extends Base {
  readonly kind: 'slot' | 'root';
}
interface SignatureSubscription extends Base {
  readonly kind: 'signature';
  readonly signature: string;
  readonly commitment: Commitment;
  wantsReceived: boolean;
  /** Whether the history was asked: the transaction may have landed long ago. */
  wasSearched: boolean;
}
interface AccountSubscription extends Base {
  readonly kind: 'account';
  readonly address: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly commitment: Commitment;
  /** JSON of the last state that was seen. */
  seen: string;
  /** States that are not old enough yet. */
  readonly waiting: { readonly slot: number; readonly text: string }[];
}
type Subscription = SlotSubscription | SignatureSubscription | AccountSubscription;

interface SubscriptionsOptions {
  readonly chain: () => SandboxChain | null;
  readonly onFault: (error: unknown) => void;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #all = new Map<number, Subscription>();
  readonly #peers = new Set<Subscriber>();
  #lastId = 0;
  #slot = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The chain whose commits are listened to. */
  #heard: { readonly chain: SandboxChain; readonly leave: () => void } | undefined;
  #isLooking = false;
  #mustLookAgain = false;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  open(peer: SocketPeer, charge: Charge): SocketHandler {
    const subscriber: Subscriber = { peer, own: new Set() };
    this.#peers.add(subscriber);
    this.#timer ??= setInterval(() => this.#tick(), SLOT_MS).unref();
    return {
      text: (frame) => {
        this.#answer(subscriber, frame, charge).catch((error: unknown) => {
          this.#options.onFault(error);
          peer.close(1011, 'internal error');
        });
      },
      closed: () => {
        this.#peers.delete(subscriber);
        for (const id of subscriber.own) this.#all.delete(id);
        if (this.#peers.size > 0) return;
        clearInterval(this.#timer);
        this.#timer = undefined;
        this.#heard?.leave();
        this.#heard = undefined;
      },
    };
  }

  async #answer(subscriber: Subscriber, frame: string, charge: Charge): Promise<void> {
    const ask = readAsk(frame);
    if (ask.kind === 'ignored') return;
    const { id } = ask;
    try {
      if (ask.kind === 'refused') throw ask.error;
      if (!(await charge(ask.tokens))) return;
      const result =
        ask.kind === 'end'
          ? this.#end(subscriber, ask.subscription)
          : await this.#begin(subscriber, ask.what);
      subscriber.peer.send(toJson({ jsonrpc: '2.0', result, id }));
      // Behind the answer, which tells the client the number of its subscription.
      if (ask.kind === 'begin') this.#look();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message, data } = error;
      const fault = data === undefined ? { code, message } : { code, message, data };
      subscriber.peer.send(toJson({ jsonrpc: '2.0', error: fault, id }));
    }
  }

  /** @throws RpcError */
  async #begin(subscriber: Subscriber, what: Wanted): Promise<number> {
    const chain = this.#listen();
    if (chain === null || !chain.isOpen()) throw nodeUnhealthy();
    const seen = what.kind === 'account' ? await stateNow(chain, what) : '';
    // One that has left meanwhile gets none, which would stay for ever.
    if (!this.#peers.has(subscriber)) return 0;
    if (subscriber.own.size >= MOST_OF_A_SOCKET)
      throw new RpcError(
        INVALID_PARAMS,
        `Invalid param: a socket has at most ${MOST_OF_A_SOCKET} subscriptions`,
      );
    if (this.#all.size >= MOST_IN_ALL)
      throw new RpcError(INTERNAL_ERROR, 'Internal error: too many subscriptions; try again later');
    this.#lastId += 1;
    const base = { id: this.#lastId, subscriber };
    const made: Subscription =
      what.kind === 'account'
        ? { ...base, ...what, seen, waiting: [] }
        : what.kind === 'signature'
          ? { ...base, ...what, wasSearched: false }
          : { ...base, kind: what.kind };
    this.#all.set(made.id, made);
    subscriber.own.add(made.id);
    return made.id;
  }

  /** @throws RpcError */
  #end(subscriber: Subscriber, id: number): true {
    if (!subscriber.own.has(id)) throw new RpcError(INVALID_PARAMS, 'Invalid subscription id.');
    this.#forget(id);
    return true;
  }

  #forget(id: number): void {
    this.#all.get(id)?.subscriber.own.delete(id);
    this.#all.delete(id);
  }

  /** Hears the commits of the chain that is open now. */
  #listen(): SandboxChain | null {
    const chain = this.#options.chain();
    if (this.#heard?.chain === chain) return chain;
    this.#heard?.leave();
    this.#heard = chain === null ? undefined : { chain, leave: chain.onLanded(() => this.#look()) };
    return chain;
  }

  #tick(): void {
    const chain = this.#listen();
    if (chain === null) {
      // Another process leads now: a client that connects again reaches it.
      for (const { peer } of this.#peers) peer.close(RESTART, 'connect again');
      return;
    }
    if (!chain.isOpen()) return;
    this.#reportSlots(chain.blocks().slot);
    this.#look();
  }

  #reportSlots(slot: number): void {
    const first = this.#slot === 0 ? slot : Math.max(this.#slot + 1, slot - MOST_SLOTS_AT_ONCE + 1);
    this.#slot = Math.max(slot, this.#slot);
    for (let passed = first; passed <= slot; passed += 1) {
      const root = Math.max(0, passed - FINAL_AFTER_SLOTS);
      for (const one of this.#all.values()) {
        if (one.kind === 'slot') this.#notify(one, { parent: Math.max(0, passed - 1), root, slot: passed });
        if (one.kind === 'root') this.#notify(one, root);
      }
    }
  }

  #notify({ id, kind, subscriber }: Subscription, result: unknown): void {
    const params = { result, subscription: id };
    subscriber.peer.send(toJson({ jsonrpc: '2.0', method: `${kind}Notification`, params }));
  }

  /** One look at a time; what happened during one is seen by the next. */
  #look(): void {
    this.#mustLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#lookOn()
      .catch(this.#options.onFault)
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #lookOn(): Promise<void> {
    while (this.#mustLookAgain) {
      this.#mustLookAgain = false;
      const chain = this.#listen();
      if (chain === null) return;
      try {
        await this.#lookAtSignatures(chain);
        await this.#lookAtAccounts(chain);
      } catch (error) {
        // The next slot looks again.
        if (error instanceof ChainBusy || error instanceof SandboxChainUnavailable) return;
        throw error;
      }
    }
  }

  async #lookAtSignatures(chain: SandboxChain): Promise<void> {
    const all = [...this.#all.values()].filter((one) => one.kind === 'signature');
    for (const wasSearched of [false, true]) {
      const some = all.filter((one) => one.wasSearched === wasSearched);
      for (let from = 0; from < some.length; from += SIGNATURES_AT_ONCE)
        await this.#askStatuses(chain, some.slice(from, from + SIGNATURES_AT_ONCE));
    }
  }

  async #askStatuses(chain: SandboxChain, asked: readonly SignatureSubscription[]): Promise<void> {
    const searchTransactionHistory = asked[0]?.wasSearched === false;
    const params = [asked.map(({ signature }) => signature), { searchTransactionHistory }];
    const [answer] = await askAll(chain, [{ method: 'getSignatureStatuses', params }]);
    const { context, value } = answer as {
      readonly context: { readonly slot: number };
      readonly value: readonly (SignatureStatus | null)[];
    };
    for (const [nth, one] of asked.entries()) {
      one.wasSearched = true;
      const status = value[nth] ?? null;
      if (status === null || !this.#all.has(one.id)) continue;
      if (one.wantsReceived) {
        one.wantsReceived = false;
        this.#notify(one, { context, value: 'receivedSignature' });
      }
      if (COMMITMENT_RANK[status.confirmationStatus] < COMMITMENT_RANK[one.commitment]) continue;
      this.#notify(one, { context, value: { err: status.err } });
      this.#forget(one.id);
    }
  }

  async #lookAtAccounts(chain: SandboxChain): Promise<void> {
    const all = [...this.#all.values()].filter((one) => one.kind === 'account');
    for (let from = 0; from < all.length; from += ACCOUNTS_AT_ONCE) {
      const some = all.slice(from, from + ACCOUNTS_AT_ONCE);
      const answers = await askAll(chain, some.map(accountQuestion));
      for (const [nth, one] of some.entries()) {
        const answer = answers[nth] as AccountAnswer | undefined;
        if (answer !== undefined && this.#all.has(one.id)) this.#seeAccount(one, answer);
      }
    }
  }

  #seeAccount(one: AccountSubscription, { context, value }: AccountAnswer): void {
    const text = stateOf(one, value);
    if (one.seen !== text) one.waiting.push({ slot: context.slot, text });
    one.seen = text;
    const age = one.commitment === 'finalized' ? FINAL_AFTER_SLOTS : 0;
    for (;;) {
      const [oldest] = one.waiting;
      if (oldest === undefined || context.slot - oldest.slot < age) return;
      one.waiting.shift();
      this.#notify(one, { context, value: parseJson(oldest.text) });
    }
  }
}

type AccountWanted = Extract<Wanted, { kind: 'account' }>;
interface AccountAnswer {
  readonly context: { readonly slot: number };
  readonly value: unknown;
}

const accountQuestion = ({ address, options }: Pick<AccountWanted, 'address' | 'options'>) => ({
  method: 'getAccountInfo',
  params: [address, options],
});
const stateOf = ({ options }: Pick<AccountWanted, 'options'>, value: unknown): string =>
  toJson(value ?? goneAccount(options));

/** @throws RpcError */
async function stateNow(chain: SandboxChain, wanted: AccountWanted): Promise<string> {
  try {
    const [answer] = await askAll(chain, [accountQuestion(wanted)]);
    return stateOf(wanted, (answer as AccountAnswer | undefined)?.value ?? null);
  } catch (error) {
    if (error instanceof ChainBusy || error instanceof SandboxChainUnavailable) throw nodeUnhealthy();
    throw error;
  }
}

/** As nodes report an account that was closed. */
const goneAccount = ({ encoding }: Readonly<Record<string, unknown>>): object => ({
  data: ['', encoding === 'base58' ? 'base58' : 'base64'],
  executable: false,
  lamports: 0,
  owner: '11111111111111111111111111111111',
  rentEpoch: 0,
  space: 0,
});

interface Question {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** In the order of the questions; undefined for one that was refused. @throws ChainBusy, SandboxChainUnavailable */
async function askAll(chain: SandboxChain, questions: readonly Question[]): Promise<readonly unknown[]> {
  const body = toJson(questions.map((question, id) => ({ jsonrpc: '2.0', id, ...question })));
  const bytes = await chain.rpc(body, {
    caller: 'external',
    calls: questions.length,
    airdrops: { perDay: AIRDROP_PER_DAY },
  });
  const answers = parseJson(bytes === null ? '[]' : new TextDecoder().decode(bytes));
  return (answers as readonly { readonly result?: unknown }[]).map(({ result }) => result);
}
