/** The PostgreSQL that a process starts for itself, in a data folder of its own. */
export {
  BackupRefused,
  type BackupReport,
  backUp,
  type Manifest,
  type RestoreReport,
  restoreBackup,
} from './backup.ts';
export {
  prepareMasterKeyFiles,
  readFormerMasterKeyFile,
  readMasterKeyFile,
  retireMasterKeyFile,
} from './data-folder.ts';
export {
  DESK_DATABASE,
  type EmbeddedPostgres,
  type EmbeddedWatch,
  type ReachedServer,
  reachServer,
  startEmbeddedPostgres,
  watchEmbedded,
} from './embedded-postgres.ts';
export { NoPostgres } from './postgres-process.ts';
