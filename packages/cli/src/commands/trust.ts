/** Decisions that only a person takes: what the keys are for, and which token an outcome of venue B is. */
import type { KeyUse } from '@bellwether/sdk';
import { changeKeys, KnownMints, markedKeys } from '@bellwether/sdk/keystore';
import { type Command, InvalidArgumentError } from 'commander';
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

async function confirm(run: Run, ticker: string, side: 'YES' | 'NO', mint: string): Promise<void> {
  await run.requirePerson('A token is confirmed');
  new KnownMints(run.place).remember({ ticker, side, mint, source: 'person' });
  run.output.answer({ ticker, side, mint }, () => `${side} of ${ticker} is ${mint}.`);
}

function mintAddress(text: string): string {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text))
    throw new InvalidArgumentError('Give an address in base58.');
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
  const tokens = program.command('mint').description('venue B: which token an outcome is');
  examples(
    tokens
      .command('confirm')
      .description('say which token an outcome is, as you know it from elsewhere than the desk')
      .argument('<ticker>', 'id of the market')
      .addArgument(program.createArgument('<outcome>', 'YES or NO').choices(['YES', 'NO']).argParser(outcome))
      .argument('<mint>', 'address of the token', mintAddress)
      .action(
        action(start, {
          run: (run: Run, _options: object, ticker: string, side: 'YES' | 'NO', mint: string) =>
            confirm(run, ticker, side, mint),
        }),
      ),
    'bellwether mint confirm TICKER YES CA7FMbzNTfeR7jkLzF113bBJupKwq98cixaQtc3b3frb',
  );
}
