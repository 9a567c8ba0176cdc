/** docs/signing.md: the answer of `GET /venues/{id}/signing` as a page, with the default contracts. */
import {
  exchangeDomains,
  type OrderExample,
  orderSigningGuide,
  POLYGON_CHAIN_ID,
  type TypedData,
} from '@bellwether/protocol';
import {
  AMOUNT_RULES,
  SIGNATURE_TYPES,
  TRANSACTIONS,
} from '../../packages/server/src/markets/venue-guides.ts';
import { NOTE, table } from './markdown.ts';

const guideOf = (profile: 'interface' | 'polymarket') =>
  orderSigningGuide({ chainId: POLYGON_CHAIN_ID, domains: exchangeDomains(), profile });

const json = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const code = (text: string): string => `\`${text}\``;

const messageOf = ({ primaryType, message }: TypedData) => ({ primaryType, message });

const example = ({ name, typedData, orderId, digest, signature }: OrderExample): string =>
  [
    `#### ${name}`,
    `Domain: version ${typedData.domain.version}, contract \`${typedData.domain.verifyingContract}\`.`,
    json(messageOf(typedData)),
    table(
      ['What', 'Value'],
      [
        ['order id', code(orderId)],
        ...(digest === orderId ? [] : [['signed digest', code(digest)]]),
        ['signature', code(signature)],
      ],
    ),
  ].join('\n\n');

/** Each struct once, with all that sign it. */
function structList(guides: readonly ReturnType<typeof guideOf>[]): string {
  const uses = new Map<string, Set<string>>();
  for (const { orderProfile, structs } of guides)
    for (const { orderVersions, exchangeVersion, type, typeHash, fields } of structs) {
      const struct = `${fields.length} fields, type hash \`${typeHash}\`: \`${type}\``;
      const use =
        exchangeVersion === undefined
          ? `version ${orderVersions.join(' and ')} under the order profile \`${orderProfile}\``
          : 'every order for ExchangeV3';
      uses.set(struct, (uses.get(struct) ?? new Set()).add(use));
    }
  return [...uses].map(([struct, by]) => `- ${struct}. Signed by ${[...by].join(', ')}.`).join('\n');
}

export function signingPage(): string {
  const guide = guideOf('interface');
  const own = guideOf('polymarket');
  const { l1, l2 } = guide.authentication;
  return `${NOTE}

# Signing

How orders and transactions are signed, for a client in any language. Your service says what holds for it:
\`GET /venues\`, then \`GET /venues/{id}/signing\`; this page shows the defaults. Everything here is computed by the code that verifies.

The shortest way: \`POST /markets/trade/prepare\` answers the typed data, its digest and the body to post. **Do not sign it blindly**: hash
the typed data yourself and compare domain and contract with this page, maker and signer with your wallet, the token with the
market that you looked up before, and amounts, side and limits with what you asked for. \`verifyPrepared\` of the SDK does all of this.

## Orders: EIP-712

${table(
  ['`orderVersion`', 'Market', 'Domain version', 'Verifying contract', 'Domain separator'],
  guide.domains.map(({ orderVersion, exchangeVersion, negRisk, domain, separator }) => [
    String(orderVersion),
    exchangeVersion === undefined ? `version v1${negRisk ? ', neg-risk' : ''}` : 'version v2 (ExchangeV3)',
    code(String(domain.version)),
    code(String(domain.verifyingContract)),
    code(separator),
  ]),
)}

Name \`${guide.domains[0]?.domain.name}\`, chain id ${guide.chainId}.

${structList([guide, own])}

### Amounts

${AMOUNT_RULES.map((rule) => `- ${rule}`).join('\n')}

### Salt

The salt of a prepared order is the ${guide.salt.rule}. Example: agent \`${guide.salt.example.agentId}\`, order \`${guide.salt.example.clientOrderId}\`: ${guide.salt.example.salt}.

### Wallets

${table(
  ['signatureType', 'Wallet', 'maker', 'signer'],
  SIGNATURE_TYPES.map(({ value, wallet, maker, signer }) => [String(value), wallet, maker, signer]),
)}

The key of the EOA always signs: 65 bytes r, s (in the lower half) and v (27 or 28).

### Wrapped signatures (ERC-7739)

A deposit wallet may be signer of its own orders; under the profile \`polymarket\` it has to be. The key then signs
\`${guide.wrapped.type}\`, followed by the order's type text, in the domain of the exchange, with the order as contents, name
\`${guide.wrapped.name}\`, version \`${guide.wrapped.version}\`, the wallet as verifying contract and 32 zero bytes as salt. The signature is, in this order:

${guide.wrapped.layout.map((part, index) => `${index + 1}. ${part}`).join('\n')}

### Worked examples

Signed with \`${guide.exampleKey}\`, a key that everybody knows: never send it anything of value.

${guide.examples.map(example).join('\n\n')}

### Worked examples under the order profile polymarket

Version 1 and ExchangeV3 are signed as above.

${own.examples
  .filter(({ orderVersion, exchangeVersion }) => orderVersion === 2 && exchangeVersion === undefined)
  .map(example)
  .join('\n\n')}

## Authentication of the venue's doors

Only for \`/paper/clob\` and the venue itself. On paper, credentials also come without it: \`GET /wallet/credentials/challenge\`.

Level 1, by the key: \`${l1.type}\` in the domain \`${JSON.stringify(l1.typedData.domain)}\`, headers ${l1.headers.map(code).join(', ')}.

${json(l1.typedData.message)}

${table(
  ['What', 'Value'],
  [
    ['digest', code(l1.digest)],
    ['signature', code(l1.signature)],
  ],
)}

Level 2, by the credentials: ${l2.algorithm}; headers ${l2.headers.map(code).join(', ')}.

${json(l2.example)}

## Quoted transactions: Solana

${TRANSACTIONS.format}. ${TRANSACTIONS.signature}

${table(
  ['Program', 'Address', 'What it does', 'What to check'],
  TRANSACTIONS.programs.map(({ name, address, purpose, check }) => [name, code(address), purpose, check]),
)}

${TRANSACTIONS.checks.map((check) => `- ${check}`).join('\n')}
`;
}
