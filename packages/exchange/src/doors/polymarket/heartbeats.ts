/**
 * The dead-man switch: once a key has sent a heartbeat it must go on, or all open orders of the key are cancelled. Wire
 * reference 2.11. Which keys have a switch is durable: after a restart of the exchange each has the whole time again, and a
 * client that died meanwhile loses its orders all the same.
 */
import { randomUUID } from 'node:crypto';
import type { OpenOrder } from '../../paper-exchange.ts';
import { accountsOf } from './accounts.ts';
import { cancelOpen } from './cancel-routes.ts';
import type { DoorExchange } from './door-options.ts';
import type { AuthenticatedKey, VenueKeys } from './venue-keys.ts';

/** Silence after which the orders are cancelled, and how often that is looked for. */
const SILENCE_MS = 10_000;
export const CHECK_EVERY_MS = 5_000;

type HeartbeatKey = Pick<AuthenticatedKey, 'address' | 'nonce'>;

interface Switch {
  readonly key: HeartbeatKey;
  readonly id: string;
  readonly at: number;
}

export interface HeartbeatNeeds {
  readonly keys: VenueKeys;
  readonly now: () => number;
  readonly exchange: () => DoorExchange | null;
  readonly onFault: (error: unknown) => void;
}

const nameOf = ({ address, nonce }: HeartbeatKey): string => `${address}:${nonce}`;

export class Heartbeats {
  readonly #needs: HeartbeatNeeds;
  readonly #switches = new Map<string, Switch>();
  /** The exchange that the switches were read for; another one when it was opened again, or here for the first time. */
  #readFor: DoorExchange | null = null;
  #checking: Promise<void> | null = null;

  constructor(needs: HeartbeatNeeds) {
    this.#needs = needs;
  }

  /**
   * @param given the last id; '' to begin, also again
   * @returns the next id, or the one that was expected
   */
  async beat(key: AuthenticatedKey, given: string): Promise<{ readonly ok: boolean; readonly id: string }> {
    await this.#readOnce();
    const known = this.#switches.get(nameOf(key));
    if (given !== '' && known !== undefined && known.id !== given) return { ok: false, id: known.id };
    const { address, nonce } = key;
    const next = { key: { address, nonce }, id: randomUUID(), at: this.#needs.now() };
    await this.#needs.keys.heartbeats.set(next.key, next.id);
    this.#switches.set(nameOf(key), next);
    return { ok: true, id: next.id };
  }

  /** Cancels what silent keys have left open. Runs once at a time. */
  check(): Promise<void> {
    this.#checking ??= this.#check()
      .catch(this.#needs.onFault)
      .finally(() => {
        this.#checking = null;
      });
    return this.#checking;
  }

  /** Resolves when no check is running. */
  async idle(): Promise<void> {
    await this.#checking;
  }

  async #check(): Promise<void> {
    const exchange = this.#needs.exchange();
    if (exchange === null) {
      this.#readFor = null;
      return;
    }
    await this.#readOnce();
    for (const one of [...this.#switches.values()]) {
      if (this.#needs.now() - one.at <= SILENCE_MS) continue;
      // A fault with one key must not keep the orders of others open.
      await this.#cut(exchange, one).catch(this.#needs.onFault);
    }
  }

  async #cut(exchange: DoorExchange, one: Switch): Promise<void> {
    await cancelOpen(exchange, await ordersOf(exchange, one.key));
    // A heartbeat that came meanwhile begins again.
    if (this.#switches.get(nameOf(one.key)) !== one) return;
    this.#switches.delete(nameOf(one.key));
    await this.#needs.keys.heartbeats.end(one.key, one.id);
  }

  async #readOnce(): Promise<void> {
    const exchange = this.#needs.exchange();
    if (exchange === null || exchange === this.#readFor) return;
    const stored = await this.#needs.keys.heartbeats.all();
    this.#readFor = exchange;
    this.#switches.clear();
    const at = this.#needs.now();
    for (const { key, id } of stored) this.#switches.set(nameOf(key), { key, id, at });
  }
}

/** Those that the key posted, and those that the desk placed for its accounts. */
async function ordersOf(
  exchange: DoorExchange,
  { address, nonce }: HeartbeatKey,
): Promise<readonly OpenOrder[]> {
  const open = accountsOf(address).flatMap((account) => exchange.openOrders(account));
  const posted = await exchange.postedOrders(open.map(({ orderId }) => orderId));
  return open.filter(({ orderId }) => {
    const key = posted.get(orderId)?.order.posted.key;
    return key === undefined || (key.address === address && key.nonce === nonce.toString());
  });
}
