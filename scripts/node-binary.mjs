// Plain JavaScript, and early: this runs on whatever Node the install brought, before anything of the service does.
//
// npm checks what the lock file names. The binary is not in it: the package `node` fetches it while it is installed, by
// a script of its own. So it is compared here with what it was when this version of the service was made.
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * SHA-256 of the binary in the platform packages of node 24.21.0 on npm. Those of other platforms could not be had when
 * this was written: there the binary is as good as the registry that it came from, and nothing is compared.
 */
export const PINNED = {
  'linux-arm64': '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
  'win32-x64': 'ba4e6d110e8c1592a1ecd390f6b05f3da124b13871a5be62b341a07a853c6c32',
  'linux-x64': '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
};

async function sha256(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk);
  return hash.digest('hex');
}

/** What changes when a file does; the last of them cannot be set back by whoever writes the file. */
const traceOf = (path) => {
  const { size, ino, mtimeMs, ctimeMs } = statSync(path);
  return [size, ino, mtimeMs, ctimeMs].join(' ');
};

function remembered(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

function remember(file, trace, digest) {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ trace, digest }));
  } catch {
    // A folder that cannot be written to costs the next start the same tenth of a second.
  }
}

/**
 * @param root the folder with node_modules
 * @returns null, or the sentence to stop with. A binary that was not brought by the install is somebody's own choice.
 */
export async function faultOfNodeBinary(root, platform = `${process.platform}-${process.arch}`) {
  const pinned = PINNED[platform];
  const binary = join(
    root,
    'node_modules',
    'node',
    'bin',
    platform.startsWith('win32') ? 'node.exe' : 'node',
  );
  if (pinned === undefined) return null;
  let trace;
  try {
    trace = traceOf(binary);
  } catch {
    return null;
  }
  // The figures of a file that was looked at before, as it is now, stand for its content.
  const file = join(root, 'node_modules', '.cache', 'bellwether', 'node-binary.json');
  const known = remembered(file);
  const isKnown = known.trace === trace;
  const digest = isKnown ? known.digest : await sha256(binary);
  if (!isKnown) remember(file, trace, digest);
  if (digest === pinned) return null;
  return (
    `The Node binary that the install brought is not the one that Bellwether was made with: ${binary} has the ` +
    `SHA-256 ${digest}, expected is ${pinned}. Do not use it. Remove node_modules, run "npm ci" again, and ` +
    'if it stays so, report it.'
  );
}
