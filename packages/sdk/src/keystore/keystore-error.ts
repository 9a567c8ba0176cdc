/** Errors of the keystore and its spending limit. No error of this folder contains a key or a passphrase. */
export type KeystoreFault =
  | 'keystore_missing'
  | 'keystore_exists'
  | 'keystore_permissions'
  | 'keystore_damaged'
  | 'keystore_version'
  | 'keystore_busy'
  | 'keystore_unreadable'
  | 'keys_invalid'
  | 'keys_incomplete'
  | 'passphrase_missing'
  | 'person_required'
  | 'passphrase_wrong'
  | 'passphrase_too_short'
  | 'url_invalid'
  | 'environment_invalid'
  | 'limit_damaged'
  | 'limit_invalid';

export class KeystoreError extends Error {
  override readonly name = 'KeystoreError';
  readonly code: KeystoreFault;
  readonly detail: string;
  /** The next step. */
  readonly fix: string;

  constructor(code: KeystoreFault, detail: string, fix: string) {
    super(`${detail} ${fix}`);
    this.code = code;
    this.detail = detail;
    this.fix = fix;
  }
}
