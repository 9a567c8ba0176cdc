/** A refusal in the venue's shape: `{type, error}`. */
export class GammaError extends Error {
  override readonly name = 'GammaError';
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, text: string) {
    super(text);
    this.status = status;
    this.type = type;
  }
}

export const invalid = (text: string): GammaError => new GammaError(422, 'validation error', text);
export const notFound = (what: 'id' | 'slug'): GammaError =>
  new GammaError(404, 'not found error', `${what} not found`);
