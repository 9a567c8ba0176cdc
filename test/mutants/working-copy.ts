/** A copy of the working tree, without what git ignores, that resolves the packages of this repository to its own. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './planted-faults.ts';

export interface WorkingCopy {
  readonly folder: string;
  /** For temporary files of what runs in it; removed with it. */
  readonly temporary: string;
  /** A path that was not used before. */
  newPath(name: string): string;
  remove(): void;
}

const OWN_SCOPE = '@bellwether';

export function copyWorkingTree(): WorkingCopy {
  // Short: PostgreSQL's sockets are below it, and their paths have at most 107 bytes.
  const base = mkdtempSync(join(tmpdir(), 'bw-m-'));
  const folder = join(base, 'copy');
  const temporary = join(base, 't');
  mkdirSync(temporary);
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    ...{ cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 },
  });
  for (const file of listed.split('\0').filter((one) => one !== '' && existsSync(join(ROOT, one)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(ROOT, file), join(folder, file));
  }
  linkDependencies('.', folder);
  for (const name of readdirSync(join(ROOT, 'packages'))) linkDependencies(join('packages', name), folder);
  let used = 0;
  return {
    folder,
    temporary,
    newPath(name) {
      used += 1;
      return join(base, `${used}-${name}`);
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Links each dependency by itself: caches, and the links to the packages of this repository, must be the copy's own. */
function linkDependencies(within: string, folder: string): void {
  const from = join(ROOT, within, 'node_modules');
  if (!existsSync(from)) return;
  const to = join(folder, within, 'node_modules');
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name === '.bin' || (!name.startsWith('.') && name !== OWN_SCOPE))
      symlinkSync(join(from, name), join(to, name));
  }
  if (!existsSync(join(from, OWN_SCOPE))) return;
  mkdirSync(join(to, OWN_SCOPE));
  // Relative, as npm makes them: they lead to the copy's packages.
  for (const name of readdirSync(join(from, OWN_SCOPE)))
    symlinkSync(readlinkSync(join(from, OWN_SCOPE, name)), join(to, OWN_SCOPE, name));
}
