/**
 * Finds what stands between a wallet and its first order at the venue, before that order: who owns the wallet, how its
 * orders are signed, its credential, its money and its approvals. Nothing is created or changed at the venue.
 */
import {
  type Address,
  approvalCalls,
  isPositionId,
  OLDER_NEG_RISK_ADAPTER,
  POLYGON_EXCHANGES,
  type SignatureType,
  signatureTypeOf,
  walletKindsOf,
} from '@bellwether/protocol';
import { NEED, needOptions } from './errors.ts';
import type { Signer } from './signer.ts';
import {
  KeyNotForThis,
  requireMayLogin,
  type VenueCredentials,
  type VenueRead,
  VenueReader,
  type VenueReaderOptions,
  venueLogin,
} from './venue-account.ts';
import { LIVE_RELAYER } from './wallet-calls.ts';

export type WalletCheckName =
  | 'venue'
  | 'owner'
  | 'signature type'
  | 'signer'
  | 'domain'
  | 'credential'
  | 'API key'
  | 'neg-risk'
  | 'tick size'
  | 'balance'
  | 'allowance'
  | 'older adapter';

export interface WalletFinding {
  readonly check: WalletCheckName;
  /** `unknown`: what is needed to look was not given, or the venue did not answer. */
  readonly state: 'good' | 'wrong' | 'unknown';
  readonly found: string;
  /** Set unless it is good. */
  readonly nextStep: string | null;
}

export interface WalletCheck {
  /** True when everything was looked at and is good. */
  readonly isReady: boolean;
  readonly findings: readonly WalletFinding[];
}

export interface WalletCheckOptions extends VenueReaderOptions {
  /** The account that is to pay for orders. */
  readonly wallet: Address;
  /** The key that is to sign; without it, owner, credential, balance and allowance stay unknown. */
  readonly signer?: Signer;
  /** Credentials of the signer's key; derived from it when not given. */
  readonly credentials?: VenueCredentials;
  /** A token that is to be traded; without it, neg-risk, tick size and the tokens' approval stay unknown. */
  readonly tokenId?: string;
  /** Default 137. */
  readonly chainId?: number;
  /** Says whether a deposit wallet is deployed; the venue's own with the venue's own CLOB, else not asked. */
  readonly relayerUrl?: string;
  /** The venue has simulated money: it takes accounts and order versions that a live one does not. Default `false`. */
  readonly isPaper?: boolean;
}

const CLOCK_TOLERANCE_S = 5;
const OK = 200;
/** Refusals of the venue about the thing itself. Any other answer, or none, judges nothing. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 404]);
const UNHEARD = 'Try again: the venue did not tell it.';
const KINDS: Readonly<Record<SignatureType, string>> = {
  0: 'the key itself (EOA)',
  1: 'its proxy wallet',
  2: 'its Safe',
  3: 'its deposit wallet',
};

/**
 * Never throws for what the venue says; answers in the order in which the steps have to be taken.
 * @example
 * const { isReady, findings } = await checkWallet({
 *   clobUrl: 'http://127.0.0.1:8080/paper/clob',
 *   wallet: signer.wallet(0),
 *   signer,
 *   isPaper: true,
 * });
 */
export async function checkWallet(options: WalletCheckOptions): Promise<WalletCheck> {
  needOptions('checkWallet', options, {
    clobUrl: NEED.url,
    wallet: NEED.text('the address of the account that is to pay'),
  });
  const reader = new VenueReader(options);
  const { signer, wallet, tokenId, isPaper = false } = options;
  const relayerUrl = options.relayerUrl ?? (reader.isLive ? LIVE_RELAYER : null);
  const relayer = relayerUrl === null ? null : new VenueReader({ ...options, clobUrl: relayerUrl });
  const isOfV2 = tokenId !== undefined && /^\d{1,78}$/.test(tokenId) && isPositionId(BigInt(tokenId));
  const type = signer === undefined ? null : signatureTypeOf(signer.address, wallet);
  const venue = await checkVenue(reader);
  const market = await checkMarket(reader, tokenId);
  const credential = await checkCredential(reader, options, venue.timestampS);
  const account =
    type === null || signer === undefined || credential.credentials === null
      ? accountUnknown()
      : await checkAccount(
          (path, query) =>
            reader.getSigned(path, query, {
              signer,
              credentials: credential.credentials as VenueCredentials,
              timestampS: venue.timestampS,
            }),
          { type, negRisk: market.negRisk, isOfV2 },
        );
  const findings = [
    venue.finding,
    ...ownerFindings(options, type),
    domainFinding(venue, { negRisk: market.negRisk, isOfV2 }, isPaper),
    credential.finding,
    await checkApiKey({ reader, relayer }, options, { type, ...credential, timestampS: venue.timestampS }),
    // A paper desk is well without a market to look at.
    ...(isPaper && tokenId === undefined ? [] : market.findings),
    ...account,
  ];
  return { isReady: findings.every(({ state }) => state === 'good'), findings };
}

const good = (check: WalletCheckName, found: string): WalletFinding => ({
  check,
  state: 'good',
  found,
  nextStep: null,
});
const wrong = (check: WalletCheckName, found: string, nextStep: string): WalletFinding => ({
  check,
  state: 'wrong',
  found,
  nextStep,
});
const unknown = (check: WalletCheckName, found: string, nextStep: string): WalletFinding => ({
  check,
  state: 'unknown',
  found,
  nextStep,
});

const withoutAnswer = (check: WalletCheckName, status: number): WalletFinding =>
  unknown(check, status === 0 ? 'the venue does not answer' : `the venue answers ${status}`, UNHEARD);

async function checkVenue(reader: VenueReader) {
  const [time, version] = await Promise.all([reader.get('/time'), reader.get('/version')]);
  const here = Math.floor(Date.now() / 1000);
  const there = typeof time.body === 'number' && Number.isSafeInteger(time.body) ? time.body : null;
  const said = (version.body as { version?: unknown } | null)?.version;
  return {
    version: typeof said === 'number' ? said : null,
    versionStatus: version.status,
    timestampS: there ?? here,
    finding:
      there === null
        ? wrong(
            'venue',
            time.status === 0 ? 'it does not answer' : `it does not tell its time (${time.status})`,
            'Check the address of the CLOB and the network.',
          )
        : Math.abs(there - here) > CLOCK_TOLERANCE_S
          ? wrong(
              'venue',
              `its clock is ${there - here} s ahead of this one`,
              'Set the clock of this machine (NTP).',
            )
          : good('venue', 'it answers, and the clocks agree'),
  };
}

function ownerFindings(
  { signer, wallet, isPaper = false }: WalletCheckOptions,
  type: SignatureType | null,
): WalletFinding[] {
  if (signer === undefined) {
    const step = 'Give the key that is to sign.';
    return [
      unknown('owner', `${wallet} may belong to any key`, step),
      unknown('signature type', 'it follows from the key', step),
      unknown('signer', 'it follows from the key', step),
    ];
  }
  if (type === null) {
    const { eoa, proxy, safe, deposit } = walletKindsOf(signer.address);
    const step = `Use one of this key's wallets: ${eoa} (type 0), ${proxy} (1), ${safe} (2), ${deposit.beacon} or ${deposit.uups} (3).`;
    return [
      wrong('owner', `${wallet} is no wallet of the key ${signer.address}`, step),
      wrong('signature type', 'none fits', step),
      wrong('signer', 'none may sign for it', step),
    ];
  }
  const signs = type === 3 ? wallet : signer.address;
  return [
    good('owner', `${wallet} is ${KINDS[type]} of ${signer.address}`),
    type === 0 && !isPaper
      ? wrong(
          'signature type',
          '0, which the venue takes only from accounts on its list',
          'Use the deposit wallet (type 3), unless the venue has confirmed that this account may trade.',
        )
      : good('signature type', String(type)),
    good('signer', `order.signer is ${signs}, order.maker (funder) is ${wallet}`),
  ];
}

interface OrderVersion {
  readonly version: number | null;
  readonly versionStatus: number;
}

function domainFinding(
  { version, versionStatus }: OrderVersion,
  { negRisk, isOfV2 }: { readonly negRisk: boolean | null; readonly isOfV2: boolean },
  isPaper: boolean,
): WalletFinding {
  if (version === null && versionStatus !== OK) return withoutAnswer('domain', versionStatus);
  if (isPaper && version === 1) return good('domain', 'version 1, as this paper venue takes it');
  if (version !== 2)
    return wrong(
      'domain',
      version === null
        ? 'the venue does not say its order version'
        : `the venue takes orders of version ${version}`,
      'This release signs version 2 for the venue: take a later release, or set VENUE_A_ORDER_PROFILE for a paper venue.',
    );
  if (isOfV2) return good('domain', `version 3, verifyingContract ${POLYGON_EXCHANGES.v3}`);
  if (negRisk === null) return good('domain', 'version 2; the contract depends on the market');
  const contract = negRisk ? POLYGON_EXCHANGES.v2NegRisk : POLYGON_EXCHANGES.v2;
  return good('domain', `version 2, verifyingContract ${contract}`);
}

async function checkMarket(reader: VenueReader, tokenId: string | undefined) {
  if (tokenId === undefined) {
    const step = 'Give the id of a token that is to be traded.';
    const findings = [
      unknown('neg-risk', 'it belongs to the market', step),
      unknown('tick size', 'it belongs to the market', step),
    ];
    return { negRisk: null, findings };
  }
  const query = { token_id: tokenId };
  const [risk, tick] = await Promise.all([reader.get('/neg-risk', query), reader.get('/tick-size', query)]);
  const negRisk = (risk.body as { neg_risk?: unknown } | null)?.neg_risk;
  const size = (tick.body as { minimum_tick_size?: unknown } | null)?.minimum_tick_size;
  const missing = (check: WalletCheckName, { status }: VenueRead): WalletFinding =>
    REFUSALS.has(status)
      ? wrong(
          check,
          `the venue answers ${status}`,
          'Check the token id: the venue has no open order book of it.',
        )
      : withoutAnswer(check, status);
  return {
    negRisk: typeof negRisk === 'boolean' ? negRisk : null,
    findings: [
      typeof negRisk === 'boolean' ? good('neg-risk', String(negRisk)) : missing('neg-risk', risk),
      typeof size === 'number' || typeof size === 'string'
        ? good('tick size', String(size))
        : missing('tick size', tick),
    ],
  };
}

async function checkCredential(reader: VenueReader, options: WalletCheckOptions, timestampS: number) {
  const { signer } = options;
  if (signer === undefined)
    return {
      credentials: null,
      finding: unknown('credential', 'it belongs to the key', 'Give the key that is to sign.'),
    };
  if (options.credentials === undefined && !mayLogin(signer, reader))
    return {
      credentials: null,
      finding: unknown(
        'credential',
        'the login of the live venue is not signed for this address',
        'Give credentials, or a key that is marked as one for paper where the venue is one.',
      ),
    };
  const { credentials, status } =
    options.credentials === undefined
      ? await derived(reader, signer, timestampS, options.chainId)
      : { credentials: options.credentials, status: OK };
  // A new credential may end the one in use, so it is advised only where the venue says that there is none.
  if (credentials === null)
    return {
      credentials,
      finding: REFUSALS.has(status)
        ? wrong(
            'credential',
            `the venue has none for ${signer.address}`,
            'Create it once with createVenueCredentials(), then register it with POST /wallet/credentials.',
          )
        : withoutAnswer('credential', status),
    };
  const answer = await reader.getSigned(
    '/auth/ban-status/closed-only',
    {},
    { signer, credentials, timestampS },
  );
  return { credentials, finding: credentialFinding(answer) };
}

/**
 * Whose the API key is. The venue refuses an order whose signer is not the key's address ("the order signer address has to
 * be the address of the API KEY"), or, for a deposit wallet, not a wallet of that address that it knows.
 */
async function checkApiKey(
  { reader, relayer }: { readonly reader: VenueReader; readonly relayer: VenueReader | null },
  { signer, wallet }: WalletCheckOptions,
  {
    type,
    credentials,
    timestampS,
  }: {
    readonly type: SignatureType | null;
    readonly credentials: VenueCredentials | null;
    readonly timestampS: number;
  },
): Promise<WalletFinding> {
  const check = 'API key';
  if (signer === undefined || credentials === null || type === null)
    return unknown(check, 'it belongs to the key and its credential', 'Mend owner and credential first.');
  const { status, body } = await reader.getSigned('/auth/api-keys', {}, { signer, credentials, timestampS });
  const keys = (body as { apiKeys?: unknown } | null)?.apiKeys;
  const made = `createVenueCredentials() with the key ${signer.address} itself, never with the address of a wallet; then POST /wallet/credentials with polyAddress ${signer.address} and signatureType ${type}.`;
  if (REFUSALS.has(status))
    return wrong(check, `it was not made by ${signer.address}`, `Make it anew: ${made}`);
  if (status !== OK || !Array.isArray(keys)) return withoutAnswer(check, status);
  if (!keys.includes(credentials.apiKey))
    return wrong(
      check,
      `the venue does not list it among those of ${signer.address}`,
      `Make it anew: ${made}`,
    );
  if (type !== 3) return good(check, `made by ${signer.address}, the signer of its orders`);
  const known = `made by ${signer.address}, the owner of the deposit wallet that is the signer of its orders`;
  if (relayer === null) return good(check, known);
  const answer = await relayer.get('/deployed', { address: wallet, type: 'WALLET' });
  const deployed = (answer.body as { deployed?: unknown } | null)?.deployed;
  if (answer.status !== OK || typeof deployed !== 'boolean') return withoutAnswer(check, answer.status);
  return deployed
    ? good(check, `${known}; the wallet is deployed`)
    : wrong(
        check,
        `${known}; the wallet is not deployed, and the venue refuses its orders`,
        'Deploy the wallet once: log in at the venue with this key and enable trading, or send WALLET-CREATE to the relayer.',
      );
}

function mayLogin(signer: Signer, { clobUrl }: VenueReader): boolean {
  try {
    requireMayLogin({ signer, clobUrl });
    return true;
  } catch (error) {
    if (error instanceof KeyNotForThis) return false;
    throw error;
  }
}

async function derived(
  reader: VenueReader,
  signer: Signer,
  timestampS: number,
  chainId?: number,
): Promise<{ readonly credentials: VenueCredentials | null; readonly status: number }> {
  const headers = await venueLogin({ signer, clobUrl: reader.clobUrl, chainId }, timestampS);
  const { status, body } = await reader.get('/auth/derive-api-key', {}, { ...headers });
  const { apiKey, secret, passphrase } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const isWhole =
    status === OK &&
    typeof apiKey === 'string' &&
    typeof secret === 'string' &&
    typeof passphrase === 'string';
  return { credentials: isWhole ? { apiKey, apiSecret: secret, apiPassphrase: passphrase } : null, status };
}

function credentialFinding({ status, body }: VenueRead): WalletFinding {
  if (status === 401)
    return wrong(
      'credential',
      'the venue does not accept it',
      'Derive it again with createVenueCredentials(): a key has one credential, and a later one ends it.',
    );
  if (status !== OK) return withoutAnswer('credential', status);
  return (body as { closed_only?: unknown } | null)?.closed_only === true
    ? wrong(
        'credential',
        'the account may only close positions',
        'Ask the venue why the account is restricted.',
      )
    : good('credential', 'the venue accepts it');
}

const accountUnknown = (): WalletFinding[] =>
  (['balance', 'allowance'] as const).map((check) =>
    unknown(check, 'the venue tells it to the credential of the owner', 'Mend owner and credential first.'),
  );

type SignedGet = (path: string, query: Readonly<Record<string, string>>) => Promise<VenueRead>;

interface Traded {
  readonly type: SignatureType;
  readonly negRisk: boolean | null;
  /** The market is of Protocol V2. */
  readonly isOfV2: boolean;
}

async function checkAccount(get: SignedGet, traded: Traded): Promise<WalletFinding[]> {
  const query = { asset_type: 'COLLATERAL', signature_type: String(traded.type) };
  // The venue looks at the chain only when it is asked to.
  await get('/balance-allowance/update', query);
  const { status, body } = await get('/balance-allowance', query);
  const { balance, allowances = {} } = (body ?? {}) as {
    balance?: unknown;
    allowances?: Readonly<Record<string, unknown>>;
  };
  if (status !== OK || typeof balance !== 'string' || !/^\d+$/.test(balance))
    return [withoutAnswer('balance', status), withoutAnswer('allowance', status)];
  const allowed = new Map(
    Object.entries(allowances).map(([spender, amount]) => [spender.toLowerCase(), String(amount)]),
  );
  return [
    balance === '0'
      ? wrong('balance', 'no pUSD', 'Fund the wallet with pUSD (wrap USDC.e with the CollateralOnramp).')
      : good('balance', `${Number(balance) / 1e6} pUSD`),
    allowanceFinding(allowed, traded),
    ...olderAdapterFinding(allowed, traded),
  ];
}

/**
 * The venue lists its older adapter among the contracts that may move collateral, and is reported to refuse BUYs in
 * neg-risk markets without it (August and September 2026). It is never approved by the way.
 */
function olderAdapterFinding(
  allowed: ReadonlyMap<string, string>,
  { negRisk, isOfV2 }: Traded,
): WalletFinding[] {
  const check = 'older adapter';
  const amount = allowed.get(OLDER_NEG_RISK_ADAPTER);
  if (isOfV2 || negRisk === false || amount === undefined) return [];
  if (amount !== '0')
    return [good(check, `${OLDER_NEG_RISK_ADAPTER} may move pUSD, which BUYs in neg-risk markets may need`)];
  const found = `${OLDER_NEG_RISK_ADAPTER} may move nothing: the venue has retired it, and may refuse BUYs in neg-risk markets without it`;
  const step =
    "Nothing for other markets. For these, try a small BUY first; only if the venue refuses it naming this contract, and only with the express consent of the wallet's owner, approve it for the amount to be spent: olderAdapterApprovalCall(), or npm run doctor with --older-adapter AMOUNT.";
  return [negRisk === true ? wrong(check, found, step) : unknown(check, found, step)];
}

/** Allowances that trading of this market, or of any, needs for collateral. */
function allowanceFinding(allowed: ReadonlyMap<string, string>, { negRisk, isOfV2 }: Traded): WalletFinding {
  const needed = isOfV2
    ? [POLYGON_EXCHANGES.v3]
    : [
        ...(negRisk === true ? [] : [POLYGON_EXCHANGES.v2]),
        ...(negRisk === false ? [] : [POLYGON_EXCHANGES.v2NegRisk]),
      ];
  const missing = needed.filter((spender) => (allowed.get(spender) ?? '0') === '0');
  if (missing.length === 0) return good('allowance', `the exchange may move it (${needed.join(', ')})`);
  const calls = approvalCalls().filter(({ spender }) => missing.includes(spender));
  const steps = calls.map(({ asset, to, data }) => `${asset}: to ${to}, data ${data}`);
  return wrong(
    'allowance',
    `not approved: ${missing.join(', ')}`,
    `Have the wallet send these approvals, then ask again. ${steps.join('; ')}`,
  );
}
