/** The PostgreSQL that a process starts for itself, in a data folder of its own. */
export { BackupRefused, type BackupReport, backUp, type Manifest } from './backup.ts';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
export { DESK_DATABASE } from './embedded-role.ts';
export { type EmbeddedWatch, watchEmbedded } from './embedded-watch.ts';
export {
  prepareMasterKeyFiles,
  readFormerMasterKeyFile,
  readMasterKeyFile,
  retireMasterKeyFile,
} from './master-key-file.ts';
export { NoPostgres } from './postgres-binaries.ts';
export { type ReachedServer, reachServer } from './reach.ts';
export { type RestoreReport, restoreBackup } from './restore.ts';
