/**
 * `node bench/chain-attack.ts [root…]`: what an attack on the sandbox chain's door does to trades on the paper exchange.
 * Trades arrive by the clock, at a rate far below what the service can do; in every other round attackers from several
 * addresses send the door its most expensive requests, as fast as it answers, with the doors' rate limits off. Each root
 * is a checkout of the repository, default this one; the rounds of several roots alternate. About a minute for each.
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Address, createSolanaRpc, generateKeyPairSigner, lamports } from '@solana/kit';
import { getCreateAccountInstruction } from '@solana-program/system';
import { build, SOL, SYSTEM, transferSol } from '../packages/sandbox/test/chain-fixtures.ts';
import { type AttackResult, runAttack } from './attackers.ts';
import { httpText } from './load.ts';
import { type OpenLoadResult, runOpenLoad } from './open-load.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { ENVIRONMENT, openDesk, requestsOf } from './traders.ts';

const AGENTS = 16;
const TRADES_PER_SECOND = 100;
const ROUND_SECONDS = 2;
const ROUNDS = 8;
const CONNECTIONS = 16;
const ADDRESSES = 8;
/** The most that a batch may hold. */
const CALLS = 10;
const SPACE = 10_240n;
/** Transactions that land per round; the rest of the attack simulates and reads. */
const TRANSFERS = 200;
const ROOT = join(import.meta.dirname, '..');

interface Subject {
  readonly root: string;
  readonly service: BenchService;
  readonly folder: string;
  readonly orders: string[];
  readonly quiet: OpenLoadResult[];
  readonly attacked: OpenLoadResult[];
  readonly attacks: AttackResult[];
}

async function open(root: string): Promise<Subject> {
  const folder = newDataFolder();
  const service = await startService({ dataDir: folder, root, env: ENVIRONMENT });
  const desk = await openDesk(service.url, AGENTS);
  const orders = await requestsOf(desk, 2 * ROUNDS * ROUND_SECONDS * TRADES_PER_SECOND);
  return { root, service, folder, orders, quiet: [], attacked: [], attacks: [] };
}

const rpcText = (calls: unknown): string => httpText('POST', '/paper/solana', '', JSON.stringify(calls));
const call = (method: string, params: readonly unknown[], id = 1) => ({ jsonrpc: '2.0', id, method, params });

/** Simulations in batches, reads of large accounts, and transfers that land. */
async function weaponsFor({ service }: Subject): Promise<{ repeated: string[]; once: string[] }> {
  const rpc = createSolanaRpc(`${service.url}/paper/solana`);
  const [payer, account] = [await generateKeyPairSigner(), await generateKeyPairSigner()];
  await rpc.requestAirdrop(payer.address, lamports(5n * SOL)).send();
  const { blockhash } = (await rpc.getLatestBlockhash().send()).value;
  const encoded = async (instruction: Parameters<typeof build>[1][number]): Promise<string> =>
    Buffer.from(await build(payer, [instruction], { blockhash })).toString('base64');
  const created = await encoded(
    getCreateAccountInstruction({
      payer,
      newAccount: account,
      lamports: SOL,
      space: SPACE,
      programAddress: SYSTEM,
    }),
  );
  await rpc.sendTransaction(created as never, { encoding: 'base64' }).send();
  const touching = await encoded(transferSol(payer, account.address as Address, 1n));
  const simulation = [
    touching,
    {
      encoding: 'base64',
      sigVerify: true,
      accounts: { encoding: 'base64', addresses: [account.address, payer.address] },
    },
  ];
  const batch = rpcText(
    Array.from({ length: CALLS }, (_, id) => call('simulateTransaction', simulation, id)),
  );
  const reads = rpcText(
    call('getMultipleAccounts', [Array(20).fill(account.address), { encoding: 'base64+zstd' }]),
  );
  const once: string[] = [];
  for (let nth = 0; nth < TRANSFERS; nth += 1) {
    const transfer = await encoded(transferSol(payer, account.address as Address, BigInt(nth + 2)));
    once.push(rpcText(call('sendTransaction', [transfer, { encoding: 'base64' }])));
  }
  return { repeated: [batch, batch, batch, reads], once };
}

async function trade({ service, folder, orders }: Subject): Promise<OpenLoadResult> {
  const file = join(folder, 'orders.txt');
  const taken = orders.splice(0, ROUND_SECONDS * TRADES_PER_SECOND);
  writeFileSync(file, taken.map((text) => JSON.stringify(text)).join('\n'));
  const result = await runOpenLoad({
    port: service.port,
    perSecond: TRADES_PER_SECOND,
    seconds: ROUND_SECONDS,
    file,
  });
  if (result.bad > 0) throw new Error(`${result.bad} bad answers, e.g.\n${result.examples[0]}`);
  return result;
}

async function round(subject: Subject): Promise<void> {
  subject.quiet.push(await trade(subject));
  const weapons = await weaponsFor(subject);
  const attack = runAttack({
    port: subject.service.port,
    connections: CONNECTIONS,
    addresses: ADDRESSES,
    seconds: ROUND_SECONDS + 1,
    ...weapons,
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  subject.attacked.push(await trade(subject));
  subject.attacks.push(await attack);
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const ms = (value: number): string => `${value.toFixed(1)} ms`;

function report({ root, quiet, attacked, attacks }: Subject): void {
  const p99 = (results: readonly OpenLoadResult[]) => results.map(({ p99Ms }) => p99Ms);
  const p50 = (results: readonly OpenLoadResult[]) => median(results.map(({ p50Ms }) => p50Ms));
  const [calm, hit] = [median(p99(quiet)), median(p99(attacked))];
  console.log(`\n${root}: ${TRADES_PER_SECOND} trades/s, median of ${ROUNDS} rounds`);
  console.log(`  undisturbed: p50 ${ms(p50(quiet))}, p99 ${ms(calm)} (${p99(quiet).map(ms).join(', ')})`);
  console.log(
    `  attacked:    p50 ${ms(p50(attacked))}, p99 ${ms(hit)} (${p99(attacked).map(ms).join(', ')})`,
  );
  // Round by round, since the machine may have other work in some of them.
  const ratios = attacked.map(({ p99Ms }, nth) => p99Ms / (quiet[nth]?.p99Ms ?? 1));
  const ratioList = ratios.map((ratio) => ratio.toFixed(1)).join(', ');
  console.log(
    `  p99 attacked ÷ undisturbed: ${(hit / calm).toFixed(2)}; by round ${ratioList}, median ${median(ratios).toFixed(2)}`,
  );
  const rates = attacks.map(({ perSecond }) => perSecond.toFixed(0));
  const statuses = new Set(attacks.flatMap((one) => Object.keys(one.statuses)));
  console.log(`  the attack: ${rates.join(', ')} requests/s answered with ${[...statuses].join(', ')}`);
}

const roots = process.argv.length > 2 ? process.argv.slice(2).map((root) => resolve(root)) : [ROOT];
const subjects: Subject[] = [];
try {
  for (const root of roots) subjects.push(await open(root));
  for (let nth = 0; nth < ROUNDS; nth += 1) for (const subject of subjects) await round(subject);
  for (const subject of subjects) report(subject);
} finally {
  for (const { service, folder } of subjects) {
    await service.stop();
    removeFolder(folder);
  }
}
