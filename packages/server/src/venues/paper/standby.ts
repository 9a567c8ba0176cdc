/**
 * Parts that a replica that may soon lead has loaded before: for a while, because they take memory.
 * The opening of the sandbox takes them over.
 */

export interface Preparation {
  readonly ready: Promise<void>;
  end(): void;
}

export interface Standby<P extends Preparation> {
  /** Resolves when everything is loaded, and begins to load it if necessary. @throws when it cannot be loaded */
  prepare(): Promise<void>;
  /** The preparation, which is then the caller's, or `null`. */
  take(): P | null;
  end(): void;
}

/** Longer than a leader takes to end once it has said that it will. */
const KEPT_MS = 60_000;

export function createStandby<P extends Preparation>(begin: () => P): Standby<P> {
  let kept: { readonly preparation: P; readonly timer: NodeJS.Timeout } | null = null;

  const take = (): P | null => {
    if (kept === null) return null;
    const { preparation, timer } = kept;
    clearTimeout(timer);
    kept = null;
    return preparation;
  };
  const end = (): void => take()?.end();
  return {
    async prepare() {
      kept?.timer.refresh();
      kept ??= { preparation: begin(), timer: setTimeout(end, KEPT_MS).unref() };
      await kept.preparation.ready.catch((error: unknown) => {
        end();
        throw error;
      });
    },
    take,
    end,
  };
}
