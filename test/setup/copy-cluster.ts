/** Copies a PostgreSQL cluster on which no server runs, with the modes and owners that PostgreSQL insists on. */
import { execFileSync } from 'node:child_process';

export const copyCluster = (from: string, to: string): void => {
  execFileSync('cp', ['-a', from, to]);
};
