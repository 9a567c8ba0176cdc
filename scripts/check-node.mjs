// Plain JavaScript on purpose: it must run, and print its message, on every version of Node.
const major = Number(process.versions.node.split('.')[0]);
if (!(major >= 24)) {
  console.error(
    `Bellwether needs Node 24 and found ${process.version}. The right one comes with the dependencies:\n` +
      'run "npm ci" in this folder (with install scripts enabled), then start again through npm, ' +
      'e.g. "npm start".',
  );
  process.exit(1);
}
// Imported after the check: an old Node may not parse it.
const { faultOfNodeBinary } = await import('./node-binary.mjs');
const { fileURLToPath } = await import('node:url');
const fault = await faultOfNodeBinary(fileURLToPath(new URL('..', import.meta.url)));
if (fault !== null) {
  console.error(fault);
  process.exit(1);
}
