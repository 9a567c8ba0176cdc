/** The PostgreSQL that a process starts for itself, in a data folder of its own. */
export { BackupRefused, type BackupReport, backUp, type Manifest } from './backup.ts';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
export { type EmbeddedWatch, watchEmbedded } from './embedded-watch.ts';
export { readMasterKeyFile } from './master-key-file.ts';
export { NoPostgres } from './postgres-binaries.ts';
export { type RestoreReport, restoreBackup } from './restore.ts';
