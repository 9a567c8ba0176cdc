/**
 * A venue is an object with capabilities, not a letter: no folder, file, type or branch names venue A or venue B. Public
 * names stay: routes and operation ids of `/venueb`, VENUE_A_* and VENUE_B_* in the environment, the word `kind` in answers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDERS = ['packages', 'test', 'examples', 'bench', 'scripts'];

const THIS_FILE = 'test/venue-names.test.ts';

const LETTER_IN_PATH = /venue-?_?[ab](?![a-z])/i;

/** A type or a comparison that tells venues apart by letter. The public word is written in one place. */
const RULES: readonly { readonly name: string; readonly pattern: RegExp; readonly except: RegExp }[] = [
  {
    name: 'a type or branch by letter',
    pattern: /'A' \| 'B'|(?:kind|venue)\b[^']{0,12}'[AB]'|case '[AB]'|\['A', 'B'\]/,
    except:
      /^(packages\/server\/src\/app\/venues\.ts|examples\/|test\/(?:e2e|faults)\/.*\.test\.ts)$|^examples\//,
  },
  {
    name: 'an identifier with a letter',
    pattern: /\b[A-Za-z]*[vV]enue[AB](?![a-z])\w*/,
    except: /$^/,
  },
  {
    name: 'an address family known by its first characters',
    pattern: /(?:wallet|funder|conditionId|account|address)\.startsWith\('0x'\)/,
    except: /$^/,
  },
  {
    name: 'the kind of an order known by what it lacks',
    pattern: /signatureType [!=]== null/,
    except: /$^/,
  },
];

/** Named after the routes: operations, whose ids are in the OpenAPI document, and what the SDK's client offers for them. */
const PUBLIC =
  /\b(?:quoteVenueB|submitVenueB|(?:list|get|cancel)VenueBOrders?|listVenueBPositions(?:ByPost)?|venueB)\b/g;

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/node_modules|\/dist(\/|$)/.test(entry.parentPath))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
).filter((path) => path !== THIS_FILE);

const faultsIn = (path: string, source: string): string[] =>
  RULES.filter(({ except }) => !except.test(path)).flatMap(({ name, pattern }) => {
    const line = source
      .replaceAll(PUBLIC, '')
      .split('\n')
      .find((text) => pattern.test(text));
    return line === undefined ? [] : [`${path}: ${name}: ${line.trim()}`];
  });

describe('venues have no letters', () => {
  test('in paths', () => {
    expect(files.length).toBeGreaterThan(400);
    expect(files.filter((path) => LETTER_IN_PATH.test(path))).toEqual([]);
  });

  test('in code', () => {
    const sources = files.filter((path) => path.endsWith('.ts'));
    expect(sources.flatMap((path) => faultsIn(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });

  test.each([
    "readonly kind: 'A' | 'B';",
    "if (venue.kind === 'B') return null;",
    'const balance = await deps.venueA.balance(wallet);',
    'export interface VenueBOrder {}',
    "const isEvm = wallet.startsWith('0x');",
    'if (row.signatureType === null) return quoted(row);',
  ])('would refuse: %s', (line) => {
    expect(faultsIn('packages/server/src/app/any.ts', line)).toHaveLength(1);
  });

  test.each(['packages/server/src/app/venue-b/quote.ts', 'test/e2e/venue-a.test.ts', 'test/venueB.ts'])(
    'would refuse the path %s',
    (path) => {
      expect(LETTER_IN_PATH.test(path)).toBe(true);
    },
  );
});
