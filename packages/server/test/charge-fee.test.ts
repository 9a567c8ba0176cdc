/** The fee: what is refused and in which order, and that a charge with a key happens once, whatever fails. */
import { randomBytes, randomUUID } from 'node:crypto';
import { parseBase58, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/postgres.ts';
import type { Sql } from '../src/adapters/postgres/connection.ts';
import { createFeeStore } from '../src/adapters/postgres/fee-store.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { createWalletStore } from '../src/adapters/postgres/wallet-store.ts';
import { createLocalSigning } from '../src/adapters/signing/local.ts';
import type { Deps } from '../src/app/deps.ts';
import { chargeFee } from '../src/app/fees/charge-fee.ts';
import { delegationOf } from '../src/app/fees/delegation.ts';
import { followFees } from '../src/app/fees/fee-fate.ts';
import type { Refusal } from '../src/app/refusal.ts';
import type { Chain } from '../src/ports/chain.ts';
import type { SigningAnswer, SigningProvider } from '../src/ports/signing-provider.ts';
import type { Caller } from '../src/ports/stores.ts';
import { createFeeChain, type FeeChain } from './fee-chain.ts';

const SECOND = 1_000;
/** Past the last block that could take a transaction, and the margin. */
const DEAD_BLOCKS = 150 + 32 + 1;

let sql: Sql;
beforeAll(async () => {
  sql = await openTestDatabase();
  await migrate(sql);
});

const address = (): SolanaAddress => createLocalSigning(randomBytes(32)).address;

let caller: Caller;
let wallet: SolanaAddress;
let chain: FeeChain;
let signing: SigningProvider;
let signs: string[];
/** What the provider answers instead of signing. */
let providerSays: SigningAnswer | null;
let now: number;
let deps: Deps;

async function newCaller(): Promise<Caller> {
  const [owner] = await sql`insert into owners (created_at) values (now()) returning user_id`;
  const agentId = randomUUID();
  await sql`insert into agents (agent_id, user_id, name, description, claim_code, created_at)
    values (${agentId}, ${owner?.user_id}, 'agent', '', ${randomUUID()}, now())`;
  return { agentId, userId: owner?.user_id, keyId: 1n };
}

const note = (whose: Caller, what: string) =>
  sql`select note_agent_wallets(${whose.agentId}::uuid, array[${what}::text], ${what}, now())`;
const link = async (whose: Caller, what: string) => {
  await sql`insert into linked_wallets (address, user_id, kind, signer, linked_at)
    values (${what}, ${whose.userId}, 'solana', ${what}, now())
    on conflict (address) do update set user_id = excluded.user_id`;
  await note(whose, what);
};

beforeEach(async () => {
  await sql`truncate fee_charges`;
  caller = await newCaller();
  wallet = address();
  await link(caller, wallet);
  const local = createLocalSigning(randomBytes(32));
  signs = [];
  providerSays = null;
  signing = {
    ...local,
    async sign(request) {
      signs.push(request.externalId);
      return providerSays ?? local.sign(request);
    },
  };
  chain = createFeeChain(wallet, signing.address);
  now = Date.UTC(2026, 10, 21);
  deps = {
    clock: { now: () => now },
    secrets: { newId: () => randomUUID() },
    wallets: createWalletStore(sql),
    fees: createFeeStore(sql),
    signing,
    feeWallet: address(),
    maxFeeCharge: 100_000_000n,
    paperRpcUrl: 'http://localhost/paper/solana',
    agents: { byId: async () => ({ solAddress: wallet }) },
    venues: quotingOn(chain.chain),
  } as unknown as Deps;
});

const quotingOn = (node: Chain): Deps['venues'] =>
  new Map([
    ['kalshi', { id: 'kalshi', quotes: { collateralMint: USDC_MINT, chain: node } }],
  ]) as unknown as Deps['venues'];

const charge = (body: Record<string, unknown> = {}, key: string | null = null, over: Partial<Deps> = {}) =>
  chargeFee(
    { ...deps, ...over },
    caller,
    { amount: '0.25', fromAddress: wallet, ...body },
    { key, requestId: 'r' },
  );

const refused = async (promise: Promise<unknown>): Promise<Refusal> => {
  const answer = await promise.catch((error: unknown) => error);
  if ((answer as Error).name !== 'Refusal') throw answer;
  return answer as Refusal;
};
const codeOf = async (promise: Promise<unknown>) => (await refused(promise)).denials[0].code;
const rows = () => sql`select * from fee_charges where agent_id = ${caller.agentId} order by created_at`;
const total = () => [...chain.landed.values()].reduce((sum, amount) => sum + amount, 0n);

test('moves the amount out of the wallet, once for each call without a key', async () => {
  const { answer, replayed } = await charge();
  expect(answer).toEqual({
    id: signs[0],
    status: 'BROADCASTED',
    txSignature: [...chain.landed.keys()][0],
    fromAddress: wallet,
    toAddress: deps.feeWallet,
    amount: '0.25',
  });
  expect(replayed).toBe(false);
  expect(parseBase58(answer.txSignature)?.length).toBe(64);
  await charge();
  expect(total()).toBe(500_000n);
  expect(await rows()).toMatchObject([
    { status: 'broadcast', amount: 250_000n, provider_id: signs[0], signature: answer.txSignature },
    { status: 'broadcast', idempotency_key: null },
  ]);
});

describe('refusals', () => {
  test.each([
    [{ amount: undefined }, ['fee_amount_required']],
    [{ amount: null }, ['fee_amount_required']],
    [{ amount: 0.25 }, ['invalid_fee_amount']],
    [{ amount: '0' }, ['invalid_fee_amount']],
    [{ amount: '-1' }, ['invalid_fee_amount']],
    [{ amount: '1e-2' }, ['invalid_fee_amount']],
    [{ amount: '.5' }, ['invalid_fee_amount']],
    [{ amount: ' 1' }, ['invalid_fee_amount']],
    [{ amount: '0.0000001' }, ['invalid_fee_amount']],
    [{ amount: '9'.repeat(41) }, ['invalid_fee_amount']],
    [{ amount: ['1'] }, ['invalid_fee_amount']],
    [{ amount: '100.000001' }, ['fee_amount_too_large']],
    [{ fromAddress: '' }, ['from_address_required']],
    [{ fromAddress: 7 }, ['invalid_solana_address']],
    [{ fromAddress: '0xabc' }, ['invalid_solana_address']],
    [{ amount: '', fromAddress: null }, ['fee_amount_required', 'from_address_required']],
    [{ amount: 1, fromAddress: 'l' }, ['invalid_fee_amount', 'invalid_solana_address']],
  ])('%j', async (body, codes) => {
    const { denials } = await refused(charge(body));
    expect(denials.map(({ code }) => code)).toEqual(codes);
    expect(await rows()).toEqual([]);
  });

  test('a JSON number is told how to be written', async () => {
    const { denials } = await refused(charge({ amount: 0.25 }));
    expect(denials[0].fix).toBe('Send a text: "amount": "0.25".');
  });

  test("the platform's own wallets are not charged", async () => {
    expect(await codeOf(charge({ fromAddress: signing.address }))).toBe('delegate_equals_owner');
    expect(await codeOf(charge({ fromAddress: deps.feeWallet }))).toBe('delegate_equals_owner');
  });

  test("nor are strangers' wallets, whatever they delegated", async () => {
    const other = await newCaller();
    await link(other, wallet);
    expect(await codeOf(charge())).toBe('wallet_not_yours');
    expect(await rows()).toEqual([]);
  });

  test('a wallet that an order was submitted with is enough, until somebody else links it', async () => {
    await sql`delete from linked_wallets where address = ${wallet}`;
    expect(await codeOf(charge())).toBe('wallet_not_yours');
    await sql`insert into order_wallets (agent_id, address, user_id)
      values (${caller.agentId}, ${wallet}, ${caller.userId})`;
    await charge();
    await link(await newCaller(), wallet);
    expect(await codeOf(charge())).toBe('wallet_not_yours');
    expect(total()).toBe(250_000n);
  });

  test('account, delegation and balance, in this order and with the figures', async () => {
    const account = chain.account;
    if (account === null) throw new Error('no account');
    chain.account = null;
    expect(await codeOf(charge())).toBe('token_account_not_found');
    for (const change of [
      { delegate: null, delegatedAmount: 0n },
      { delegate: address() },
      { delegatedAmount: 249_999n, amount: 0n },
      { frozen: true },
    ]) {
      chain.account = { ...account, ...change };
      expect(await codeOf(charge())).toBe('delegation_insufficient');
    }
    chain.account = { ...account, amount: 249_999n };
    const { denials } = await refused(charge());
    expect(denials[0]).toMatchObject({
      code: 'insufficient_balance',
      context: {
        amount: '0.25',
        balance: '0.249999',
        delegate: signing.address,
        delegatedAmount: '10',
        platformDelegate: signing.address,
        frozen: false,
      },
    });
    chain.account = { ...account, amount: 250_000n, delegatedAmount: 250_000n };
    await charge();
    expect(total()).toBe(250_000n);
  });

  test.each([
    [{ kind: 'blocked_by_policy', id: 'x', detail: 'no' }, 'blocked_by_policy', 'BLOCKED_BY_POLICY: no'],
    [
      { kind: 'failed', id: null, detail: 'REJECTED REJECTED_BY_USER' },
      'signing_failed',
      'The signing provider did not sign: REJECTED REJECTED_BY_USER.',
    ],
  ] as const)('%j', async (answer, code, detail) => {
    providerSays = answer;
    const { denials } = await refused(charge({}, 'k'));
    expect(denials[0]).toMatchObject({ code, detail });
    expect(chain.sent).toEqual([]);
    // Nothing came of it: the key is as good as new.
    expect(await rows()).toEqual([]);
    providerSays = null;
    await charge({ amount: '1' }, 'k');
    expect(total()).toBe(1_000_000n);
  });

  test('a chain that is silent before anything is sent is no charge', async () => {
    chain.isDown = true;
    await expect(charge({}, 'k')).rejects.toThrow('no answer');
    expect(await rows()).toEqual([]);
    chain.isDown = false;
    await charge({}, 'k');
    expect(total()).toBe(250_000n);
  });
});

describe('with a key', () => {
  test('the same request is charged once, however often and whenever it comes', async () => {
    const first = await charge({}, 'k');
    // Nothing is left of the delegation, and the wallet is somebody else's: it was charged all the same.
    chain.account = { ...chain.account, delegatedAmount: 0n } as FeeChain['account'];
    await link(await newCaller(), wallet);
    for (const blocks of [0, DEAD_BLOCKS]) {
      chain.height += blocks;
      expect(await charge({}, 'k')).toEqual({ answer: first.answer, replayed: true });
    }
    expect((await rows())[0]?.status).toBe('landed');
    expect(signs.length).toBe(1);
    expect(total()).toBe(250_000n);
  });

  test('another body is refused, and another key or agent is another charge', async () => {
    await charge({}, 'k');
    expect(await codeOf(charge({ amount: '0.26' }, 'k'))).toBe('idempotency_key_reused');
    expect(await codeOf(charge({ fromAddress: address() }, 'k'))).toBe('idempotency_key_reused');
    await charge({}, 'k2');
    caller = { ...(await newCaller()), userId: caller.userId };
    // Of the same owner, but this agent never had the wallet.
    expect(await codeOf(charge({}, 'k'))).toBe('wallet_not_yours');
    await note(caller, wallet);
    await charge({}, 'k');
    expect(total()).toBe(750_000n);
  });

  test('of twins one charges, and the others are told to wait or its answer', async () => {
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => charge({}, 'k')));
    for (const answer of answers) {
      if (answer.status === 'fulfilled')
        expect(answer.value.answer.txSignature).toBe([...chain.landed.keys()][0]);
      else expect((answer.reason as Refusal).denials[0].code).toBe('idempotency_in_flight');
    }
    expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(total()).toBe(250_000n);
    expect(new Set(chain.sent).size).toBe(1);
  });

  test('a refusal of the chain is no charge, and the next request tries anew', async () => {
    chain.sendings = ['refuse', 'land'];
    const { denials } = await refused(charge({}, 'k'));
    expect(denials[0]).toMatchObject({
      code: 'broadcast_failed',
      detail: 'The chain refused the transaction: instruction 0: Custom 1.',
    });
    await charge({}, 'k');
    const [row] = await rows();
    expect(row).toMatchObject({ attempt: 2, dead_signatures: [chain.sent[0]], signature: chain.sent[1] });
    expect(signs).toEqual([`${row?.id}-1`, `${row?.id}-2`]);
    expect(total()).toBe(250_000n);
  });

  test('an answer that is lost is asked for again with the same bytes', async () => {
    chain.sendings = ['land_unanswered', 'land'];
    const { answer } = await charge({}, 'k');
    expect(chain.sent).toEqual([answer.txSignature, answer.txSignature]);
    expect(total()).toBe(250_000n);
  });

  test.each(['land_unanswered', 'lose'] as const)(
    'two lost answers (%s) are settled by a repeat',
    async (how) => {
      chain.sendings = [how];
      const unknown = await refused(charge({}, 'k'));
      expect(unknown.denials[0].code).toBe('fee_outcome_unknown');
      expect(unknown.retryAfterS).toBeGreaterThan(0);
      // A refusal is no proof any more.
      chain.sendings = ['refuse'];
      if (how === 'lose') expect(await codeOf(charge({}, 'k'))).toBe('fee_outcome_unknown');
      chain.sendings = ['land'];
      const { answer } = await charge({}, 'k');
      expect(answer.txSignature).toBe(chain.sent[0]);
      expect(new Set(chain.sent).size).toBe(1);
      expect(total()).toBe(250_000n);
    },
  );

  test('one that can land no more makes room for another, and not a block sooner', async () => {
    chain.sendings = ['hold'];
    const first = await charge({}, 'k');
    chain.height += DEAD_BLOCKS - 1;
    expect((await charge({}, 'k')).answer).toEqual(first.answer);
    chain.height += 1;
    chain.sendings = ['land'];
    const second = await charge({}, 'k');
    expect(second.replayed).toBe(false);
    expect(second.answer.txSignature).not.toBe(first.answer.txSignature);
    expect([...chain.landed.keys()]).toEqual([second.answer.txSignature]);
  });

  test('one that failed on the chain makes room for another', async () => {
    chain.sendings = ['hold', 'land'];
    const first = await charge({}, 'k');
    chain.failed.add(first.answer.txSignature);
    await charge({}, 'k');
    expect(total()).toBe(250_000n);
    expect((await rows())[0]).toMatchObject({ dead_signatures: [first.answer.txSignature] });
  });

  test('a chain that says nothing of it is no proof of anything', async () => {
    chain.sendings = ['hold'];
    await charge({}, 'k');
    chain.isDown = true;
    chain.height += 10 * DEAD_BLOCKS;
    const { denials, retryAfterS } = await refused(charge({}, 'k'));
    expect(denials[0].code).toBe('fee_outcome_unknown');
    expect(retryAfterS).toBeGreaterThan(0);
    expect(signs.length).toBe(1);
  });

  test('without one, a lost answer names the signature to look for', async () => {
    chain.sendings = ['lose'];
    const { denials } = await refused(charge());
    expect(denials[0]).toMatchObject({
      code: 'fee_outcome_unknown',
      context: { txSignature: chain.sent[0] },
      fix: expect.stringContaining(chain.sent[0] as string),
    });
    // Nobody repeats it: neither do we.
    expect(chain.sent.length).toBe(1);
  });

  test('whoever signs so slowly that another took over sends nothing', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = charge({}, 'k', {
      signing: {
        ...signing,
        async sign(request) {
          await gate;
          return signing.sign(request);
        },
      },
    });
    while ((await rows()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await codeOf(charge({}, 'k'))).toBe('idempotency_in_flight');
    now += 61 * SECOND;
    const { answer } = await charge({}, 'k');
    release();
    expect(await codeOf(slow)).toBe('idempotency_in_flight');
    expect([...chain.landed.keys()]).toEqual([answer.txSignature]);
    expect(new Set(chain.sent)).toEqual(new Set([answer.txSignature]));
  });

  test('an attempt begins only where the one before is over', async () => {
    await charge({}, 'k');
    const [row] = await rows();
    const again = () =>
      deps.fees.begin({
        id: randomUUID(),
        agentId: caller.agentId,
        key: 'k',
        venue: 'kalshi',
        amount: 250_000n,
        fromAddress: wallet,
        toAddress: deps.feeWallet,
        requestId: 'r',
        at: now,
        leaseUntil: now,
      });
    for (const status of ['signed', 'unknown', 'broadcast', 'landed', 'signing']) {
      await sql`update fee_charges set status = ${status}, lease_until = ${new Date(now + 1)} where id = ${row?.id}`;
      expect([status, await again()]).toEqual([status, null]);
    }
    for (const status of ['unsigned', 'refused', 'failed', 'dropped', 'signing']) {
      await sql`update fee_charges set status = ${status}, lease_until = ${new Date(now)} where id = ${row?.id}`;
      expect(await again()).toMatchObject({ id: row?.id });
    }
  });

  test('what another one sends meanwhile is not given up', async () => {
    const { chain: node } = chain;
    chain.sendings = ['hold'];
    const venues = quotingOn({
      ...node,
      // While the first send is on its way, a repeat finds the bytes and sends them, too.
      async send(wire: Uint8Array) {
        await charge({}, 'k');
        chain.sendings = ['refuse'];
        return node.send(wire);
      },
    });
    expect(await codeOf(charge({}, 'k', { venues }))).toBe('fee_outcome_unknown');
    expect((await rows())[0]?.status).toBe('broadcast');
    chain.sendings = ['land'];
    expect((await charge({}, 'k')).replayed).toBe(true);
    expect(total()).toBe(250_000n);
  });
});

/** Every call that leaves the use case, in turn, is the last one of a process that dies: before it was done, or after. */
describe('a crash', () => {
  const dying = (at: number, when: 'before' | 'after') => {
    let calls = 0;
    let died = (): void => {};
    const death = new Promise<null>((resolve) => {
      died = () => resolve(null);
    });
    const wrap = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(object, name) {
          const value = Reflect.get(object, name);
          if (typeof value !== 'function') return value;
          return async (...args: unknown[]) => {
            calls += 1;
            const isLast = calls === at;
            const answer = isLast && when === 'before' ? undefined : await value.apply(object, args);
            if (calls < at || (!isLast && calls > at + 99)) return answer;
            died();
            return new Promise(() => {});
          };
        },
      });
    const over = {
      fees: wrap(deps.fees),
      signing: { ...signing, sign: wrap(signing).sign },
      venues: quotingOn(wrap(chain.chain)),
    };
    return { over, death, count: () => calls };
  };

  test('at any point, and a repeat at any time, charge once', async () => {
    const whole = dying(1_000, 'after');
    await charge({}, 'whole', whole.over);
    const points = whole.count();
    expect(points).toBe(8);
    chain.landed.clear();
    for (let point = 1; point <= points; point++) {
      for (const when of ['before', 'after'] as const) {
        for (const [waitS, blocks] of [
          [0, 0],
          [61, 10],
          [200, DEAD_BLOCKS],
        ] as const) {
          const key = `${point} ${when} ${waitS}`;
          const before = chain.landed.size;
          const { over, death } = dying(point, when);
          await Promise.race([charge({}, key, over), death]);
          now += waitS * SECOND;
          chain.height += blocks;
          const early = await charge({}, key).catch((error: Refusal) => error);
          if (early instanceof Error) {
            expect([key, early.denials[0].code]).toEqual([key, 'idempotency_in_flight']);
            expect(waitS).toBe(0);
            now += 61 * SECOND;
          }
          const { answer } = await charge({}, key);
          expect([key, chain.landed.size - before]).toEqual([key, 1]);
          expect([...chain.landed.keys()].at(-1)).toBe(answer.txSignature);
          chain.account = { ...chain.account, delegatedAmount: 10_000_000n } as FeeChain['account'];
        }
      }
    }
  });
});

describe('the job', () => {
  test('gives a taken transaction to the nodes again until it lands, and tells the webhooks once', async () => {
    const endpoint = randomUUID();
    await sql`insert into webhook_endpoints
      (id, agent_id, url, events, description, key_id, sealed_secret, created_at)
      values (${endpoint}, ${caller.agentId}, 'https://example.com', array['fee'], '', 1, ''::bytea, now())`;
    const told = async () => {
      await sql`select queue_webhook_events()`;
      return sql`select type, data from webhook_deliveries where endpoint_id = ${endpoint}`;
    };
    chain.sendings = ['hold', 'hold', 'land'];
    const { answer } = await charge();
    expect(await told()).toEqual([]);
    await followFees(deps);
    await followFees(deps);
    expect(chain.sent.filter((signature) => signature === answer.txSignature).length).toBe(3);
    expect(total()).toBe(250_000n);
    await followFees(deps);
    await followFees(deps);
    expect((await rows())[0]?.status).toBe('landed');
    expect(await told()).toMatchObject([
      { type: 'fee', data: { venue: 'kalshi', orderId: null, tradeId: null, amount: 0.25 } },
    ]);
  });

  test('only looks at what nobody was told to be sent', async () => {
    chain.sendings = ['lose'];
    await refused(charge());
    const [signature] = chain.sent;
    await followFees(deps);
    expect(chain.sent).toEqual([signature]);
    chain.height += DEAD_BLOCKS;
    await followFees(deps);
    expect((await rows())[0]?.status).toBe('dropped');
  });

  test('does nothing while the chain is silent', async () => {
    chain.sendings = ['hold'];
    await charge();
    chain.isDown = true;
    chain.height += DEAD_BLOCKS;
    await expect(followFees(deps)).rejects.toThrow('no answer');
    expect((await rows())[0]?.status).toBe('broadcast');
  });
});

describe('the delegation', () => {
  test('is told with what to approve', async () => {
    expect(await delegationOf(deps, caller, undefined)).toEqual({
      walletAddress: wallet,
      delegate: signing.address,
      feeWallet: deps.feeWallet,
      mint: USDC_MINT,
      tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      decimals: 6,
      tokenAccount: chain.account?.address,
      exists: true,
      balance: '100',
      delegatedAmount: '10',
      maxFeeCharge: '100',
      rpcUrl: 'http://localhost/paper/solana',
    });
    chain.account = { ...chain.account, delegate: address() } as FeeChain['account'];
    expect((await delegationOf(deps, caller, wallet)).delegatedAmount).toBe('0');
    const stranger = address();
    expect(await delegationOf(deps, caller, stranger)).toMatchObject({
      walletAddress: stranger,
      exists: false,
      balance: '0',
    });
  });

  test('needs a wallet', async () => {
    const agents = { byId: async () => ({ solAddress: null }) } as unknown as Deps['agents'];
    expect(await codeOf(delegationOf({ ...deps, agents }, caller, undefined))).toBe('from_address_required');
    expect(await codeOf(delegationOf(deps, caller, '0x12'))).toBe('invalid_solana_address');
  });
});
