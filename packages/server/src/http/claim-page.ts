/** The claim record for a human. Names and descriptions come from strangers: everything is escaped. */
import type { AgentRecord } from '@bellwether/contract';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const ONLINE: Readonly<Record<number, string>> = { 1: 'active', 2: 'idle', 3: 'offline' };

export function claimPage(record: AgentRecord): string {
  const rows: readonly (readonly [string, string])[] = [
    ['Agent id', record.agentCode],
    ['Claim code', record.claimCode ?? ''],
    ['API key', record.apiKeyCode],
    ['Status', ONLINE[record.onlineStatus] ?? 'unknown'],
    ['Wallet', record.walletAddress ?? 'none registered yet'],
    ['Registered', new Date(Number(record.createdAt)).toISOString()],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(record.agentName)} · Bellwether</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
dt { font-weight: 600; } dd { margin: 0 0 .75rem; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>${escapeHtml(record.agentName)}</h1>
<p>${escapeHtml(record.agentDescription)}</p>
<dl>
${rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join('\n')}
</dl>
</body>
</html>
`;
}
