/**
 * One stream of server-sent events that is opened again for as long as it is wanted, from the last event that was read.
 * It is read by `fetch`, because `EventSource` tells neither why an answer was refused nor that a connection is silent
 * (docs/decisions/console.md). A hidden page lets its stream go: browsers keep only six connections to one service.
 */
import { createParser } from 'eventsource-parser';
import { BASE, refusalOf, Trouble, wordsOf } from './call.ts';

export interface StreamEvent {
  readonly type: string;
  readonly data: unknown;
}

export type StreamState =
  | { readonly name: 'connecting' | 'live' }
  /** With what a person should know of it. */
  | { readonly name: 'lost'; readonly why: string };

export interface StreamListener {
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

export function openStream(path: string, listener: StreamListener): () => void {
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
