/**
 * Keeps what is shown live. One stream of server-sent events is opened again for as long as it is wanted, from the
 * last event that was read. It is read by `fetch`, because `EventSource` tells neither why an answer was refused nor
 * that a connection is silent (docs/decisions/console.md). A hidden page lets its stream go: browsers keep only six
 * connections to one service.
 */

import type { BookEventData, DeltaEventData } from '@bellwether/contract';
import { createParser } from 'eventsource-parser';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  BASE,
  createStore,
  findSession,
  read,
  readAgain,
  refusalOf,
  resync,
  Trouble,
  wordsOf,
} from './session.ts';

interface StreamEvent {
  readonly type: string;
  readonly data: unknown;
}

type StreamState =
  | { readonly name: 'connecting' | 'live' }
  /** With what a person should know of it. */
  | { readonly name: 'lost'; readonly why: string };

interface StreamListener {
  onEvent(event: StreamEvent): void;
  onState(state: StreamState): void;
  /** Some events are lost and cannot be sent any more: read everything again. */
  onGap(): void;
}

/** The desk sends a heartbeat every 15 seconds. */
const SILENT_MS = 40_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const ANSWER_WITHIN_MS = 15_000;
/** A tab that is looked at again soon keeps its stream. */
const HIDDEN_MS = 30_000;

const REFUSED_FOR_GOOD = new Set([401, 403, 404]);

function openStream(path: string, listener: StreamListener): () => void {
  const ended = new AbortController();
  let lastId = '';
  let waitMs = FIRST_WAIT_MS;
  let attempt = new AbortController();

  const parser = createParser({
    onEvent({ id, event, data }) {
      if (id !== undefined) lastId = id;
      listener.onEvent({ type: event ?? 'message', data: JSON.parse(data) });
    },
  });

  async function readOnce(): Promise<void> {
    attempt = new AbortController();
    const signal = AbortSignal.any([ended.signal, attempt.signal]);
    let alarm = setTimeout(() => attempt.abort(), ANSWER_WITHIN_MS);
    try {
      const response = await fetch(`${BASE}${path}`, {
        headers: { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) },
        credentials: 'same-origin',
        cache: 'no-store',
        signal,
      });
      if (!response.ok || response.body === null) throw await refusalOf(response);
      listener.onState({ name: 'live' });
      waitMs = FIRST_WAIT_MS;
      parser.reset();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        clearTimeout(alarm);
        alarm = setTimeout(() => attempt.abort(), SILENT_MS);
        const { done, value } = await reader.read();
        if (done) return;
        parser.feed(value);
      }
    } finally {
      clearTimeout(alarm);
    }
  }

  /** Cut short when the browser is connected again, and by the end. */
  async function pause(ms: number): Promise<void> {
    const over = new AbortController();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      const now = () => {
        clearTimeout(timer);
        resolve();
      };
      window.addEventListener('online', now, { signal: over.signal });
      ended.signal.addEventListener('abort', now, { signal: over.signal });
    });
    over.abort();
  }

  async function untilVisible(): Promise<void> {
    while (document.hidden && !ended.signal.aborted) await pause(1000);
  }

  async function run(): Promise<void> {
    while (!ended.signal.aborted) {
      let why = 'The connection to the service is lost.';
      try {
        await readOnce();
      } catch (error) {
        if (error instanceof Trouble) {
          why = wordsOf(error);
          if (error.code === 'event_cursor_gone' || error.code === 'event_cursor_invalid') {
            lastId = '';
            listener.onGap();
            continue;
          }
          if (REFUSED_FOR_GOOD.has(error.status)) return listener.onState({ name: 'lost', why });
          waitMs = Math.max(waitMs, error.retryAfterMs ?? 0);
        }
      }
      if (ended.signal.aborted) return;
      listener.onState({ name: 'lost', why });
      // Pages that lost the same replica must not come back together.
      await pause(waitMs * (0.75 + Math.random() / 2));
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
      await untilVisible();
      // Without an event so far there is no place to resume from.
      if (lastId === '') listener.onGap();
    }
  }

  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = setTimeout(() => attempt.abort(), HIDDEN_MS);
  };
  document.addEventListener('visibilitychange', onVisibility, { signal: ended.signal });
  // A connection that was open says nothing of it for minutes.
  window.addEventListener('offline', () => attempt.abort(), { signal: ended.signal });
  void run();
  return () => {
    clearTimeout(hiddenTimer);
    ended.abort();
  };
}

// Follows the owner's agents live.

export interface DeskEvent {
  readonly type: string;
  readonly agentId: string;
  readonly createdAt: string;
  // biome-ignore lint/suspicious/noExplicitAny: each type of event has its own fields
  readonly data: any;
}

const listeners = new Set<(event: DeskEvent) => void>();

/** @returns what ends it */
export function onDeskEvent(listener: (event: DeskEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const liveState = createStore<StreamState>({ name: 'connecting' });

export const followDesk = (): (() => void) =>
  openStream('/owner/events', {
    onEvent({ type, data }) {
      const event = { ...(data as DeskEvent), type };
      for (const listener of [...listeners]) listener(event);
    },
    onState(state) {
      // The desk ends the stream when the account is recovered, and when that is undone.
      if (state.name === 'live' && liveState.get().name === 'lost') void findSession().catch(() => {});
      liveState.set(state);
    },
    // Another owner may have signed in meanwhile, in another tab: the place in the stream was the first one's.
    onGap: () => void findSession().then(readAgain, readAgain),
  });

// Keeps what a view shows of one address of the desk: read when the view opens, again after events that change it, after a gap
// in the stream and after a new sign-in. What was read before stays on the page while a new answer is on its way, or
// cannot be had.

export interface Resource<T> {
  readonly data: T | null;
  readonly trouble: string | null;
  /** The trouble's code, where the desk refused. */
  readonly code: string;
  readonly isMissing: boolean;
  readonly reload: () => void;
}

interface ResourceOptions {
  /** Which events change it. */
  readonly on?: (event: DeskEvent) => boolean;
  /** For figures that move without an event. */
  readonly everyMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A change is read so soon after; while further ones keep coming, each time twice as late, as a page is paid for by the byte. */
const SOON_MS = 1000;
const BUSY_MS = 10_000;
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
    let apartMs = SOON_MS;
    let readAt = Number.NEGATIVE_INFINITY;

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
        readAt = performance.now();
      }
      if (left.signal.aborted) return;
      if (isAsked) soon();
      else if (next !== undefined) later(next);
    }
    // The first of many changes decides when: later ones must not put it off.
    const soon = () => {
      if (isReading) isAsked = true;
      else if (!isSoon) {
        isSoon = true;
        const isBusy = performance.now() - readAt < 2 * apartMs;
        apartMs = isBusy ? Math.min(2 * apartMs, BUSY_MS) : SOON_MS;
        later(apartMs);
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

// Order books of some tokens, as they move. A book that cannot be followed just now is not shown as if it could.

export interface Level {
  readonly price: number;
  readonly size: number;
}

export interface Book {
  /** Best first. */
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

type Sides = Record<'bids' | 'asks', Map<string, number>>;
type WireLevel = { readonly price: string; readonly size: string };

/** Books move faster than a person reads. */
const DRAW_EVERY_MS = 250;
const MOST_TOKENS = 50;

const wholeSide = (levels: readonly WireLevel[]): Map<string, number> =>
  new Map(levels.map(({ price, size }) => [price, Number(size)]));

function changeSide(side: Map<string, number>, levels: readonly WireLevel[]): void {
  for (const { price, size } of levels) {
    if (Number(size) === 0) side.delete(price);
    else side.set(price, Number(size));
  }
}

function sorted(side: Map<string, number>, best: 'highest' | 'lowest'): readonly Level[] {
  const levels = [...side].map(([price, size]) => ({ price: Number(price), size }));
  return levels.sort((a, b) => (best === 'highest' ? b.price - a.price : a.price - b.price));
}

export const middleOf = ({ bids, asks }: Book): number | null => {
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  // The middle of a crossed book is no price.
  return bid === undefined || ask === undefined || ask <= bid ? null : (bid + ask) / 2;
};

/** By token id. */
export function useBooks(tokens: readonly string[]): ReadonlyMap<string, Book> {
  const [books, setBooks] = useState<ReadonlyMap<string, Book>>(new Map());
  const asked = [...new Set(tokens)].sort().slice(0, MOST_TOKENS).join(',');

  useEffect(() => {
    setBooks(new Map());
    if (asked === '') return;
    const held = new Map<string, Sides>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setBooks(
          new Map(
            [...held].map(([token, { bids, asks }]) => [
              token,
              { bids: sorted(bids, 'highest'), asks: sorted(asks, 'lowest') },
            ]),
          ),
        );
      }, DRAW_EVERY_MS);
    };
    const end = openStream(`/owner/markets/stream?tokens=${encodeURIComponent(asked)}`, {
      onEvent({ type, data }) {
        const { tokenId, bids, asks } = data as BookEventData | DeltaEventData;
        if (type === 'book') held.set(tokenId, { bids: wholeSide(bids), asks: wholeSide(asks) });
        else if (type === 'gap') held.delete(tokenId);
        else if (type === 'delta') {
          const book = held.get(tokenId);
          if (book === undefined) return;
          changeSide(book.bids, bids);
          changeSide(book.asks, asks);
        } else return;
        draw();
      },
      onState({ name }) {
        if (name !== 'lost') return;
        held.clear();
        draw();
      },
      // A new stream begins with whole books.
      onGap() {},
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [asked]);
  return books;
}
