/** Refusals of the data door. Version 2 answers `{error, code, retryable, trace_id, parameter?}`, version 1 `{error}`. */
const STATUS = {
  invalid_request: 400,
  not_found: 404,
  dependency_unavailable: 503,
} as const;

export type DataErrorCode = keyof typeof STATUS;

export class DataError extends Error {
  override readonly name = 'DataError';
  readonly code: DataErrorCode;
  readonly parameter: string | undefined;

  constructor(code: DataErrorCode, text: string, parameter?: string) {
    super(text);
    this.code = code;
    this.parameter = parameter;
  }

  get status(): number {
    return STATUS[this.code];
  }
}

export const invalid = (text: string, parameter?: string): DataError =>
  new DataError('invalid_request', text, parameter);
