/** One HTTP request and its answer, without retries: `fetch` on live venues, this process's own doors in the sandbox. */

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

export interface HttpReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Rejects when there was no answer. Every HTTP status counts as an answer. */
export type HttpSend = (request: HttpRequest) => Promise<HttpReply>;
