/** A refusal in the venue's own shape: `{code, msg}`, sometimes with details. */
export class DoorError extends Error {
  override readonly name = 'DoorError';
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(status: number, code: string, msg: string, details?: Readonly<Record<string, unknown>>) {
    super(msg);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  get body(): Readonly<Record<string, unknown>> {
    const { code, message: msg, details } = this;
    return details === undefined ? { code, msg } : { code, msg, details };
  }
}

/** The venue's answer whenever it cannot trade: wrong mint, amount too small, no offers, closed, maintenance. */
export const noRoute = (): DoorError => new DoorError(400, 'route_not_found', 'Route not found');
