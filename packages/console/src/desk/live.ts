/** Follows the owner's agents live. */
import { findSession, readAgain } from './session.ts';
import { createStore } from './store.ts';
import { openStream, type StreamState } from './stream.ts';

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
