/** The table of docs/operations.md: what to do at each alert. */
import { ALERTS } from '../ops/alerts.ts';
import { table } from './markdown.ts';

export const alertsTable = (): string =>
  table(
    ['Alert', 'Severity', 'What is wrong', 'What to do'],
    ALERTS.map(({ name, severity, means, todo }) => [`\`${name}\``, severity, means, todo]),
  );
