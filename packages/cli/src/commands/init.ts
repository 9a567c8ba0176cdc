/**
 * The first command of a newcomer: an agent at the desk, keys of its own in the keystore, and on paper the credentials and the
 * money to trade with. Every step that is done already is left as it is, so a run that was broken off is run again.
 *
 * Keys are made here, read from standard input, or asked for without being shown: never an argument, never printed.
 */
import { randomBytes } from 'node:crypto';
import {
  type BellwetherClient,
  createPaperCredentials,
  createVenueCredentials,
  credentialRequest,
  isProblem,
  type KeyUse,
  linkSolanaWallet,
  Signer,
} from '@bellwether/sdk';
import {
  askHidden,
  changeKeys,
  createKeys,
  findPassphrase,
  hasKeys,
  KnownMints,
  keysOfEnvironment,
  markedKeys,
  newSolanaKey,
  ownTerminal,
} from '@bellwether/sdk/keystore';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CliError, usage } from '../cli-error.ts';
import { outcome, WALLET_NAMES, walletType } from '../options.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import { oneLine } from '../terminal.ts';

interface InitOptions {
  readonly name: string;
  readonly importKey?: boolean;
  readonly walletType?: 0 | 1 | 2 | 3;
  readonly clob?: string;
  readonly use?: KeyUse;
}

type Venue = Awaited<ReturnType<BellwetherClient['listVenues']>>[number];

/** Paper collateral for a wallet that has none. */
const FAUCET_AMOUNT = 1000;
const LONGEST_KEY_CHARS = 1000;

async function readKey(run: Run): Promise<string> {
  const terminal = ownTerminal();
  if (terminal !== undefined)
    return run.untimed(() => askHidden(terminal, 'Private key (it is not shown): '));
  let text = '';
  for await (const chunk of run.io.stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.length > LONGEST_KEY_CHARS) break;
  }
  return text.trim();
}

/** 0x and 64 hex digits. @throws InvalidPrivateKey */
async function privateKey(run: Run, isImported: boolean): Promise<string> {
  const text = isImported ? await readKey(run) : randomBytes(32).toString('hex');
  const hex = text.startsWith('0x') ? text : `0x${text}`;
  Signer.fromPrivateKey(hex);
  return hex;
}

const venueOf = (venues: readonly Venue[], wallets: 'evm' | 'solana'): Venue | undefined =>
  venues.find((venue) => venue.wallets === wallets);

/** A desk behind a proxy calls itself by another name than the one that is asked. */
const hostPin = ({ env: { BELLWETHER_DESK_HOST: host = '' } }: Run) => (host === '' ? {} : { host });

const useAt = ({ backend }: Venue): KeyUse => (backend === 'live' ? 'live' : 'paper');

/** Keys first, so that a passphrase or a key that is wrong leaves no agent behind. */
async function makeKeys(run: Run, visitor: BellwetherClient, options: InitOptions): Promise<string> {
  const venues = await run.waiting('Asking the desk for its venues', visitor.listVenues());
  const evm = venueOf(venues, 'evm');
  const solana = venueOf(venues, 'solana');
  const key = await privateKey(run, options.importKey === true);
  const terminal = ownTerminal();
  const passphrase = await run.untimed(() =>
    findPassphrase({ env: run.env, isNew: true, ...(terminal === undefined ? {} : { terminal }) }),
  );
  const agent = await run.waiting('Registering the agent', visitor.registerAgent({ name: options.name }));
  await createKeys(
    run.place,
    {
      apiKey: agent.apiKeyCode,
      evm:
        evm === undefined
          ? []
          : [
              {
                ...{ privateKey: key, venue: evm.name, signatureType: options.walletType ?? 0 },
                use: options.use ?? useAt(evm),
              },
            ],
      // A key that is made now holds nothing: what the desk says of itself decides what it is for, and binds it.
      solana:
        solana === undefined ? null : { secretKey: newSolanaKey(), venue: solana.name, use: useAt(solana) },
    },
    passphrase,
    run.io.keyCost === undefined ? {} : { cost: run.io.keyCost },
  );
  run.use({ passphrase });
  return agent.claimUrl;
}

/** @returns what is still to be done by hand; null when the wallet can trade */
async function openWallet(
  run: Run,
  client: BellwetherClient,
  venue: Venue,
  { clob }: InitOptions,
): Promise<string | null> {
  const { signer, key } = await run.tradingKey();
  const address = signer.wallet(key.signatureType);
  if ((await client.checkCredentials(address)).hasCredentials) return null;
  if (clob !== undefined) {
    const credentials = await createVenueCredentials({ clobUrl: clob, signer });
    await client.registerCredentials(credentialRequest(signer, credentials, key.signatureType));
    return null;
  }
  if (venue.backend !== 'paper')
    return `${venue.name} is live. Make the venue's credentials for this wallet with: bellwether init --clob https://clob.polymarket.com`;
  await createPaperCredentials({ client, signer, signatureType: key.signatureType, ...hostPin(run) });
  return null;
}

/** A wallet that an earlier agent had is not credited a second time. */
async function paperMoney(client: BellwetherClient, address: string): Promise<void> {
  if ((await client.getMe()).simulationBalance > 0) return;
  try {
    await client.faucet({ address, amount: FAUCET_AMOUNT });
  } catch (error) {
    if (!isProblem(error, 'faucet_allowance_exceeded', 'paper_only')) throw error;
  }
}

async function openSolanaWallet(run: Run, client: BellwetherClient): Promise<void> {
  const signer = await run.solanaSigner();
  if ((await client.getMe()).solAddress !== signer.address)
    await linkSolanaWallet(client, signer, hostPin(run));
}

async function init(run: Run, options: InitOptions): Promise<void> {
  const visitor = run.visitor();
  const isNew = keysOfEnvironment(run.env) === null && !hasKeys(run.place);
  if (!isNew && options.importKey === true)
    throw new CliError(
      'keystore',
      'keystore_exists',
      `There are keys for ${run.place.url} already: nothing was imported.`,
      {
        fix: 'Use them, or name another folder in BELLWETHER_HOME.',
      },
    );
  if (options.importKey === true && options.use === undefined)
    throw usage(
      'A key that is imported may hold real money, so say what it is for.',
      'Add --use paper for a key that holds paper money alone, else --use live.',
    );
  const claimUrl = isNew ? await makeKeys(run, visitor, options) : null;
  const { keys, from } = await run.keys();
  const client = await run.client();
  const venues = await run.waiting('Asking the desk for its venues', visitor.listVenues());
  const evm = venueOf(venues, 'evm');
  let todo: string | null = null;
  if (evm !== undefined && keys.evm.length > 0) {
    todo = await run.waiting('Opening the wallet', openWallet(run, client, evm, options));
    const { signer, key } = await run.tradingKey();
    if (evm.backend === 'paper')
      await run.waiting('Asking for paper money', paperMoney(client, signer.wallet(key.signatureType)));
  }
  if (keys.solana !== null && venueOf(venues, 'solana') !== undefined)
    await run.waiting('Opening the Solana wallet', openSolanaWallet(run, client));
  const me = await client.getMe();
  const done = {
    agentId: me.agentId,
    name: me.name,
    claimUrl,
    walletAddress: me.walletAddress,
    solAddress: me.solAddress,
    paperBalance: me.simulationBalance,
    keys: from === 'keystore' ? run.place.keys : 'environment',
    venues: venues.map(({ name, backend, status }) => ({ name, backend, status })),
    todo,
  };
  run.output.answer(done, () =>
    [
      run.output.facts([
        ['agent', `${me.name} (${me.agentId})`],
        ...(claimUrl === null ? [] : [['for its owner to claim', claimUrl] as const]),
        ['wallet', me.walletAddress],
        ['Solana wallet', me.solAddress],
        ['paper money', me.simulationBalance],
        ['keys', done.keys],
        ...done.venues.map(
          ({ name, backend, status }) => [`venue ${name}`, `${backend}, ${status}`] as const,
        ),
      ]),
      todo === null ? 'Next: bellwether markets' : `Next: ${oneLine(todo)}`,
    ].join('\n\n'),
  );
}

export function addInitCommand(program: Command, start: Start): void {
  examples(
    program
      .command('init')
      .description(
        'make an agent and its keys, and on paper its credentials and money; again to finish what is missing',
      )
      .option('--name <name>', 'of the agent', 'command line')
      .option('--import-key', 'use your own private key: asked for, or read from standard input')
      .addOption(
        new Option(
          '--use <use>',
          'what the key is for; default: as the desk says, for a key that is made now',
        ).choices(['paper', 'live']),
      )
      .addOption(
        new Option('--wallet-type <type>', 'which wallet of the key trades; default: eoa')
          .choices(WALLET_NAMES)
          .argParser(walletType),
      )
      .option(
        '--clob <url>',
        "make the venue's own credentials there, by the venue's protocol: for a live venue",
      )
      .action(action(start, { run: init })),
    'bellwether init',
    'bellwether init --name scout --import-key --use paper < key.txt',
    'BELLWETHER_PASSPHRASE_FILE=~/.passphrase bellwether init --json',
  );
}

// Decisions that only a person takes: what the keys are for, and which token an outcome is.

async function markKeys(run: Run, use: KeyUse): Promise<void> {
  const passphrase = await run.requirePerson('Keys are marked');
  await changeKeys(run.place, passphrase ?? '', (keys) => markedKeys(keys, use));
  run.output.answer(
    { use },
    () => `The keys for ${run.place.url} are for ${use} now, and sign for nothing else.`,
  );
}

const CONDITION = /^0x[0-9a-f]{64}$/i;
const TOKEN = /^\d{1,78}$/;
const MINT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

async function confirmMint(run: Run, ticker: string, side: 'YES' | 'NO', mint: string): Promise<void> {
  const isOfA = CONDITION.test(ticker);
  if (!(isOfA ? TOKEN : MINT).test(mint))
    throw usage(
      isOfA
        ? 'A market of venue A has token ids in decimal.'
        : 'A market of venue B has token addresses in base58; one of venue A goes by its condition id: 0x and 64 hex digits.',
      'bellwether market <market> shows its ids; which token is YES, look up at the venue itself.',
    );
  await run.requirePerson('A token is confirmed');
  new KnownMints(run.place).remember({ ticker, side, mint, source: 'person' });
  run.output.answer({ ticker, side, mint }, () => `${side} of ${ticker} is ${mint}.`);
}

function mintAddress(text: string): string {
  if (!MINT.test(text) && !TOKEN.test(text))
    throw new InvalidArgumentError('Give an address in base58, or a token id in decimal.');
  return text;
}

export function addTrustCommands(program: Command, start: Start): void {
  const keys = program.command('keys').description('what the keys on this machine are for');
  examples(
    keys
      .command('mark')
      .description('say whether the keys are for paper or for a live venue; they sign for nothing else then')
      .addArgument(program.createArgument('<use>', 'paper or live').choices(['paper', 'live']))
      .action(action(start, { run: (run: Run, _options: object, use: KeyUse) => markKeys(run, use) })),
    'bellwether keys mark paper',
  );
  const tokens = program.command('mint').description('which token an outcome is');
  examples(
    tokens
      .command('confirm')
      .description('say which token an outcome is, as you know it from elsewhere than the desk')
      .argument('<ticker>', 'id of a market of venue B, or the condition id of one of venue A')
      .addArgument(program.createArgument('<outcome>', 'YES or NO').choices(['YES', 'NO']).argParser(outcome))
      .argument('<mint>', 'address of the token; of venue A its id in decimal', mintAddress)
      .action(
        action(start, {
          run: (run: Run, _options: object, ticker: string, side: 'YES' | 'NO', mint: string) =>
            confirmMint(run, ticker, side, mint),
        }),
      ),
    'bellwether mint confirm TICKER YES CA7FMbzNTfeR7jkLzF113bBJupKwq98cixaQtc3b3frb',
  );
}
