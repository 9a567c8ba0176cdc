/**
 * The calls of a follower to the replica that leads the paper exchange: one row for each member of each port. A
 * new method of a port needs its row here before it compiles.
 */
import type { MarketData } from '../venue.ts';
import { balanceOf, type PlainBalance } from './balance.ts';
import type { AnyTable, Call, CallTable } from './forwarded-port.ts';
import type { Lane } from './leader-line.ts';
import type { ExchangeCalls, SentOrder } from './paper-venue.ts';
import type { SandboxCalls } from './sandbox-holder.ts';

/** The ports whose real objects exist only on the leader. */
export interface LeaderPorts {
  readonly venue: ExchangeCalls;
  readonly markets: MarketData;
  readonly sandbox: SandboxCalls;
}

const unchanged = (args: readonly unknown[]): readonly unknown[] => args;
const sentAgain = ([order]: readonly unknown[]): readonly unknown[] => [
  { ...(order as SentOrder), isSentAgain: true },
];

const READ = { unanswered: 'retry', asksNext: unchanged } as const;

export const LEADER_CALLS = {
  venue: {
    status: 'local',
    keptSince: 'local',
    verifyCredentials: 'local',
    submit: { unanswered: 'unknown', asksNext: sentAgain },
    submitSet: { unanswered: 'unknown', asksNext: sentAgain },
    cancel: { unanswered: 'unknown' },
    resolve: { unanswered: 'unknown', asksNext: unchanged },
    redeem: { unanswered: 'error' },
    deposit: { unanswered: 'error' },
    balance: {
      ...READ,
      codec: {
        encode: ({ available, held, tokens }): PlainBalance => ({ available, held, tokens }),
        decode: (plain) => balanceOf(plain as PlainBalance),
      },
    },
  },
  markets: {
    announcesResolutions: 'local',
    canBeId: 'local',
    find: READ,
    findAll: READ,
    listedAfter: READ,
    byToken: READ,
    search: READ,
    book: READ,
  },
  sandbox: {
    // A request may be a trade with an unknown effect: the venue's adapter decides what may be repeated.
    request: { unanswered: 'error' },
    ask: { unanswered: 'error' },
    credit: { unanswered: 'error' },
    isOpen: { unanswered: 'error' },
  },
} as const satisfies { readonly [Name in keyof LeaderPorts]: CallTable<LeaderPorts[Name]> };

const ROWS: Readonly<Record<string, AnyTable>> = LEADER_CALLS;

/** A request to the sandbox can take as long as its chain. */
export function laneOf({ port, method }: Call): Lane {
  if (port === 'sandbox') return null;
  const row = ROWS[port]?.[method];
  return typeof row === 'object' && row.unanswered === 'retry' ? 'reads' : 'orders';
}

/** The call for the next leader, when this one has given no answer and leads no more; `null`: it is asked nothing. */
export function forNextLeader(call: Call): Call | null {
  const row = ROWS[call.port]?.[call.method];
  if (typeof row !== 'object' || row.asksNext === undefined) return null;
  return { ...call, args: row.asksNext(call.args) };
}
