/**
 * Tags: a market's category and its topics. The paper world names topics but does not number them, so a tag's id is made
 * from its slug: the same after a restart and on every replica.
 */
import { createHash } from 'node:crypto';
import type { MarketView } from '../../paper-exchange.ts';

export interface TagRecord {
  readonly id: string;
  readonly label: string;
  readonly slug: string;
  readonly forceShow: boolean;
  readonly forceHide: boolean;
  readonly isCarousel: boolean;
}

/** Lower-case words joined by hyphens. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[’“”]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');

function tagNamed(name: string): TagRecord {
  const slug = slugOf(name);
  const id = String(createHash('sha1').update(slug).digest().readUInt32BE() >>> 1);
  const label = name.charAt(0).toUpperCase() + name.slice(1);
  return { id, label, slug, forceShow: false, forceHide: false, isCarousel: false };
}

export function tagsOf(markets: readonly Pick<MarketView, 'category' | 'tags'>[]): readonly TagRecord[] {
  const names = new Set(markets.flatMap(({ category, tags }) => [category, ...tags]));
  return [...names].map(tagNamed);
}
