/** What came of an act, beside what was pressed: on the screen wherever the page is scrolled, and nothing moves for it. */
import { useEffect } from 'preact/hooks';
import { route } from '../desk/router.tsx';
import { createStore, useStore } from '../desk/store.ts';

interface Spoken {
  readonly text: string;
  readonly isError: boolean;
  /** Where the pressed element was in the window, in pixels. */
  readonly at: { readonly top: number; readonly bottom: number; readonly middle: number } | null;
}

const spoken = createStore<Spoken | null>(null);
/** A success need not be kept for longer; a refusal stays until the next act. */
const SUCCESS_MS = 12_000;

/** @param beside the element that was pressed; without it, at the bottom of the window */
export function say(text: string | null, { isError = false, beside = null as Element | null } = {}): void {
  if (text === null) {
    spoken.set(null);
    return;
  }
  const box = beside?.isConnected ? beside.getBoundingClientRect() : null;
  const isSeen = box !== null && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
  spoken.set({
    text,
    isError,
    at: isSeen ? { top: box.top, bottom: box.bottom, middle: (box.left + box.right) / 2 } : null,
  });
}

const APART = 8;
const WIDTH = 352;
/** Below this width messages stand at the bottom, over the whole width: a style of their own. */
const NARROW = 640;

function placeOf({ at }: Spoken): string {
  if (at === null || innerWidth < NARROW) return '';
  const left = Math.max(APART, Math.min(innerWidth - WIDTH - 2 * APART, at.middle - WIDTH / 2));
  const vertical =
    at.bottom < innerHeight * 0.6
      ? `top: ${at.bottom + APART}px; bottom: auto`
      : `bottom: ${innerHeight - at.top + APART}px`;
  return `left: ${left}px; right: auto; width: ${WIDTH}px; ${vertical}`;
}

export function Toast() {
  const message = useStore(spoken);
  useEffect(() => route.watch(() => spoken.set(null)), []);
  useEffect(() => {
    if (message === null || message.isError) return;
    const timer = setTimeout(() => spoken.set(null), SUCCESS_MS);
    return () => clearTimeout(timer);
  }, [message]);
  if (message === null) return null;
  return (
    <div class={`toast message ${message.isError ? 'error' : ''}`} style={placeOf(message)}>
      <p role={message.isError ? 'alert' : 'status'}>{message.text}</p>
      <button type="button" class="quiet" onClick={() => spoken.set(null)}>
        Close<span class="hidden"> the message</span>
      </button>
    </div>
  );
}
