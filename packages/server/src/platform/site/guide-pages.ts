/**
 * The Markdown pages of the documentation folder, as they are and as pages. They are files of this release, so they
 * are trusted; a visitor chooses among them by name and never names a file.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { html, type Markup } from '../http/html.ts';

const ROOT = join(import.meta.dirname, '../../../../..');
const FOLDER = join(ROOT, 'docs');
const EXTENSION = '.md';
/** Beside the folder. */
const FURTHER = ['SECURITY'];

export interface Guide {
  /** Path under /docs, without an extension: `errors`, `decisions/README`. */
  readonly name: string;
  readonly title: string;
  readonly markdown: string;
}

export function readGuides(): ReadonlyMap<string, Guide> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith(EXTENSION),
  );
  const inFolder = files.map((file) => guideOf(file.slice(0, -EXTENSION.length), FOLDER));
  const all = [...inFolder, ...FURTHER.map((name) => guideOf(name, ROOT))];
  return new Map(all.map((guide) => [guide.name, guide]));
}

function guideOf(name: string, folder: string): Guide {
  const markdown = readFileSync(join(folder, name + EXTENSION), 'utf8');
  return { name, title: /^# (.+)$/m.exec(markdown)?.[1] ?? name, markdown };
}

/** As GitHub makes anchors of headings, so that links work in both places. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Where a link of a guide leads under /docs; `null` when its target is not served. */
function target(guide: Guide, href: string, guides: ReadonlyMap<string, Guide>): string | null {
  const [path = '', anchor] = href.split('#', 2);
  const inRepository = FURTHER.includes(guide.name)
    ? path
    : posix.join('docs', posix.dirname(guide.name), path);
  const name = inRepository.replace(/\.md$/, '').replace(/^docs\//, '');
  if (!guides.has(name)) return null;
  return anchor === undefined ? name : `${name}#${anchor}`;
}

/** @param root address of /docs, with the base path */
export async function renderGuide(
  guide: Guide,
  guides: ReadonlyMap<string, Guide>,
  root: string,
): Promise<Markup> {
  // Loaded when a person first reads a guide: a service that only trades never needs it.
  const { Marked } = await import('marked');
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // The guides are written without HTML: what looks like a tag is a placeholder, such as <API key>.
      html({ text }) {
        return text.startsWith('<!--') ? '' : html`${text}`.markup;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        if (/^(https?:|#)/.test(href)) return `<a href="${href}">${text}</a>`;
        const served = target(guide, href, guides);
        return served === null ? text : `<a href="${root}/${served}">${text}</a>`;
      },
    },
  });
  return { markup: await marked.parse(guide.markdown) };
}
