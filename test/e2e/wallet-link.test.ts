/** Wallets: linked by proof of the key, moved between owners, detected, unlinked. */

import { generateKeyPairSync, sign } from 'node:crypto';
import { bytesToHex, toBase58, utf8 } from '@bellwether/protocol';
import {
  createVenueCredentials,
  credentialRequest,
  linkSignersWallet,
  type SignatureType,
  Signer,
} from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import {
  aMarket,
  call,
  newAgent,
  newTrader,
  refusalOf,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

let service: TestService;
let now = Date.now();

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock: { now: () => now } });
});

const agent = () => newAgent(service);
const credentials = (signer: Signer) =>
  createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer });
/** Signed by Node, independently of our verifier. */
const solanaKey = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    address: toBase58(raw),
    sign: (message: string) => new Uint8Array(sign(null, utf8(message), privateKey)),
  };
};

describe('linking an EVM wallet', () => {
  test('the challenge contains service, agent, address and purpose; signing it links the wallet', async () => {
    const { client, signer, agentId } = await agent();
    const challenge = await client.getLinkChallenge(signer.address);
    expect(challenge.message).toContain(new URL(service.needs.publicUrl).host);
    expect(challenge.message).toContain(agentId);
    // The message has the address with its checksum, as wallets require.
    expect(challenge.message.toLowerCase()).toContain(challenge.address);
    expect(challenge.message).toContain(challenge.nonce);
    expect(challenge.address).toBe(signer.address);
    expect(Date.parse(challenge.expiresAt)).toBe(now + 300_000);
    const linked = await client.linkWallet({
      address: signer.address,
      nonce: challenge.nonce,
      signature: await signer.signMessage(challenge.message),
    });
    expect(linked).toMatchObject({
      success: true,
      walletAddress: signer.address,
      walletOwnership: 'external',
      moved: [],
      canceledOrders: [],
    });
    expect((await client.getMe()).walletAddress).toBe(signer.address);
  });

  test('a challenge is valid once', async () => {
    const { client, signer } = await agent();
    const { nonce, message } = await client.getLinkChallenge(signer.address);
    const request = { address: signer.address, nonce, signature: await signer.signMessage(message) };
    const answers = await Promise.all(Array.from({ length: 4 }, () => refusalOf(client.linkWallet(request))));
    expect(answers.sort()).toEqual([
      'link_challenge_invalid',
      'link_challenge_invalid',
      'link_challenge_invalid',
      'nothing',
    ]);
  });

  test('a challenge is valid for five minutes', async () => {
    const { client, signer } = await agent();
    const { nonce, message } = await client.getLinkChallenge(signer.address);
    const request = { address: signer.address, nonce, signature: await signer.signMessage(message) };
    now += 300_000;
    expect(await refusalOf(client.linkWallet(request))).toBe('link_challenge_invalid');
  });

  test('a challenge is valid only for its agent and address', async () => {
    const [one, two] = [await agent(), await agent()];
    const { nonce, message } = await one.client.getLinkChallenge(one.signer.address);
    const signature = await one.signer.signMessage(message);
    expect(await refusalOf(two.client.linkWallet({ address: one.signer.address, nonce, signature }))).toBe(
      'link_challenge_invalid',
    );
    expect(await refusalOf(one.client.linkWallet({ address: two.signer.address, nonce, signature }))).toBe(
      'link_challenge_invalid',
    );
    const later = `${(now + 900_000).toString(16).padStart(12, '0')}${nonce.slice(12)}`;
    expect(
      await refusalOf(one.client.linkWallet({ address: one.signer.address, nonce: later, signature })),
    ).toBe('link_challenge_invalid');
    // None of these attempts used up the challenge.
    expect(await refusalOf(one.client.linkWallet({ address: one.signer.address, nonce, signature }))).toBe(
      'nothing',
    );
  });

  test("another key's signature is refused with the recovered address", async () => {
    const { client, signer, apiKey } = await agent();
    const thief = Signer.generate();
    const { nonce, message } = await client.getLinkChallenge(signer.address);
    const body = { address: signer.address, nonce, signature: await thief.signMessage(message) };
    const answer = await call(service, 'POST', '/wallet/link', { key: apiKey, body });
    expect(answer.body).toMatchObject({
      status: 400,
      code: 'link_signature_invalid',
      diagnosis: { check: 'signer', recovered: thief.address },
    });
    expect((await client.getMe()).walletAddress).toBeNull();
  });
});

describe('a wallet of another owner', () => {
  test('409, then the link moves wallet and credential, then registering works', async () => {
    const lost = await newTrader(service, 2);
    const market = await aMarket(lost.client);
    const { orderId } = await lost.client.placeTrade(await restingOrder(lost, market));
    const fresh = { ...(await agent()), signer: lost.signer };
    const request = credentialRequest(lost.signer, await credentials(lost.signer), 2);
    expect(await refusalOf(fresh.client.registerCredentials(request))).toBe('wallet_already_registered');

    const linked = await linkSignersWallet({
      now: () => now,
      client: fresh.client,
      signer: lost.signer,
      signatureType: 2,
    });
    expect(linked).toMatchObject({ moved: [lost.funder], canceledOrders: [orderId] });
    expect(await fresh.client.checkCredentials(lost.funder)).toMatchObject({
      hasCredentials: true,
      signatureType: 2,
    });
    expect((await fresh.client.getMe()).walletAddress).toBe(lost.funder);
    expect((await lost.client.checkCredentials(lost.funder)).hasCredentials).toBe(false);
    expect((await lost.client.getMe()).walletAddress).toBeNull();
    expect((await lost.client.getOrder(orderId)).status).toBe('canceled');

    // The moved credential works unchanged, and the former owner cannot use it.
    const trader: Trader = { ...lost, client: fresh.client, apiKey: fresh.apiKey, agentId: fresh.agentId };
    expect(await fresh.client.placeTrade(await restingOrder(trader, market))).toMatchObject({
      success: true,
    });
    expect(await refusalOf(lost.client.placeTrade(await restingOrder(lost, market)))).toBe(
      'credentials_not_registered',
    );
    expect(await fresh.client.registerCredentials(request)).toMatchObject({ success: true });
    expect(await refusalOf(lost.client.registerCredentials(request))).toBe('wallet_already_registered');
  });

  test('every wallet of the key moves, and its sealed text can be opened for the new owner', async () => {
    const first = await newTrader(service, 1);
    const keys = await credentials(first.signer);
    for (const [type, deposit] of [
      [0, 'beacon'],
      [2, 'beacon'],
      [3, 'beacon'],
      [3, 'uups'],
    ] as const)
      await first.client.registerCredentials(credentialRequest(first.signer, keys, type, deposit));
    const second = await agent();
    const { moved } = await linkSignersWallet({
      now: () => now,
      client: second.client,
      signer: first.signer,
    });
    const { signer } = first;
    expect([...moved].sort()).toEqual(
      [0, 1, 2, 3]
        .map((type) => signer.wallet(type as SignatureType))
        .concat(signer.wallet(3, 'uups'))
        .sort(),
    );
    const sql = openPool(service.databaseUrl, { max: 1 });
    try {
      const rows = await sql`select * from credentials where eoa = ${signer.address}`;
      expect(rows).toHaveLength(5);
      for (const row of rows) {
        const opened = service.needs.secrets.open(
          { keyId: row.key_id, bytes: row.sealed },
          `credentials/${row.user_id}/${row.wallet_address}`,
        );
        expect(JSON.parse(opened).secret).toBe(keys.apiSecret);
      }
    } finally {
      await sql.end();
    }
    // And back again: the key decides, not the first registration.
    expect((await linkSignersWallet({ now: () => now, client: first.client, signer })).moved).toHaveLength(5);
    expect((await second.client.checkCredentials(signer.wallet(1))).hasCredentials).toBe(false);
  });

  test('another owner with the venue secrets cannot register a linked key', async () => {
    const owner = await agent();
    const other = await agent();
    await linkSignersWallet({ now: () => now, client: owner.client, signer: owner.signer });
    const request = credentialRequest(owner.signer, await credentials(owner.signer), 1);
    expect(await refusalOf(other.client.registerCredentials(request))).toBe('wallet_already_registered');
    expect(await owner.client.registerCredentials(request)).toMatchObject({ signatureType: 1 });
  });
});

describe('the signature type, when left out, is detected', () => {
  test.each([
    ['the EOA', 0, 'beacon'],
    ['its proxy wallet', 1, 'beacon'],
    ['its Safe', 2, 'beacon'],
    ['its deposit wallet', 3, 'beacon'],
    ['its older deposit wallet', 3, 'uups'],
  ] as const)('%s is type %i', async (_what, type, deposit) => {
    const { client, signer } = await agent();
    const { signatureType: _left, ...request } = credentialRequest(
      signer,
      await credentials(signer),
      type,
      deposit,
    );
    const registered = await client.registerCredentials(request);
    expect(registered).toMatchObject({ signatureType: type, walletAddress: signer.wallet(type, deposit) });
    expect(await client.checkCredentials()).toEqual({
      hasCredentials: true,
      walletAddress: signer.wallet(type, deposit),
      signatureType: type,
      heartbeat: false,
    });
  });
});

describe('the check of a wallet', () => {
  const shown = async ({ client }: Pick<Trader, 'client'>, wallet?: string) => {
    const { hasCredentials, walletAddress, signatureType } = await client.checkCredentials(wallet);
    return { hasCredentials, walletAddress, signatureType };
  };

  test('of an unregistered one names it, and the type that its registration would detect', async () => {
    const one = await newTrader(service, 2);
    const { signer } = one;
    expect(await shown(one)).toEqual({ hasCredentials: true, walletAddress: one.funder, signatureType: 2 });
    for (const type of [0, 1, 3] as const) {
      const walletAddress = signer.wallet(type);
      const expected = { hasCredentials: false, walletAddress, signatureType: type };
      expect(await shown(one, walletAddress)).toEqual(expected);
      const upper = `0x${walletAddress.slice(2).toUpperCase()}`;
      expect(await shown(one, upper)).toEqual(expected);
      // By the other name of the parameter.
      expect((await one.get(`/wallet/credentials/check?address=${upper}`)).body).toMatchObject(expected);
    }
    // Of a second wallet of the same agent, too.
    const linked = Signer.generate();
    await linkSignersWallet({ now: () => now, client: one.client, signer: linked });
    for (const type of [0, 2] as const)
      expect(await shown(one, linked.wallet(type))).toEqual({
        ...{ hasCredentials: false, walletAddress: linked.wallet(type), signatureType: type },
      });
  });

  test('knows no type where no key of the agent signs for it', async () => {
    const one = await agent();
    const other = await newTrader(service, 1);
    const zero = `0x${'0'.repeat(40)}`;
    const contract = '0xe111180000d2663c0091e4f400237545b87b996b';
    for (const walletAddress of [zero, contract, other.funder, other.signer.address, one.signer.address])
      expect(await shown(one, walletAddress)).toEqual({
        ...{ hasCredentials: false, walletAddress: walletAddress.toLowerCase(), signatureType: null },
      });
    expect(await shown(one)).toEqual({ hasCredentials: false, walletAddress: null, signatureType: null });
    const ofSolana = await one.get(`/wallet/credentials/check?walletAddress=${solanaKey().address}`);
    expect({ status: ofSolana.status, code: ofSolana.body.code }).toEqual({
      ...{ status: 400, code: 'invalid_request' },
    });
  });
});

describe('Solana', () => {
  test('a link proves an address and takes it from agents that only named it', async () => {
    const key = solanaKey();
    const squatter = await agent();
    await squatter.client.updateSolAddress(key.address);
    expect((await squatter.client.getMe()).solAddress).toBe(key.address);
    const { client } = await agent();
    const { nonce, message, address } = await client.getLinkChallenge(key.address);
    expect(address).toBe(key.address);
    const wrong = bytesToHex(key.sign(`${message} `));
    expect(await refusalOf(client.linkWallet({ address, nonce, signature: wrong }))).toBe(
      'link_signature_invalid',
    );
    await client.linkWallet({ address, nonce, signature: toBase58(key.sign(message)) });
    const me = await client.getMe();
    expect(me).toMatchObject({ solAddress: key.address, walletAddress: null });
    expect((await client.getClaim(me.claimCode ?? '')).solAddress).toBe(key.address);
    expect((await squatter.client.getMe()).solAddress).toBeNull();
  });

  test('an invalid address is refused with its own code', async () => {
    const { client } = await agent();
    // Base58, but of 31 bytes.
    const short = toBase58(new Uint8Array(31).fill(255));
    expect(await refusalOf(client.updateSolAddress(short))).toBe('invalid_solana_address');
    expect(await refusalOf(client.getLinkChallenge(short))).toBe('invalid_solana_address');
    expect(await refusalOf(client.updateSolAddress('0OIl'))).toBe('invalid_request');
  });
});

describe('unlinking', () => {
  test('deletes the credentials of the key’s wallets; open orders can still be canceled', async () => {
    const trader = await newTrader(service, 1);
    const market = await aMarket(trader.client);
    const { orderId } = await trader.client.placeTrade(await restingOrder(trader, market));
    const { message } = await trader.client.unlinkWallet(trader.signer.address);
    expect(message).toContain(trader.funder);
    expect(message).toContain('1');
    expect((await trader.client.getMe()).walletAddress).toBeNull();
    expect(await trader.client.checkCredentials(trader.funder)).toMatchObject({ hasCredentials: false });
    expect(await refusalOf(trader.client.placeTrade(await restingOrder(trader, market)))).toBe(
      'credentials_not_registered',
    );
    expect((await trader.client.cancelOrder(orderId)).canceled).toEqual([orderId]);
    expect(await refusalOf(trader.client.unlinkWallet(trader.signer.address))).toBe('wallet_not_found');
  });

  test("another owner's wallet is not found", async () => {
    const trader = await newTrader(service);
    const { client } = await agent();
    expect(await refusalOf(client.unlinkWallet(trader.funder))).toBe('wallet_not_found');
    expect((await trader.client.checkCredentials(trader.funder)).hasCredentials).toBe(true);
  });

  test('a Solana address', async () => {
    const { client } = await agent();
    const { address } = solanaKey();
    await client.updateSolAddress(address);
    await client.unlinkWallet(address);
    expect((await client.getMe()).solAddress).toBeNull();
  });

  test('both wallets of an agent at once: neither waits for the other for ever', async () => {
    const traders = await Promise.all(Array.from({ length: 6 }, () => newTrader(service)));
    const { address } = solanaKey();
    for (const { client } of traders) await client.updateSolAddress(address);
    const answers = await Promise.all(
      traders.flatMap(({ client, signer }) => [
        refusalOf(client.unlinkWallet(signer.address)),
        refusalOf(client.unlinkWallet(address)),
      ]),
    );
    expect(new Set(answers)).toEqual(new Set(['nothing']));
  });
});
