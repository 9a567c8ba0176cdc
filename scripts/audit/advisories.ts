/**
 * Known vulnerabilities of what is shipped, as the registry knows them. Without an answer of the registry nothing is known, which
 * is said and is no failure; an advisory without a reason is one.
 *
 *   npm run audit:advisories
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { ADVISORY_REASONS } from './exceptions.ts';

const TIMEOUT_MS = 60_000;

interface Advisory {
  readonly url?: string;
  readonly title?: string;
  readonly severity?: string;
  readonly name?: string;
}
interface Report {
  readonly auditReportVersion?: number;
  readonly vulnerabilities?: Readonly<Record<string, { readonly via: readonly (string | Advisory)[] }>>;
}

const idOf = ({ url = '' }: Advisory): string => url.replace(/^.*\//, '');

/** @returns `null` for what is no report of the registry */
export function advisoriesIn(text: string): readonly Advisory[] | null {
  try {
    const report = JSON.parse(text) as Report;
    if (report.auditReportVersion === undefined) return null;
    const found = Object.values(report.vulnerabilities ?? {}).flatMap(({ via }) =>
      via.filter((one): one is Advisory => typeof one !== 'string'),
    );
    return [...new Map(found.map((one) => [idOf(one), one])).values()];
  } catch {
    return null;
  }
}

/** The sentence about each, and whether it may pass. */
export const judge = (
  advisories: readonly Advisory[],
  reasons: Readonly<Record<string, string>> = ADVISORY_REASONS,
) => advisories.map((one) => ({ ...one, id: idOf(one), reason: reasons[idOf(one)] ?? null }));

if (import.meta.main) {
  const { stdout } = spawnSync('npm', ['audit', '--omit', 'dev', '--json'], {
    cwd: resolve(import.meta.dirname, '../..'),
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  const advisories = advisoriesIn(stdout ?? '');
  if (advisories === null) {
    console.log('The registry did not answer: nothing is known of vulnerabilities.');
  } else {
    const judged = judge(advisories);
    for (const { id, name, severity, title, reason } of judged)
      console.log(`${id} ${name} (${severity}): ${title}. ${reason ?? 'No reason to let it pass.'}`);
    if (judged.length === 0) console.log('No known vulnerability in what is shipped.');
    process.exitCode = judged.every(({ reason }) => reason !== null) ? 0 : 1;
  }
}
