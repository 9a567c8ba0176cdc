/** A refusal with the venue's text, unchanged because its clients match on it; hints are separate fields. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, text: string, details: Readonly<Record<string, unknown>> = {}) {
    super(text);
    this.status = status;
    this.details = details;
  }
}

/** The venue's answer while its engine restarts: 425 without a body. */
export class EngineRestarts extends Error {
  override readonly name = 'EngineRestarts';
  readonly retryAfterS = 1;
}

export const invalidL1 = (details: Readonly<Record<string, unknown>>): WireError =>
  new WireError(401, 'Invalid L1 Request headers', details);
export const invalidApiKey = (): WireError => new WireError(401, 'Unauthorized/Invalid api key');
export const noOrderbook = (): WireError =>
  new WireError(404, 'No orderbook exists for the requested token id');
export const invalidPayload = (): WireError => new WireError(400, 'Invalid payload');
export const tooLarge = (): WireError => new WireError(400, 'Payload exceeds the limit');
