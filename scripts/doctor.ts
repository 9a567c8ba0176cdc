/**
 * npm run doctor -- --wallet 0x… [--token ID] [--clob URL] [--older-adapter AMOUNT]
 * npm run doctor -- --relayer
 *
 * Says what stands between a wallet and its first order at the venue, and the next step. The signing key is read from
 * WALLET_PRIVATE_KEY: an argument would be visible to every program on the machine. WALLET_KEY_USE=paper says that it holds paper money
 * alone: only then is the login of the venue signed for another address than the live one. With --relayer it says whether the venue's
 * relayer takes the credentials in the environment. Ends with 0 when all is good.
 */
import { checkWallet, Signer } from '@bellwether/sdk';
import { parseMicro } from '../packages/contract/src/decimals.ts';
import { type Address, parseAddress } from '../packages/protocol/src/accounts.ts';
import { OLDER_NEG_RISK_ADAPTER, olderAdapterApprovalCall } from '../packages/protocol/src/wallet-calls.ts';
import { createPooledSend } from '../packages/server/src/platform/outbound/http.ts';
import { createVenueHttp } from '../packages/server/src/venues/polymarket/http.ts';
import { createRelayer } from '../packages/server/src/venues/polymarket/relayer.ts';
import { relayerFrom } from '../packages/server/src/venues/polymarket/settings.ts';
import { readOptions, runOperation, usage } from './operation.ts';

const HOW =
  'npm run doctor -- --wallet 0x… [--token ID] [--clob URL] [--older-adapter AMOUNT], or: npm run doctor -- --relayer';
const LIVE_CLOB = 'https://clob.polymarket.com';
const MARKS = { good: 'ok     ', wrong: 'WRONG  ', unknown: 'unknown' } as const;

await runOperation(async () => {
  const { values } = readOptions(HOW, {
    options: {
      wallet: { type: 'string' },
      token: { type: 'string' },
      'older-adapter': { type: 'string' },
      relayer: { type: 'boolean', default: false },
      clob: { type: 'string', default: process.env.POLYMARKET_CLOB_URL ?? LIVE_CLOB },
    },
  });
  if (values.relayer) {
    await lookAtRelayer();
    return;
  }
  const wallet = parseAddress(values.wallet);
  if (wallet === null) throw usage('Say which wallet is to pay', HOW);
  const olderAdapter = values['older-adapter'];
  if (olderAdapter !== undefined) {
    showOlderAdapter(wallet, olderAdapter);
    return;
  }
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

/** Asks for the list of the operator's own transactions, which needs the credentials and changes nothing. */
async function lookAtRelayer(): Promise<void> {
  const { credentials, baseUrl } = relayerFrom(process.env);
  if (credentials === null)
    throw usage(
      'Set POLYMARKET_RELAYER_API_KEY and POLYMARKET_RELAYER_API_KEY_ADDRESS, or POLYMARKET_BUILDER_API_KEY, POLYMARKET_BUILDER_SECRET and POLYMARKET_BUILDER_PASSPHRASE, in the environment',
      HOW,
    );
  const pooled = createPooledSend();
  const clock = { now: Date.now };
  const log = { warn: () => {}, info: () => {} };
  const http = createVenueHttp({ service: 'the relayer', baseUrl, send: pooled.send, clock, log });
  const { mayAsk } = createRelayer({ http, credentials, clock });
  const words = await mayAsk().catch((error: Error) => error.message);
  pooled.close();
  console.log(
    words === null
      ? `${MARKS.good}  relayer: ${baseUrl} takes these credentials`
      : `${MARKS.wrong}  relayer: ${baseUrl}: ${words}\n         → Check the key and what belongs to it; a relayer API key is made on the venue's page.`,
  );
  process.exitCode = words === null ? 0 : 1;
}

/** Shown only where it is asked for by name, and for an amount: see docs/going-live.md. */
function showOlderAdapter(wallet: Address, text: string): void {
  if (!/^\d+(\.\d{1,6})?$/.test(text))
    throw usage('--older-adapter takes an amount of pUSD, such as 25', HOW);
  const { to, data } = olderAdapterApprovalCall(parseMicro(text, 'floor'));
  console.log(
    `Lets the venue's older adapter ${OLDER_NEG_RISK_ADAPTER} move ${text} pUSD of ${wallet}.
The venue has retired this contract, and its relayer refuses calls of it since July 2026. Only the wallet's owner can want this.
  from ${wallet}
  to   ${to}
  data ${data}
Take it back with --older-adapter 0.`,
  );
}
