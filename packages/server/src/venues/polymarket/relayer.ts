/**
 * The venue's relayer: makes the calls that a wallet's owner signed, and pays the network. A request is sent once; what became of
 * one whose answer was lost is read from the list of the desk's own transactions, by its signature. Wire reference 5.7.
 */
import {
  type Address,
  type ContractCall,
  l2Signature,
  nobleRecover,
  parseAddress,
  parseHex,
  parseSignature,
  RELAY_TYPES,
  type RelayTerms,
  type RelayType,
  recoverAddress,
  relayRequest,
  type WalletOwner,
} from '@bellwether/protocol';
import type { PreparedRelay, RelayedSets, RelayState } from '../venue.ts';
import type { VenueHttp } from './http.ts';
import { READ } from './translate-market.ts';

/** Of the operator, not of any agent. */
export type RelayerCredentials =
  | { readonly kind: 'relayer'; readonly apiKey: string; readonly address: string }
  | {
      readonly kind: 'builder';
      readonly apiKey: string;
      readonly secret: string;
      readonly passphrase: string;
    };

/** Prepares what owners sign. */
export interface Relaying {
  /** `null`: the relayer does not say its terms now. */
  prepare(owner: WalletOwner, calls: readonly ContractCall[]): Promise<PreparedRelay | null>;
}

/** The venue grants a batch at most 300 seconds, by its own clock. */
const RELAYED_WITHIN_S = 240;
const SECOND_MS = 1_000;

export const createRelaying = (
  relayer: Pick<Relayer, 'terms'>,
  { clock, chainId }: { readonly clock: { now(): number }; readonly chainId: number },
): Relaying => ({
  async prepare(owner, calls) {
    const deadlineS = Math.floor(clock.now() / SECOND_MS) + RELAYED_WITHIN_S;
    const terms = await relayer.terms(owner, deadlineS).catch(() => null);
    return terms === null ? null : { owner, calls, terms, chainId, deadlineS };
  },
});

interface RelayerOptions {
  readonly http: Pick<VenueHttp, 'ask' | 'read' | 'send'>;
  readonly credentials: RelayerCredentials;
  /** The clock with which requests are signed. */
  readonly clock: { now(): number };
}

export interface Relayer extends RelayedSets {
  /** Terms of the next request of a wallet. @throws VenueUnavailable */
  terms(owner: WalletOwner, deadlineS: number): Promise<RelayTerms>;
  /** Whether the credentials are taken. @returns `null`: they are; else a sentence @throws VenueUnavailable */
  mayAsk(): Promise<string | null>;
}

const STATES: Readonly<Record<string, RelayState>> = {
  STATE_CONFIRMED: 'confirmed',
  STATE_FAILED: 'failed',
  STATE_INVALID: 'failed',
};
/** Nothing was taken, and asking later may help: credentials, limits, a service that is not ready. */
const NOT_NOW: ReadonlySet<number> = new Set([401, 403, 408, 425, 429, 503]);
const BAD_REQUEST = 400;
const SERVER_ERROR = 500;
const MOST_WORDS = 300;

export function createRelayer({ http, credentials, clock }: RelayerOptions): Relayer {
  const headers = (method: 'GET' | 'POST', path: string, body?: string): Record<string, string> => {
    if (credentials.kind === 'relayer')
      return { RELAYER_API_KEY: credentials.apiKey, RELAYER_API_KEY_ADDRESS: credentials.address };
    const timestamp = String(Math.floor(clock.now() / 1000));
    const signed = { timestamp, method, path, ...(body === undefined ? {} : { body }) };
    return {
      POLY_BUILDER_API_KEY: credentials.apiKey,
      POLY_BUILDER_PASSPHRASE: credentials.passphrase,
      POLY_BUILDER_TIMESTAMP: timestamp,
      POLY_BUILDER_SIGNATURE: l2Signature(credentials.secret, signed),
    };
  };
  const nonceOf = async (eoa: Address, type: RelayType): Promise<bigint> => {
    const found = await http.read({ path: '/nonce', query: { address: eoa, type } }, READ.relayNonce);
    return BigInt(found?.nonce ?? 0);
  };

  return {
    async terms({ eoa, type: signatureType }, deadlineS) {
      const type = RELAY_TYPES[signatureType];
      if (type === null) throw new RangeError('an EOA sends its transactions itself');
      if (type === 'SAFE') return { type, nonce: await nonceOf(eoa, type) };
      if (type === 'WALLET') return { type, nonce: await nonceOf(eoa, type), deadlineS };
      const query = { address: eoa, type };
      const found = await http.read({ path: '/relay-payload', query }, (value) => {
        const read = READ.relayPayload(value);
        const relay = read === null ? null : parseAddress(read.address);
        return read === null || relay === null ? null : { relay, nonce: BigInt(read.nonce) };
      });
      if (found === null) throw new RangeError('the relayer names no account that delivers');
      return { type, ...found };
    },

    async submit(given) {
      const body = JSON.stringify(given);
      const path = '/submit';
      const outcome = await http.send({ method: 'POST', path, body, headers: headers('POST', path, body) });
      if (outcome.kind === 'not_sent') return { kind: 'not_taken', words: null };
      if (outcome.kind === 'unknown') return outcome;
      const { status, value, text } = outcome.reply;
      if (status < BAD_REQUEST) {
        const taken = READ.relayTaken(value);
        return taken === null ? { kind: 'unknown' } : { kind: 'taken', transactionId: taken.transactionID };
      }
      const words = (READ.relayError(value)?.error ?? text).slice(0, MOST_WORDS);
      if (NOT_NOW.has(status)) return { kind: 'not_taken', words };
      return status < SERVER_ERROR ? { kind: 'refused', words } : { kind: 'unknown' };
    },

    async stateOf(id) {
      const rows = await http.read({ path: '/transaction', query: { id } }, READ.relayTransactions);
      const [row] = rows ?? [];
      const read = row === undefined ? null : READ.relayTransaction(row);
      if (read === null) return null;
      return { state: STATES[read.state] ?? 'pending', hash: read.transactionHash?.toLowerCase() ?? null };
    },

    async mayAsk() {
      const path = '/transactions';
      const { status } = await http.ask({ path, headers: headers('GET', path) });
      return status < BAD_REQUEST ? null : `it refuses these credentials (${status})`;
    },

    async look(relay) {
      const path = '/transactions';
      const rows = await http.read({ path, headers: headers('GET', path) }, READ.relayTransactions);
      const { owner, calls, terms, chainId } = relay;
      const { digest } = relayRequest(owner, calls, terms, chainId);
      let transactionId: string | null = null;
      let usedBy: string | null = null;
      for (const row of rows ?? []) {
        const read = READ.relayTransaction(row);
        if (!read?.transactionID || !read.signature) continue;
        const from = read.from?.toLowerCase();
        // Another's, of many that the same credentials send.
        if (from !== undefined && from !== owner.eoa) continue;
        const isOfNonce =
          read.type === terms.type &&
          from === owner.eoa &&
          read.nonce != null &&
          BigInt(read.nonce) === terms.nonce;
        if (isSignedBy(owner.eoa, digest, read.signature)) transactionId = read.transactionID;
        else if (isOfNonce && STATES[read.state] === 'confirmed') usedBy = read.transactionID;
      }
      // The list is old news: what the relayer would give next says whether the nonce is gone.
      const isSpent = usedBy !== null && (await this.terms(owner, relay.deadlineS)).nonce > terms.nonce;
      return { transactionId, usedBy: isSpent ? usedBy : null };
    },
  };
}

/** A Safe knows by a shifted `v` that a personal message was signed. */
const SHIFTED_V = 31;

/** The digest decides, not the text: an owner can sign a request twice, and the relayer lists either signature. */
function isSignedBy(eoa: Address, digest: Uint8Array, listed: string): boolean {
  const bytes = parseHex(listed)?.slice();
  const last = bytes?.at(-1);
  if (bytes === undefined || last === undefined) return false;
  if (last >= SHIFTED_V) bytes[bytes.length - 1] = last - 4;
  const parsed = parseSignature(bytes);
  const found = parsed.ok ? recoverAddress(nobleRecover, digest, parsed) : null;
  return found?.ok === true && found.address === eoa;
}
