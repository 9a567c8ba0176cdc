/** An automatic check of a page's accessibility, by WCAG 2.2 A and AA and the checker's own good practice. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** @returns a line for each violation; empty on a page without any */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger: the page's policy allows no script but its own.
  await page.evaluate(AXE);
  const violations = await page.evaluate<readonly Finding[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${impact}): ${html} ${failureSummary}`),
  );
}
