/**
 * Random sequences through the relayer's door, from all kinds of wallets and in markets of both generations: after every request the
 * exchange has what a slow model of it has, a request that is repeated has no second effect, and no money is made or lost.
 */
import {
  type ContractMarket,
  hexToBytes,
  mergeCall,
  ownerOf,
  type RelayTerms,
  redeemCall,
  redeemPositionCall,
  relayRequest,
  type SignatureType,
  signDigest,
  signedRelayBody,
  splitCall,
} from '@bellwether/protocol';
import { Signer } from '@bellwether/sdk';
import fc from 'fast-check';
import { generatePrivateKey } from 'viem/accounts';
import { beforeAll, expect, test } from 'vitest';
import { call, startTestService, type TestService } from '../harness.ts';
import { newOfficialWallet, type OfficialWallet } from '../official-clients.ts';
import { manualClock, resolveMarket } from '../world.ts';

const FUNDS = 10_000_000_000n;
const TYPES = [1, 2, 3] as const;

const clock = manualClock(Date.now());
let service: TestService;
let operator: OfficialWallet;
let markets: readonly (ContractMarket & { readonly version: string })[];

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off', PAPER_V2_MARKETS: 'third' }, { clock });
  operator = await newOfficialWallet(service);
  const open = [...service.exchange.markets()].filter(({ status }) => status === 'open');
  markets = (['v1', 'v2'] as const).flatMap((version) =>
    [false, true].flatMap((negRisk) => {
      const found = open.find((one) => (one.version ?? 'v1') === version && one.negRisk === negRisk);
      return found === undefined ? [] : [{ conditionId: found.conditionId, negRisk, version }];
    }),
  );
  expect(markets.map(({ version }) => version)).toEqual(['v1', 'v1', 'v2', 'v2']);
});

const relayer = (method: string, path: string, body?: unknown) =>
  call({ url: `${service.url}/paper/relayer` }, method, path, {
    ...(body === undefined ? {} : { body }),
    headers: { RELAYER_API_KEY: operator.creds.key, RELAYER_API_KEY_ADDRESS: operator.eoa },
  });

interface Wallet {
  readonly key: `0x${string}`;
  readonly owner: NonNullable<ReturnType<typeof ownerOf>>;
  /** The slow model: free collateral, and pairs by market. */
  cash: bigint;
  readonly pairs: Map<string, bigint>;
  /** To rounding. */
  lost: bigint;
}

async function newWallet(type: SignatureType): Promise<Wallet> {
  const key = generatePrivateKey();
  const signer = Signer.fromPrivateKey(key);
  const owner = ownerOf(signer.address, signer.wallet(type))!;
  await service.exchange.execute({ kind: 'deposit', account: owner.wallet, amount: FUNDS, reason: 'faucet' });
  return { key, owner, cash: FUNDS, pairs: new Map(), lost: 0n };
}

async function bodyOf({ key, owner }: Wallet, calls: Parameters<typeof relayRequest>[1]) {
  const type = ({ 1: 'PROXY', 2: 'SAFE', 3: 'WALLET' } as const)[owner.type as 1 | 2 | 3];
  const { body } = await relayer('GET', `/relay-payload?address=${owner.eoa}&type=${type}`);
  const nonce = BigInt(body.nonce);
  const terms: Readonly<Record<typeof type, RelayTerms>> = {
    PROXY: { type: 'PROXY', nonce, relay: body.address.toLowerCase() },
    SAFE: { type: 'SAFE', nonce },
    WALLET: { type: 'WALLET', nonce, deadlineS: Math.floor(clock.now() / 1000) + 200 },
  };
  const request = relayRequest(owner, calls, terms[type]);
  const signature = Buffer.from(signDigest(request.digest, hexToBytes(key))).toString('hex');
  return signedRelayBody(request, `0x${signature}`);
}

/** @returns the state in which the relayer lists it */
async function relay(
  wallet: Wallet,
  calls: Parameters<typeof relayRequest>[1],
  times: number,
): Promise<string> {
  const body = await bodyOf(wallet, calls);
  const answers = await Promise.all(Array.from({ length: times }, () => relayer('POST', '/submit', body)));
  expect(answers.map(({ status, body: { error } }) => [status, error])).toEqual(
    answers.map(() => [200, undefined]),
  );
  const ids = new Set(answers.map(({ body: { transactionID } }) => transactionID as string));
  expect(ids.size).toBe(1);
  const { body: listed } = await relayer('GET', `/transaction?id=${[...ids][0]}`);
  return listed[0].state;
}

const held = ({ owner }: Wallet, conditionId: string) => {
  const tokens = service.exchange.account(owner.wallet).tokens.get(conditionId);
  return [tokens?.yes ?? 0n, tokens?.no ?? 0n];
};

function expectAsModel(wallet: Wallet): void {
  expect(service.exchange.available(wallet.owner.wallet)).toBe(wallet.cash);
  let pairs = 0n;
  for (const { conditionId } of markets) {
    const own = wallet.pairs.get(conditionId) ?? 0n;
    expect(held(wallet, conditionId)).toEqual([own, own]);
    pairs += own;
  }
  expect(wallet.cash + pairs + wallet.lost).toBe(FUNDS);
}

const step = fc.record({
  wallet: fc.nat(TYPES.length - 1),
  market: fc.nat(3),
  kind: fc.constantFrom('split', 'split', 'merge'),
  // Sometimes more than there is.
  amount: fc.oneof(
    fc.bigInt({ min: 1n, max: 4_000_000_000n }),
    fc.constantFrom(1n, FUNDS, FUNDS + 1n, 2n ** 80n),
  ),
  times: fc.integer({ min: 1, max: 3 }),
});

const wallets: Wallet[] = [];

test('splits and merges conserve money, whatever is asked for and however often', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const own = await Promise.all(TYPES.map(newWallet));
      wallets.push(...own);
      for (const { wallet: nth, market: at, kind, amount, times } of steps) {
        const [wallet, market] = [own[nth]!, markets[at]!];
        const before = wallet.pairs.get(market.conditionId) ?? 0n;
        const isCovered = kind === 'split' ? amount <= wallet.cash : amount <= before;
        const made = (kind === 'split' ? splitCall : mergeCall)(market, amount);
        const state = await relay(wallet, [made], times);
        expect(state).toBe(isCovered ? 'STATE_CONFIRMED' : 'STATE_FAILED');
        if (isCovered) {
          const sets = kind === 'split' ? amount : -amount;
          wallet.cash -= sets;
          wallet.pairs.set(market.conditionId, before + sets);
        }
        for (const one of own) expectAsModel(one);
      }
    }),
    { numRuns: 12, seed: 28 },
  );
}, 120_000);

test('once the markets are resolved, redemptions give back all of it, once', async () => {
  const payouts = new Map<string, string>();
  for (const { conditionId } of markets)
    payouts.set(conditionId, await resolveMarket(service, clock, conditionId));
  for (const wallet of wallets) {
    for (const market of markets) {
      const { conditionId, negRisk, version } = market;
      const amount = wallet.pairs.get(conditionId) ?? 0n;
      if (amount === 0n) continue;
      const calls =
        version === 'v1'
          ? [redeemCall(conditionId, negRisk)]
          : ([0, 1] as const).map((outcome) => redeemPositionCall(conditionId, { outcome, amount }));
      expect(await relay(wallet, calls, 2)).toBe('STATE_CONFIRMED');
      // Half of an odd number of tokens is rounded down, for each outcome.
      const lost = payouts.get(conditionId) === 'HALF' ? amount % 2n : 0n;
      wallet.cash += amount - lost;
      wallet.lost += lost;
      wallet.pairs.delete(conditionId);
    }
    expectAsModel(wallet);
    expect(wallet.cash + wallet.lost).toBe(FUNDS);
  }
});
