/** The end of a run, and how it is said: exit code, stable code, a sentence, and the next step. */
import {
  BellwetherApiError,
  BellwetherConnectionError,
  BellwetherUsageError,
  ForeignChallenge,
  InvalidPrivateKey,
  InvalidSolanaKey,
  KeyNotForThis,
  OrderBuildError,
  PreparedOrderError,
  QuoteError,
  UnsafeTransaction,
  VenueCredentialsError,
  WalletCallsError,
} from '@bellwether/sdk';
import { KeystoreError, SpendingLimitReached } from '@bellwether/sdk/keystore';

/** How a run can end. The command line, its help and docs/cli.md all read this table. */
export const EXIT_CODES = {
  done: { status: 0, meaning: 'Done.' },
  unexpected: { status: 1, meaning: 'Something that this program does not expect: please report it.' },
  usage: { status: 2, meaning: 'The command line is wrong. Nothing was sent.' },
  refused: {
    status: 3,
    meaning:
      'Refused: by the desk, by the venue, or by a limit on this machine. The error says by which check, and what to do. No order was placed.',
  },
  unknown: {
    status: 4,
    meaning:
      'An order was sent and its outcome is not known here. The error carries `orderId`: look it up before you send another.',
  },
  unreachable: {
    status: 5,
    meaning: 'The desk did not answer in time, or cannot work now. Nothing was placed.',
  },
  keystore: {
    status: 6,
    meaning: 'The keys cannot be used: no keystore, a wrong passphrase, a damaged file, or a key is missing.',
  },
  unconfirmed: { status: 7, meaning: 'The question was not answered with yes. Nothing was sent.' },
  unverified: {
    status: 8,
    meaning: 'What the desk gave to sign is not what was asked for. It was not signed, and nothing was sent.',
  },
  findings: { status: 9, meaning: 'The doctor found something wrong, or could not look at all of it.' },
  interrupted: { status: 130, meaning: 'Stopped with Ctrl-C or by a signal before anything was placed.' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly meaning: string }>>;

export type ExitName = keyof typeof EXIT_CODES;

interface Details {
  readonly fix?: string | undefined;
  /** The order that was sent. */
  readonly orderId?: string | undefined;
}

/** Ends the run in a way that the table of exit codes names. */
const TRANSACTION_FIXES: Readonly<Record<string, string>> = {
  action: 'Give what the wallet holds with --held-yes and --held-no, as the explorer or the venue shows it.',
  wallet: 'Use the key that the wallet belongs to.',
  market: 'Sell the shares instead.',
};

export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exit: ExitName;
  readonly code: string;
  readonly fix: string | undefined;
  readonly orderId: string | undefined;

  constructor(exit: ExitName, code: string, message: string, details: Details = {}) {
    super(message);
    this.exit = exit;
    this.code = code;
    this.fix = details.fix;
    this.orderId = details.orderId;
  }
}

/** A command line that contradicts itself or lacks something. */
export const usage = (message: string, fix?: string): CliError =>
  new CliError('usage', 'usage', message, { fix });

/** The printed result: with --json as it is, else in lines. */
export interface Failure {
  readonly exit: ExitName;
  readonly code: string;
  readonly message: string;
  readonly fix?: string | undefined;
  readonly orderId?: string | undefined;
  readonly errors?: readonly { readonly path: string; readonly code: string; readonly message: string }[];
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly requestId?: string | undefined;
  readonly status?: number;
  readonly retryAfterS?: number | undefined;
}

const UNREACHABLE_FIX =
  'Check the address (--url or BELLWETHER_URL) and that the service runs: bellwether doctor. Reads can be repeated.';

function apiFailure(error: BellwetherApiError): Failure {
  const { status, code, detail, fix, errors, context, requestId, retryAfterS, orderId } = error;
  const exit = code === 'order_outcome_unknown' ? 'unknown' : status >= 500 ? 'unreachable' : 'refused';
  return {
    exit,
    code,
    message: detail,
    fix: adviceFor(code) ?? fix ?? 'Look at what the message names, and change it.',
    orderId,
    ...(errors.length === 0 ? {} : { errors }),
    context,
    requestId,
    status,
    retryAfterS,
  };
}

const ORDER_FIXES: Readonly<Record<string, string>> = {
  tokens_differ:
    'Look the market up at the venue itself. If this desk is wrong about it, do not trade with it.',
  outcome_name_mismatch: 'Say YES or NO: the message says which is which.',
  market_version_not_supported: 'Look the market up again; if it says the same, install the latest version.',
};
const orderFix = ({ code }: OrderBuildError): string =>
  ORDER_FIXES[code] ?? 'Change the numbers of the order.';

/** Every error that a run can end with. What is not known is `unexpected`, with its message alone. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) {
    const { exit, code, message, fix, orderId } = error;
    return { exit, code, message, fix, orderId };
  }
  if (error instanceof BellwetherApiError) return apiFailure(error);
  if (error instanceof BellwetherConnectionError)
    return {
      exit: 'unreachable',
      code: error.reason === 'timeout' ? 'timeout' : 'unreachable',
      message: error.message,
      fix: UNREACHABLE_FIX,
    };
  if (error instanceof KeystoreError)
    return {
      exit: error.code === 'url_invalid' ? 'usage' : 'keystore',
      code: error.code,
      message: error.detail,
      fix: error.fix,
    };
  if (error instanceof SpendingLimitReached)
    return { exit: 'refused', code: error.code, message: error.detail, fix: error.fix };
  if (error instanceof InvalidPrivateKey || error instanceof InvalidSolanaKey)
    return { exit: 'keystore', code: 'key_invalid', message: error.message, fix: 'Give the key again.' };
  if (error instanceof BellwetherUsageError)
    return {
      exit: 'keystore',
      code: 'keys_invalid',
      message: error.message,
      fix: 'Check the keys: bellwether doctor.',
    };
  if (error instanceof VenueCredentialsError)
    return {
      exit: error.status === 0 ? 'unreachable' : 'refused',
      code: 'venue_credentials',
      message: error.message,
      fix: 'Check the address given with --clob, and the key.',
    };
  if (error instanceof ForeignChallenge || error instanceof KeyNotForThis)
    return {
      exit: 'unverified',
      code: error instanceof KeyNotForThis ? 'key_not_for_this' : 'foreign_challenge',
      message: error.message,
      fix:
        error instanceof KeyNotForThis
          ? 'Use a key that is for this venue. Whether a key is for paper, only you can say: bellwether keys mark paper'
          : 'Check the address given with --url. If your desk stands behind a proxy, set BELLWETHER_DESK_HOST to the name that you know it by.',
    };
  if (error instanceof PreparedOrderError)
    return {
      exit: 'unverified',
      code: error.cause instanceof OrderBuildError ? error.cause.code : 'prepared_order_differs',
      message: error.message,
      fix:
        error.cause instanceof OrderBuildError
          ? orderFix(error.cause)
          : 'Run the command again. If it happens again, do not trade with this desk.',
    };
  if (error instanceof WalletCallsError)
    return {
      exit: 'unverified',
      code: 'transactions_differ',
      message: error.message,
      fix:
        TRANSACTION_FIXES[error.field] ??
        'Run the command again. If it happens again, do not trade with this desk.',
    };
  if (error instanceof UnsafeTransaction)
    return {
      exit: 'unverified',
      code: 'unsafe_transaction',
      message: error.message,
      fix: 'Ask for a new quote. If it happens again, do not trade with this desk.',
    };
  if (error instanceof OrderBuildError)
    return {
      exit: 'refused',
      code: error.code,
      message: error.message,
      fix: orderFix(error),
    };
  if (error instanceof QuoteError)
    return {
      exit: error.code === 'still_open' ? 'unknown' : 'refused',
      code: error.quoteErrorCode ?? error.code,
      message: error.message,
    };
  const message = error instanceof Error ? error.message : String(error);
  return {
    exit: 'unexpected',
    code: 'unexpected',
    message,
    fix: 'Run the command again; if it happens again, report it with the version (bellwether --version).',
  };
}

/** Advice after a refusal, in commands of this program. The desk's own advice names routes. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: 'The desk does not know this API key: look at bellwether doctor.',
  market_not_found: 'Find markets with: bellwether markets <words>',
  unknown_market: 'Find markets with: bellwether markets <words>',
  order_not_found: 'List orders with: bellwether orders --all',
  trading_paused: 'Go on with: bellwether resume. What the owner has paused, only the owner resumes.',
  credentials_not_registered: 'Register the wallet with: bellwether init',
  insufficient_balance: 'See what can be spent with: bellwether briefing',
  kyc_required:
    'A person proves their identity for this wallet at the link that this command makes: bellwether identity. Trust no other link.',
  claim_required:
    "Give the agent's claim address to its owner: bellwether init shows it when it makes the agent.",
  max_trade_amount_exceeded: 'Place a smaller order. The limits: bellwether limits',
  max_trades_per_day_exceeded: 'Wait until UTC midnight. The limits: bellwether limits',
  daily_trade_amount_exceeded:
    'Place a smaller order, or wait until UTC midnight. The limits: bellwether limits',
  max_position_value_exceeded: 'Place a smaller order. The limits: bellwether limits',
  daily_loss_limit_reached:
    'Only orders that reduce a position are taken until UTC midnight. The limits: bellwether limits',
  wrong_venue_route: 'Markets of venue B are traded with: bellwether trade',
  approval_required: 'Order for no more than approvalAbove, which bellwether limits shows.',
  approval_not_required: 'The limits have changed since this quote: run the command again.',
  max_open_orders_exceeded: 'Cancel an order first: bellwether orders, bellwether cancel <order-id>',
};

export const adviceFor = (code: string): string | undefined =>
  Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined;
