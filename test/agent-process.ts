/** Agents as processes of their own, which a test kills and freezes; each has ended after the file. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { kill } from './service-process.ts';
import { afterFile } from './setup/clean-up.ts';
import type { AgentTask } from './silent-agent/main.ts';

const MAIN = join(import.meta.dirname, 'silent-agent', 'main.ts');

export interface AgentProcess {
  /** Ids of the orders that it placed at first. */
  readonly placed: readonly string[];
  /** Its order on venue B, if it was to place one. */
  readonly quoted: string | undefined;
  /** The order that it placed after it learned that the others were canceled. */
  again(): string | undefined;
  /** When its last call was answered. */
  lastCalledAt(): number;
  kill(): void;
  freeze(): void;
  thaw(): void;
}

/** Waits until its orders rest, its stream stands, and it goes on asking. */
export async function startAgent(task: AgentTask): Promise<AgentProcess> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH, NODE_COMPILE_CACHE, AGENT_TASK: JSON.stringify(task) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const signal = (name: NodeJS.Signals) => kill(child.pid as number, name);
  afterFile('processes', () => signal('SIGKILL'));
  let text = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const said = <T>(name: string): T | undefined =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .findLast((line) => name in line)?.[name];
  const isRunning = () =>
    said('placed') !== undefined && said('streaming') !== undefined && said('calledAt') !== undefined;
  await expect
    .poll(
      () => {
        if (child.exitCode !== null) throw new Error(`the agent ended:\n${text}${errors}`);
        return isRunning();
      },
      { timeout: 60_000 },
    )
    .toBe(true);
  return {
    placed: said<string[]>('placed') as string[],
    quoted: said<string>('quoted'),
    again: () => said<string>('again'),
    lastCalledAt: () => said<number>('calledAt') as number,
    kill: () => signal('SIGKILL'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  };
}
