/**
 * Generates the texts of a market: question, title, rules. Pure text from templates and a generator; it does not use
 * prices.
 */

import { CONTESTS, type ContestTemplate, TEMPLATES, type Template, USUAL_WORDS } from './catalogue-texts.ts';
import type { Category } from './categories.ts';
import { NAMED_TEMPLATES, NAMED_WORDS, type NamedKind, type NamedTemplate } from './named-texts.ts';
import type { Random } from './random.ts';
import type { OutcomeNames } from './types.ts';

export interface MarketText {
  readonly question: string;
  readonly description: string;
  /** Absent: Yes and No. */
  readonly outcomes?: OutcomeNames;
}

export interface EventText {
  readonly title: string;
  /** One for a plain question, one per contestant for a contest. */
  readonly markets: readonly MarketText[];
}

const WORD_LISTS: Readonly<Record<string, readonly string[]>> = { ...USUAL_WORDS, ...NAMED_WORDS };

const PLACEHOLDER = /\{([a-z]+)(2?)\}|\{(\d+)-(\d+)\}/g;
/** Draws of one template before a repeated question is accepted with a number. */
const ATTEMPTS = 6;

/** Fills placeholders; a placeholder has the same word in all texts, so question and rules agree. */
function filler(random: Random): (text: string) => string {
  const words = new Map<string, string>();
  return (text) =>
    text.replace(
      PLACEHOLDER,
      (whole, list: string | undefined, second: string, low: string, high: string) => {
        const known = words.get(whole);
        if (known !== undefined) return known;
        let word: string;
        if (list === undefined) {
          word = String(random.between(Number(low), Number(high)));
        } else {
          const names = WORD_LISTS[list]!;
          const other = second === '' ? undefined : words.get(`{${list}}`);
          word = random.pick(other === undefined ? names : names.filter((name) => name !== other));
        }
        words.set(whole, word);
        return word;
      },
    );
}

const describe = (rules: string, [yes, no]: OutcomeNames = ['YES', 'NO']): string =>
  `This market resolves ${yes} if ${rules}, and ${no} otherwise. Trading ends at the end date; the outcome is final ` +
  `shortly after. A paper market: all names are fictional and the outcome is drawn by the paper exchange.`;

/** What a slot says of its texts. */
interface TextSlot {
  readonly category: Category;
  readonly named?: NamedKind;
}

export type Pace = NonNullable<Template['pace']>;

const suits = (template: Template, pace: Pace): boolean =>
  template.pace === pace || (template.pace === undefined && pace !== 'blitz');

function plainOnce({ category, named }: TextSlot, pace: Pace, random: Random): EventText {
  const templates: readonly (Template | NamedTemplate)[] =
    named === undefined ? TEMPLATES[category] : NAMED_TEMPLATES[named];
  const template = random.pick(templates.filter((one) => suits(one, pace)));
  const fill = filler(random);
  const question = fill(template.question);
  const title = fill(template.title);
  const rules = fill(template.rules);
  if (!('names' in template)) return { title, markets: [{ question, description: describe(rules) }] };
  const [yes, no] = template.names;
  const outcomes: OutcomeNames = [fill(yes), fill(no)];
  const [quotedYes, quotedNo] = [`to “${outcomes[0]}”`, `to “${outcomes[1]}”`];
  const description = describe(rules, [quotedYes, quotedNo]);
  return { title, markets: [{ question, description, outcomes }] };
}

/** A question that no open market has (`taken`). The pace follows from how soon the market ends. */
export function plainEvent(
  slot: TextSlot,
  pace: Pace,
  random: Random,
  taken: (question: string) => boolean,
  number: number,
): EventText {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const text = plainOnce(slot, pace, random);
    if (!taken(text.markets[0]!.question)) return text;
  }
  const text = plainOnce(slot, pace, random);
  const [market] = text.markets;
  return { ...text, markets: [{ ...market!, question: `${market!.question} (No. ${number})` }] };
}

/** A contest of `size` contestants, of which exactly one wins; the last may stand for all that are not named. */
export function contestEvent(contest: ContestTemplate, size: number, random: Random): EventText {
  const fill = filler(random);
  const title = fill(contest.title);
  const left = [...WORD_LISTS[contest.options]!];
  const markets: MarketText[] = [];
  for (let i = 0; i < size; i += 1) {
    if (contest.other !== undefined && i === size - 1) {
      markets.push({
        question: fill(contest.other.question),
        description: describe(fill(contest.other.rules)),
      });
      break;
    }
    const [option] = left.splice(random.below(left.length), 1);
    const named = (text: string) => fill(text.replaceAll('{option}', option!));
    markets.push({ question: named(contest.question), description: describe(named(contest.rules)) });
  }
  return { title, markets };
}

/** A market's tags: the kinds of names in its texts, such as `film` or `league`. */
export const tagsOf = (...texts: readonly string[]): string[] =>
  Object.entries(WORD_LISTS)
    .filter(([, names]) => names.some((name) => texts.some((text) => text.includes(name))))
    .map(([kind]) => kind);

export const contestFor = (category: Category): ContestTemplate =>
  CONTESTS.find((contest) => contest.category === category)!;

/** Lower-case words joined by hyphens, with the market's number at the end, which makes it unique. */
export function slugOf(question: string, id: string): string {
  const words = question
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[’“”'\p{M}]/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 90)
    .replace(/-+$/, '');
  return `${words}-${id}`;
}
