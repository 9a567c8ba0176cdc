/** Faults of a venue's socket towards its client. Wraps the sending side of one socket. */
import type { SocketPeer } from '../web-sockets.ts';
import type { Faults } from './faults.ts';

/** A socket that is going to freeze or be cut does so after so many messages. */
const MESSAGES_BEFORE = 5;

export interface Line {
  send(text: string): void;
  /** The answer to PING: it is neither lost nor repeated alone, but a frozen socket does not give it. */
  pong(): void;
}

const PONG = 'PONG';

export function openLine(peer: SocketPeer, faults: Faults | undefined): Line {
  if (faults === undefined) return { send: (text) => peer.send(text), pong: () => peer.send(PONG) };
  return new FaultyLine(peer, faults);
}

class FaultyLine implements Line {
  readonly #peer: SocketPeer;
  readonly #faults: Faults;
  #sent = 0;
  #fate: 'none' | 'frozen' | 'cut' | undefined;
  /** Sent after its successor. */
  #held: string | undefined;

  constructor(peer: SocketPeer, faults: Faults) {
    this.#peer = peer;
    this.#faults = faults;
  }

  send(text: string): void {
    const faults = this.#faults;
    if (!faults.isOn) {
      this.#flush(text);
      return;
    }
    if (this.#isLost()) return;
    const { duplicatesShare, reorderedShare, gapsShare } = faults.plan;
    if (faults.hits('gap', gapsShare)) return;
    if (this.#held === undefined && faults.hits('reordered', reorderedShare)) {
      this.#held = text;
      return;
    }
    this.#flush(text);
    if (faults.hits('duplicate', duplicatesShare)) this.#peer.send(text);
  }

  pong(): void {
    if (this.#faults.isOn && this.#isFrozen()) return;
    this.#peer.send(PONG);
  }

  #flush(text: string): void {
    this.#sent += 1;
    this.#peer.send(text);
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#peer.send(held);
  }

  #isFrozen(): boolean {
    return this.#fate === 'frozen' && this.#sent >= MESSAGES_BEFORE;
  }

  /** Whether what is to be sent never arrives. */
  #isLost(): boolean {
    const faults = this.#faults;
    const { frozenSocketsShare, droppedSocketsShare } = faults.plan;
    this.#fate ??= faults.hits('frozen', frozenSocketsShare)
      ? 'frozen'
      : faults.hits('cut', droppedSocketsShare)
        ? 'cut'
        : 'none';
    if (this.#fate === 'none' || this.#sent < MESSAGES_BEFORE) return false;
    if (this.#fate === 'cut') this.#peer.cut();
    return true;
  }
}
