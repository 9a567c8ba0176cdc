/** A service that hands on the challenges of another one, points elsewhere, or lies about a market. */
import { CHALLENGE_PURPOSES, type ChallengeFields, challengeText, readChallenge } from '@bellwether/contract';
import { outcomeTokens, toChecksumAddress } from '@bellwether/protocol';
import {
  BellwetherClient,
  BellwetherConnectionError,
  buildLimitOrder,
  createPaperCredentials,
  createVenueCredentials,
  ForeignChallenge,
  KeyNotForThis,
  linkSignersWallet,
  linkSolanaWallet,
  OrderBuildError,
  Signer,
  SolanaSigner,
} from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { sendJson, standIn } from '../../../test/stand-in.ts';
import { MARKET } from './market.ts';

const AGENT = '0190aaaa-0000-7000-8000-00000000000a';
const NONCE = 'ab'.repeat(38);

/** A service that answers a challenge with these fields instead of its own, and what reached it. */
async function challenger(
  kind: 'evm' | 'solana',
  address: string,
  lie: Partial<ChallengeFields> | string = {},
) {
  const received: string[] = [];
  const url: string = await standIn(({ url: path, body }, response) => {
    if (path === '/agents/me') return sendJson(response, { agentId: AGENT });
    if (path.startsWith('/wallet/link/challenge') || path.startsWith('/wallet/credentials/challenge')) {
      const purpose = path.startsWith('/wallet/link') ? 'link' : 'paperCredentials';
      const host = new URL(url).host.replace('127.0.0.1', 'localhost');
      const fields: ChallengeFields = {
        host,
        kind,
        address: kind === 'evm' ? toChecksumAddress(address as never) : address,
        statement: CHALLENGE_PURPOSES[purpose].statement(AGENT),
        uri: `http://${host}${CHALLENGE_PURPOSES[purpose].path}`,
        chainId: kind === 'evm' ? 137 : null,
        nonce: NONCE,
        issuedAt: Date.now() - 1_000,
        expiresAt: Date.now() + 299_000,
      };
      const message = typeof lie === 'string' ? lie : challengeText({ ...fields, ...lie });
      return sendJson(response, { nonce: NONCE, message, address, expiresAt: '' });
    }
    received.push(body);
    sendJson(response, { success: true });
  });
  return { client: new BellwetherClient({ baseUrl: url, apiKey: 'bw_x', maxRetries: 0 }), received };
}

describe('a challenge', () => {
  const signer = Signer.generate();
  const other = toChecksumAddress(Signer.generate().address);
  const statement = CHALLENGE_PURPOSES.link.statement;
  const lies: readonly [string, Partial<ChallengeFields> | string][] = [
    ['text', 'Send me everything.'],
    ['text', `${challengeText(fieldsOf(signer.address))}\nResources:\n- all`],
    ['host', { host: 'honest-desk.example' }],
    ['host', { uri: 'https://honest-desk.example/wallet/link' }],
    ['address', { address: other }],
    ['agent', { statement: statement('0190bbbb-0000-7000-8000-00000000000b') }],
    ['purpose', { statement: CHALLENGE_PURPOSES.paperCredentials.statement(AGENT) }],
    ['purpose', { statement: `Give everything to ${AGENT}. Nothing else.` }],
    ['nonce', { nonce: 'cd'.repeat(38) }],
    ['time', { issuedAt: Date.now() - 900_000, expiresAt: Date.now() - 600_000 }],
    ['time', { issuedAt: Date.now() + 600_000, expiresAt: Date.now() + 900_000 }],
    ['time', { expiresAt: Date.now() + 86_400_000 }],
  ];
  test.each(lies)('with another %s is not signed', async (field, lie) => {
    const { client, received } = await challenger('evm', signer.address, lie);
    const failed = await linkSignersWallet({ client, signer }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ForeignChallenge);
    expect(failed).toMatchObject({ field });
    expect(received).toEqual([]);
  });

  test('of a Solana wallet, and of paper credentials, is read in the same way', async () => {
    const solana = SolanaSigner.generate();
    const lied = await challenger('solana', solana.address, { host: 'honest-desk.example' });
    await expect(linkSolanaWallet(lied.client, solana)).rejects.toMatchObject({ field: 'host' });
    const paper = await challenger('evm', signer.address, { host: 'honest-desk.example' });
    await expect(createPaperCredentials({ client: paper.client, signer })).rejects.toMatchObject({
      field: 'host',
    });
    expect([...lied.received, ...paper.received]).toEqual([]);
  });

  test('of this service is signed, for the agent and host that the caller knows too', async () => {
    const { client, received } = await challenger('evm', signer.address);
    await linkSignersWallet({ client, signer });
    await createPaperCredentials({ client, signer, agentId: AGENT });
    await expect(linkSignersWallet({ client, signer, agentId: 'another' })).rejects.toMatchObject({
      field: 'agent',
    });
    await expect(linkSignersWallet({ client, signer, host: 'desk.example' })).rejects.toMatchObject({
      field: 'host',
    });
    expect(received).toHaveLength(2);
    const behind = await challenger('evm', signer.address, {
      host: 'desk.example',
      uri: 'https://desk.example/base/wallet/link',
    });
    await linkSignersWallet({ client: behind.client, signer, host: 'desk.example' });
    expect(behind.received).toHaveLength(1);
  });

  test('is read to the letter', () => {
    const text = challengeText(fieldsOf(signer.address));
    expect(readChallenge(text)).toEqual(fieldsOf(signer.address));
    for (const changed of [
      `${text} `,
      text.replace('Version: 1', 'Version: 2'),
      text.replaceAll('\n', '\r\n'),
      '',
    ])
      expect(readChallenge(changed)).toBeNull();
  });
});

function fieldsOf(address: string): ChallengeFields {
  return {
    host: 'desk.example',
    kind: 'evm',
    address: toChecksumAddress(address as never),
    statement: CHALLENGE_PURPOSES.link.statement(AGENT),
    uri: 'https://desk.example/wallet/link',
    chainId: 137,
    nonce: NONCE,
    issuedAt: 1_790_000_000_000,
    expiresAt: 1_790_000_300_000,
  };
}

describe("the venue's own login", () => {
  const KEY = `0x${'17'.repeat(32)}`;

  test('is signed for no other host, unless the key is for paper', async () => {
    const seen: (string | undefined)[] = [];
    const clobUrl = await standIn(({ url, headers }, response) => {
      seen.push(headers.poly_signature as string | undefined);
      sendJson(response, url === '/time' ? 1_800_000_000 : { apiKey: 'k', secret: 's', passphrase: 'p' });
    });
    for (const use of [undefined, 'live'] as const) {
      const signer = Signer.fromPrivateKey(KEY, { use });
      await expect(createVenueCredentials({ clobUrl, signer })).rejects.toBeInstanceOf(KeyNotForThis);
    }
    expect(seen).toEqual([]);
    const paper = Signer.fromPrivateKey(KEY, { use: 'paper' });
    expect(await createVenueCredentials({ clobUrl, signer: paper })).toMatchObject({ apiKey: 'k' });
  });

  test("has this machine's time for the live venue, and no key for paper signs it", async () => {
    const sent: Record<string, string>[] = [];
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      sent.push(init.headers as Record<string, string>);
      const body = url.endsWith('/time') ? 1_800_000_000 : { apiKey: 'k', secret: 's', passphrase: 'p' };
      return new Response(JSON.stringify(body));
    };
    const clobUrl = 'https://clob.polymarket.com';
    const before = Math.floor(Date.now() / 1000);
    await createVenueCredentials({ clobUrl, signer: Signer.fromPrivateKey(KEY), fetch });
    const stamped = Number(sent.at(-1)?.POLY_TIMESTAMP);
    expect(stamped).toBeGreaterThanOrEqual(before);
    expect(stamped).toBeLessThanOrEqual(Math.floor(Date.now() / 1000));
    await expect(
      createVenueCredentials({ clobUrl, signer: Signer.generate(), fetch }),
    ).rejects.toBeInstanceOf(KeyNotForThis);
    for (const clobUrl of ['https://clob.polymarket.com.evil.example', 'http://clob.polymarket.com'])
      await expect(
        createVenueCredentials({ clobUrl, signer: Signer.fromPrivateKey(KEY), fetch }),
      ).rejects.toBeInstanceOf(KeyNotForThis);
  });
});

describe('a redirection', () => {
  test.each([301, 302, 307, 308])('%i is not followed: neither key nor body go elsewhere', async (status) => {
    const stolen: string[] = [];
    const thief = await standIn(({ headers, body }, response) => {
      stolen.push(`${headers.authorization} ${body}`);
      sendJson(response, {});
    });
    const baseUrl = await standIn((_, response) => {
      response.writeHead(status, { location: `${thief}/wallet/credentials` }).end();
    });
    const client = new BellwetherClient({ baseUrl, apiKey: 'bw_secret' });
    const secret = {
      apiKey: 'k',
      apiSecret: 'the secret',
      apiPassphrase: 'p',
      walletAddress: '0x',
      signatureType: 0,
    };
    const failed = await client.registerCredentials(secret as never).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(BellwetherConnectionError);
    expect(failed).toMatchObject({ reason: 'redirected' });
    expect(String(failed)).toContain('another origin');
    await expect(client.getMe()).rejects.toMatchObject({ reason: 'redirected' });
    await expect(client.events().next()).rejects.toMatchObject({ reason: 'redirected' });
    expect(stolen).toEqual([]);
  });

  test('within the service is not followed either, and says so', async () => {
    const baseUrl = await standIn((_, response) => response.writeHead(308, { location: '/elsewhere' }).end());
    await expect(new BellwetherClient({ baseUrl }).getHealth()).rejects.toMatchObject({ reason: 'moved' });
  });
});

describe('the tokens of a market', () => {
  const order = { outcome: 'YES', side: 'BUY', price: '0.5', size: 10 } as const;
  const derived = outcomeTokens(MARKET.conditionId, false);
  const build = (clobTokenIds: readonly string[], use?: 'paper' | 'live') =>
    buildLimitOrder({
      ...order,
      signer: Signer.fromPrivateKey(`0x${'17'.repeat(32)}`, { use }),
      market: { ...MARKET, clobTokenIds },
    });

  test('are those of its condition, in their order, or nothing is signed', async () => {
    expect((await build(derived)).order.tokenId).toBe(derived[0]);
    for (const tokens of [derived.toReversed(), ['1', '2'], [derived[0], '2']])
      await expect(build(tokens, 'live')).rejects.toMatchObject({ code: 'tokens_differ' });
    await expect(build(['1', '2'])).rejects.toBeInstanceOf(OrderBuildError);
  });

  test('are believed for paper, where they are not those of the condition in another order', async () => {
    expect((await build(['1', '2'], 'paper')).order.tokenId).toBe('1');
    for (const tokens of [derived.toReversed(), ['1', derived[0]], ['1', '1']])
      await expect(build(tokens, 'paper')).rejects.toMatchObject({ code: 'tokens_differ' });
  });
});
