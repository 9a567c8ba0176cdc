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
