/**
 * Finds what is wrong, and names the next step: with the set-up of this machine, with a wallet at its venue, or with a signed order. Every
 * look is a finding, and nothing is changed.
 */
import { readFileSync } from 'node:fs';
import { checkOrder, checkWallet, type Me, Signer } from '@bellwether/sdk';
import { SpendingLimit } from '@bellwether/sdk/keystore';
import { type Command, Option } from 'commander';
import { CliError, failureOf } from '../cli-error.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import { oneLine } from '../terminal.ts';

interface Finding {
  readonly check: string;
  readonly state: 'good' | 'wrong' | 'unknown';
  readonly found: string;
  readonly nextStep: string | null;
}

const MARKS = { good: 'ok     ', wrong: 'WRONG  ', unknown: 'unknown' } as const;

const good = (check: string, found: string): Finding => ({ check, state: 'good', found, nextStep: null });
const wrong = (check: string, found: string, nextStep: string): Finding => ({
  check,
  state: 'wrong',
  found,
  nextStep,
});

/** @param sound what is said when nothing is wrong @throws CliError `findings` when something is */
function tell(
  run: Run,
  answer: { readonly findings: readonly Finding[] },
  { isGood, sound }: { readonly isGood: boolean; readonly sound: string },
): void {
  run.output.answer(answer, () =>
    [
      ...answer.findings.flatMap(({ check, state, found, nextStep }) => [
        `${MARKS[state]}  ${oneLine(`${check}: ${found}`)}`,
        ...(nextStep === null ? [] : [`         → ${oneLine(nextStep)}`]),
      ]),
      ...(isGood ? [sound] : []),
    ].join('\n'),
  );
  if (isGood) return;
  const count = answer.findings.filter(({ state }) => state === 'wrong').length;
  throw new CliError(
    'findings',
    'findings',
    count === 0
      ? 'Not all of it could be looked at.'
      : count === 1
        ? 'One of these is wrong.'
        : `${count} of these are wrong.`,
    {
      fix: 'Take the next steps above, then run this command again.',
    },
  );
}

/** A look that fails is a finding, too. */
async function look(check: string, work: () => Promise<Finding[]> | Finding[]): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    const { message, fix, code, exit } = failureOf(error);
    const step =
      exit === 'unreachable' ? 'Start the desk, or correct its address: --url or BELLWETHER_URL.' : fix;
    return [wrong(check, `${code}: ${message}`, step ?? 'Run the command again.')];
  }
}

const CLOCK_TOLERANCE_S = 5;

async function lookAtDesk(run: Run): Promise<Finding[]> {
  const { timestamp } = await run.waiting('Asking the desk', run.visitor().getHealth());
  const skewS = Math.round((Date.parse(timestamp) - Date.now()) / 1000);
  return [
    good('desk', `${run.place.url} answers`),
    Math.abs(skewS) > CLOCK_TOLERANCE_S
      ? wrong(
          'clock',
          `the desk's clock is ${skewS} s ahead of this one`,
          'Set the clock of this machine (NTP).',
        )
      : good('clock', 'the clocks agree'),
  ];
}

async function lookAtKeys(run: Run): Promise<Finding[]> {
  const { keys, from, place } = await run.keys();
  const where = from === 'keystore' ? place.keys : 'the environment';
  const evm = keys.evm[0];
  return [
    good('keys', `from ${where}`),
    evm === undefined
      ? wrong('order key', 'none', 'Make one with bellwether init, or set BELLWETHER_PRIVATE_KEY.')
      : good('order key', Signer.fromPrivateKey(evm.privateKey).wallet(evm.signatureType)),
    keys.solana === null
      ? wrong(
          'Solana key',
          'none',
          'For venue B: make one with bellwether init, or set BELLWETHER_SOLANA_KEY.',
        )
      : good('Solana key', (await run.solanaSigner()).address),
  ];
}

function meFindings({ name, agentId, claimed, settings, venues }: Me): Finding[] {
  return [
    good('agent', `${name} (${agentId}), ${claimed ? 'claimed by its owner' : 'not claimed yet'}`),
    settings.tradingPaused || settings.pausedByOwner
      ? wrong(
          'trading',
          settings.pausedByOwner ? 'paused by the owner' : 'paused',
          settings.pausedByOwner ? 'Ask the owner to resume it.' : 'Go on with: bellwether resume',
        )
      : good('trading', 'on'),
    ...venues.map(({ name: venue, backend, status, notice }) =>
      status === 'ready'
        ? good(`venue ${venue}`, notice === undefined ? backend : `${backend}; ${notice}`)
        : wrong(`venue ${venue}`, status, 'Wait until it is ready, or ask the operator.'),
    ),
  ];
}

async function lookAtAgent(run: Run): Promise<Finding[]> {
  const client = await run.client();
  const me = await run.waiting('Asking for the agent', client.getMe());
  const findings = meFindings(me);
  const key = (await run.keys()).keys.evm[0];
  if (key === undefined) return findings;
  const wallet = Signer.fromPrivateKey(key.privateKey).wallet(key.signatureType);
  const { hasCredentials } = await client.checkCredentials(wallet);
  return [
    ...findings,
    hasCredentials
      ? good('wallet', `${wallet} is registered`)
      : wrong('wallet', `${wallet} is not registered with the desk`, 'Register it with: bellwether init'),
  ];
}

function lookAtLimit(run: Run): Finding[] {
  const { left, limit } = new SpendingLimit(run.place).standing();
  const said = `${Number(left) / 1e6} of ${Number(limit) / 1e6} left today`;
  return [
    left > 0n
      ? good('spending limit', said)
      : wrong('spending limit', said, 'Raise it with: bellwether limits set-spending <collateral>'),
  ];
}

async function setUp(run: Run): Promise<void> {
  const findings = [
    ...(await look('desk', () => lookAtDesk(run))),
    ...(await look('keys', () => lookAtKeys(run))),
  ];
  if (findings.every(({ state }) => state === 'good'))
    findings.push(...(await look('agent', () => lookAtAgent(run))));
  findings.push(...(await look('spending limit', () => lookAtLimit(run))));
  const isReady = findings.every(({ state }) => state === 'good');
  const answer = { isReady, findings } as { findings: Finding[] };
  tell(run, answer, { isGood: isReady, sound: 'Nothing is wrong: this machine is ready to trade.' });
}

interface WalletOptions {
  readonly token?: string;
  readonly clob?: string;
}

async function wallet(run: Run, options: WalletOptions, address: string | undefined): Promise<void> {
  const { signer, key } = await run.tradingKey();
  // Only the venue on paper is a door of the desk.
  const isPaper = options.clob === undefined;
  const result = await run.waiting(
    'Looking at the wallet',
    checkWallet({
      clobUrl: options.clob ?? `${run.place.url}/paper/clob`,
      wallet: (address ?? signer.wallet(key.signatureType)) as ReturnType<Signer['wallet']>,
      signer,
      isPaper,
      ...(options.token === undefined ? {} : { tokenId: options.token }),
    }),
  );
  const sound = isPaper
    ? 'Nothing is wrong: this wallet can trade on paper. A live venue asks for more: --clob names one.'
    : 'Nothing is wrong: this wallet can trade at this venue.';
  tell(run, result, { isGood: result.isReady, sound });
}

interface OrderOptions {
  readonly negRisk?: 'yes' | 'no';
  readonly tickSize?: string;
  readonly profile?: 'interface' | 'polymarket';
}

const LARGEST_ORDER_BYTES = 100_000;

async function readOrder(file: string, stdin: NodeJS.ReadableStream): Promise<unknown> {
  let text = '';
  try {
    if (file === '-')
      for await (const chunk of stdin.setEncoding('utf8')) {
        text += chunk;
        if (text.length > LARGEST_ORDER_BYTES) break;
      }
    else text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError(
      'usage',
      'file_unreadable',
      `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`,
      {
        fix: 'Give a file that is there, or - for standard input.',
      },
    );
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError('usage', 'order_unreadable', 'That is no JSON.', {
      fix: 'Give the order as JSON: the body of a trade, or the signed order alone.',
    });
  }
}

async function order(run: Run, options: OrderOptions, file: string): Promise<void> {
  const { negRisk, tickSize, profile } = options;
  const result = checkOrder(await readOrder(file, run.io.stdin), {
    ...(negRisk === undefined ? {} : { negRisk: negRisk === 'yes' }),
    ...(tickSize === undefined ? {} : { tickSize }),
    ...(profile === undefined ? {} : { profile }),
  });
  tell(run, result, { isGood: result.isSound, sound: 'Nothing is wrong with this order.' });
}

export function addDoctorCommands(program: Command, start: Start): void {
  const doctor = program
    .command('doctor')
    .description('what is wrong with the set-up, a wallet or a signed order, and the next step')
    .action(action(start, { run: setUp }));
  examples(
    doctor,
    'bellwether doctor',
    'bellwether doctor wallet --token 7321…',
    'bellwether doctor order order.json',
    'pbpaste | bellwether doctor order -',
  );
  doctor
    .command('wallet')
    .description('what stands between a wallet and its first order at a venue; nothing is created')
    .argument('[address]', 'the account that is to pay; default: that of your key')
    .option('--token <id>', 'a token that is to be traded: checks its market, too')
    .option(
      '--clob <url>',
      "the venue; default: the desk's paper venue, such as https://clob.polymarket.com for the live one",
    )
    .action(action(start, { run: wallet }));
  doctor
    .command('order')
    .description('what is wrong with a signed order; makes no calls')
    .argument(
      '<file>',
      'with the body of a trade, or the signed order alone, as JSON; - reads standard input',
    )
    .addOption(
      new Option(
        '--neg-risk <answer>',
        'whether its market is one of several that exclude each other',
      ).choices(['yes', 'no']),
    )
    .option('--tick-size <size>', 'of its market, such as 0.01')
    .addOption(
      new Option('--profile <name>', 'which struct version 2 signs').choices(['interface', 'polymarket']),
    )
    .action(action(start, { run: order }));
}
