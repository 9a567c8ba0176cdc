/**
 * The licences of everything that is installed, from package-lock.json: each is allowed, or has a reason.
 *
 *   npm run audit:licences
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ALLOWED_LICENCES, LICENCE_REASONS } from './exceptions.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface InstalledPackage {
  readonly name: string;
  readonly licence: string;
  /** For tests and tools alone. */
  readonly dev: boolean;
}

interface LockEntry {
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
}

export function installedPackages(): readonly InstalledPackage[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return Object.entries(lock.packages as Readonly<Record<string, LockEntry>>)
    .filter(([path, { link }]) => path.startsWith('node_modules/') && link !== true)
    .map(([path, { license = 'none', dev = false }]) => ({
      name: path.replace(/^.*node_modules\//, ''),
      licence: license,
      dev,
    }));
}

/** `(MIT OR GPL-3.0)` may be used as MIT; of `AND` every part counts. */
export const isAllowed = (licence: string): boolean =>
  licence
    .replaceAll(/[()]/g, '')
    .split(' AND ')
    .every((part) => part.split(' OR ').some((each) => ALLOWED_LICENCES.has(each.trim())));

/** A package for one kind of machine has the reason of the package that it belongs to. */
export const reasonFor = (name: string): string | undefined =>
  LICENCE_REASONS[name] ??
  LICENCE_REASONS[name.replace(/-(android|darwin|freebsd|linux|win32)-[a-z0-9-]+$/, '')];

if (import.meta.main) {
  const installed = installedPackages();
  const refused = installed.filter(
    ({ name, licence }) => !isAllowed(licence) && reasonFor(name) === undefined,
  );
  const counts = Object.groupBy(installed, ({ licence }) => licence);
  console.table(Object.entries(counts).map(([licence, all]) => ({ licence, packages: all?.length })));
  for (const { name, licence } of refused)
    console.error(`${name}: ${licence}. Do without it, or give the reason in scripts/audit/exceptions.ts.`);
  process.exitCode = refused.length === 0 ? 0 : 1;
}
