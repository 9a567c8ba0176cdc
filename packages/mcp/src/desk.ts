/** The desk as the tools use it: clients, the keys that sign, the spending limit. Opened by the first call that needs it. */

import { type Micro, parseMicro } from '@bellwether/contract/decimals';
import { BellwetherClient, type Fetch, type KeyUse, Signer, SolanaSigner } from '@bellwether/sdk';
import {
  type DeskPlace,
  deskPlace,
  type Environment,
  type EvmKey,
  KeystoreError,
  loadKeys,
  SpendingLimit,
} from '@bellwether/sdk/keystore';
import { idOf, ToolProblem, wordOf } from './answer.ts';

export interface Desk {
  readonly config: McpConfig;
  readonly client: BellwetherClient;
  /**
   * Tries once. A refusal that follows a lost try would prove nothing about the first, and what is in doubt must stay
   * reserved.
   */
  readonly once: BellwetherClient;
  readonly agentId: string;
  readonly limit: SpendingLimit;
  readonly backends: Backends;
  /** @throws ToolProblem when there is no key that signs orders */
  wallet(): { readonly signer: Signer; readonly signatureType: EvmKey['signatureType'] };
  /** @throws ToolProblem when there is no Solana key */
  solana(): SolanaSigner;
}

/** Backend of each venue, as the desk says: `paper` or `live`. */
interface Backends {
  venues(): readonly string[];
  of(venue: string): string | undefined;
  /** One word where it is the same for all venues. */
  shown(): string | Readonly<Record<string, string>>;
}

export function backendsOf(venues: readonly { readonly name: string; readonly backend: string }[]): Backends {
  const known = new Map(venues.map(({ name, backend }) => [idOf(name), wordOf(backend)]));
  const [first = 'unknown', ...others] = new Set(known.values());
  return {
    venues: () => [...known.keys()],
    of: (venue) => known.get(venue),
    shown: () => (others.length === 0 ? first : Object.fromEntries(known)),
  };
}

const RETRIES = 2;
/** A desk may be started anew for other money. */
const BACKENDS_KEPT_MS = 60_000;
const LONGEST_WAIT_MS = 5_000;

interface DeskOptions {
  readonly config: McpConfig;
  readonly fetch?: Fetch;
}

interface Opened {
  readonly desk: Desk;
  readonly backends: { now: Backends; at: number };
}

export class DeskDoor {
  readonly config: McpConfig;
  readonly #fetch: Fetch | undefined;
  #opened: Promise<Opened> | null = null;

  constructor({ config, fetch }: DeskOptions) {
    this.config = config;
    this.#fetch = fetch;
  }

  /**
   * The next call tries again after a failure: the person may have mended it meanwhile.
   * @throws KeystoreError, BellwetherApiError, BellwetherConnectionError
   */
  async open(): Promise<Desk> {
    const { desk, backends } = await this.#kept();
    if (Date.now() - backends.at > BACKENDS_KEPT_MS) {
      const { venues } = await desk.client.getMe();
      Object.assign(backends, { now: backendsOf(venues), at: Date.now() });
    }
    return desk;
  }

  #kept(): Promise<Opened> {
    const opening = this.#opened ?? this.#open();
    this.#opened = opening;
    opening.catch(() => {
      if (this.#opened === opening) this.#opened = null;
    });
    return opening;
  }

  async #open(): Promise<Opened> {
    const { config } = this;
    const { keys, place } = await loadKeys({ env: config.env, url: config.place.url });
    const { apiKey } = keys;
    const client = new BellwetherClient({ ...this.#clientOptions(RETRIES), apiKey });
    const { agentId, venues } = await client.getMe();
    const backends = { now: backendsOf(venues), at: Date.now() };
    const [evm] = keys.evm;
    const signer = evm === undefined ? null : Signer.fromPrivateKey(evm.privateKey, { use: evm.use });
    const solana =
      keys.solana === null
        ? null
        : SolanaSigner.fromSecretKey(keys.solana.secretKey, { use: keys.solana.use });
    const requireUse = (venue: string, use: KeyUse | null) => {
      const backend = backends.now.of(venue);
      if (use !== null && backend !== undefined && backend !== use) throw keyNotForThis(use, backend);
    };
    const desk: Desk = {
      config,
      client,
      get backends() {
        return backends.now;
      },
      once: new BellwetherClient({ ...this.#clientOptions(0), apiKey }),
      agentId,
      limit: new SpendingLimit(place),
      wallet: () => {
        if (signer === null || evm === undefined) throw keyMissing('BELLWETHER_PRIVATE_KEY');
        requireUse(evm.venue, signer.use);
        return { signer, signatureType: evm.signatureType };
      },
      solana: () => {
        if (solana === null) throw keyMissing('BELLWETHER_SOLANA_KEY');
        requireUse(keys.solana?.venue ?? '', solana.use);
        return solana;
      },
    };
    return { desk, backends };
  }

  /** A key that is refused may have been replaced in the keystore: the next call reads it again. */
  readonly #watched: Fetch = async (url, init) => {
    const response = await (this.#fetch ?? fetch)(url, init);
    if (response.status === 401) this.#opened = null;
    return response;
  };

  #clientOptions(maxRetries: number) {
    const { place, timeoutMs } = this.config;
    return {
      baseUrl: place.url,
      timeoutMs,
      maxRetries,
      maxWaitMs: LONGEST_WAIT_MS,
      fetch: this.#watched,
    };
  }
}

const keyNotForThis = (use: KeyUse, backend: string): ToolProblem =>
  new ToolProblem({
    code: 'key_not_for_this',
    message: `The key on this machine is for ${use}, and the desk says that this venue is ${backend}. Nothing was signed.`,
    fix: `Tell the person: keys of their own for ${backend} are made in another BELLWETHER_HOME. A key that is for ${backend} is marked in a terminal: bellwether keys mark ${backend}`,
  });

const keyMissing = (name: string): ToolProblem =>
  new ToolProblem({
    code: 'signing_key_missing',
    message: 'There is no key on this machine that signs such an order.',
    fix: `Ask the person to set ${name}, or to run "bellwether-mcp init" in a terminal.`,
  });

// Settings from the environment, read once.

interface McpConfig {
  readonly env: Environment;
  readonly place: DeskPlace;
  /** Above this amount of collateral a person is asked before an order is placed. */
  readonly confirmAbove: Micro;
  /** As the desk's venue wants orders signed. It is pinned here, so that the desk cannot choose. */
  readonly profile: 'interface' | 'polymarket';
  readonly timeoutMs: number;
  /** Asked for its own terms before a request for it is signed; `null`: the venue's own. */
  readonly relayerUrl: string | null;
  /** A Solana node of the person's own, which simulates what cannot be read on a live chain. */
  readonly solanaRpc: string | null;
}

const DEFAULT_CONFIRM_ABOVE = '25';
const DEFAULT_TIMEOUT_MS = 10_000;

/** @throws KeystoreError `environment_invalid`, with everything that is wrong; `url_invalid` */
export function readConfig(env: Environment): McpConfig {
  const wrong: string[] = [];
  const text = (name: string, fallback: string) =>
    env[name] === undefined || env[name] === '' ? fallback : env[name];
  const confirm = text('BELLWETHER_CONFIRM_ABOVE', DEFAULT_CONFIRM_ABOVE);
  if (!/^\d{1,12}(\.\d{1,6})?$/.test(confirm))
    wrong.push('BELLWETHER_CONFIRM_ABOVE is not an amount of collateral.');
  const profile = text('BELLWETHER_ORDER_PROFILE', 'interface');
  if (profile !== 'interface' && profile !== 'polymarket')
    wrong.push('BELLWETHER_ORDER_PROFILE is neither "interface" nor "polymarket".');
  const timeout = Number(text('BELLWETHER_TIMEOUT_MS', String(DEFAULT_TIMEOUT_MS)));
  if (!Number.isInteger(timeout) || timeout < 100 || timeout > 120_000)
    wrong.push('BELLWETHER_TIMEOUT_MS is not a number of milliseconds from 100 to 120000.');
  const rpc = text('BELLWETHER_SOLANA_RPC', '');
  if (rpc !== '' && !(/^https?:\/\//.test(rpc) && URL.canParse(rpc)))
    wrong.push('BELLWETHER_SOLANA_RPC is not an address that begins with http:// or https://.');
  const relayer = text('BELLWETHER_RELAYER_URL', '');
  if (relayer !== '' && !(/^https?:\/\//.test(relayer) && URL.canParse(relayer)))
    wrong.push('BELLWETHER_RELAYER_URL is not an address that begins with http:// or https://.');
  if (wrong.length > 0)
    throw new KeystoreError('environment_invalid', wrong.join(' '), 'Correct the environment.');
  return {
    env,
    place: deskPlace(env),
    confirmAbove: parseMicro(confirm),
    profile: profile as McpConfig['profile'],
    timeoutMs: timeout,
    relayerUrl: relayer === '' ? null : relayer,
    solanaRpc: rpc === '' ? null : rpc,
  };
}
