/** A refusal as a value: a registered code, a sentence for this case, and the figures behind it. */
import type { ErrorCode } from '@bellwether/contract';

export interface Denial {
  readonly code: ErrorCode;
  readonly detail: string;
  /** JSON path of the field at fault, when there is one. */
  readonly path?: string;
  /** What the limit is, what was used, what was asked; numbers and texts only. */
  readonly context?: Readonly<Record<string, string | number | boolean | null>>;
  /** Refused signatures only. */
  readonly diagnosis?: Readonly<Record<string, unknown>> & { readonly check: string };
  /** Overrides the registry's general advice. */
  readonly fix?: string;
}
