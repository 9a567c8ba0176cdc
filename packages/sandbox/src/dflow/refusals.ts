/** What the venue refuses: faults that tests can switch on, its maintenance window, and a refusal in its own shape. */

/** Read at every use: changing the object changes the venue's behaviour immediately. */
export interface Switches {
  /** `schedule`: Thursday 03:00 to 05:00 in New York. No routes meanwhile; open orders revert. */
  maintenance: 'off' | 'on' | 'schedule';
  /** `required`: wallets that receive a BUY must be in `verifiedWallets`. */
  kyc: 'off' | 'required';
  verifiedWallets: ReadonlySet<string>;
  /** Wallets for which no order is built. */
  restrictedWallets: Pick<ReadonlySet<string>, 'has'>;
  /** `on`: 403 for every order. */
  geoblock: 'off' | 'on';
  /** `partial`: half of the contracts, so a single one reverts. `never`: orders stay open until the switch changes. */
  fill: 'auto' | 'revert' | 'partial' | 'never';
  /** From the landing of an order to its fill. */
  fillDelayMs: number;
  /** `on`: every route answers 503. */
  outage: 'off' | 'on';
}

const FILL_DELAY_MS = 600;

export const switchesFrom = (given: Partial<Switches> = {}): Switches => ({
  maintenance: 'off',
  kyc: 'off',
  verifiedWallets: new Set(),
  restrictedWallets: new Set(),
  geoblock: 'off',
  fill: 'auto',
  fillDelayMs: FILL_DELAY_MS,
  outage: 'off',
  ...given,
});

const IN_NEW_YORK = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  weekday: 'short',
  hour: '2-digit',
  hourCycle: 'h23',
});

const MAINTENANCE = { weekday: 'Thu', fromHour: 3, toHour: 5 };

/** Whether trading is suspended at `now` (epoch milliseconds). */
export function isResting(switches: Pick<Switches, 'maintenance'>, now: number): boolean {
  if (switches.maintenance !== 'schedule') return switches.maintenance === 'on';
  const parts = new Map(IN_NEW_YORK.formatToParts(now).map(({ type, value }) => [type, value]));
  const hour = Number(parts.get('hour'));
  return (
    parts.get('weekday') === MAINTENANCE.weekday && hour >= MAINTENANCE.fromHour && hour < MAINTENANCE.toHour
  );
}

/** A refusal in the venue's own shape: `{code, msg}`, sometimes with details. */
export class DoorError extends Error {
  override readonly name = 'DoorError';
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(status: number, code: string, msg: string, details?: Readonly<Record<string, unknown>>) {
    super(msg);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  get body(): Readonly<Record<string, unknown>> {
    const { code, message: msg, details } = this;
    return details === undefined ? { code, msg } : { code, msg, details };
  }
}

/** The venue's answer whenever it cannot trade: wrong mint, amount too small, no offers, closed, maintenance. */
export const noRoute = (): DoorError => new DoorError(400, 'route_not_found', 'Route not found');
