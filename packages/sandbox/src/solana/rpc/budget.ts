/** Limits the data that one request may read and return, over all of its calls. */
import { INVALID_PARAMS, RpcError } from './rpc-error.ts';

/** Bytes of accounts, counted before encoding, which is the expensive part. */
const MAX_READ_BYTES = 1024 * 1024;
const MAX_ANSWER_CHARS = 2 * 1024 * 1024;
const MAX_TOKEN_ACCOUNTS = 1_000;

export class Budget {
  /** Most token accounts of one owner that are read. */
  readonly mostTokenAccounts: number;
  #bytes: number;
  #chars: number;

  constructor(bytes = MAX_READ_BYTES, chars = MAX_ANSWER_CHARS, mostTokenAccounts = MAX_TOKEN_ACCOUNTS) {
    this.#bytes = bytes;
    this.#chars = chars;
    this.mostTokenAccounts = mostTokenAccounts;
  }

  /** For the desk's own requests. */
  static unlimited(): Budget {
    const { POSITIVE_INFINITY: all } = Number;
    return new Budget(all, all, all);
  }

  /** @throws RpcError */
  read(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0)
      throw new RpcError(
        INVALID_PARAMS,
        `Invalid param: the calls of one request read at most ${MAX_READ_BYTES} bytes of accounts; ask for fewer at a time`,
      );
  }

  /** @throws RpcError */
  answer(text: string): void {
    this.#chars -= text.length;
    if (this.#chars < 0)
      throw new RpcError(
        INVALID_PARAMS,
        `Invalid param: an answer has at most ${MAX_ANSWER_CHARS} characters; ask for less at a time`,
      );
  }
}
