/**
 * Something to look at in the owner's console: finds a running service or starts one, lets four agents with different
 * strategies trade on paper, and prints where a person claims them and watches. Ctrl-C ends it.
 *
 *   npm run demo:console           BELLWETHER_URL names a service; DEMO_ROUNDS ends the demo after so many rounds
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lookForService } from '../find-service.ts';
import { CheckFailed, check, run } from '../first-trade/example.ts';
import { createTrading, type Outcome, type Seat, seatAgents } from './strategies.ts';

const SERVICE = join(import.meta.dirname, '..', '..', 'packages', 'server', 'src', 'main.ts');
const READY_WITHIN_MS = 120_000;
const ROUND_MS = 1500;
/** Rounds between two lines about what happened. */
const TOLD_EVERY = 20;
const ROUNDS = Number(process.env.DEMO_ROUNDS ?? Number.POSITIVE_INFINITY);

const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());

/** Ends with this program, in its own time. */
async function startService(): Promise<{ readonly baseUrl: string; readonly child: ChildProcess }> {
  console.log('No service answers: one is started, on the data folder of npm start.');
  const child = spawn(process.execPath, [SERVICE], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (part) => (output += part));
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const [, baseUrl] = /^ {2}address +(\S+)/m.exec(output) ?? [];
    if (baseUrl !== undefined) return { baseUrl, child };
    const over = await Promise.race([exited.then(() => true), sleep(100).then(() => false)]);
    if (over || ended.signal.aborted || Date.now() > end) {
      child.kill('SIGTERM');
      throw new CheckFailed('the service did not start; the lines above say why');
    }
  }
}

async function stopService(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await exited;
}

function explain(seats: readonly Seat[]): void {
  const [first] = seats;
  check(first !== undefined, 'no agent was registered');
  const site = first.claimUrl.slice(0, first.claimUrl.indexOf('/agents/claim'));
  console.log(`
${seats.length} agents trade on paper. To look at them, in a browser on this machine:

1. Claim them. The first page makes your passkey (the browser asks for a fingerprint, a face or a PIN); then press "Claim":
${seats.map(({ name, claimUrl }) => `     ${name.padEnd(18)} ${claimUrl}`).join('\n')}

2. Open the console:
     ${site}/console

Ctrl-C ends the demo.
`);
}

function tell(round: number, outcomes: readonly Outcome[]): void {
  const refused = outcomes.filter((outcome) => outcome.refused !== null);
  const words = refused.map(({ agent, refused: why }) => `${agent} was refused (${why})`);
  console.log(`Round ${round}: ${outcomes.length - refused.length} agents acted. ${words.join('; ')}`);
}

async function trade(seats: readonly Seat[]): Promise<void> {
  const act = createTrading(seats);
  for (let round = 1; round <= ROUNDS && !ended.signal.aborted; round++) {
    const outcomes = await act();
    if (round % TOLD_EVERY === 1) tell(round, outcomes);
    if (round < ROUNDS) await sleep(ROUND_MS, undefined, { signal: ended.signal }).catch(() => {});
  }
  // Positions that the owner watched stay; orders that rest on the book do not.
  for (const { client } of seats) await client.cancelAll();
}

await run(async () => {
  const found = await lookForService();
  const started = typeof found === 'string' ? null : await startService();
  try {
    const seats = await seatAgents(started?.baseUrl ?? (found as string));
    explain(seats);
    await trade(seats);
    console.log('Done: the agents have stopped.');
  } finally {
    if (started !== null) await stopService(started.child);
  }
});
