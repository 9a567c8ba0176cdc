/** Resources: the desk's own pages, and the skills that it lists. */
import {
  type McpServer,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import type { DeskDoor } from './desk.ts';
import { findSkill, listedSkills, skillText } from './skills.ts';

const PAGES = {
  'bellwether://llms.txt': { name: 'llms', title: 'The desk on one page', path: '/llms.txt' },
  'bellwether://signing': { name: 'signing', title: 'How orders are signed', path: '/docs/signing' },
  'bellwether://errors': { name: 'errors', title: 'Every error, and what to do next', path: '/docs/errors' },
} as const;

const MARKDOWN = 'text/markdown';
const MOST_BYTES = 512 * 1024;

/** @throws Error without a word of the answer */
async function readPage(url: string, timeoutMs: number, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: MARKDOWN },
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  if (!response.ok || response.body === null)
    throw new Error(`The desk answers ${response.status} for this page.`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) throw new Error('The page is larger than any of the desk.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const markdown = (uri: URL, text: string): ReadResourceResult => ({
  contents: [{ uri: uri.href, mimeType: MARKDOWN, text }],
});

export function registerDocuments(server: McpServer, door: DeskDoor): void {
  const { place, timeoutMs } = door.config;
  for (const [uri, { name, title, path }] of Object.entries(PAGES)) {
    server.registerResource(name, uri, { title, mimeType: MARKDOWN }, async (at, context) =>
      markdown(at, await readPage(place.url + path, timeoutMs, context.mcpReq.signal)),
    );
  }
  const template = new ResourceTemplate('bellwether://skills/{slug}', {
    list: async ({ mcpReq }) => ({
      resources: (await listedSkills(door, mcpReq.signal)).map(({ slug }) => ({
        uri: `bellwether://skills/${slug}`,
        name: slug,
        mimeType: MARKDOWN,
      })),
    }),
  });
  const title = 'A skill: a strategy in words, by its author';
  server.registerResource(
    'skill',
    template,
    { title, mimeType: MARKDOWN },
    async (uri, { slug }, context) => {
      const skill = await findSkill(door, String(slug), context.mcpReq.signal);
      if (skill === null) throw new ResourceNotFoundError(uri.href);
      return markdown(uri, skillText(skill));
    },
  );
}
