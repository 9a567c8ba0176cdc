/** A request for the relayer as answers show it, and as records keep it. */
import type { RelayRecord } from '@bellwether/contract';
import { bytesToHex, relayRequest } from '@bellwether/protocol';
import type { PreparedRelay } from './venue.ts';

const SECOND_MS = 1_000;

export const relayRequestOf = ({ owner, calls, terms, chainId }: PreparedRelay) =>
  relayRequest(owner, calls, terms, chainId);

export function relayRecord(relay: PreparedRelay): RelayRecord {
  const { terms, chainId, deadlineS } = relay;
  const { body, digest } = relayRequestOf(relay);
  return {
    ...{ type: terms.type, nonce: terms.nonce.toString(), chainId },
    deadline: new Date(deadlineS * SECOND_MS).toISOString(),
    relay: terms.type === 'PROXY' ? terms.relay : null,
    digest: bytesToHex(digest),
    body,
  };
}

/** JSON has no 64-bit integers. */
export type RelayJson = Omit<PreparedRelay, 'terms'> & {
  readonly terms: object & { readonly nonce: string };
};

export const relayJson = ({ terms, ...relay }: PreparedRelay): RelayJson => ({
  ...relay,
  terms: { ...terms, nonce: terms.nonce.toString() },
});

export function relayFromJson(json: RelayJson): PreparedRelay {
  const terms = { ...json.terms, nonce: BigInt(json.terms.nonce) } as PreparedRelay['terms'];
  return { ...json, terms };
}
