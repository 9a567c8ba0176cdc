/**
 * npm run sentinel [-- --clob URL --gamma URL --data URL --site URL --relayer URL --sockets URL] [--no-site] [--no-relayer]
 *
 * Compares what the live venue answers (public reads only) with what the live adapter reads and the doors on paper promise,
 * and prints every difference. Ends with 1 when something differs that was promised; new fields alone are no fault.
 */
import { createPooledSend } from '../packages/server/src/platform/outbound/http.ts';
import { createVenueHttp } from '../packages/server/src/venues/polymarket/http.ts';
import { readOptions, runOperation } from './operation.ts';
import { lookForDifferences } from './sentinel/differences.ts';

const HOW =
  'npm run sentinel -- [--clob URL] [--gamma URL] [--data URL] [--site URL] [--no-site] [--relayer URL] [--no-relayer] [--sockets URL]';

await runOperation(async () => {
  const { env } = process;
  const { values } = readOptions(HOW, {
    options: {
      clob: { type: 'string', default: env.POLYMARKET_CLOB_URL ?? 'https://clob.polymarket.com' },
      gamma: { type: 'string', default: env.POLYMARKET_GAMMA_URL ?? 'https://gamma-api.polymarket.com' },
      data: { type: 'string', default: env.POLYMARKET_DATA_URL ?? 'https://data-api.polymarket.com' },
      site: { type: 'string', default: env.POLYMARKET_SITE_URL ?? 'https://polymarket.com' },
      'no-site': { type: 'boolean', default: false },
      relayer: {
        type: 'string',
        default: env.POLYMARKET_RELAYER_URL ?? 'https://relayer-v2.polymarket.com',
      },
      'no-relayer': { type: 'boolean', default: false },
      sockets: {
        type: 'string',
        default: env.POLYMARKET_WS_URL ?? 'wss://ws-subscriptions-clob.polymarket.com/ws',
      },
    },
  });
  const pool = createPooledSend();
  const log = { warn: () => {}, info: () => {} };
  const service = (name: string, baseUrl: string) =>
    createVenueHttp({ service: name, baseUrl, send: pool.send, clock: { now: Date.now }, log });
  const differences = await lookForDifferences({
    clob: service('the CLOB', values.clob),
    gamma: service('Gamma', values.gamma),
    data: service('the Data API', values.data),
    site: values['no-site'] ? null : service('the site', values.site),
    relayer: values['no-relayer'] ? null : service('the relayer', values.relayer),
    socketUrl: `${values.sockets.replace(/\/+$/, '')}/market`,
  });
  pool.close();
  for (const { kind, where, field, promised, found } of differences)
    console.log(
      `${kind.padEnd(10)} ${where}${field === '' ? '' : ` ${field}`}: promised ${promised}, found ${found}`,
    );
  const broken = differences.filter(({ kind }) => kind !== 'new');
  console.log(
    differences.length === 0
      ? 'The venue answers as promised.'
      : `${broken.length} differences from what was promised, ${differences.length - broken.length} new fields.`,
  );
  process.exitCode = broken.length === 0 ? 0 : 1;
});
