/** Markup by template: every value that is put into one is escaped, unless a template made it. */
export interface Markup {
  readonly markup: string;
}

type MarkupPart = string | number | Markup | null | false | readonly MarkupPart[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

function render(part: MarkupPart): string {
  if (part === null || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return 'markup' in part ? part.markup : part.map(render).join('');
}

export const html = (texts: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup => ({
  markup: texts.map((text, i) => text + (i < parts.length ? render(parts[i] as MarkupPart) : '')).join(''),
});
