/** The table of docs/routes.md. */
import { table } from './markdown.ts';
import { OPERATIONS, routeOf } from './operations.ts';

export const routesTable = (): string =>
  table(
    ['Route', 'Key', 'What it does'],
    OPERATIONS.map((operation) => [
      `\`${routeOf(operation)}\``,
      operation.permission === 'public' ? '–' : 'yes',
      operation.summary,
    ]),
  );
