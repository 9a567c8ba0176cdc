/**
 * Keeps what a view shows of one address of the desk: read when the view opens, again after events that change it, after a gap
 * in the stream and after a new sign-in. What was read before stays on the page while a new answer is on its way, or
 * cannot be had.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { read, Trouble, wordsOf } from './call.ts';
import { type DeskEvent, onDeskEvent } from './live.ts';
import { resync } from './session.ts';

export interface Resource<T> {
  readonly data: T | null;
  readonly trouble: string | null;
  /** The trouble's code, where the desk refused. */
  readonly code: string;
  readonly isMissing: boolean;
  readonly reload: () => void;
}

export interface ResourceOptions {
  /** Which events change it. */
  readonly on?: (event: DeskEvent) => boolean;
  /** For figures that move without an event. */
  readonly everyMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An agent may cause a hundred events a second; its owner's page reads no more often than this. */
const APART_MS = 1000;
const RETRY_MS = 5000;

interface Loaded<T> {
  readonly path: string | null;
  readonly data: T | null;
  readonly trouble: string | null;
  readonly code: string;
  readonly isMissing: boolean;
}
const NOTHING = { data: null, trouble: null, code: '', isMissing: false };

/** Asking again would answer the same; what is not there yet may come, where the view looks regularly. */
function isFinal(error: unknown, everyMs: number | undefined): boolean {
  if (!(error instanceof Trouble) || error.status < 400 || error.status >= 500) return false;
  return error.status !== 429 && !(error.status === 404 && everyMs !== undefined);
}

/** @param path `null`: not yet known */
export function useResource<T>(path: string | null, options: ResourceOptions = {}): Resource<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ path, ...NOTHING });
  const latest = useRef(options);
  latest.current = options;
  const reload = useRef(() => {});

  useEffect(() => {
    if (path === null) return;
    const left = new AbortController();
    let isReading = false;
    let isAsked = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isSoon = false;

    const later = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => void load(), ms);
    };
    async function load(): Promise<void> {
      isSoon = false;
      if (isReading) {
        isAsked = true;
        return;
      }
      isReading = true;
      isAsked = false;
      const { headers, everyMs } = latest.current;
      let next = everyMs;
      try {
        const data = await read<T>(path as string, { signal: left.signal, ...(headers ? { headers } : {}) });
        if (!left.signal.aborted) setLoaded({ ...NOTHING, path, data });
      } catch (error) {
        if (left.signal.aborted) return;
        const isMissing = error instanceof Trouble && error.status === 404;
        setLoaded((before) => ({
          path,
          data: before.path === path && !isMissing ? before.data : null,
          trouble: wordsOf(error),
          code: error instanceof Trouble ? error.code : '',
          isMissing,
        }));
        next = isFinal(error, everyMs)
          ? undefined
          : Math.max(everyMs ?? RETRY_MS, (error instanceof Trouble && error.retryAfterMs) || 0);
      } finally {
        isReading = false;
      }
      if (left.signal.aborted) return;
      if (isAsked) later(APART_MS);
      else if (next !== undefined) later(next);
    }
    // The first of many changes decides when: later ones must not put it off.
    const soon = () => {
      if (isReading) isAsked = true;
      else if (!isSoon) {
        isSoon = true;
        later(APART_MS);
      }
    };
    reload.current = () => void load();
    void load();
    const ends = [
      onDeskEvent((event) => {
        if (latest.current.on?.(event) === true) soon();
      }),
      resync.watch(() => void load()),
    ];
    return () => {
      left.abort();
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [path]);

  const shown = loaded.path === path ? loaded : { path, ...NOTHING };
  const { data, trouble, code, isMissing } = shown;
  return { data, trouble, code, isMissing, reload: reload.current };
}
