/** A refusal as a value: a registered code, a sentence for this case, and the figures that led to it. */
import type { ErrorCode } from '@bellwether/contract';

export interface Denial {
  readonly code: ErrorCode;
  readonly detail: string;
  /** JSON path of the wrong field, if there is one. */
  readonly path?: string;
  /** The limit, the used amount and the requested amount; numbers and texts only. */
  readonly context?: Readonly<Record<string, string | number | boolean | null>>;
  /** Refused signatures only. */
  readonly diagnosis?: Readonly<Record<string, unknown>> & { readonly check: string };
  /** Overrides the registry's general advice. */
  readonly fix?: string;
}
