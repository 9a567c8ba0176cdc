/**
 * The plans that PostgreSQL executed in a test's database, those of statements inside functions included: auto_explain
 * writes each with the rows and blocks that it read. So a test judges what the service's own sessions use, plans that
 * they keep from a time when the tables were empty included.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Sql } from '../packages/server/src/platform/database/connection.ts';
import { createTestDatabase, openAsAdmin, sharedPostgres } from './postgres.ts';

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Parent Relationship'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface ExecutedPlan {
  readonly 'Query Text': string;
  readonly Plan: PlanNode;
}

const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_parameter_max_length': '0',
};

/** A database whose executed plans are logged. Statistics are gathered only on request. */
export async function createExplainedDatabase(): Promise<{ readonly url: string; readonly admin: Sql }> {
  const url = await createTestDatabase();
  const admin = await openAsAdmin(url);
  const [row] = await admin`select current_database() as name`;
  for (const [name, value] of Object.entries(SETTINGS))
    await admin.unsafe(`alter database ${row?.name} set ${name} = '${value}'`);
  return { url, admin };
}

/** Plans executed from now on. */
export async function watchPlans(): Promise<{ read(): ExecutedPlan[] }> {
  const { log } = await sharedPostgres();
  const from = sizeOf(log);
  return { read: () => plansIn(textOf(log, from)) };
}

const sizeOf = (file: string): number => textHandle(file, (fd) => fstatSync(fd).size);

const textOf = (file: string, from: number): string =>
  textHandle(file, (fd) => {
    const bytes = Buffer.alloc(fstatSync(fd).size - from);
    readSync(fd, bytes, 0, bytes.length, from);
    return bytes.toString();
  });

function textHandle<T>(file: string, use: (fd: number) => T): T {
  const fd = openSync(file, 'r');
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/** A message's further lines begin with a tab. */
const PLAN = /duration: [\d.]+ ms {2}plan:\n((?:\t.*\n)+)/g;

const plansIn = (text: string): ExecutedPlan[] =>
  [...text.matchAll(PLAN)].map(([, json = '']) => JSON.parse(json.replaceAll('\n\t', '\n')) as ExecutedPlan);

/** Every node of a plan. */
export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
