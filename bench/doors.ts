/**
 * Measures what a caller without a key can do to the process through the paper doors: the bytes answered to a small request, the
 * longest time in which no other request is served, and the bytes that are kept. `node bench/doors.ts`, about half a minute.
 */
import { type Address, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { getCreateAccountInstruction } from '@solana-program/system';
import { build, SOL, SYSTEM, transferSol } from '../packages/sandbox/test/chain-fixtures.ts';
import { newDataFolder, removeFolder, startService } from './service.ts';

const MAX_ACCOUNT_BYTES = 10_240n;
const CALLS = 100;
const ACCOUNTS_PER_CALL = 100;
const LAMPORTS_PER_BYTE = 6_960n;
const AIRDROP = 5_000_000_000n;

interface Attack {
  readonly what: string;
  readonly sentBytes: number;
  readonly answer: string;
  readonly answerBytes: number;
  readonly longestSilenceMs: number;
}

const folder = newDataFolder();
const service = await startService({ dataDir: folder });
const rpc = `${service.url}/paper/solana`;

const post = (url: string, body: string): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

/** The fields that this program reads. */
interface RpcAnswer {
  readonly result: { readonly value: { readonly blockhash: string } };
  readonly error?: { readonly message: string };
}

const call = async (method: string, ...params: unknown[]) => {
  const answer = await post(rpc, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  return (await answer.json()) as RpcAnswer;
};

/** Sends trivial requests continuously, and records the longest wait. */
function listen(): () => Promise<number> {
  let longest = 0;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const asked = performance.now();
      await (await fetch(`${service.url}/healthz`)).text();
      longest = Math.max(longest, performance.now() - asked);
    }
  })();
  return async () => {
    isOver = true;
    await asking;
    return longest;
  };
}

async function attack(what: string, url: string, body: string, at = 1): Promise<Attack> {
  // A bucket that the previous attack emptied would distort this one.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const heard = listen();
  const answers = await Promise.all(
    Array.from({ length: at }, async () => {
      const response = await post(url, body);
      return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
    }),
  );
  const statuses = new Map<number, number>();
  for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return {
    what,
    sentBytes: body.length * at,
    answer: [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '),
    answerBytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
    longestSilenceMs: await heard(),
  };
}

const batch = (count: number, method: string, params: unknown[]): string =>
  JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method, params })));

async function funded(): Promise<KeyPairSigner> {
  const signer = await generateKeyPairSigner();
  for (let nth = 0; nth < 2; nth += 1) await call('requestAirdrop', signer.address, Number(AIRDROP));
  return signer;
}

/** A token with a book, known to the DFlow door and the CLOB. */
async function aToken(): Promise<string> {
  const { apiKeyCode } = (await (
    await post(
      `${service.url}/agents/register`,
      JSON.stringify({ agentName: 'Bench', name: 'Bench', description: 'bench' }),
    )
  ).json()) as { apiKeyCode: string };
  const listed = await fetch(`${service.url}/markets?q=*&limit=1`, {
    headers: { authorization: `Bearer ${apiKeyCode}` },
  });
  const [market] = (await listed.json()) as readonly { readonly clobTokenIds: readonly string[] }[];
  return market?.clobTokenIds[0] ?? '1';
}

const blockhash = async (): Promise<string> => (await call('getLatestBlockhash')).result.value.blockhash;

/** Tries to create an account of this size; `refused` is the door's error. */
async function create(space: bigint, lamports: bigint): Promise<{ address: string; refused: string | null }> {
  const payer = await funded();
  const account = await generateKeyPairSigner();
  const wire = await build(
    payer,
    [getCreateAccountInstruction({ payer, newAccount: account, lamports, space, programAddress: SYSTEM })],
    { blockhash: await blockhash() },
  );
  const sent = await call('sendTransaction', Buffer.from(wire).toString('base64'), { encoding: 'base64' });
  return { address: account.address, refused: sent.error?.message ?? null };
}

/** The largest account that ten free SOL pay for; when the sandbox refuses it, the largest that it accepts. */
async function largeAccount(): Promise<{ address: string; outcome: string }> {
  const all = 2n * AIRDROP - 1_000_000n;
  const space = all / LAMPORTS_PER_BYTE - 128n;
  const large = await create(space, all);
  if (large.refused === null) return { address: large.address, outcome: `${space} bytes kept permanently` };
  const { address } = await create(MAX_ACCOUNT_BYTES, SOL);
  return { address, outcome: `refused: ${large.refused}` };
}

/** An unsigned transaction that touches the account. */
async function touching(address: string): Promise<string> {
  const payer = await funded();
  const wire = await build(payer, [transferSol(payer, address as Address, 1n)], {
    blockhash: await blockhash(),
  });
  return Buffer.from(wire).toString('base64');
}

try {
  const { address, outcome } = await largeAccount();
  console.log(`an account as large as the free SOL of an address pays for: ${outcome}`);
  const transaction = await touching(address);
  const watched = Array.from({ length: 16 }, () => address);
  const simulate = [
    transaction,
    {
      encoding: 'base64',
      sigVerify: false,
      replaceRecentBlockhash: true,
      accounts: { encoding: 'base64', addresses: watched },
    },
  ];
  const many = Array.from({ length: ACCOUNTS_PER_CALL }, () => address);
  const token_id = await aToken();
  const tokens = Array.from({ length: 500 }, () => ({ token_id }));
  const books = JSON.stringify(tokens);
  const attacks = [
    await attack(
      'one call for an account 100 times',
      rpc,
      batch(1, 'getMultipleAccounts', [many, { encoding: 'base64' }]),
    ),
    await attack(`a batch of ${CALLS} simulations`, rpc, batch(CALLS, 'simulateTransaction', simulate)),
    await attack(
      'a batch of 10 × 100 accounts',
      rpc,
      batch(10, 'getMultipleAccounts', [many, { encoding: 'base64+zstd' }]),
    ),
    await attack('a batch of 10 simulations', rpc, batch(10, 'simulateTransaction', simulate)),
    await attack('300 single calls at once', rpc, batch(1, 'getSlot', []).slice(1, -1), 300),
    await attack('40 × 500 books', `${service.url}/paper/clob/books`, books, 40),
  ];
  for (const { what, sentBytes, answer, answerBytes, longestSilenceMs } of attacks)
    console.log(
      `${what}: ${sentBytes} bytes sent, answered ${answer} with ${answerBytes} bytes, ` +
        `longest silence ${longestSilenceMs.toFixed(0)} ms`,
    );
} finally {
  await service.stop();
  removeFolder(folder);
}
