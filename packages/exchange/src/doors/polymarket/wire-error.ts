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

export const invalidL1 = (details: Readonly<Record<string, unknown>>): WireError =>
  new WireError(401, 'Invalid L1 Request headers', details);
export const invalidApiKey = (): WireError => new WireError(401, 'Unauthorized/Invalid api key');
export const noOrderbook = (): WireError =>
  new WireError(404, 'No orderbook exists for the requested token id');
