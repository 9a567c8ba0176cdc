/** A refusal in the venue's words. Its clients match on the text, so it goes out unchanged. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

export const invalidL1 = (): WireError => new WireError(401, 'Invalid L1 Request headers');
export const invalidApiKey = (): WireError => new WireError(401, 'Unauthorized/Invalid api key');
export const noOrderbook = (): WireError =>
  new WireError(404, 'No orderbook exists for the requested token id');
