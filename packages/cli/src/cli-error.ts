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
import { adviceFor } from './advice.ts';
import type { ExitName } from './exit-codes.ts';

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
