/**
 * npm run doctor -- --wallet 0x… [--token ID] [--clob URL]
 *
 * Says what stands between a wallet and its first order at the venue, and the next step. The signing key is read from
 * WALLET_PRIVATE_KEY: an argument would be visible to every program on the machine. WALLET_KEY_USE=paper says that it holds paper money
 * alone: only then is the login of the venue signed for another address than the live one. Ends with 0 when all is good.
 */
import { checkWallet, Signer } from '@bellwether/sdk';
import { parseAddress } from '../packages/protocol/src/address.ts';
import { readOptions, runOperation, usage } from './operation.ts';

const HOW = 'npm run doctor -- --wallet 0x… [--token ID] [--clob URL]';
const LIVE_CLOB = 'https://clob.polymarket.com';
const MARKS = { good: 'ok     ', wrong: 'WRONG  ', unknown: 'unknown' } as const;

await runOperation(async () => {
  const { values } = readOptions(HOW, {
    options: {
      wallet: { type: 'string' },
      token: { type: 'string' },
      clob: { type: 'string', default: process.env.POLYMARKET_CLOB_URL ?? LIVE_CLOB },
    },
  });
  const wallet = parseAddress(values.wallet);
  if (wallet === null) throw usage('Say which wallet is to pay', HOW);
  const key = process.env.WALLET_PRIVATE_KEY;
  const use = process.env.WALLET_KEY_USE === 'paper' ? ({ use: 'paper' } as const) : {};
  const { isReady, findings } = await checkWallet({
    clobUrl: values.clob,
    wallet,
    ...(key === undefined || key === '' ? {} : { signer: Signer.fromPrivateKey(key, use) }),
    ...(values.token === undefined ? {} : { tokenId: values.token }),
  });
  for (const { check, state, found, nextStep } of findings) {
    console.log(`${MARKS[state]}  ${check}: ${found}`);
    if (nextStep !== null) console.log(`         → ${nextStep}`);
  }
  if (key === undefined || key === '')
    console.log('\nSet WALLET_PRIVATE_KEY in the environment of this command to look at the rest.');
  console.log(isReady ? '\nThe wallet is ready for its first order.' : '\nThe wallet is not ready yet.');
  process.exitCode = isReady ? 0 : 1;
});
