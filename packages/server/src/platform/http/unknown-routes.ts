/**
 * Requests that no route takes: 405 where the path has another method, else 404 with the routes that were probably meant. What
 * is named are our own routes alone: a path is the text of a stranger.
 */
import type { FastifyInstance } from 'fastify';
import { sendProblem } from './problem.ts';
import type { Route } from './routes.ts';
import { edits } from './validation.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** What to do about a path, or a method, that is no route: in a sentence. */
    fixOfRoute: (request: { readonly method: string; readonly url: string }) => string;
  }
}

/** The routes' own table: the framework says 404 for a wrong method. */
export class MethodTable {
  readonly #basePath: string;
  /** Paths without parameters; asked for every request. */
  readonly #fixed = new Map<string, Set<string>>();
  readonly #patterns = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();

  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  add({ path, method }: Route): void {
    const basePath = this.#basePath;
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
    let known: Set<string>;
    if (path.includes('{')) {
      const pattern = new RegExp(`^${basePath}${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      const row = this.#patterns.get(path) ?? { pattern, methods: new Set<string>() };
      this.#patterns.set(path, row);
      known = row.methods;
    } else {
      known = this.#fixed.get(basePath + path) ?? new Set<string>();
      this.#fixed.set(basePath + path, known);
    }
    for (const each of methods) known.add(each);
  }

  /** Every path with its methods, without the base path; parameters in {braces}. */
  *routes(): Generator<readonly [path: string, methods: ReadonlySet<string>]> {
    for (const [path, methods] of this.#fixed) yield [path.slice(this.#basePath.length), methods];
    for (const [path, { methods }] of this.#patterns) yield [path, methods];
  }

  /** Methods that a path without parameters takes; `null` when there is no such path. */
  ofFixed(url: string): ReadonlySet<string> | null {
    const query = url.indexOf('?');
    return this.#fixed.get(query < 0 ? url : url.slice(0, query)) ?? null;
  }

  /** Methods that any path takes; `null` when there is no such path. */
  ofAny(url: string): readonly string[] | null {
    const path = url.split('?')[0] ?? '';
    const fitting = [...this.#patterns.values()].filter(({ pattern }) => pattern.test(path));
    const found = [...(this.#fixed.get(path) ?? []), ...fitting.flatMap(({ methods }) => [...methods])];
    return found.length === 0 ? null : [...new Set(found)];
  }
}

/** Longer paths are no misspelt ones, and to compare them costs time. */
const MOST_CHARS = 256;
const MOST_SEGMENTS = 8;
const MOST_NAMED = 3;

/** Costs of making a known path of one that was sent. What costs more than the most is another path. */
const MOST = 2.5;
const ANOTHER_WORD = 4;
const PER_EDIT = 0.6;
const LEFT_OUT = 1.5;
const PARAMETER_LEFT_OUT = 1;
const TOO_MUCH = 1.75;
/** A word twice in a row, as a prefix that was written twice. */
const TWICE = 0.5;
/** Something in the place of a parameter: rather an id than a word. */
const [AN_ID, A_WORD] = [0.25, 1.25];
const ANOTHER_METHOD = 0.5;
/** Routes that are so much worse than the nearest are not named beside it. */
const BESIDE = 0.5;

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

const MOST_EDITS = 2;

/** A word with its letters, one bit each: words within so many edits of each other differ in at most twice as many letters. */
const wordOf = (text: string) => {
  let letters = 0;
  for (let i = 0; i < text.length; i += 1) letters |= 1 << (text.charCodeAt(i) & 31);
  return { text, letters, isParameter: text.startsWith('{') };
};
type Word = ReturnType<typeof wordOf>;

function differsInMore(a: number, b: number, most: number): boolean {
  let rest = a ^ b;
  for (let count = 0; rest !== 0; count += 1) {
    if (count === most) return true;
    rest &= rest - 1;
  }
  return false;
}

function costOfWord(sent: Word, known: Word): number {
  if (known.isParameter) return /\d/.test(sent.text) || sent.text.length > 20 ? AN_ID : A_WORD;
  if (sent.text === known.text) return 0;
  // Length and letters rule out nearly every word, at little cost for a stranger's path.
  if (Math.abs(sent.text.length - known.text.length) > MOST_EDITS) return ANOTHER_WORD;
  if (differsInMore(sent.letters, known.letters, 2 * MOST_EDITS)) return ANOTHER_WORD;
  const most = Math.min(MOST_EDITS, known.text.length - 1);
  const count = edits(sent.text, known.text, most);
  return count > most ? ANOTHER_WORD : count * PER_EDIT;
}

interface KnownRoute {
  readonly path: string;
  readonly methods: ReadonlySet<string>;
  /** Places of its words in the list of all. */
  readonly words: readonly number[];
}

interface Known {
  /** Each word once: the same ones stand in many routes. */
  readonly words: readonly Word[];
  readonly routes: readonly KnownRoute[];
}

function knownOf(table: MethodTable): Known {
  const places = new Map<string, number>();
  const placeOf = (word: string): number => {
    const place = places.get(word) ?? places.size;
    places.set(word, place);
    return place;
  };
  const routes = [...table.routes()].map(([path, methods]) => ({
    ...{ path, methods },
    words: segmentsOf(path.toLowerCase()).map(placeOf),
  }));
  return { words: [...places.keys()].map(wordOf), routes };
}

interface Costs {
  /** In the place of each known word. */
  readonly of: Float64Array;
  readonly least: number;
}

function costsOf(sent: Word, known: readonly Word[]): Costs {
  const of = new Float64Array(known.length);
  let least = ANOTHER_WORD;
  for (let place = 0; place < known.length; place += 1) {
    const cost = costOfWord(sent, known[place] as Word);
    of[place] = cost;
    if (cost < least) least = cost;
  }
  return { of, least };
}

interface Sent {
  readonly words: readonly Word[];
  readonly costs: readonly Costs[];
}

const leftOutOf = ({ isParameter }: Word): number => (isParameter ? PARAMETER_LEFT_OUT : LEFT_OUT);

/** Of one look at a time; a route has fewer words. */
const row = new Float64Array(32);

/** The least that turns the words that were sent into those of the route; at once when that is more than the most. */
function costOfPath({ words, costs }: Sent, route: readonly number[], known: readonly Word[]): number {
  const more = route.length - words.length;
  if (more * PARAMETER_LEFT_OUT > MOST || -more * TWICE > MOST) return Number.POSITIVE_INFINITY;
  row[0] = 0;
  for (let j = 0; j < route.length; j += 1)
    row[j + 1] = (row[j] as number) + leftOutOf(known[route[j] as number] as Word);
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i]?.text;
    const tooMuch = word === words[i + 1]?.text || word === words[i - 1]?.text ? TWICE : TOO_MUCH;
    // Of the row before, one place back.
    let back = row[0] as number;
    row[0] = back + tooMuch;
    let least = row[0];
    for (let j = 0; j < route.length; j += 1) {
      const place = route[j] as number;
      const above = row[j + 1] as number;
      const cost = Math.min(
        back + (costs[i]?.of[place] as number),
        above + tooMuch,
        (row[j] as number) + leftOutOf(known[place] as Word),
      );
      row[j + 1] = cost;
      back = above;
      if (cost < least) least = cost;
    }
    if (least > MOST) return Number.POSITIVE_INFINITY;
  }
  return row[route.length] as number;
}

const METHODS: Readonly<Record<string, string>> = { HEAD: 'GET', PUT: 'POST', PATCH: 'POST' };

/** Routes like `POST /markets/trade`, the nearest first; none when the path is like no other. */
function nearestRoutes(
  known: Known,
  basePath: string,
  { method, path }: { readonly method: string; readonly path: string },
): readonly string[] {
  if (path.length > MOST_CHARS) return [];
  // With the base path missing, or written twice.
  let rest = path.toLowerCase();
  while (basePath !== '' && `${rest}/`.startsWith(`${basePath.toLowerCase()}/`))
    rest = rest.slice(basePath.length);
  const words = segmentsOf(rest).map(wordOf);
  if (words.length > MOST_SEGMENTS) return [];
  const costs = words.map((word) => costsOf(word, known.words));
  // What each word costs at the least, wherever it stood, is too much already for most paths that are no misspelt ones.
  if (costs.reduce((sum, { least }) => sum + Math.min(least, TWICE), 0) > MOST) return [];
  const meant = METHODS[method] ?? method;
  const found = known.routes.flatMap((route) => {
    const cost = costOfPath({ words, costs }, route.words, known.words);
    // The front page has no word that could be meant.
    if (cost > MOST || route.words.length === 0) return [];
    return [...route.methods]
      .filter((each) => each !== 'HEAD')
      .map((each) => ({
        cost: cost + (each === meant ? 0 : ANOTHER_METHOD),
        route: `${each} ${basePath}${route.path}`,
      }));
  });
  found.sort((a, b) => a.cost - b.cost || a.route.length - b.route.length || (a.route < b.route ? -1 : 1));
  const best = found[0]?.cost ?? 0;
  const near = found.filter(({ cost }) => cost <= best + BESIDE).map(({ route }) => route);
  return [...new Set(near)].slice(0, MOST_NAMED);
}

/** 405 where the path exists under another method, 404 elsewhere; both before a key is asked for. */
export function refuseUnknown(app: FastifyInstance, table: MethodTable, basePath: string): void {
  const list = `${basePath}/llms.txt`;
  let known: Known | undefined;
  app.decorate('fixOfRoute', ({ method, url }) => {
    known ??= knownOf(table);
    const nearest = nearestRoutes(known, basePath, { method, path: url.split('?')[0] ?? '' });
    if (nearest.length === 0) return `See ${list} for the routes that exist.`;
    return `The nearest ${nearest.length === 1 ? 'route is' : 'routes are'} ${nearest.join(', ')}; ${list} lists all.`;
  });
  // A fixed path wins over a pattern that happens to fit it, for every method: GET /markets/trade is no market.
  app.addHook('onRequest', (request, reply, done) => {
    const methods = table.ofFixed(request.url);
    if (methods === null || methods.has(request.method)) done();
    else sendProblem(request, reply.header('allow', [...methods].join(', ')), 'method_not_allowed');
  });
  app.setNotFoundHandler((request, reply) => {
    const methods = table.ofAny(request.url);
    if (methods === null) return sendProblem(request, reply, 'route_not_found');
    return sendProblem(request, reply.header('allow', methods.join(', ')), 'method_not_allowed');
  });
}
