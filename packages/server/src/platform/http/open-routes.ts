/** Routes that the service answers without a key: a start that others can reach says so. */

import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'permission' in value && 'path' in value;

const PAGES = [
  '/',
  '/docs',
  '/openapi.json',
  '/openapi/*.json',
  '/llms.txt',
  '/healthz',
  '/readyz',
  '/console',
];

/** @param doors paths of the paper venues' doors */
export function openRoutes(doors: readonly string[]): readonly string[] {
  const operations = (Object.values(contract) as readonly unknown[])
    .filter(isOperation)
    .filter(({ permission }) => permission === 'public')
    .map(({ method, path }) => `${method} ${path}`);
  return [
    ...operations.sort(),
    ...PAGES.map((path) => `GET ${path}`),
    ...doors.map((path) => `${path}/* (the venue’s own authentication)`),
  ];
}
