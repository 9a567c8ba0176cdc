// Plain JavaScript: this runs on the Node that the install brought, before any code of the service.
//
// npm checks the packages in the lock file. The binary is not among them: the install script of the package `node` fetches
// it. So this script compares it with the binary with which this version of the service was made.
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * SHA-256 of the binary in the platform packages of node 24.21.0 on npm. Other platforms have no
 * hash here: their binary is not compared and is as trustworthy as the registry.
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

/** Figures that change with a file; its writer cannot set back the last of them. */
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
 * @returns null, or the sentence to stop with. A binary that the install did not bring is the operator's choice: null.
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
  // A file with the same figures as at the last start has the same content.
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
