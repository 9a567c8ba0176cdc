/** One HTTP exchange, nothing added: live it is fetch, in the sandbox the doors of this very process. */

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
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

/** Rejects when there was no answer; a status is an answer whatever it says. */
export type HttpSend = (request: HttpRequest) => Promise<HttpReply>;
