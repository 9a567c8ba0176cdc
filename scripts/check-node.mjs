// Plain JavaScript on purpose: it must run, and explain itself, on any Node that can start it.
const major = Number(process.versions.node.split('.')[0]);
if (!(major >= 24)) {
  console.error(
    `Bellwether needs Node 24 and found ${process.version}. The right one comes with the dependencies:\n` +
      'run "npm ci" in this folder (with install scripts enabled), then start again through npm, ' +
      'e.g. "npm start".',
  );
  process.exit(1);
}
// Only now: an old Node may not understand it.
const { faultOfNodeBinary } = await import('./node-binary.mjs');
const { fileURLToPath } = await import('node:url');
const fault = await faultOfNodeBinary(fileURLToPath(new URL('..', import.meta.url)));
if (fault !== null) {
  console.error(fault);
  process.exit(1);
}
