/** Who signs fee charges, who receives them, and how large one may be. */
import {
  choice,
  type EnvironmentOf,
  number,
  optionalText,
  required,
  text,
  url,
  withoutSlash,
} from '../platform/settings.ts';

const SOLANA_ADDRESS = '^[1-9A-HJ-NP-Za-km-z]{32,44}$';
const FIREBLOCKS = 'https://api.fireblocks.io';

const variables = {
  SIGNING_PROVIDER: choice(
    ['local', 'fireblocks'],
    'local',
    'Who signs fee charges: the service’s own key (`local`, sandbox only) or `fireblocks`.',
  ),
  FIREBLOCKS_URL: url('Fireblocks’ REST API, without `/v1`.', { unset: '`https://api.fireblocks.io`' }),
  FIREBLOCKS_API_KEY: optionalText('The API user’s id.', { minLength: 1, secret: true }),
  FIREBLOCKS_KEY_FILE: optionalText('PEM file of the API user’s RSA key.', { minLength: 1 }),
  FIREBLOCKS_VAULT_ID: optionalText('Vault account that signs.', { pattern: '^[0-9]+$', values: 'number' }),
  FIREBLOCKS_ASSET_ID: text(
    'SOL',
    'Asset that selects the vault’s Solana key: `SOL`, or `SOL_TEST` on devnet.',
    { minLength: 1 },
  ),
  FIREBLOCKS_MODE: choice(
    ['raw', 'program_call'],
    'raw',
    'Sign the message as `raw`, or as a sign-only `program_call`.',
  ),
  FIREBLOCKS_ADDRESS: optionalText(
    'The vault’s Solana address; the start is refused when Fireblocks names another.',
    { pattern: SOLANA_ADDRESS, values: 'base58 address' },
  ),
  FEE_WALLET: optionalText('Solana wallet that receives the fees.', {
    pattern: SOLANA_ADDRESS,
    values: 'base58 address',
    unset: 'the signing key’s own address',
  }),
  MAX_FEE_CHARGE: number(
    100,
    { exclusiveMinimum: 0, maximum: 1_000_000 },
    'Most that one call may charge as a fee, in collateral.',
  ),
};

type Environment = EnvironmentOf<typeof variables>;

export interface FireblocksSettings {
  readonly url: string;
  readonly apiKey: string;
  /** Path of the PEM file. */
  readonly keyFile: string;
  readonly vaultId: string;
  readonly assetId: string;
  readonly mode: 'raw' | 'program_call';
  readonly address: string;
}

export const feeSettings = {
  variables,
  prefixes: ['SIGNING_', 'FIREBLOCKS_', 'FEE_', 'MAX_FEE'],
  make: (env: Environment) => ({
    fees: {
      /** `null`: the service's own key, for the sandbox chain. */
      fireblocks: env.SIGNING_PROVIDER === 'fireblocks' ? fireblocks(env) : null,
      /** The signing key's own address when not given. */
      wallet: env.FEE_WALLET ?? null,
      maxCharge: env.MAX_FEE_CHARGE,
    },
  }),
};

function fireblocks(env: Environment): FireblocksSettings {
  const given = required(env, 'SIGNING_PROVIDER=fireblocks', [
    'FIREBLOCKS_API_KEY',
    'FIREBLOCKS_KEY_FILE',
    'FIREBLOCKS_VAULT_ID',
    'FIREBLOCKS_ADDRESS',
  ]);
  return {
    url: withoutSlash(env.FIREBLOCKS_URL ?? FIREBLOCKS),
    apiKey: given.FIREBLOCKS_API_KEY,
    keyFile: given.FIREBLOCKS_KEY_FILE,
    vaultId: given.FIREBLOCKS_VAULT_ID,
    assetId: env.FIREBLOCKS_ASSET_ID,
    mode: env.FIREBLOCKS_MODE,
    address: given.FIREBLOCKS_ADDRESS,
  };
}
