/** How often each caller may call, by class of route. */
import { type EnvironmentOf, flag, integer } from '../settings.ts';

/** A batch must fit into a burst, or it could never be sent. */
const ORDERS_PER_BATCH = 20;

const variables = {
  RATE_LIMITS: flag('on', 'Off for load tests.'),
  RATE_LIMIT_REGISTER_PER_HOUR: integer(
    10,
    [1, 1_000_000],
    'Registrations and faucet draws per address and hour; also the burst.',
  ),
  RATE_LIMIT_CLAIM_PER_MINUTE: integer(
    30,
    [1, 1_000_000],
    'Claim look-ups per address and minute; also the burst.',
  ),
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: integer(
    60,
    [1, 1_000_000],
    'Wrong API keys per address and minute; also the burst.',
  ),
  RATE_LIMIT_FAILED_OPERATOR_PER_MINUTE: integer(
    10,
    [1, 1_000_000],
    'Wrong operator keys per address and minute; also the burst.',
  ),
  RATE_LIMIT_RECOVERY_PER_HOUR: integer(
    10,
    [1, 1_000_000],
    'Recovery codes tried per address and hour, and per owner whose code begins alike; also the bursts.',
  ),
  RATE_LIMIT_TRADE_PER_SECOND: integer(20, [1, 1_000_000], 'Trades per agent and second.'),
  RATE_LIMIT_TRADE_BURST: integer(
    40,
    [ORDERS_PER_BATCH, 1_000_000],
    'Trades at once; at least as many as a batch may hold.',
  ),
  RATE_LIMIT_RELAY_PER_MINUTE: integer(
    6,
    [1, 1_000_000],
    'Requests to the venue’s relayer per agent and minute, also the burst: the venue grants all agents of a service 25.',
  ),
  RATE_LIMIT_EXIT_PER_SECOND: integer(
    40,
    [1, 1_000_000],
    'Cancels and changes of settings per agent and second.',
  ),
  RATE_LIMIT_EXIT_BURST: integer(80, [1, 1_000_000], 'Cancels and changes of settings at once.'),
  RATE_LIMIT_SEARCH_PER_SECOND: integer(
    10,
    [1, 1_000_000],
    'Searches, contexts and order histories per agent and second.',
  ),
  RATE_LIMIT_SEARCH_BURST: integer(20, [1, 1_000_000], 'Searches, contexts and order histories at once.'),
  RATE_LIMIT_READ_PER_SECOND: integer(20, [1, 1_000_000], 'Everything else, per agent and second.'),
  RATE_LIMIT_READ_BURST: integer(60, [1, 1_000_000], 'Everything else, at once.'),
  RATE_LIMIT_DOOR_PER_SECOND: integer(
    50,
    [1, 1_000_000],
    'Requests to the paper doors per address and second.',
  ),
  RATE_LIMIT_DOOR_BURST: integer(100, [1, 1_000_000], 'Requests to the paper doors at once.'),
};

type Environment = EnvironmentOf<typeof variables>;

/** Tokens a second and the largest burst, by class of route. */
type RateLimits = Readonly<Record<string, { readonly perSecond: number; readonly burst: number }>>;

export const rateLimitSettings = {
  variables,
  prefixes: ['RATE_LIMIT'],
  make: (env: Environment): { readonly rateLimits: RateLimits | null } => ({
    rateLimits: env.RATE_LIMITS === 'off' ? null : rateLimits(env),
  }),
};

const rateLimits = (env: Environment): RateLimits => ({
  register: { perSecond: env.RATE_LIMIT_REGISTER_PER_HOUR / 3600, burst: env.RATE_LIMIT_REGISTER_PER_HOUR },
  claim: { perSecond: env.RATE_LIMIT_CLAIM_PER_MINUTE / 60, burst: env.RATE_LIMIT_CLAIM_PER_MINUTE },
  failed_operator: {
    perSecond: env.RATE_LIMIT_FAILED_OPERATOR_PER_MINUTE / 60,
    burst: env.RATE_LIMIT_FAILED_OPERATOR_PER_MINUTE,
  },
  failed_auth: {
    perSecond: env.RATE_LIMIT_FAILED_AUTH_PER_MINUTE / 60,
    burst: env.RATE_LIMIT_FAILED_AUTH_PER_MINUTE,
  },
  recovery: { perSecond: env.RATE_LIMIT_RECOVERY_PER_HOUR / 3600, burst: env.RATE_LIMIT_RECOVERY_PER_HOUR },
  recovery_of_owner: {
    perSecond: env.RATE_LIMIT_RECOVERY_PER_HOUR / 3600,
    burst: env.RATE_LIMIT_RECOVERY_PER_HOUR,
  },
  trade: { perSecond: env.RATE_LIMIT_TRADE_PER_SECOND, burst: env.RATE_LIMIT_TRADE_BURST },
  relay: { perSecond: env.RATE_LIMIT_RELAY_PER_MINUTE / 60, burst: env.RATE_LIMIT_RELAY_PER_MINUTE },
  exit: { perSecond: env.RATE_LIMIT_EXIT_PER_SECOND, burst: env.RATE_LIMIT_EXIT_BURST },
  search: { perSecond: env.RATE_LIMIT_SEARCH_PER_SECOND, burst: env.RATE_LIMIT_SEARCH_BURST },
  read: { perSecond: env.RATE_LIMIT_READ_PER_SECOND, burst: env.RATE_LIMIT_READ_BURST },
  door: { perSecond: env.RATE_LIMIT_DOOR_PER_SECOND, burst: env.RATE_LIMIT_DOOR_BURST },
});
