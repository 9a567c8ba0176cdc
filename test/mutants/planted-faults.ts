/**
 * Faults that are planted one at a time, each a patch of one to three lines. Above its diff a patch says what the fault does
 * to a person's money, and which nets should find it:
 *
 *     A match of several trades is booked whole under the first of them, so that 10 shares become 14.
 *     net: tests packages/server/test/polymarket-matches.test.ts
 *
 * Nets are tried in the order of their lines.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

export interface Net {
  readonly kind: keyof typeof NETS;
  /** For `tests` the files, for `histories` and `simulation` the arguments of one run. */
  readonly words: readonly string[];
}

export interface PlantedFault {
  readonly name: string;
  readonly path: string;
  readonly says: string;
  readonly nets: readonly Net[];
}

/** How a net is run: the arguments of Node. It has found the fault when it ends with another status than 0. */
export const NETS = {
  tests: (files: readonly string[], reportTo: string): readonly string[] => [
    'node_modules/vitest/vitest.mjs',
    ...['run', '--bail', '1', '--reporter', 'json', '--outputFile', reportTo, ...files],
  ],
  histories: (words: readonly string[], _reportTo: string): readonly string[] => [
    'test/histories/main.ts',
    ...words,
  ],
  simulation: (words: readonly string[], _reportTo: string): readonly string[] => [
    'test/simulation/main.ts',
    ...words,
    ...(words.includes('--plan') ? [] : ['--shrink-seconds', '0']),
  ],
} as const;

const NET_LINE = /^net: (\S+) (.+)$/;
const MOST_CHANGED_LINES = 3;

export const plantedFaults = (): readonly PlantedFault[] =>
  readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.patch'))
    .sort()
    .map((file) => {
      const path = join(import.meta.dirname, file);
      return { name: file.slice(0, -'.patch'.length), path, ...readHead(file, readFileSync(path, 'utf8')) };
    });

/** @throws when the patch does not say what it must */
export function readHead(file: string, text: string): Pick<PlantedFault, 'says' | 'nets'> {
  const start = text.search(/^(diff --git|---) /m);
  const head = text
    .slice(0, Math.max(0, start))
    .split('\n')
    .filter((line) => line.trim() !== '');
  const nets = head.flatMap((line): Net[] => {
    const [, kind = '', words = ''] = NET_LINE.exec(line) ?? [];
    return Object.hasOwn(NETS, kind) ? [{ kind: kind as Net['kind'], words: words.trim().split(/\s+/) }] : [];
  });
  const sentences = head.filter((line) => !line.startsWith('net: '));
  const changed = ['+', '-'].map(
    (sign) =>
      text
        .slice(start)
        .split('\n')
        .filter((line) => line.startsWith(sign) && !/^(\+\+\+|---) /.test(line)).length,
  );
  if (start < 0) throw new Error(`${file} holds no unified diff`);
  if (sentences.length === 0) throw new Error(`${file} does not say what the fault does to a person's money`);
  if (nets.length === 0 || nets.length !== head.length - sentences.length)
    throw new Error(`${file} must name its nets: a line such as "net: tests test/e2e/trade.test.ts"`);
  if (Math.max(...changed) > MOST_CHANGED_LINES)
    throw new Error(`${file} changes more than ${MOST_CHANGED_LINES} lines: plant one small fault`);
  return { says: sentences.join(' '), nets };
}

/** Applies a patch to a folder, takes it back, or only looks whether it fits. @throws when it does not apply */
export function applyPatch(
  { name, path }: PlantedFault,
  folder: string,
  ...options: readonly string[]
): void {
  try {
    // Outside any repository: inside one, git would skip files that it does not find in its own index.
    const env = { ...process.env, GIT_DIR: join(folder, 'no-repository'), GIT_CEILING_DIRECTORIES: folder };
    execFileSync('git', ['apply', ...options, path], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  } catch (error) {
    const { stderr } = error as { readonly stderr?: Buffer };
    throw new Error(
      `${name}.patch no longer applies. Who changes the code ports its planted faults: edit the patch so that it ` +
        `plants the same fault in the new code.\n${String(stderr ?? error).trim()}`,
    );
  }
}
