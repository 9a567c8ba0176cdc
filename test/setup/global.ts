/**
 * Runs once for all test files: starts the shared PostgreSQL when the first file asks for it, and ends it after the last.
 * A run of pure unit tests starts none.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A Unix socket that answers each connection with one line: the shared PostgreSQL as JSON. */
    postgresDoor: string;
    /** Where files note what they leave out. */
    skippedFile: string;
  }
}

let server: { readonly child: ChildProcess; readonly line: Promise<string> } | undefined;

function startServer(): NonNullable<typeof server> {
  // Detached: Ctrl-C is for the test run, which still needs the database while its files end.
  const child = spawn(process.execPath, [join(import.meta.dirname, 'postgres-server.ts')], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
  const line = Promise.race([
    once(lines, 'line').then(([text]) => String(text)),
    once(child, 'exit').then(() => ''),
  ]);
  return { child, line };
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'bw-door-'));
  const path = join(folder, 'door');
  const door = createServer(async (socket) => {
    socket.on('error', () => {});
    server ??= startServer();
    socket.end(await server.line);
  });
  await new Promise<void>((resolve) => door.listen(path, resolve));
  project.provide('postgresDoor', path);
  const skipped = join(folder, 'skipped');
  writeFileSync(skipped, '');
  project.provide('skippedFile', skipped);
  return async () => {
    door.close();
    const notes = readFileSync(skipped, 'utf8').trim();
    if (notes !== '') console.log(`\nSkipped: ${notes.split('\n').join('; ')}.`);
    rmSync(folder, { recursive: true, force: true });
    if (server === undefined) return;
    const ended = once(server.child, 'exit');
    server.child.stdin?.end();
    await ended;
    server = undefined;
  };
}
