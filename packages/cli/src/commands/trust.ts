/** Decisions that only a person takes: what the keys are for, and which token an outcome is. */
import type { KeyUse } from '@bellwether/sdk';
import { changeKeys, KnownMints, markedKeys } from '@bellwether/sdk/keystore';
import { type Command, InvalidArgumentError } from 'commander';
import { usage } from '../cli-error.ts';
import { action, examples, type Start } from '../command.ts';
import { outcome } from '../options.ts';
import type { Run } from '../run.ts';

async function mark(run: Run, use: KeyUse): Promise<void> {
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

async function confirm(run: Run, ticker: string, side: 'YES' | 'NO', mint: string): Promise<void> {
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
      .action(action(start, { run: (run: Run, _options: object, use: KeyUse) => mark(run, use) })),
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
            confirm(run, ticker, side, mint),
        }),
      ),
    'bellwether mint confirm TICKER YES CA7FMbzNTfeR7jkLzF113bBJupKwq98cixaQtc3b3frb',
  );
}
