/** Settings from the environment, read once. */
import { type Micro, parseMicro } from '@bellwether/contract/decimals';
import { type DeskPlace, deskPlace, type Environment, KeystoreError } from '@bellwether/sdk/keystore';

export interface McpConfig {
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
