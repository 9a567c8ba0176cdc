/**
 * The two texts that the service asks a wallet to sign, field by field. The service writes them and checks the signature over
 * them; a client reads them before it signs, because a signature can be used for everything else that a text says.
 * The fields and their order are those of "sign in with Ethereum" (EIP-4361).
 */

/** The purpose of a signature. */
export interface ChallengePurpose {
  /** Where the signature is sent. */
  readonly path: string;
  /** Sentence that the signer agrees to. */
  readonly statement: (agentId: string) => string;
}

export const CHALLENGE_PURPOSES = {
  link: {
    path: '/wallet/link',
    statement: (agentId) =>
      `Link this wallet to the owner of the trading agent ${agentId}. Venue credentials registered for it come along. Nothing is traded or transferred.`,
  },
  paperCredentials: {
    path: '/wallet/credentials/paper',
    statement: (agentId) =>
      `Make credentials of this wallet for simulated money only, for the trading agent ${agentId}. No real venue accepts them. Nothing is traded or transferred.`,
  },
} as const satisfies Readonly<Record<string, ChallengePurpose>>;

export interface ChallengeFields {
  /** Host of the service, with its port where it has one. */
  readonly host: string;
  readonly kind: 'evm' | 'solana';
  /** As it is shown: an EVM address with its checksum. */
  readonly address: string;
  readonly statement: string;
  readonly uri: string;
  /** `null` for Solana. */
  readonly chainId: number | null;
  readonly nonce: string;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const CHAINS = { evm: 'Ethereum', solana: 'Solana' } as const;

/**
 * @example
 * const message = challengeText(fields);
 */
export const challengeText = (fields: ChallengeFields): string =>
  [
    `${fields.host} wants you to sign in with your ${CHAINS[fields.kind]} account:`,
    fields.address,
    '',
    fields.statement,
    '',
    `URI: ${fields.uri}`,
    'Version: 1',
    ...(fields.chainId === null ? [] : [`Chain ID: ${fields.chainId}`]),
    `Nonce: ${fields.nonce}`,
    `Issued At: ${new Date(fields.issuedAt).toISOString()}`,
    `Expiration Time: ${new Date(fields.expiresAt).toISOString()}`,
  ].join('\n');

const TEXT =
  /^(?<host>[^\s/]{1,255}) wants you to sign in with your (?<chain>Ethereum|Solana) account:\n(?<address>[0-9A-Za-z]{32,44})\n\n(?<statement>[^\n]{1,500})\n\nURI: (?<uri>\S{1,1000})\nVersion: 1\n(Chain ID: (?<chainId>\d{1,15})\n)?Nonce: (?<nonce>[0-9A-Za-z]{8,200})\nIssued At: (?<issued>\S{20,30})\nExpiration Time: (?<expires>\S{20,30})$/;

/**
 * @returns `null` for any other text, also one with something more in it
 * @example
 * const fields = readChallenge(received);
 * if (fields?.host !== 'desk.example') throw new Error('another service asks');
 */
export function readChallenge(text: string): ChallengeFields | null {
  const found = TEXT.exec(text)?.groups;
  if (found === undefined) return null;
  const kind = found.chain === CHAINS.evm ? 'evm' : 'solana';
  const fields: ChallengeFields = {
    host: found.host!,
    kind,
    address: found.address!,
    statement: found.statement!,
    uri: found.uri!,
    chainId: found.chainId === undefined ? null : Number(found.chainId),
    nonce: found.nonce!,
    issuedAt: Date.parse(found.issued!),
    expiresAt: Date.parse(found.expires!),
  };
  const isWhole =
    (kind === 'evm') === (fields.chainId !== null) &&
    Number.isFinite(fields.issuedAt) &&
    Number.isFinite(fields.expiresAt);
  // Written again it is the same text: nothing was read past.
  return isWhole && challengeText(fields) === text ? fields : null;
}
