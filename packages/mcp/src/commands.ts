/** `bellwether-mcp init`: an agent, its keys in the keystore, its wallet registered at the desk. Can be run again after it was interrupted. */
import { randomBytes } from 'node:crypto';
import { DecimalError, type Micro, parseMicro } from '@bellwether/contract/decimals';
import { BellwetherClient, createPaperCredentials, type KeyUse, Signer, SolanaSigner } from '@bellwether/sdk';
import {
  createKeys,
  type DeskKeys,
  type DeskPlace,
  type Environment,
  findPassphrase,
  hasKeys,
  KeystoreError,
  keysOfEnvironment,
  newSolanaKey,
  ownTerminal,
  readKeys,
  requirePerson,
  SpendingLimit,
} from '@bellwether/sdk/keystore';
import { money } from './answer.ts';

interface InitOptions {
  readonly env: Environment;
  readonly place: DeskPlace;
  /** Name of the agent. */
  readonly name: string;
  readonly say: (line: string) => void;
  /** See `KeyFileOptions`. */
  readonly cost?: number | undefined;
}

const VENUES = { evm: 'polymarket', solana: 'kalshi' };

/** @throws KeystoreError, BellwetherApiError, BellwetherConnectionError */
export async function init({ env, place, name, say, cost }: InitOptions): Promise<void> {
  if (keysOfEnvironment(env) !== null)
    throw new KeystoreError(
      'keystore_exists',
      'The environment names keys, so the keystore would not be used.',
      'Unset BELLWETHER_API_KEY, BELLWETHER_PRIVATE_KEY and BELLWETHER_SOLANA_KEY, then run init again.',
    );
  const terminal = ownTerminal();
  const isNew = !hasKeys(place);
  const passphrase = await findPassphrase({ env, isNew, ...(terminal === undefined ? {} : { terminal }) });
  const keys = isNew
    ? await newKeys(place, { name, passphrase, say, cost })
    : await readKeys(place, passphrase);
  if (!isNew) say(`There are keys for ${place.url} already: they are used.`);
  const client = new BellwetherClient({ baseUrl: place.url, apiKey: keys.apiKey });
  await registerWallets(client, keys, { say, host: env.BELLWETHER_DESK_HOST ?? '' });
  const { limit } = new SpendingLimit(place).standing();
  say(`Spending limit: ${money(limit)} a UTC day. Change it with: bellwether-mcp limit set <amount>`);
}

async function newKeys(
  place: DeskPlace,
  {
    name,
    passphrase,
    say,
    cost,
  }: Pick<InitOptions, 'name' | 'say' | 'cost'> & { readonly passphrase: string },
): Promise<DeskKeys> {
  const visitor = new BellwetherClient({ baseUrl: place.url });
  // Keys that are made now hold nothing: what the desk says of itself decides what they are for, and it binds them.
  const venues = await visitor.listVenues();
  const useOf = (venue: string): KeyUse =>
    venues.find(({ name: one }) => one === venue)?.backend === 'live' ? 'live' : 'paper';
  const agent = await visitor.registerAgent({ name });
  const keys: DeskKeys = {
    apiKey: agent.apiKeyCode,
    evm: [
      {
        privateKey: `0x${randomBytes(32).toString('hex')}`,
        venue: VENUES.evm,
        signatureType: 0,
        use: useOf(VENUES.evm),
      },
    ],
    solana: { secretKey: newSolanaKey(), venue: VENUES.solana, use: useOf(VENUES.solana) },
  };
  // Before anything is credited to the wallets: a key that is lost then would lose it.
  await createKeys(place, keys, passphrase, cost === undefined ? {} : { cost });
  say(`Registered the agent ${agent.agentId}. Keys: ${place.keys}`);
  say(`To become its owner, open ${agent.claimUrl}`);
  return keys;
}

/** On paper with credentials and money; on a live venue it says what is left to do. */
async function registerWallets(
  client: BellwetherClient,
  keys: DeskKeys,
  { say, host }: { readonly say: (line: string) => void; readonly host: string },
): Promise<void> {
  const { venues } = await client.getMe();
  const isPaper = (venue: string) =>
    venues.some(({ name, backend }) => name === venue && backend === 'paper');
  for (const { privateKey, venue, signatureType, use } of keys.evm) {
    const signer = Signer.fromPrivateKey(privateKey, { use });
    const address = signer.wallet(signatureType);
    const { hasCredentials } = await client.checkCredentials(address);
    if (!hasCredentials && isPaper(venue)) {
      // A desk behind a proxy calls itself by another name than the one that is asked.
      await createPaperCredentials({ client, signer, signatureType, ...(host === '' ? {} : { host }) });
      say(`Wallet on ${venue} (paper): ${address}`);
    } else if (hasCredentials) say(`Wallet on ${venue}: ${address}`);
    else
      say(
        `Wallet on ${venue}: ${address}. This venue is live: fund it, make its credentials with createVenueCredentials of @bellwether/sdk, and register them.`,
      );
  }
  if (keys.solana === null) return;
  const { address } = SolanaSigner.fromSecretKey(keys.solana.secretKey);
  await client.updateSolAddress(address);
  say(`Wallet on ${keys.solana.venue}: ${address}`);
}

// `bellwether-mcp limit`: shows or sets what may be spent through this machine on a UTC day. For a person at a terminal.

const LARGEST: Micro = 1_000_000_000_000_000_000n;

function amountOf(text: string): Micro {
  let amount: Micro | null = null;
  try {
    amount = parseMicro(text);
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
  }
  // The limit itself has the bound of what the service takes.
  if (amount !== null && amount >= 0n && amount <= LARGEST) return amount;
  throw new KeystoreError(
    'limit_invalid',
    'That is no amount.',
    'Give collateral with at most 6 decimals, such as 200.',
  );
}

/** @param amount `null` shows the limit only */
export async function limit(
  place: DeskPlace,
  amount: string | null,
  say: (line: string) => void,
): Promise<void> {
  const spending = new SpendingLimit(place);
  const asked = amount === null ? null : amountOf(amount);
  if (asked !== null) await requirePerson(place, 'The spending limit is set');
  const standing = asked === null ? spending.standing() : spending.setLimit(asked);
  say(
    `Spending limit for ${place.url}: ${money(standing.limit)} a UTC day; ${money(standing.spent)} used on ${standing.day}, ${money(standing.left)} left.`,
  );
}
