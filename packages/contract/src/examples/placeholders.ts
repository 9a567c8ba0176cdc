/**
 * Values of a runnable example that its reader fills in. The OpenAPI document explains each name, and `test/e2e/openapi-stage.ts`
 * says how the test that runs every example comes by it.
 */
export const PLACEHOLDERS = {
  // Agents, keys and owners
  agentId: 'the id of one of your agents: GET /owner/agents',
  apiKeyId: 'the `id` of a key of this agent that it can do without: GET /agents/api-key/list',
  claimCode: '`claimCode` of POST /agents/register',
  passkeyRegistration:
    "the JSON of the browser's navigator.credentials.create for the options of POST /owner/passkey/register-options",
  passkeySignIn:
    "the JSON of the browser's navigator.credentials.get for the options of POST /owner/passkey/sign-in-options",
  passkeyExitRule:
    'the answer of navigator.credentials.get to POST /owner/agents/{{agentId}}/exit-rule/passkey-options with the same values',
  passkeyHeartbeat:
    'the answer of navigator.credentials.get to POST /owner/wallets/heartbeat/passkey-options with the same values',
  passkeyApproval:
    "the JSON of the browser's navigator.credentials.get for the options of POST /owner/approvals/{{approvalId}}/passkey-options",
  passkeyExit:
    'the answer of navigator.credentials.get to POST /owner/agents/{{agentId}}/exits/{{exitId}}/passkey-options with the same act',
  passkeyId: '`passkeyId` of a passkey of the owner, who has another one: GET /owner/passkeys',
  passkeyAdding: 'the answer of navigator.credentials.get to POST /owner/passkeys/passkey-options',
  passkeyAdded: 'the answer of navigator.credentials.create to POST /owner/passkeys/register-options',
  passkeyRemoving:
    'the answer of navigator.credentials.get to POST /owner/passkeys/{{passkeyId}}/remove/passkey-options',
  passkeyRecoveryCode: 'the answer of navigator.credentials.get to POST /owner/recovery-code/passkey-options',
  recoveryCode: '`recoveryCode` of POST /owner/recovery-code',
  passkeyRecovering: 'the answer of navigator.credentials.create to POST /owner/recovery/register-options',
  passkeyUndoing:
    'the answer of navigator.credentials.get to POST /owner/recovery/undo/passkey-options, with a passkey of before',
  ownersWallet: 'a wallet of the owner that another agent registered: GET /owner/agents/{agentId}/wallets',
  leftWallet: '`walletAddress` of a row of GET /owner/wallets/left',
  leftWalletOfAnyOwner: 'a wallet that left an owner: a trade with it is refused, and names it',

  // Wallets
  wallet: 'the registered EOA of this agent: `walletAddress` of GET /agents/me',
  newWallet: 'the address of an EOA whose key you have',
  venueKey:
    "`apiKey` of the venue's signed challenge (createOrDeriveApiKey), made with the key of {{newWallet}}",
  venueSecret: '`secret` of the same answer',
  venuePassphrase: '`passphrase` of the same answer',
  credentialNonce: '`nonce` of GET /wallet/credentials/challenge?address={{newWallet}}',
  credentialSignature:
    'EIP-191 personal_sign of the `message` of the same answer with the key of {{newWallet}}',
  linkNonce: '`nonce` of GET /wallet/link/challenge?address={{newWallet}}',
  linkSignature: 'EIP-191 personal_sign of the `message` of the same answer with the key of {{newWallet}}',
  solanaWallet: 'the Solana address of this agent: `solAddress` of GET /agents/me',
  delegatingWallet:
    'a linked Solana wallet that has approved the `delegate` of GET /venueb/agent/delegation for its USDC account',
  newSolanaWallet: 'the base58 address of a Solana key that you have',

  // Markets and orders of venue A
  marketId: '`id` of an open market of GET /markets whose tickSize is 0.01',
  conditionId: '`conditionId` of the same market',
  tokenId: 'its YES token: `clobTokenIds[0]`',
  eventMarketId: '`id` of an open market of GET /markets with `negRisk: true`, of which you hold NO shares',
  resolvedMarketId: '`id` of a resolved market: GET /markets?q=*&closed=true',
  salt: 'a whole number below 2^53 that you have not used before',
  signature:
    'EIP-712 signature of the order with the key of {{wallet}}: POST /markets/trade/prepare gives the typed data, /docs/signing every rule',
  clientOrderId: 'your own name for this order, another one for another order',
  orderId: '`orderId` of POST /markets/trade',

  exitSalt: 'a whole number below 2^53 that you have not used before',
  exitSignature: 'EIP-712 signature of the SELL order with the key of {{wallet}}, which holds the shares',
  exitId: '`exitId` of POST /markets/exits',
  ownSuspendedExitId:
    'id of a suspended exit of an agent without an owner, from GET /markets/exits?status=suspended',
  suspendedExitId:
    '`exitId` of an exit whose status is suspended: GET /owner/agents/{{agentId}}/exits?status=suspended',
  setOrderId: '`orderId` of POST /markets/split or /markets/merge',
  approvalId: '`approvalId` of a trade that was refused with approval_required: GET /owner/approvals',

  // Venue B
  quoteIdToApprove: '`quoteId` of a quote whose quoteErrorCode is approval_required',
  ticker: '`id` of an active market of GET /markets with the name of venue B as `venue`',
  quoteId: '`quoteId` of POST /venueb/agent/quote',
  signedTransaction:
    '`unsignedTransaction` of the same answer, verified, and signed with the key of {{solanaWallet}}',
  quotedOrderId: '`orderId` of POST /venueb/agent/submit',

  // Skills and webhooks
  skillCode: '`skillCode` of a skill of GET /agent/skill/skills',
  pendingSkillCode: '`skillCode` of a skill of GET /operator/skills',
  webhookId: '`id` of POST /webhooks',
  callbackSource: 'the name of a source in WEBHOOK_INBOUND_SECRETS',
  callbackSignature: "hex HMAC-SHA256 of the raw body with the source's secret",
} as const satisfies Readonly<Record<string, string>>;

export type Placeholder = keyof typeof PLACEHOLDERS;

const WALLET = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const SOLANA_WALLET = '7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK';
const HASH = `0x${'4b'.repeat(32)}`;
const UUID = '01a2035b-8960-76c4-8030-049f991fa7ad';
const TEXT = 'see-x-placeholders';
/** The form of what a browser's passkey answers. */
const passkey = (response: Readonly<Record<string, string>>) => ({
  ...{ id: TEXT, rawId: TEXT, type: 'public-key', clientExtensionResults: {} },
  response: { clientDataJSON: TEXT, ...response },
});
const PASSKEY = passkey({ authenticatorData: TEXT, signature: TEXT });

/** Values in the form of each, which the document shows; they stand for nothing that is there. */
export const SAMPLES: Readonly<Record<Placeholder, unknown>> = {
  agentId: UUID,
  apiKeyId: '12',
  claimCode: '7K2QD-M9XTR',
  passkeyRegistration: passkey({ attestationObject: TEXT }),
  passkeySignIn: PASSKEY,
  passkeyExitRule: PASSKEY,
  passkeyHeartbeat: PASSKEY,
  passkeyApproval: PASSKEY,
  passkeyExit: PASSKEY,
  passkeyId: '12',
  passkeyAdding: PASSKEY,
  passkeyAdded: passkey({ attestationObject: TEXT }),
  passkeyRemoving: PASSKEY,
  passkeyRecoveryCode: PASSKEY,
  recoveryCode: '7K2QD-M9XTR-3VB8N-0PWZC-E5H1J-7K2Q6',
  passkeyRecovering: passkey({ attestationObject: TEXT }),
  passkeyUndoing: PASSKEY,
  ownersWallet: WALLET,
  leftWallet: WALLET,
  leftWalletOfAnyOwner: WALLET,
  wallet: WALLET,
  newWallet: WALLET,
  venueKey: UUID,
  venueSecret: TEXT,
  venuePassphrase: TEXT,
  credentialNonce: '01a205ce01a901a205c96dc977deaf98',
  credentialSignature: `0x${'5c'.repeat(64)}1b`,
  linkNonce: '01a205ce01a901a205c96dc977deaf98',
  linkSignature: `0x${'5c'.repeat(64)}1b`,
  solanaWallet: SOLANA_WALLET,
  delegatingWallet: SOLANA_WALLET,
  newSolanaWallet: SOLANA_WALLET,
  marketId: '510001',
  conditionId: HASH,
  tokenId: '53693768433577238893975993993238702361395025765281392345981578723767801761975',
  eventMarketId: '510003',
  resolvedMarketId: '510002',
  salt: 6026294733965314,
  signature: `0x${'5c'.repeat(64)}1b`,
  clientOrderId: 'my-order-1',
  orderId: HASH,
  exitSalt: 6026294733965315,
  exitSignature: `0x${'5c'.repeat(64)}1b`,
  exitId: UUID,
  ownSuspendedExitId: UUID,
  suspendedExitId: UUID,
  setOrderId: HASH,
  approvalId: UUID,
  quoteIdToApprove: UUID,
  ticker: 'KXRAIN-26DEC-T1',
  quoteId: UUID,
  signedTransaction: 'AQAAAA==',
  quotedOrderId: UUID,
  skillCode: UUID,
  pendingSkillCode: UUID,
  webhookId: UUID,
  callbackSource: 'dflow',
  callbackSignature: '9f'.repeat(32),
};

/** Where a name stands in an example. */
export const fill = <const Name extends Placeholder>(name: Name): `{{${Name}}}` => `{{${name}}}`;

const MARK = /\{\{(\w+)\}\}/g;

/** The placeholders of an example and of their explanations, in the order in which they come. */
export function placeholdersOf(value: unknown): readonly Placeholder[] {
  const found = new Set<Placeholder>();
  const look = (text: string): void => {
    for (const [, name] of text.matchAll(MARK)) {
      const placeholder = name as Placeholder;
      if (found.has(placeholder)) continue;
      found.add(placeholder);
      look(PLACEHOLDERS[placeholder]);
    }
  };
  look(JSON.stringify(value) ?? '');
  return [...found];
}

/** The example with a value for each of its placeholders. A text that is a placeholder and nothing else takes the value's type. */
export function fillIn(example: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof example === 'string') {
    const [whole, name = ''] = /^\{\{(\w+)\}\}$/.exec(example) ?? [];
    if (whole !== undefined) return values[name];
    return example.replaceAll(MARK, (_mark, each: string) => String(values[each]));
  }
  if (Array.isArray(example)) return example.map((item) => fillIn(item, values));
  if (typeof example !== 'object' || example === null) return example;
  return Object.fromEntries(Object.entries(example).map(([name, value]) => [name, fillIn(value, values)]));
}
