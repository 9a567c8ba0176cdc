/** Exceptions that the audits let pass, each with its reason. An exception that nothing needs any more fails, too. */

/** Licences that ask for nothing but their own text to be kept. */
export const ALLOWED_LICENCES: ReadonlySet<string> = new Set([
  'MIT',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
]);

/** By package, for those with another licence. */
export const LICENCE_REASONS: Readonly<Record<string, string>> = {
  'axe-core': 'MPL-2.0: looks at pages in tests, unchanged, and is not shipped.',
  lightningcss: 'MPL-2.0: comes with the test runner, unchanged, and is not shipped.',
  pako: 'MIT and Zlib, which asks for as little; only in tests.',
  'rpc-websockets':
    'LGPL-3.0: comes with the official Solana client of the tests, unchanged, and is not shipped.',
  eyes: 'Its package.json names no licence, its readme MIT; comes with a client of the tests.',
  'text-encoding-utf-8':
    'Its package.json names no licence, its readme the public domain; comes with a client of the tests.',
  '@polymarket/builder-relayer-client':
    'It declares no licence: the venue’s client of its relayer, run unchanged by tests as their examiner, and not shipped. It brings an old axios (0.27), for the tests alone too.',
  '@polymarket/builder-abstract-signer':
    'It declares no licence: a part of the venue’s client of its relayer, in tests alone.',
};

/** By advisory (GHSA-…), for those that do not concern this service. */
export const ADVISORY_REASONS: Readonly<Record<string, string>> = {};
