/**
 * Signs the service's challenge, once it has been read: a text that names another service, agent, wallet, purpose or time is
 * somebody else's, handed on, and a signature under it would be theirs to use.
 */
import { CHALLENGE_PURPOSES, type LinkChallenge, readChallenge } from '@bellwether/contract';
import type { BellwetherClient } from './client.ts';

/** The text to sign is not the challenge that was asked for. It was not signed. */
export class ForeignChallenge extends Error {
  override readonly name = 'ForeignChallenge';
  /** The part that differs: `text`, `host`, `agent`, `address`, `purpose`, `nonce` or `time`. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(`Not signed: ${message}`);
    this.field = field;
  }
}

/** Facts that are known without asking the service; all of them have a default. */
export interface ChallengePins {
  /** Host of the service as its texts name it, with its port where it has one; default that of the client's address. */
  readonly host?: string;
  /** Default: what `getMe` answers. */
  readonly agentId?: string;
  /** Epoch milliseconds; default the local clock. */
  readonly now?: () => number;
}

interface WantedChallenge {
  readonly purpose: keyof typeof CHALLENGE_PURPOSES;
  readonly address: string;
  readonly kind: 'evm' | 'solana';
}

const CLOCK_TOLERANCE_MS = 30_000;
const LONGEST_LIFE_MS = 15 * 60_000;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(?=:|$)/;

/** Names of this machine are one host. */
const hostOf = (host: string): string => host.toLowerCase().replace(LOOPBACK, 'localhost');

/** @throws ForeignChallenge */
function requireOwn(
  { nonce, message }: Pick<LinkChallenge, 'nonce' | 'message'>,
  { purpose, address, kind }: WantedChallenge,
  { host, agentId, now }: Required<ChallengePins>,
): void {
  const fields = readChallenge(message);
  if (fields === null)
    throw new ForeignChallenge('text', 'the text is none that this service asks a wallet to sign.');
  const require = (field: string, isSame: boolean, what: string) => {
    if (!isSame) throw new ForeignChallenge(field, `the text is for ${what}.`);
  };
  const { path, statement } = CHALLENGE_PURPOSES[purpose];
  const uri = URL.canParse(fields.uri) ? new URL(fields.uri) : null;
  require('host', hostOf(fields.host) === hostOf(host), `the service at ${fields.host}, not for ${host}`);
  require('host', uri !== null && hostOf(uri.host) === hostOf(host), `another service than ${host}`);
  const same = (text: string) => (kind === 'evm' ? text.toLowerCase() : text);
  require('address', fields.kind === kind &&
    same(fields.address) === same(address), `the wallet ${fields.address}`);
  require('agent', fields.statement.includes(` ${agentId}.`), `another agent than ${agentId}`);
  const isPurpose = fields.statement === statement(agentId) && uri !== null && uri.pathname.endsWith(path);
  require('purpose', isPurpose && uri.search === '' && uri.hash === '', 'another purpose');
  require('nonce', fields.nonce === nonce, 'another nonce than the one beside it');
  const at = now();
  const isNow =
    fields.issuedAt <= at + CLOCK_TOLERANCE_MS &&
    fields.expiresAt > at - CLOCK_TOLERANCE_MS &&
    fields.expiresAt - fields.issuedAt <= LONGEST_LIFE_MS;
  require('time', isNow, 'another time; or the clock of this machine is wrong');
}

/**
 * @param sign gets the text once it has been checked
 * @returns the nonce and the signature @throws ForeignChallenge, BellwetherApiError
 */
export async function signedChallenge(
  client: BellwetherClient,
  wanted: WantedChallenge,
  pins: ChallengePins,
  sign: (message: string) => string | Promise<string>,
): Promise<{ readonly nonce: string; readonly signature: string }> {
  const { host = new URL(client.baseUrl).host, now = Date.now } = pins;
  const agentId = pins.agentId ?? (await client.getMe()).agentId;
  const { address } = wanted;
  const challenge =
    wanted.purpose === 'link'
      ? await client.getLinkChallenge(address)
      : await client.getCredentialChallenge(address);
  requireOwn(challenge, wanted, { host, agentId, now });
  return { nonce: challenge.nonce, signature: await sign(challenge.message) };
}
